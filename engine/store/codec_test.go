package store

import (
	"bytes"
	"strings"
	"testing"
)

func TestWhatIsPackedComesBack(t *testing.T) {
	flush := `[{"seq":6,"type":"ActivityStarted","at":"2026-11-29T16:44:03.125Z","activity":"pay","attempt":1,"worker":"01a2"},` +
		`{"seq":7,"type":"ActivityCompleted","at":"2026-11-29T16:44:03.125Z","activity":"pay","attempt":1,"data":{"output":{"receipt":"r-77"}}}]`
	atLimit := strings.Repeat(flush, longFrom/len(flush)+1)
	for _, plain := range []string{flush, "[]", "{}", "", atLimit[:longFrom-1], atLimit[:longFrom], strings.Repeat(flush, 1000), "\x00\xff"} {
		back, err := unpack(pack([]byte(plain)))
		if err != nil || string(back) != plain {
			t.Errorf("%d bytes came back as %d, %v", len(plain), len(back), err)
		}
	}
	if packed := pack([]byte(flush)); len(packed) > len(flush)/2 {
		t.Errorf("a flush of %d bytes is stored in %d: the dictionary does not help", len(flush), len(packed))
	}
	if pack(nil) != nil {
		t.Error("nothing became something")
	}
}

// A write that is tried again must be recognized as the same.
func TestPackingIsDeterministic(t *testing.T) {
	plain := []byte(strings.Repeat(`{"type":"ActivityReady"}`, 50))
	if !bytes.Equal(pack(plain), pack(plain)) {
		t.Error("the same JSON was packed in two ways")
	}
}

// What was stored before short values had a packing of their own is read as ever, and so is what was never packed.
func TestOlderPackingsAreRead(t *testing.T) {
	plain := []byte(`[{"seq":1,"type":"WorkflowCreated"}]`)
	for _, stored := range [][]byte{packer.EncodeAll(plain, nil), plain} {
		if back, err := unpack(stored); err != nil || !bytes.Equal(back, plain) {
			t.Errorf("%q came back as %q, %v", stored, back, err)
		}
	}
}

// A stored length is no reason to take that much memory.
func TestAShortValueThatSaysItIsLongIsRefused(t *testing.T) {
	for _, stored := range []string{"\x01", "\x01\xff\xff\xff\xff\x0f", "\x01\x80\x20", "\x01\x05"} {
		if back, err := unpack([]byte(stored)); err == nil {
			t.Errorf("%q came back as %d bytes", stored, len(back))
		}
	}
}

func BenchmarkPack(b *testing.B) {
	plain := []byte(`[{"seq":6,"type":"ActivityStarted","at":"2026-11-29T16:44:03.125Z","activity":"pay","attempt":1,"worker":"01a2"},` +
		`{"seq":7,"type":"ActivityCompleted","at":"2026-11-29T16:44:03.125Z","activity":"pay","attempt":1,"data":{"output":{"note":"` + strings.Repeat("x", 140) + `"}}}]`)
	for b.Loop() {
		pack(plain)
	}
}
