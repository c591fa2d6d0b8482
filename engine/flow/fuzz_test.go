package flow_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"weftline/engine/flow"
)

// FuzzLoad: no text makes the reader panic; what validates also loads, can be formatted, keeps its meaning
// in canonical form, and differs from itself in nothing.
func FuzzLoad(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.*")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add(activities(`{id: a, ` + set + `}`))
	f.Add(activities(`{id: a, type: wait, wait: {timer: {after: 5}}}`, `{id: b, needs: [a, c.x], join: every, `+set+`}`))
	f.Add([]byte("a: &a [*a]\n--- |\n x\n...\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		report := flow.Validate(text)
		w, err := flow.Load(text)
		if report.Valid != (err == nil) {
			t.Fatalf("validate says %v, load says %v", report.Valid, err)
		}
		formatted, err := flow.Format(text)
		var refused *flow.LoadError
		if err != nil {
			if w != nil && errors.As(err, &refused) {
				t.Fatalf("a valid text is not formatted: %v", err)
			}
			return
		}
		again, err := flow.Format(formatted)
		if err != nil || !bytes.Equal(formatted, again) {
			t.Fatalf("not idempotent: %v\n%s\n%s", err, formatted, again)
		}
		if w == nil {
			return
		}
		same, err := flow.Load(formatted)
		if err != nil || same.ContentHash != w.ContentHash {
			t.Fatalf("formatting changed the meaning: %v", err)
		}
		if changes, err := flow.Compare(text, formatted); err != nil || len(changes) > 0 {
			t.Fatalf("formatting is a change: %v %v", changes, err)
		}
	})
}
