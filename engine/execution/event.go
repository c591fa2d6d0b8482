// Package execution owns one run of one version: its state, the events that change it and the decisions
// that follow. It is pure: Apply folds an event, Decide answers what happens next, Receive turns a message
// from outside into events. No clock, goroutine, randomness, map order or SQL; time and ids are arguments.
package execution

import "time"

// EventType is one of the words of the API.
type EventType string

// Event is one entry of a history. Seq counts 1..n without gaps within an execution.
type Event struct {
	Seq      int64
	Type     EventType
	At       time.Time // UTC, millisecond precision
	Activity string    // id; a single-activity loop body uses the id of its loop
	Item     string    // item key, "outer/inner" in a loop in a loop; "" = none
	Attempt  int       // 0 = none
	Worker   string    // who ran it; "" = none
	Data     any       // the payload struct of its type (pointer), or nil
}
