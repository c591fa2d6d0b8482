// Package rehearse owns runs without effects: a workflow is driven by the very core that drives it on a
// server, with mocks instead of workers and a clock that jumps. Test runs the cases of a WorkflowTest and
// counts what they cover; Plan shows the path that an input takes. It is pure and deterministic, and it must
// not know files, storage or HTTP: children are found by a function of the caller.
package rehearse

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"weftline/engine/execution"
	"weftline/engine/flow"
)

// Library finds the workflow that a child runs on, by name; nil = there is none.
type Library func(name string) *flow.Workflow

// Fault is something that is wrong with a case or a plan. Path says where in it: mocks.load, script[1],
// expect.status; "" = nowhere in particular.
type Fault struct {
	Path     string `json:"path,omitempty"`
	Activity string `json:"activity,omitempty"`
	Item     string `json:"item,omitempty"`
	Message  string `json:"message"`
	Expected string `json:"-"` // of a test: what the expectation says, and what was seen instead
	Got      string `json:"-"`
}

// Bounds of one rehearsal.
const (
	mostMoves = 200_000                   // steps of all its executions together
	longest   = 10 * 365 * 24 * time.Hour // of its clock
	keptFor   = 24 * time.Hour            // an event that nobody waits for
)

// began is what the clock shows at the start when a case says nothing else.
var began = time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)

// setup is what a rehearsal begins with.
type setup struct {
	workflow  *flow.Workflow
	library   Library
	input     map[string]any // checked, with defaults
	mocks     Mocks
	script    []flow.TestStep
	startedAt time.Time // zero = began
	startedBy string
	trigger   map[string]any
	assume    bool        // what nobody mocked and nobody reads is taken to go well; what is read stops the clock
	replays   bool        // every move is followed by a replay of the history
	stopped   func() bool // nil = never; true gives up
	id        uuid.UUID   // of the first execution; zero = rootID
	sought    *sought     // where a trial stops; nil = at no attempt
}

// world is one rehearsal: an execution, its children, and everything outside them.
type world struct {
	setup
	now     time.Time
	start   time.Time
	all     []*running // the first is the root
	byID    map[uuid.UUID]*running
	queue   []func() // what follows from events, in order
	script  []scripted
	kept    []posted
	tasks   map[uuid.UUID]*task
	permits map[string]*pool
	faults  []Fault
	notes   []Note
	moves   int
	owners  int  // takeovers so far, for the name of the next worker
	stalled bool // something needs a mock, so time does not pass
}

// scripted is a step with its place in the case.
type scripted struct {
	flow.TestStep
	index int
}

// Note is a remark of the script, with the time of the clock since the start.
type Note struct {
	At   string `json:"at"`
	Text string `json:"text"`
}

func (w *world) fault(path, activity, item, format string, args ...any) {
	for _, f := range w.faults {
		if f.Path == path && f.Activity == activity && f.Item == item {
			return
		}
	}
	w.faults = append(w.faults, Fault{Path: path, Activity: activity, Item: item, Message: fmt.Sprintf(format, args...)})
}

// later puts off what follows from events until they are recorded.
func (w *world) later(f func()) { w.queue = append(w.queue, f) }

func (w *world) root() *running { return w.all[0] }

// rehearse runs until nothing moves any more.
func rehearse(s setup) *world {
	w := &world{setup: s, byID: map[uuid.UUID]*running{}, tasks: map[uuid.UUID]*task{}, permits: map[string]*pool{}}
	if w.startedAt.IsZero() {
		w.startedAt = began
	}
	if w.id == uuid.Nil {
		w.id = rootID
	}
	w.start, w.now = w.startedAt, w.startedAt
	w.script = inOrder(s.script)
	w.begin(s.workflow, "", s.mocks, execution.Start{ID: w.id, Input: s.input, StartedBy: s.startedBy, Trigger: s.trigger})
	w.drive()
	return w
}

// drive goes on until nothing moves any more, or to the next attempt that a trial wants.
func (w *world) drive() {
	for !w.arrived() && w.move() {
		if w.moves++; w.moves > mostMoves {
			w.fault("", "", "", "it does not come to an end within %d steps", mostMoves)
			break
		}
		if w.stopped != nil && w.moves%256 == 0 && w.stopped() {
			w.fault("", "", "", "it was stopped before its end")
			break
		}
	}
	if !w.arrived() {
		w.leftOver()
	}
}

// arrived: a trial stands where it wanted to.
func (w *world) arrived() bool { return w.sought != nil && w.sought.found != nil }

// rootID is the same for all rehearsals but trials, so that whatever is derived from it is too.
var rootID = uuid.MustParse("00000000-0000-4000-8000-000000000001")

// move does the next thing; false when nothing is left to do.
func (w *world) move() bool {
	if len(w.queue) > 0 {
		next := w.queue[0]
		w.queue = w.queue[1:]
		next()
		return true
	}
	for _, r := range w.all {
		if r.move() {
			if w.replays {
				r.refold()
			}
			return true
		}
	}
	if w.over() {
		return false
	}
	if len(w.script) > 0 && !w.script[0].due(w.start).After(w.now) {
		step := w.script[0]
		w.script = w.script[1:]
		w.perform(step)
		return true
	}
	return !w.stalled && w.pass()
}

func (w *world) over() bool {
	for _, r := range w.all {
		if !r.st.Terminal() {
			return false
		}
	}
	return true
}

// pass lets the clock jump to the next instant at which something is due.
func (w *world) pass() bool {
	var next time.Time
	consider := func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	for _, r := range w.all {
		if at, ok := r.due(); ok {
			consider(at)
		}
	}
	if len(w.script) > 0 {
		consider(w.script[0].due(w.start))
	}
	if next.IsZero() || next.Sub(w.start) > longest {
		return false
	}
	if next.After(w.now) {
		w.now = next
	}
	return true
}

// leftOver complains about steps of the script that never had their turn, and about an end that never came.
func (w *world) leftOver() {
	root := w.root()
	for _, step := range w.script {
		if root.st.Terminal() && step.acts() {
			w.fault(step.path(), "", "", "it stands at %s, but the execution was %s after %s", short(step.At), root.st.Status, short(w.elapsed()))
		} else if step.Note != "" {
			w.note(step)
		}
	}
	if root.st.Terminal() || len(w.faults) > 0 {
		return
	}
	for _, wait := range execution.Describe(root.wf, root.st).Waits {
		w.fault("", wait.Activity, wait.Item, "it never ends: %s %s, and nothing in the script does anything about it", wait.Activity, wait.Reason)
	}
	if len(w.faults) == 0 {
		w.fault("", "", "", "it never ends: it is %s", root.st.Status)
	}
}

// elapsed is the time from the start to the end, or to now.
func (w *world) elapsed() time.Duration {
	if st := w.root().st; st.Finished > 0 {
		return time.UnixMilli(st.Finished).Sub(w.start)
	}
	return w.now.Sub(w.start)
}
