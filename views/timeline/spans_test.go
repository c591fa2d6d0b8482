package timeline

import (
	"fmt"
	"reflect"
	"testing"

	"weftline/engine/execution"
)

func event(ms int, t execution.EventType, attempt int, data any) execution.Event {
	return execution.Event{Type: t, At: at(ms), Activity: "a", Attempt: attempt, Data: data}
}

func brief(spans []Span) []string {
	var lines []string
	for _, s := range spans {
		to := "…"
		if s.To != nil {
			to = fmt.Sprint(s.To.Sub(start).Milliseconds())
		}
		lines = append(lines, fmt.Sprintf("%s %s %d..%s %d", s.Kind, s.State, s.From.Sub(start).Milliseconds(), to, s.Attempt))
	}
	return lines
}

func TestAttemptsPausesAndQueueingAreToldApart(t *testing.T) {
	failure := &execution.Error{Type: "http.500"}
	got := Spans([]execution.Event{
		event(0, execution.ActivityReady, 1, nil),
		event(10, execution.ActivityDispatched, 1, nil),
		event(12, execution.ActivityStarted, 1, nil),
		event(50, execution.ActivityRetryScheduled, 1, &execution.RetryScheduled{Error: failure}),
		event(90, execution.ActivityReady, 2, nil),
		event(95, execution.ActivityStarted, 2, nil),
		event(99, execution.ActivityCompleted, 2, nil),
	})
	want := []string{"queued ready 0..10 1", "attempt failed 10..50 1", "retry retry 50..90 1", "queued ready 90..95 2", "attempt completed 95..99 2"}
	if !reflect.DeepEqual(brief(got), want) {
		t.Errorf("spans:\n got %q\nwant %q", brief(got), want)
	}
	if got[1].Words != "http.500" {
		t.Errorf("the failed attempt says %q", got[1].Words)
	}
}

func TestAWaitForAPersonGoesOnUntilTheyAnswer(t *testing.T) {
	history := []execution.Event{
		event(0, execution.ActivityReady, 1, nil),
		event(1, execution.ActivityWaiting, 1, &execution.Waiting{Kind: "human"}),
		event(1, execution.HumanTaskCreated, 1, nil),
		event(40, execution.HumanTaskReminded, 1, nil),
	}
	if got, want := brief(Spans(history)), []string{"queued ready 0..1 1", "wait human 1..… 1"}; !reflect.DeepEqual(got, want) {
		t.Errorf("spans: %q, want %q", got, want)
	}
	history = append(history, event(60, execution.HumanTaskDecided, 1, nil), event(61, execution.ActivityCompleted, 1, nil))
	if got, want := brief(Spans(history))[1], "wait human 1..61 1"; got != want {
		t.Errorf("span: %q, want %q", got, want)
	}
}

func TestTheEndOfTheExecutionEndsEverything(t *testing.T) {
	got := Spans([]execution.Event{
		event(0, execution.ActivityStarted, 1, nil),
		{Type: execution.WorkflowCancelled, At: at(7)},
	})
	if want := []string{"attempt cancelled 0..7 1"}; !reflect.DeepEqual(brief(got), want) {
		t.Errorf("spans: %q, want %q", brief(got), want)
	}
}
