package seal_test

import (
	"bytes"
	"strings"
	"testing"

	"weftline/engine/seal"
)

func ring(t *testing.T, keys ...byte) *seal.Ring {
	t.Helper()
	var bits [][]byte
	for _, k := range keys {
		bits = append(bits, bytes.Repeat([]byte{k}, seal.KeySize))
	}
	r, err := seal.NewRing(bits...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestBoxOpensInItsPlaceOnly(t *testing.T) {
	r := ring(t, 1)
	box, err := r.Box("here", []byte("a value"))
	if err != nil || !seal.IsBox(box) || bytes.Contains(box, []byte("a value")) {
		t.Fatalf("%q, %v", box, err)
	}
	if value, err := r.Unbox("here", box); err != nil || string(value) != "a value" {
		t.Errorf("%q, %v", value, err)
	}
	if _, err := r.Unbox("there", box); err == nil {
		t.Error("a box opened in another place")
	}
	for size := range len(box) {
		if value, err := r.Unbox("here", box[:size]); err == nil && seal.IsBox(box[:size]) {
			t.Errorf("cut to %d bytes it opened: %q", size, value)
		}
	}
	if value, err := r.Unbox("here", []byte("[]")); err != nil || string(value) != "[]" {
		t.Errorf("what is no box: %q, %v", value, err)
	}
}

func TestRingSealsWithItsFirstKeyAndOpensWithAll(t *testing.T) {
	box, err := ring(t, 1).Box("here", []byte("a value"))
	if err != nil {
		t.Fatal(err)
	}
	if value, err := ring(t, 2, 1).Unbox("here", box); err != nil || string(value) != "a value" {
		t.Errorf("the old key does not open: %q, %v", value, err)
	}
	if _, err := ring(t, 2).Unbox("here", box); err == nil || !strings.Contains(err.Error(), "WEFTLINE_SECRET_KEY") {
		t.Errorf("without the key: %v", err)
	}
	if _, err := ring(t).Box("here", nil); err != seal.ErrNoKey {
		t.Errorf("without any key: %v", err)
	}
	if _, err := seal.NewRing([]byte("short")); err == nil {
		t.Error("a short key was taken")
	}
}
