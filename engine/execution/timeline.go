package execution

import "time"

// Span is one stretch on the timeline of an execution: an attempt, a wait, or the time in a queue.
type Span struct {
	Activity     string     `json:"activity"`
	Item         string     `json:"item,omitempty"`
	Hook         string     `json:"hook,omitempty"`
	Compensating bool       `json:"compensating,omitempty"`
	Attempt      int        `json:"attempt,omitempty"`
	Kind         string     `json:"kind"` // queue, attempt, timer, event, human, child, retry, limit
	From         time.Time  `json:"from"`
	To           *time.Time `json:"to"`    // nil = still going on
	State        string     `json:"state"` // status the stretch ended with, or the one it is in
	Words        string     `json:"words"`
	Worker       string     `json:"worker,omitempty"`
}

// Timeline draws a history: what was queued, attempted and waited for, in order of beginning.
func Timeline(events []Event) []Span {
	t := timeline{open: map[lane]int{}}
	for i := range events {
		t.add(&events[i])
	}
	if t.spans == nil {
		t.spans = []Span{}
	}
	return t.spans
}

// lane is a line on the timeline: it holds one span at a time.
type lane struct {
	activity, item string
	undo           bool
}

type timeline struct {
	spans []Span
	open  map[lane]int // index of the span that goes on
}

func (t *timeline) add(ev *Event) {
	if ev.Activity == "" {
		return
	}
	switch ev.Type {
	case ActivityReady:
		t.begin(ev, waitQueue, "ready", "in the queue")
	case ActivityStarted:
		t.begin(ev, "attempt", "running", "running")
	case ActivityWaiting:
		d := payload[Waiting](ev)
		t.begin(ev, d.Kind, "waiting", waitWords(d))
	case ActivityRetryScheduled:
		d := payload[RetryScheduled](ev)
		t.end(ev, "failed", errorWords(d.Error))
		t.begin(ev, waitRetry, "retrying", "pause of "+d.Delay+" before the next attempt")
	case ActivityRepeatScheduled:
		t.end(ev, "completed", "its condition does not hold yet")
		t.begin(ev, waitTimer, "waiting", "waits for its next turn")
	case PermitAcquired:
		t.begin(ev, waitQueue, "ready", "has its permit, in the queue")
	case ActivityCompleted:
		t.end(ev, "completed", completedWords(payload[Completed](ev)))
	case ActivityFailed, ActivityTimedOut:
		t.end(ev, stateOf(ev.Type), errorWords(payload[Failed](ev).Error))
	case ActivitySkipped:
		t.point(ev, "skipped", payload[Skipped](ev).Reason)
	case ActivityCancelled:
		t.end(ev, "cancelled", payload[Cancelled](ev).Reason)
	}
}

func stateOf(t EventType) string {
	if t == ActivityTimedOut {
		return "timed_out"
	}
	return "failed"
}

func waitWords(d *Waiting) string {
	switch d.Kind {
	case waitTimer:
		return "waits for its timer"
	case waitEvent:
		return "waits for the event " + d.Name
	case waitHuman:
		return "waits for a person: " + d.Name
	}
	return d.Reason
}

func errorWords(e *Error) string {
	if e == nil {
		return "failed"
	}
	return e.Type + ": " + e.Message
}

func completedWords(d *Completed) string {
	if d.Outcome != "" {
		return "completed: " + d.Outcome
	}
	return "completed"
}

func laneOf(ev *Event) lane { return lane{ev.Activity, ev.Item, ev.Compensating} }

// begin starts a span where the last one of its lane ends.
func (t *timeline) begin(ev *Event, kind, state, words string) {
	t.close(ev, "", "")
	t.open[laneOf(ev)] = len(t.spans)
	t.spans = append(t.spans, Span{
		Activity: ev.Activity, Item: ev.Item, Hook: ev.Hook, Compensating: ev.Compensating, Attempt: ev.Attempt,
		Kind: kind, From: ev.At, State: state, Words: words, Worker: ev.Worker,
	})
}

// close ends the span of a lane; an empty state keeps that of the span as "done".
func (t *timeline) close(ev *Event, state, words string) bool {
	i, ok := t.open[laneOf(ev)]
	if !ok {
		return false
	}
	delete(t.open, laneOf(ev))
	s, at := &t.spans[i], ev.At
	s.To, s.State = &at, "done"
	if state != "" {
		s.State, s.Words = state, words
	}
	return true
}

func (t *timeline) end(ev *Event, state, words string) {
	if !t.close(ev, state, words) {
		t.point(ev, state, words)
	}
}

// point is a span without length.
func (t *timeline) point(ev *Event, state, words string) {
	t.begin(ev, "attempt", state, words)
	t.close(ev, state, words)
}
