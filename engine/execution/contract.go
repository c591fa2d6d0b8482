package execution

import (
	"time"

	"github.com/google/uuid"

	"weftline/engine/flow"
)

// Message is something from outside for one execution: it is stored in the inbox before it is
// acknowledged, and the owner turns it into events with Receive. Exactly one field is set.
type Message struct {
	Cancel        *Cancel     `json:"cancel,omitempty"`
	Pause         *Control    `json:"pause,omitempty"`
	Resume        *Control    `json:"resume,omitempty"`
	Retry         *Retry      `json:"retry,omitempty"`
	Compensate    *Control    `json:"compensate,omitempty"`
	Signal        *Signal     `json:"signal,omitempty"`
	Vote          *Vote       `json:"vote,omitempty"`
	TaskChange    *TaskChange `json:"taskChange,omitempty"`
	ChildEnded    *ChildEnded `json:"childEnded,omitempty"`
	PermitGranted *Permit     `json:"permitGranted,omitempty"`
	Began         *Began      `json:"began,omitempty"`
	Result        *Result     `json:"result,omitempty"`
	OwnerLost     *OwnerLost  `json:"ownerLost,omitempty"`
}

// OwnerLost tells whoever drives the execution next that its last owner left it in disorder: what that was running is
// lost, and only the new owner knows which attempts are elsewhere. It answers with Lost.
type OwnerLost struct {
	Worker string `json:"worker"`
}

// Began tells that an attempt starts on a worker that is not the owner. It is stored before that worker gets
// the attempt.
type Began struct {
	Activity     string    `json:"activity"`
	Item         string    `json:"item,omitempty"`
	Compensating bool      `json:"compensating,omitempty"`
	Attempt      int       `json:"attempt"`
	Worker       string    `json:"worker"`
	At           time.Time `json:"at"`
}

// Control is a plain request by a person.
type Control struct {
	By   string `json:"by"`
	Note string `json:"note,omitempty"`
}

// Cancel ends an execution early; Compensate nil means as the definition says.
type Cancel struct {
	By         string `json:"by"`
	Reason     string `json:"reason,omitempty"`
	Compensate *bool  `json:"compensate,omitempty"`
}

// Retry drives a failed or timed-out execution again.
type Retry struct {
	By    string         `json:"by"`
	From  string         `json:"from,omitempty"`
	Item  string         `json:"item,omitempty"`
	Input map[string]any `json:"input,omitempty"`
	Note  string         `json:"note,omitempty"`
}

// Signal is a signal to one execution (Direct) or an event that reached one of its waits by correlation.
type Signal struct {
	ID       string    `json:"id"` // signalId or eventId; consumed at most once
	Name     string    `json:"name"`
	Payload  any       `json:"payload"`
	Direct   bool      `json:"direct,omitempty"`
	Activity string    `json:"activity,omitempty"` // the wait an event was matched to
	Item     string    `json:"item,omitempty"`
	At       time.Time `json:"at"`
	By       string    `json:"by,omitempty"`
	Shown    any       `json:"shown,omitempty"` // what people may see of the payload; absent = the same
}

// Vote is an accepted answer to a human task. The task rules (candidates, form, quorum) were checked, and
// the vote won its place, in the transaction that stored this message.
type Vote struct {
	Task     uuid.UUID `json:"task"`
	Activity string    `json:"activity"`
	Item     string    `json:"item,omitempty"`
	By       string    `json:"by"`
	Outcome  string    `json:"outcome"`
	Form     any       `json:"form,omitempty"`
	Shown    any       `json:"shown,omitempty"` // what people may see of the form; absent = the same
	Comment  string    `json:"comment,omitempty"`
	At       time.Time `json:"at"`
	Decides  bool      `json:"decides"` // this vote ends the task
}

// TaskChange records that a person claimed, released, was assigned or commented a task.
type TaskChange struct {
	Task     uuid.UUID `json:"task"`
	Activity string    `json:"activity"`
	Item     string    `json:"item,omitempty"`
	Kind     string    `json:"kind"` // claimed, unclaimed, assigned, commented
	By       string    `json:"by"`
	To       string    `json:"to,omitempty"`
	Comment  string    `json:"comment,omitempty"`
	At       time.Time `json:"at"`
}

// ChildEnded tells a parent how its child ended.
type ChildEnded struct {
	Execution uuid.UUID `json:"execution"`
	Activity  string    `json:"activity"`
	Item      string    `json:"item,omitempty"`
	Status    string    `json:"status"`
	Output    any       `json:"output,omitempty"`
	Shown     any       `json:"shown,omitempty"` // what people may see of the output; absent = the same
	Error     *Error    `json:"error,omitempty"`
}

// Permit names a slot of a limit: a semaphore, or the concurrency pool of a workflow (Activity "").
type Permit struct {
	Name     string `json:"name"`
	Capacity int    `json:"capacity,omitempty"` // how many the limit has; set when asked for
	Activity string `json:"activity,omitempty"`
	Item     string `json:"item,omitempty"`

	// PerSecond, when asked for, makes it a turn of a limit of starts a second instead of a slot: nothing is
	// held and nothing given back. At, when granted, is the instant from which on the start is allowed.
	PerSecond float64    `json:"perSecond,omitempty"`
	At        *time.Time `json:"at,omitempty"`
}

// Result is what one attempt came to. A result of another attempt than the current one is refused.
type Result struct {
	Activity     string        `json:"activity"`
	Item         string        `json:"item,omitempty"`
	Hook         string        `json:"hook,omitempty"`
	Compensating bool          `json:"compensating,omitempty"`
	Attempt      int           `json:"attempt"`
	Worker       string        `json:"worker,omitempty"`
	StartedAt    time.Time     `json:"startedAt"`
	EndedAt      time.Time     `json:"endedAt"`
	Value        any           `json:"value,omitempty"` // the raw result, before outputs
	Shown        any           `json:"shown,omitempty"` // what people may see of it, where that is known; absent = as the core finds
	Error        *Error        `json:"error,omitempty"`
	RetryAfter   time.Duration `json:"retryAfter,omitempty"` // from a Retry-After header
	Child        *ChildRef     `json:"child,omitempty"`      // a child execution to start; the activity then waits
}

// ChildRef is a child execution about to be started in the transaction that records ChildStarted. With Key it is
// started once; Joined: it was, and is only waited for.
type ChildRef struct {
	Execution uuid.UUID      `json:"execution"`
	Workflow  string         `json:"workflow"`
	Version   int            `json:"version"`
	Input     map[string]any `json:"input"`
	Hidden    []string       `json:"hidden,omitempty"` // names of inputs that are sensitive
	Wait      bool           `json:"wait"`
	Key       string         `json:"key,omitempty"`
	Joined    bool           `json:"joined,omitempty"`
}

// Error is a failure as the API and expressions show it.
type Error struct {
	Type     string         `json:"type"`
	Class    string         `json:"class"` // activity, workflow, infrastructure, external
	Message  string         `json:"message"`
	Activity string         `json:"activity,omitempty"`
	Item     string         `json:"item,omitempty"`
	Attempt  int            `json:"attempt,omitempty"`
	Detail   any            `json:"detail,omitempty"`
	Position map[string]any `json:"position,omitempty"` // line and column in the definition
}

// Work is one attempt that a worker is to run now: dispatched and without a result.
type Work struct {
	Activity       string
	Item           string
	Hook           string // onError, onExit or ""
	Compensating   bool
	Attempt        int
	Type           string
	Input          any // resolved inputs
	IdempotencyKey string
	Timeout        time.Duration // 0 = none
	MaxMemory      int64         // bytes that what runs it may take, 0 = as the worker says
	Deadline       time.Time     // of all attempts; zero = none
	Once           bool
	Checkpoint     bool
	Started        bool // its start is in the history
	Priority       string
	Affinity       *flow.Affinity
	Secrets        []string  // names that InputWithSecrets needs
	Child          *ChildRef // of a workflow activity: the child to start, Version 0 = none was pinned
}

// Consequences are what must change beside the history, in the same transaction as the events.
type Consequences struct {
	Tasks          []TaskRow
	Waits          []WaitRow // event waits opened
	WaitsEnded     []WaitKey
	Children       []ChildRow
	CancelChildren []uuid.UUID
	Joined         []ChildRow // children that are only waited for
	Permits        []Permit   // asked for
	Released       []Permit
	Status         string // "" = unchanged, else the new execution status
	Ended          bool   // terminal: parents are told, permits released, timers and waits removed
}

// TaskRow inserts or updates a human task. Only the fields that changed are set on an update.
type TaskRow struct {
	ID                  uuid.UUID
	Create              bool
	Activity            string
	Item                string
	Status              string // open, done, expired, cancelled
	Title, Description  string
	Assignee            string
	Users, Groups       []string
	Quorum              int
	NotActor            bool
	Barred              []string // who may not decide (notActor, notSameAs)
	Outcomes            []string
	Form                map[string]any
	Data                any
	Due                 time.Time
	OnDue               string
	Comment             bool
	Outcome             string
	AddUsers, AddGroups []string // escalation
	At                  time.Time
}

// WaitRow is an event wait that arriving events must find.
type WaitRow struct {
	WaitKey
	Name        string
	Correlation string
	HasWhere    bool
	Until       time.Time // zero = never
}

// WaitKey names a wait within its execution.
type WaitKey struct{ Activity, Item string }

// ChildRow is a child execution to create.
type ChildRow struct {
	ChildRef
	Activity, Item string
	Depth          int
}
