package execution

import (
	"testing"
	"time"
)

// grantTurns answers every request for a turn as the database does: one start each gap, never two at once.
func (s *sim) grantTurns(next *time.Time, gap time.Duration) {
	s.t.Helper()
	for _, p := range s.all.Permits {
		if p.PerSecond == 0 {
			continue
		}
		at := later(s.now, *next)
		*next = at.Add(gap)
		s.receive(Message{PermitGranted: &Permit{Name: p.Name, Activity: p.Activity, Item: p.Item, At: &at}})
	}
	s.all.Permits = nil
	s.advance()
}

// TestStartsKeepThePaceOfTheWorkflow: each attempt waits for its turn and starts then, not earlier; its wait says
// why and until when.
func TestStartsKeepThePaceOfTheWorkflow(t *testing.T) {
	s := simulate(t, `
  limits: {maxPerSecond: 2}
  activities:
    - {id: a, type: http, inputs: {url: http://x}, retry: {attempts: 2, strategy: fixed, delay: 1ms}}
    - {id: b, type: http, inputs: {url: http://x}}
    - {id: c, type: set, outputs: {v: '1'}}
`, nil)
	s.answer("a", broken("http.503"), fine(nil))
	s.run().is(StatusWaiting)
	if len(s.all.Permits) != 2 || s.all.Permits[0].PerSecond != 2 || s.all.Permits[0].Name != "workflow:test" {
		t.Fatalf("asked for %+v", s.all.Permits)
	}
	var next time.Time
	s.grantTurns(&next, time.Second/2)
	waits := Describe(s.wf, s.st).Waits
	if len(waits) != 1 || waits[0].Activity != "b" || waits[0].Kind != "limit" || waits[0].Until == nil || !waits[0].Until.Equal(testTime.Add(time.Second/2)) {
		t.Fatalf("waits are %+v", waits)
	}
	s.run()
	s.grantTurns(&next, time.Second/2) // the second attempt of a is a start too
	s.run().is(StatusCompleted)
	var started []time.Duration
	for _, ev := range s.history {
		if ev.Type == ActivityDispatched && ev.Activity != "c" {
			started = append(started, ev.At.Sub(testTime))
		}
	}
	for i, want := range []time.Duration{0, time.Second / 2, time.Second} {
		if started[i] != want {
			t.Errorf("starts at %v", started)
		}
	}
	if n := s.count(PermitReleased); n != 0 {
		t.Errorf("%d turns were given back", n)
	}
}

// TestATurnIsTakenOnce: a turn for an activity that has one, or that is over, is stale.
func TestATurnIsTakenOnce(t *testing.T) {
	s := simulate(t, "  limits: {maxPerSecond: 1}\n  activities:\n    - {id: a, type: http, inputs: {url: http://x}}\n", nil)
	s.run()
	at := testTime.Add(time.Minute)
	turn := Message{PermitGranted: &Permit{Name: "workflow:test", Activity: "a", At: &at}}
	s.receive(turn)
	s.refuses(turn)
	s.run().is(StatusCompleted)
	if got := s.now; !got.Equal(at) {
		t.Errorf("it started at %v", got)
	}
}
