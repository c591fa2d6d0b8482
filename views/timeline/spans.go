package timeline

import "weftline/engine/execution"

// Spans reads the stretches of every activity's life out of a history: queueing, attempts, waits, pauses.
// A stretch that the history leaves open has no end.
func Spans(history []execution.Event) []Span {
	f := folder{open: map[place]int{}}
	for _, event := range history {
		f.fold(event)
	}
	return f.spans
}

type place struct {
	activity, item string
	compensating   bool
}

type folder struct {
	spans []Span
	open  map[place]int // index of the span that goes on
}

func (f *folder) fold(event execution.Event) {
	if event.Activity == "" {
		if event.Type.Terminal() {
			f.endAll(event)
		}
		return
	}
	switch event.Type {
	case execution.ActivityReady:
		f.begin(event, Queued, "ready")
	case execution.ActivityDispatched:
		f.beginUnless(event, Attempt, "running")
	case execution.ActivityStarted:
		f.beginUnless(event, Attempt, "running")
	case execution.ActivityWaiting:
		f.begin(event, Wait, waitKind(event))
	case execution.HumanTaskCreated:
		f.beginUnless(event, Wait, "human")
	case execution.ChildStarted:
		f.beginUnless(event, Wait, "child")
	case execution.ActivityRetryScheduled:
		f.end(event, "failed", reason(event))
		f.begin(event, Pause, "retry")
	case execution.ActivityRepeatScheduled:
		f.end(event, "completed", "")
		f.begin(event, Wait, "timer")
	default:
		if ended, ok := endings[event.Type]; ok {
			f.end(event, ended, reason(event))
		}
	}
}

var endings = map[execution.EventType]string{
	execution.ActivityCompleted: "completed",
	execution.ActivityFailed:    "failed",
	execution.ActivityTimedOut:  "timed_out",
	execution.ActivityCancelled: "cancelled",
	execution.ActivitySkipped:   "skipped",
	execution.ItemCompleted:     "completed",
	execution.ItemFailed:        "failed",
	execution.ItemCancelled:     "cancelled",
}

func placeOf(event execution.Event) place {
	return place{event.Activity, event.Item, event.Compensating}
}

// begin ends what went on at the place and opens a span there.
func (f *folder) begin(event execution.Event, kind, state string) {
	f.end(event, "completed", "")
	f.open[placeOf(event)] = len(f.spans)
	span := Span{Activity: event.Activity, Item: event.Item, Attempt: event.Attempt, Kind: kind, State: state, From: event.At, Undoing: event.Compensating}
	if event.Compensating {
		span.Words = "undoing"
	}
	f.spans = append(f.spans, span)
}

// beginUnless opens a span unless one of its kind goes on.
func (f *folder) beginUnless(event execution.Event, kind, state string) {
	if i, ok := f.open[placeOf(event)]; ok && f.spans[i].Kind == kind {
		f.spans[i].Attempt = max(f.spans[i].Attempt, event.Attempt)
		return
	}
	f.begin(event, kind, state)
}

// end closes what goes on at the place. Only an attempt's end says how it went.
func (f *folder) end(event execution.Event, state, words string) {
	i, ok := f.open[placeOf(event)]
	if !ok {
		return
	}
	delete(f.open, placeOf(event))
	span := &f.spans[i]
	at := event.At
	span.To = &at
	if span.Kind == Attempt {
		span.State = state
		if span.Words == "" {
			span.Words = words
		}
		if event.Compensating && state == "completed" {
			span.State = "compensated"
		}
	}
}

// endAll: nothing goes on after the end.
func (f *folder) endAll(event execution.Event) {
	at := event.At
	for where, i := range f.open {
		f.spans[i].To = &at
		if f.spans[i].Kind == Attempt {
			f.spans[i].State = "cancelled"
		}
		delete(f.open, where)
	}
}

func waitKind(event execution.Event) string {
	if waiting, ok := event.Data.(*execution.Waiting); ok {
		return waiting.Kind
	}
	return "timer"
}

func reason(event execution.Event) string {
	switch data := event.Data.(type) {
	case *execution.Failed:
		return typeOf(data.Error)
	case *execution.RetryScheduled:
		return typeOf(data.Error)
	}
	return ""
}

func typeOf(e *execution.Error) string {
	if e == nil {
		return ""
	}
	return e.Type
}
