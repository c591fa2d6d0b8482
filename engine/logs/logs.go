// Package logs owns the names by which a log line says what it is about, so that lines of all parts and all
// replicas can be put together by execution, worker, lease or correlation id. It must not know who logs what.
package logs

import (
	"cmp"
	"fmt"

	"github.com/google/uuid"
)

// About is what a line is about; what does not apply or is not known stays zero and is left out. The time is the
// logger's own.
type About struct {
	Worker      string    // who does it
	Execution   uuid.UUID // one run of
	Workflow    string
	Activity    string
	Item        string // of a loop
	Attempt     int
	Lease       string // of a leased attempt; else of the execution, which is the worker's own and has its id
	Event       string // a word of histories, or of what happens to them
	Correlation string // of the execution and its children
	Span        string // of an attempt, as its requests carry it in traceparent; the trace is the execution
}

// With is the same about something that happened.
func (a About) With(event string) About {
	a.Event = event
	return a
}

// Args are the attributes for a logger, and more after them.
func (a About) Args(more ...any) []any {
	var args []any
	add := func(name, value string) {
		if value != "" {
			args = append(args, name, value)
		}
	}
	add("event", a.Event)
	if a.Execution != uuid.Nil {
		add("execution", a.Execution.String())
	}
	add("workflow", a.Workflow)
	add("activity", a.Activity)
	add("item", a.Item)
	if a.Attempt > 0 {
		args = append(args, "attempt", a.Attempt)
	}
	add("worker", a.Worker)
	add("lease", cmp.Or(a.Lease, a.Worker))
	add("correlation", a.Correlation)
	if a.Span != "" && a.Execution != uuid.Nil {
		args = append(args, "trace", fmt.Sprintf("%x", a.Execution[:]), "span", a.Span)
	}
	return append(args, more...)
}
