package store

import (
	"bytes"
	"strings"
	"testing"
)

func TestWhatIsPackedComesBack(t *testing.T) {
	flush := `[{"seq":6,"type":"ActivityStarted","at":"2026-11-29T16:44:03.125Z","activity":"pay","attempt":1,"worker":"01a2"},` +
		`{"seq":7,"type":"ActivityCompleted","at":"2026-11-29T16:44:03.125Z","activity":"pay","attempt":1,"data":{"output":{"receipt":"r-77"}}}]`
	for _, plain := range []string{flush, "[]", "{}", strings.Repeat(flush, 1000), "\x00\xff"} {
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

func BenchmarkPack(b *testing.B) {
	plain := []byte(`[{"seq":6,"type":"ActivityStarted","at":"2026-11-29T16:44:03.125Z","activity":"pay","attempt":1,"worker":"01a2"},` +
		`{"seq":7,"type":"ActivityCompleted","at":"2026-11-29T16:44:03.125Z","activity":"pay","attempt":1,"data":{"output":{"note":"` + strings.Repeat("x", 140) + `"}}}]`)
	for b.Loop() {
		pack(plain)
	}
}
