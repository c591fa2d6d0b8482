package store

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"weftline/engine/execution"
)

// FuzzStoredRows: bytes that a disk or a person may have changed are refused with an error or read; they never
// take the process down, and what is read can be written again.
func FuzzStoredRows(f *testing.F) {
	paths, _ := filepath.Glob("testdata/histories/*.packed")
	for _, path := range paths[:min(len(paths), 20)] {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Add([]byte(`{"signal":{"id":"1","name":"go","payload":{"a":1e400}}}`))
	f.Add([]byte(`{"permitGranted":{"name":"x","at":"2026-03-01T09:00:00.000Z"}}`))
	f.Add([]byte(`{"Main":{"Runs":[{"Phase":"ready"}]},"Timers":[{"At":1,"Kind":9}]}`))
	f.Fuzz(func(t *testing.T, stored []byte) {
		if len(stored) > 1<<16 {
			return
		}
		if events, err := unpackEvents(stored); err == nil {
			if _, err := execution.EncodeEvents(events); err != nil {
				t.Errorf("events that were read cannot be written: %v", err)
			}
		}
		plain, err := unpack(stored)
		if err != nil {
			return
		}
		if st, err := execution.DecodeState(plain); err == nil {
			if _, err := execution.EncodeState(st); err != nil {
				t.Errorf("a state that was read cannot be written: %v", err)
			}
		}
		if message, err := decodeMessage(stored); err == nil {
			if _, err := json.Marshal(message); err != nil {
				t.Errorf("a message that was read cannot be written: %v", err)
			}
		}
	})
}
