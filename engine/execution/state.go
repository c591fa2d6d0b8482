package execution

import (
	"time"

	"github.com/google/uuid"

	"weftline/engine/flow"
)

// Start is the request that made an execution.
type Start struct {
	ID            uuid.UUID
	Workflow      string
	Version       int
	ContentHash   string
	Mode          string
	CorrelationID string // "" = the execution's id
	Priority      string
	StartedBy     string
	Team          string
	Labels        map[string]string
	Input         map[string]any // checked, with defaults
	Trigger       map[string]any
	Deadline      *time.Time
	StartAt       *time.Time
	Parent        *ParentRef
	Depth         int
	Children      map[string]ChildVersion // pinned, by activity id
	NeedsPermit   bool                    // waits for a slot of its workflow before it starts
	MaxItems      int                     // of a for_each, 0 = 10,000
	DedupeKey     string                  // of a child that is started once for its key
	Hidden        []string                // inputs that are sensitive although the schema does not say so
	Sensitive     bool                    // what triggered it holds a sensitive value
}

// ParentRef is the activity that started this execution.
type ParentRef struct {
	Execution uuid.UUID `json:"execution"`
	Activity  string    `json:"activity"`
	Item      string    `json:"item,omitempty"`
}

// ChildVersion is the version a child runs on, chosen when the parent started.
type ChildVersion struct {
	Workflow string `json:"workflow"`
	Version  int    `json:"version"`
}

// Shape is that of a State, and of how events are folded into it. It grows by one with a release that folds otherwise or
// remembers more, so that a checkpoint is used only by who would have written the same one.
const Shape = 0

// State is one execution as its events made it. Only Apply changes it; what it needs to decide quickly
// (todo, queue, timers, counters) is folded along, so nothing is ever searched for. Instants are in
// milliseconds since 1970, UTC; 0 = none. A State belongs to one goroutine.
type State struct {
	Shape    int `json:",omitempty"` // of the release that wrote the checkpoint
	Created  Created
	Seq      int64
	Status   string
	Changed  int64 // seq at which Status last changed
	Updated  int64
	Started  int64 // first start
	Driven   int64 // start of the current drive: what limits.timeout counts from
	Finished int64
	Drives   int // times it was started or driven again

	Variables      map[string]any `json:",omitempty"`
	ShownVariables map[string]any `json:",omitempty"` // their twins; nil = the same
	HasVariables   bool
	Hiding         bool `json:",omitempty"` // something sensitive is in it, whatever the input schema says
	Granted        bool // the permit of the workflow
	Paused         bool
	Ending         *Ending
	Errors         []Error `json:",omitempty"` // unhandled ones, in order
	Result         *Ended  // of the terminal event
	Ran            bool    // some activity was made ready

	Main    scope
	OnError *scope
	OnExit  *scope
	Undo    undo

	Todo   []task  `json:",omitempty"` // decided and not yet done, in order
	Queue  []key   `json:",omitempty"` // ready for a worker, in order
	Flight []key   `json:",omitempty"` // with a worker, in order of dispatch
	Active int     // activities of the main graph, items included, that have begun and not ended
	Parked int     // activities that wait, hooks and compensation included
	Timers []timer `json:",omitempty"`

	Hearing []key           `json:",omitempty"` // parked event waits, in order
	Kept    []keptSignal    `json:",omitempty"` // received before their wait
	Seen    map[string]bool `json:",omitempty"`
	Worker  string          // the last one that ran something
	Usage   *Usage          `json:",omitempty"` // of all ai activities
	Top     int             `json:",omitempty"` // highest number of an attempt so far
	Floor   int             `json:",omitempty"` // Top when it was driven again: new lives number from there
	Held    int64           `json:",omitempty"` // bytes of outputs, counted where limits.maxMemory is set

	inputs    map[string]any // cache: inputs with absent declared ones as null
	sensitive answer         // cache
}

// key names an activity, or an item of a loop by the id of the loop.
type key struct {
	Activity string
	Item     string `json:",omitempty"`
}

// scope is one life of a graph: the workflow's, a hook list's, or that of one item of a loop.
type scope struct {
	Runs   []run
	Open   int    // activities not over
	Stop   bool   `json:",omitempty"` // fail-fast: nothing new starts
	Failed *Error `json:",omitempty"` // the first unhandled failure
	Closed bool   `json:",omitempty"` // of an item: its loop has counted it
}

// run is one activity in one scope.
type run struct {
	Phase   phase
	Decided bool `json:",omitempty"` // its join has spoken
	Settled int  `json:",omitempty"` // edges in whose source is over
	Fired   int  `json:",omitempty"`
	Dead    int  `json:",omitempty"` // edges dead by a failure

	Attempt int `json:",omitempty"` // number of the last one, never reused
	Base    int `json:",omitempty"` // Attempt when this turn or drive began
	Free    int `json:",omitempty"` // attempts of this turn that do not count
	Turn    int `json:",omitempty"` // of a repeat, from 0

	Since int64 `json:",omitempty"` // of Phase
	Begun int64 `json:",omitempty"`
	Ended int64 `json:",omitempty"`

	Outcome string `json:",omitempty"`
	Reason  string `json:",omitempty"` // of a skip or cancellation
	Taken   bool   `json:",omitempty"` // its failure is handled
	Input   any    `json:",omitempty"`
	Output  any    `json:",omitempty"`
	Shown   any    `json:",omitempty"` // the twin of Output; nil = the same
	Error   *Error `json:",omitempty"`

	Wait   *wait  `json:",omitempty"`
	Permit string `json:",omitempty"` // asked for or held
	Held   bool   `json:",omitempty"`
	// MayStart: the attempt has its turn under limits.maxPerSecond.
	MayStart bool    `json:",omitempty"`
	Due      []timer `json:",omitempty"` // its entries in State.Timers
	Loop     *loop   `json:",omitempty"`
	Undo     *run    `json:",omitempty"`

	joined any // cache of what outputOf puts together
}

// wait is what a parked activity waits for, kept until it is over.
type wait struct {
	Kind   string
	Name   string       `json:",omitempty"`
	Paced  bool         `json:",omitempty"` // for its turn under limits.maxPerSecond
	Key    string       `json:",omitempty"`
	Until  int64        `json:",omitempty"`
	Reason string       `json:",omitempty"`
	Task   *uuid.UUID   `json:",omitempty"`
	Child  *uuid.UUID   `json:",omitempty"`
	Joined bool         `json:",omitempty"` // somebody else started the child
	Votes  []TaskVoted  `json:",omitempty"`
	Heard  []keptSignal `json:",omitempty"` // events counted so far
}

// keptSignal is a received signal; Seq is that of its SignalReceived.
type keptSignal struct {
	Seq     int64
	ID      string `json:",omitempty"`
	Name    string
	Payload any   `json:",omitempty"`
	Shown   any   `json:",omitempty"` // the twin of Payload; nil = the same
	At      int64 // received
}

// loop is the life of a for_each from the moment its items are fixed.
type loop struct {
	Items        []any
	ShownItems   []any    `json:",omitempty"` // their twins; nil = the same
	Keys         []string `json:",omitempty"` // nil = the index
	Width        int      // items at a time
	Next         int      // first item not begun
	Open         int      // begun and not ended
	Completed    int
	Failed       int
	Results      []any          `json:",omitempty"` // by index
	ShownResults map[int]any    `json:",omitempty"` // twins, by index
	Fates        []byte         `json:",omitempty"` // by index: what became of each item
	Errors       map[int]*Error `json:",omitempty"`
	Bodies       map[int]*scope `json:",omitempty"` // of items that are open, failed or may be undone
	Stop         bool           `json:",omitempty"` // no further item begins
	Halted       bool           `json:",omitempty"` // it was stopped from outside, or lost an item that way
	Queued       bool           `json:",omitempty"` // it is in Todo
	Redo         []int          `json:",omitempty"` // items to run again

	index map[string]int // cache: key → index
}

// States of the compensation of an execution; "" = none.
const (
	undoRunning    = "running"
	undoComplete   = "complete"
	undoIncomplete = "incomplete"
)

// What became of an item.
const (
	itemPending byte = iota
	itemOpen
	itemCompleted
	itemFailed
	itemLost // cancelled
)

// undo is the compensation of the execution.
type undo struct {
	Done   []key  `json:",omitempty"` // completed and undoable, in order of completion
	State  string `json:",omitempty"` // "", running, complete, incomplete
	Todo   []key  `json:",omitempty"` // not begun yet, in the order in which they are undone
	Open   int    `json:",omitempty"` // begun and not ended
	Failed []key  `json:",omitempty"` // could not be undone
}

// task is something that was decided by a fold and is done by the next decision.
type task struct {
	Kind   taskKind
	Key    key
	Reason string `json:",omitempty"`
}

type taskKind uint8

const (
	toStart  taskKind = iota // its join lets it run
	toSkip                   // its join does not
	toPark                   // ready, and driven by the core itself
	toAsk                    // ready, needs a permit first
	toCancel                 // has to end
	toLoop                   // may begin an item or end
	toItem                   // all activities of the item are over
	toUndone                 // the activity that undoes is over
)

// timer is one due instant. Its fields order it, so that equal instants fire in a fixed order.
type timer struct {
	At   int64
	Kind timerKind
	Key  key
	N    int `json:",omitempty"`
}

type timerKind uint8

const (
	timerDeadline timerKind = iota // of the execution
	timerStart                     // startAt
	timerTotal                     // all attempts of an activity
	timerQueue                     // ready but not started
	timerWait                      // wait, retry pause, repeat, event timeout, due of a task
	timerRemind
	timerEscalate
)

func millis(t time.Time) int64 { return t.UnixMilli() }

func instant(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func instantOrNil(ms int64) *time.Time {
	if ms == 0 {
		return nil
	}
	t := instant(ms)
	return &t
}

// Terminal reports whether the execution has ended.
func (st *State) Terminal() bool { return IsTerminal(st.Status) }

func (st *State) hookScope(hook string) *scope {
	if hook == hookError {
		return st.OnError
	}
	return st.OnExit
}

const (
	hookError = "onError"
	hookExit  = "onExit"
)

func newScope(size int) *scope { return &scope{Runs: make([]run, size), Open: size} }

// newLife is a scope that may have had a life before: no number of an attempt is used twice, so that a late
// result is always known as such.
func (st *State) newLife(size int) *scope {
	s := newScope(size)
	if st.Floor > 0 {
		for i := range s.Runs {
			s.Runs[i].Attempt, s.Runs[i].Base = st.Floor, st.Floor
		}
	}
	return s
}

// bodySize is the number of activities of a loop's body.
func bodySize(loop *flow.ForEach) int {
	if loop.Activity != nil {
		return 1
	}
	return len(loop.Body.Activities)
}
