package execution

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// An event that a later release wrote is counted, and said again as it was, if it changes nothing. If it may change
// something it is refused: who goes on without it would decide wrongly.
func TestWhatALaterReleaseSaysAsideIsCounted(t *testing.T) {
	s := simulate(t, "\n  activities:\n    - {id: a, type: event, event: {name: paid, correlation: \"'x'\"}}\n", nil)
	s.run().is("waiting")
	const written = `[{"seq":SEQ,"type":"ActivityRemembered","at":"2026-01-01T00:00:00.000Z","activity":"a","next":1,"aside":true,"data":{"deep":{"n":9007199254740993}}}]`
	stored := strings.Replace(written, "SEQ", string(mustJSON(t, s.st.Seq+1)), 1)
	events, err := DecodeEvents([]byte(stored))
	if err != nil {
		t.Fatal(err)
	}
	again, err := EncodeEvents(events)
	if want := strings.Replace(stored, `,"next":1`, "", 1); err != nil || string(again) != want {
		t.Errorf("said as %s, %v, not as %s", again, err, want)
	}
	before, seq := mustJSON(t, s.st), s.st.Seq
	loud := events[0]
	loud.Aside = false
	if err := Apply(s.wf, s.st, loud); !errors.Is(err, ErrIllegalTransition) {
		t.Errorf("an unknown event that may change something is answered %v", err)
	}
	if err := Apply(s.wf, s.st, events[0]); err != nil || s.st.Seq != seq+1 {
		t.Fatalf("after event %d comes %d, %v", seq, s.st.Seq, err)
	}
	s.st.Seq = seq
	if after := mustJSON(t, s.st); !reflect.DeepEqual(before, after) {
		t.Errorf("it changed the state\n%s\nto\n%s", before, after)
	}
}

func mustJSON(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
