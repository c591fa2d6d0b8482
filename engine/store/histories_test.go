package store

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"weftline/engine/execution"
	"weftline/engine/flow"
)

var recordPacked = flag.Bool("record", false, "store the packed form of histories that have none yet")

// TestStoredBytesOfHistoriesAreReadAsTheyWereWritten: what an older server packed is unpacked today to the same
// events, and they fold to the recorded state. The packed files are kept for good, as the histories are.
func TestStoredBytesOfHistoriesAreReadAsTheyWereWritten(t *testing.T) {
	paths, err := filepath.Glob("../execution/testdata/histories/*.json")
	if err != nil || len(paths) < 40 {
		t.Fatalf("there are %d stored histories, %v", len(paths), err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var history struct {
			Definition    string
			Events, State json.RawMessage
		}
		if err := json.Unmarshal(content, &history); err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		stored, err := os.ReadFile(filepath.Join("testdata/histories", name+".packed"))
		if os.IsNotExist(err) && *recordPacked {
			stored = pack(compact(t, history.Events))
			err = os.WriteFile(filepath.Join("testdata/histories", name+".packed"), stored, 0o644)
		}
		if err != nil {
			t.Fatalf("%v: store packed forms with go test ./engine/store -run StoredBytes -record", err)
		}
		events, err := unpackEvents(stored)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		plain, err := unpack(stored)
		if err != nil || !bytes.Equal(plain, compact(t, history.Events)) {
			t.Errorf("%s is unpacked to other bytes, %v", name, err)
		}
		if err := foldsTo(history.Definition, events, compact(t, history.State)); err != "" {
			t.Errorf("%s: %s", name, err)
		}
	}
}

// unpackEvents reads a packed history without anything sealed in it.
func unpackEvents(stored []byte) ([]execution.Event, error) {
	plain, err := unpack(stored)
	if err != nil {
		return nil, err
	}
	return execution.DecodeEvents(plain)
}

func compact(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, content); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func foldsTo(definition string, events []execution.Event, state []byte) string {
	wf, err := flow.Load([]byte(definition))
	if err != nil {
		return err.Error()
	}
	st := &execution.State{}
	for _, event := range events {
		if err := execution.Apply(wf, st, event); err != nil {
			return err.Error()
		}
	}
	got, err := execution.EncodeState(st)
	if err != nil {
		return err.Error()
	}
	if !bytes.Equal(got, state) {
		return "it folds to another state"
	}
	return ""
}
