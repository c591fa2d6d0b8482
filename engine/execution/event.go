// Package execution owns one run of one version: its state, the events that change it and the decisions
// that follow. It is pure: Apply folds an event, Decide answers what happens next, Receive turns a message
// from outside into events. No clock, goroutine, randomness, map order or SQL; time and ids are arguments.
package execution

import "time"

// EventType is one of the words of the API.
type EventType string

// Event is one entry of a history. Seq counts 1..n without gaps within an execution.
type Event struct {
	Seq          int64
	Type         EventType
	At           time.Time // UTC, millisecond precision
	Activity     string    // id; a single-activity loop body uses the id of its loop
	Item         string    // item key, "outer/inner" in a loop in a loop; "" = none
	Hook         string    // onError, onExit or ""
	Compensating bool      // of the activity that undoes, not of the one that did
	Attempt      int       // 0 = none
	Worker       string    // who ran it; "" = none
	Aside        bool      // it says something and changes nothing, so who does not know its type counts it and goes on
	Data         any       // the payload struct of its type (pointer), or nil; of a type that is not known what JSON says
}

// Event types. Those of activities carry Activity.
const (
	WorkflowCreated     EventType = "WorkflowCreated"
	WorkflowValidated   EventType = "WorkflowValidated"
	WorkflowScheduled   EventType = "WorkflowScheduled"
	VariablesSet        EventType = "VariablesSet"
	WorkflowStarted     EventType = "WorkflowStarted"
	WorkflowPaused      EventType = "WorkflowPaused"
	WorkflowResumed     EventType = "WorkflowResumed"
	WorkflowEnding      EventType = "WorkflowEnding" // how it will end is decided; clean-up follows
	WorkflowCompleted   EventType = "WorkflowCompleted"
	WorkflowFailed      EventType = "WorkflowFailed"
	WorkflowCancelled   EventType = "WorkflowCancelled"
	WorkflowTimedOut    EventType = "WorkflowTimedOut"
	WorkflowCompensated EventType = "WorkflowCompensated"
	WorkflowRetried     EventType = "WorkflowRetried"

	ActivityReady           EventType = "ActivityReady"
	ActivityDispatched      EventType = "ActivityDispatched"
	ActivityStarted         EventType = "ActivityStarted"
	ActivityWaiting         EventType = "ActivityWaiting"
	ActivityCompleted       EventType = "ActivityCompleted"
	ActivityFailed          EventType = "ActivityFailed"
	ActivityTimedOut        EventType = "ActivityTimedOut"
	ActivitySkipped         EventType = "ActivitySkipped"
	ActivityCancelled       EventType = "ActivityCancelled"
	ActivityRetryScheduled  EventType = "ActivityRetryScheduled"
	ActivityRepeatScheduled EventType = "ActivityRepeatScheduled"
	ItemCompleted           EventType = "ItemCompleted"
	ItemFailed              EventType = "ItemFailed"
	ItemCancelled           EventType = "ItemCancelled"

	TimerScheduled EventType = "TimerScheduled"
	TimerFired     EventType = "TimerFired"
	SignalReceived EventType = "SignalReceived"
	SignalConsumed EventType = "SignalConsumed"

	HumanTaskCreated   EventType = "HumanTaskCreated"
	HumanTaskClaimed   EventType = "HumanTaskClaimed"
	HumanTaskUnclaimed EventType = "HumanTaskUnclaimed"
	HumanTaskAssigned  EventType = "HumanTaskAssigned"
	HumanTaskCommented EventType = "HumanTaskCommented"
	HumanTaskVoted     EventType = "HumanTaskVoted"
	HumanTaskDecided   EventType = "HumanTaskDecided"
	HumanTaskReminded  EventType = "HumanTaskReminded"
	HumanTaskEscalated EventType = "HumanTaskEscalated"
	HumanTaskExpired   EventType = "HumanTaskExpired"

	ChildStarted   EventType = "ChildStarted"
	ChildCompleted EventType = "ChildCompleted"
	ChildFailed    EventType = "ChildFailed"

	CompensationStarted   EventType = "CompensationStarted"
	CompensationCompleted EventType = "CompensationCompleted"
	CompensationFailed    EventType = "CompensationFailed"

	PermitAcquired EventType = "PermitAcquired"
	PermitReleased EventType = "PermitReleased"
	LeaseAcquired  EventType = "LeaseAcquired"
	LeaseExpired   EventType = "LeaseExpired"
)

// Terminal reports whether the event ends the execution.
func (t EventType) Terminal() bool {
	switch t {
	case WorkflowCompleted, WorkflowFailed, WorkflowCancelled, WorkflowTimedOut, WorkflowCompensated:
		return true
	}
	return false
}

// Progress reports whether the event brings its execution on. What only begins an attempt, waits for a slot, or
// follows from a lost owner does not: it may come again and again without anything ever getting done.
func (t EventType) Progress() bool {
	switch t {
	case ActivityReady, ActivityDispatched, ActivityStarted, ActivityWaiting, ActivityRetryScheduled, SignalReceived,
		TimerScheduled, TimerFired, PermitAcquired, PermitReleased, LeaseAcquired, LeaseExpired:
		return false
	}
	return true
}
