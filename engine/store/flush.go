package store

import (
	"errors"
	"time"

	"github.com/google/uuid"

	"weftline/engine/execution"
	"weftline/queries"
)

// ErrDuplicate says that a start with the same key was faster.
var ErrDuplicate = errors.New("an execution was already started with this key")

// ErrFenced says that another owner wrote this part of the history: whatever the asker holds is void.
var ErrFenced = errors.New("the execution has another owner")

// ErrOvertaken says that a person decided a task before the flush that expires it was durable. The owner
// reads the execution again; the decision is in its inbox.
var ErrOvertaken = errors.New("the task was decided just before it expired")

// Flush is everything that one execution writes in one transaction: a stretch of its history and what
// follows from it. Events nil writes no history (parking alone).
type Flush struct {
	Execution uuid.UUID
	Team      uuid.UUID
	Workflow  string
	Owner     uuid.UUID // the worker that writes

	Begin             *Begin // the execution comes into being with this flush
	FirstSeq, LastSeq int64
	At                time.Time
	Events            []byte // as execution.EncodeEvents writes them
	packed            []byte // as they are stored
	Sealed            bool   // Events and Checkpoint hold sensitive values
	Checkpoint        []byte // the state at LastSeq; nil = none
	Status            *Status
	Waits             []execution.WaitBrief // what it waits for now; nil while it does not wait
	Drained           []int64               // inbox messages whose consequences are in Events

	Tasks      []execution.TaskRow
	Requester  string // who started it, shown on its tasks
	WaitsOpen  []execution.WaitRow
	WaitsEnded []execution.WaitKey
	Asked      []PermitRequest
	Released   []execution.Permit
	Children   []*Flush // beginnings
	Offers     []Offer
	Withdrawn  []WorkKey // offers whose result is not wanted any more
	Notices    []Notice
	Files      []uuid.UUID           // that its events name
	Joins      []Join                // shared children that it waits for
	EndsJoins  bool                  // it waits for none any more
	Shared     *execution.ChildEnded // the end of a shared child, for all who joined it
	Ended      bool                  // nothing of it may be left waiting
	HasLimits  bool                  // it may hold permits when it ends

	Recovered bool // the execution got on after its process had died: it is not suspected any more

	Leave *Leave // nil = the owner keeps it
}

// Begin is the row of a new execution with its status; the flush then has none. Owned: the writer drives it from here; else any worker may claim it.
type Begin struct {
	Status        string
	Version       int
	ContentHash   string
	Mode          string
	CorrelationID string
	Priority      string
	Queue, Region string // where it waits for a worker, and where that should be
	Deadline      *time.Time
	Labels        map[string]string
	StartedBy     string
	Parent        *uuid.UUID
	Key           *StartKey
	Audit         *queries.WriteAuditParams // who asked for it; nil = nobody did, as for a tick or a child
	Owned         bool

	Error     *execution.Error // of one that ended at once
	Finished  time.Time        // zero while it is not over
	KeepUntil time.Time        // likewise
}

// StartKey makes a repeated start answer the first one.
type StartKey struct {
	Key  string
	Hash []byte // of the request
}

// Status is a change of the execution's status. Finished is zero while it is not over, and so is KeepUntil,
// until when it is kept at least.
type Status struct {
	Status    string
	Error     *execution.Error
	Finished  time.Time
	KeepUntil time.Time
}

// PermitRequest asks for one slot of a limit, or for a turn of a limit of starts a second. Held: the caller holds
// permit_lock and saw a free slot. Replaces: executions that asked earlier make room for it, by order of By.
type PermitRequest struct {
	execution.Permit
	Held     bool
	Replaces bool
	By       string
}

// Join makes an activity wait for a child that another execution started.
type Join struct {
	Child          uuid.UUID
	Activity, Item string
}

// Notice is a message for another execution.
type Notice struct {
	To      uuid.UUID
	Message execution.Message
}

// Leave ends ownership. Parking succeeds only if nothing woke the execution since Wakes was read; Due, if
// not zero, wakes it. Release instead hands the execution, which has work to do, to any worker. Attended, if not zero,
// is the count of wake-ups as of which somebody who does not serve it did so: it keeps its place in line, and Due holds.
type Leave struct {
	Wakes    int64
	Due      time.Time
	Release  bool
	Attended int64
}

// Written answers a flush. Parked: ownership was left as asked; otherwise somebody woke the execution in
// the meantime and its owner must look at its inbox again.
type Written struct{ Parked bool }

// parksAtBirth reports whether an execution comes into being asleep: it then never has a queue row.
func (f *Flush) parksAtBirth() bool { return f.Begin != nil && f.Leave != nil && !f.Leave.Release }
