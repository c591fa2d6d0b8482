package execution

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/engine/instants"
)

// TestWhatIsWrittenByHandIsWhatTheLibrariesWrite: histories are compared byte by byte, so the fast way must be the
// same way.
func TestWhatIsWrittenByHandIsWhatTheLibrariesWrite(t *testing.T) {
	east := time.FixedZone("east", 5*3600+1800)
	for _, at := range []time.Time{
		{}, time.UnixMilli(0), time.UnixMilli(-1), time.UnixMilli(999), time.Date(2026, 2, 28, 23, 59, 59, 999_999_999, time.UTC),
		time.Date(2024, 2, 29, 1, 2, 3, 45e6, east), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(-1, 1, 1, 0, 0, 0, 7e6, time.UTC), time.Date(7, 10, 11, 12, 13, 14, 15e6, time.UTC),
	} {
		if got, want := string(appendInstant(nil, at)), at.UTC().Format(instants.Layout); got != want {
			t.Errorf("%s was written, want %s", got, want)
		}
	}
	for _, id := range []uuid.UUID{{}, uuid.Max, uuid.MustParse("0192f3c4-05a6-7b18-89ab-cdef01234567")} {
		if got := string(appendUUID(nil, id)); got != id.String() {
			t.Errorf("%s was written, want %s", got, id)
		}
	}
}

// TestAStartAllocatesLittle counts what one execution of one activity allocates: the collector's work is a good part
// of what the core costs.
func TestAStartAllocatesLittle(t *testing.T) {
	wf := load(t, "  activities:\n    - {id: a, type: http, inputs: {url: http://x}}\n")
	start := Start{ID: testID, Workflow: "test", Version: 1, StartedBy: "ann", Input: map[string]any{"n": int64(1)}}
	buffer := make([]byte, 0, 64<<10)
	if got := testing.AllocsPerRun(100, func() { drive(t, wf, start, buffer) }); got > 18 { // four of them are the result's own
		t.Errorf("one execution allocates %.0f times, want at most 18", got)
	}
}

// What an expression reads of an activity before it is not put together as a whole.
func TestAStepThatReadsTheOneBeforeAllocatesLittle(t *testing.T) {
	const steps = 20
	wf := load(t, growing(steps))
	start := Start{ID: testID, Workflow: "test", Version: 1, StartedBy: "ann", Input: map[string]any{"context": map[string]any{}}}
	buffer := make([]byte, 0, 64<<10)
	if got := testing.AllocsPerRun(100, func() { drive(t, wf, start, buffer) }) / steps; got > 17 {
		t.Errorf("a step allocates %.1f times, want at most 17", got)
	}
}
