package execution

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"weftline/engine/flow"
)

// Stored histories: one for each feature, as the rules' own tests produced them once. Today's code must fold each
// to the very state that was recorded. A file is never edited: SHA256SUMS holds what it was.

var recordHistories = flag.Bool("record", false, "store the histories of features that have none yet")

const historiesPath = "testdata/histories"

// recorded is a stored history. Events and State are kept as they were written, byte for byte.
type recorded struct {
	Feature    string          `json:"feature"`
	Definition string          `json:"definition"`
	Events     json.RawMessage `json:"events"`
	State      json.RawMessage `json:"state"`
}

// largestHistory bounds a stored history in events; what is longer tests size, not a feature.
const largestHistory = 400

// keepHistory stores the history when the test that made it is over, unless its feature has one.
func (s *sim) keepHistory(definition string) {
	if !*recordHistories {
		return
	}
	s.t.Cleanup(func() {
		if s.t.Failed() || len(s.history) > largestHistory {
			return
		}
		name := featureName(s.t.Name())
		path := filepath.Join(historiesPath, name+".json")
		for n := 2; exists(path); n++ {
			if n > 3 {
				return
			}
			path = filepath.Join(historiesPath, fmt.Sprintf("%s-%d.json", name, n))
		}
		events, err := EncodeEvents(s.history)
		if err != nil {
			s.t.Fatal(err)
		}
		var content bytes.Buffer
		writer := json.NewEncoder(&content)
		writer.SetEscapeHTML(false) // byte for byte as they are stored
		writer.SetIndent("", " ")
		if err = writer.Encode(recorded{name, definition, events, encoded(s.t, s.st)}); err == nil {
			err = os.WriteFile(path, content.Bytes(), 0o644)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// featureName is the test's name in words: TestJoinAny is join-any.
func featureName(test string) string {
	var b strings.Builder
	for _, r := range strings.TrimPrefix(strings.ReplaceAll(test, "/", "-"), "Test") {
		if unicode.IsUpper(r) && b.Len() > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Map(func(r rune) rune {
		if r == '-' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, b.String())
}

func storedHistories(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(historiesPath, "*.json"))
	if err != nil || len(paths) < 40 {
		t.Fatalf("there are %d stored histories, %v", len(paths), err)
	}
	return paths
}

// TestStoredHistoriesFoldToTheirRecordedState: whatever was written once is read today as it was then.
func TestStoredHistoriesFoldToTheirRecordedState(t *testing.T) {
	for _, path := range storedHistories(t) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var r recorded
		if err := json.Unmarshal(content, &r); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if err := r.refold(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func (r *recorded) refold() error {
	wf, err := flow.Load([]byte(r.Definition))
	if err != nil {
		return fmt.Errorf("the definition: %w", err)
	}
	events, err := DecodeEvents(r.Events)
	if err != nil {
		return err
	}
	st := &State{}
	for _, ev := range events {
		if err := Apply(wf, st, ev); err != nil {
			return err
		}
	}
	got, err := EncodeState(st)
	if err != nil {
		return err
	}
	var want bytes.Buffer
	if err := json.Compact(&want, r.State); err != nil {
		return err
	}
	if !bytes.Equal(got, want.Bytes()) {
		return fmt.Errorf("it folds to another state:\nwas %s\nis  %s", want.Bytes(), got)
	}
	return nil
}

// TestStoredHistoriesAreNeverEdited: each file is the one that was stored. -record adds, it never changes.
func TestStoredHistoriesAreNeverEdited(t *testing.T) {
	sums := filepath.Join(historiesPath, "SHA256SUMS")
	listed := map[string]string{}
	if content, err := os.ReadFile(sums); err == nil {
		for line := range strings.Lines(string(content)) {
			sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
			listed[name] = sum
		}
	}
	var lines []string
	for _, path := range storedHistories(t) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		hash := sha256.Sum256(content)
		sum, name := hex.EncodeToString(hash[:]), filepath.Base(path)
		switch known := listed[name]; {
		case known == "" && !*recordHistories:
			t.Errorf("%s is not in SHA256SUMS: store histories with go test ./engine/execution -record", name)
		case known != "" && known != sum:
			t.Errorf("%s was edited; stored histories never are", name)
		}
		lines = append(lines, sum+"  "+name)
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("%s is gone; stored histories are kept for good", name)
	}
	if *recordHistories && !t.Failed() {
		slices.Sort(lines)
		if err := os.WriteFile(sums, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
