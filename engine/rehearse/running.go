package rehearse

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"weftline/engine/execution"
	"weftline/engine/flow"
)

// running is one execution of a rehearsal.
type running struct {
	world   *world
	wf      *flow.Workflow
	bare    *flow.Workflow // made when a mock gives outputs
	read    map[string]bool
	prefix  string // of its activities in mocks and script: "" or "<activity of the parent>/"
	mocks   Mocks
	id      uuid.UUID
	st      *execution.State
	history []execution.Event
	busy    map[attempt]time.Time // attempts that take their time, and when they end
	waits   map[execution.WaitKey]execution.WaitRow
	order   []execution.WaitKey // of waits, as they came

	mocked, assumed, needy map[spot]bool // how each spot was answered
}

// spot names an activity or an item of it; attempt names one try.
type (
	spot    struct{ activity, item string }
	attempt struct {
		spot
		hook         string
		compensating bool
		number       int
	}
)

func attemptOf(w execution.Work) attempt {
	return attempt{spot{w.Activity, w.Item}, w.Hook, w.Compensating, w.Attempt}
}

// begin makes an execution and starts it at once.
func (w *world) begin(wf *flow.Workflow, prefix string, mocks Mocks, start execution.Start) *running {
	r := &running{world: w, wf: wf, prefix: prefix, mocks: mocks, id: start.ID, busy: map[attempt]time.Time{},
		waits: map[execution.WaitKey]execution.WaitRow{}, mocked: map[spot]bool{}, assumed: map[spot]bool{}, needy: map[spot]bool{}}
	start.Workflow, start.Version, start.ContentHash = wf.Name, 1, wf.ContentHash
	start.Priority, start.Children = wf.Limits.Priority, r.children()
	if start.Input == nil {
		start.Input = map[string]any{}
	}
	w.all, w.byID[r.id] = append(w.all, r), r
	st, events, err := execution.New(wf, start, w.now)
	if err != nil { // the core refuses its own first events: a fault of the core
		panic(fmt.Sprintf("an execution cannot begin: %v", err))
	}
	r.st = st
	r.record(events)
	return r
}

// children pins the workflows that its activities start.
func (r *running) children() map[string]execution.ChildVersion {
	pinned := map[string]execution.ChildVersion{}
	for id, act := range activities(r.wf) {
		r.pin(pinned, id, act)
		r.pin(pinned, id+"/compensate", act.Compensate)
	}
	return pinned
}

func (r *running) pin(pinned map[string]execution.ChildVersion, id string, act *flow.Activity) {
	if act != nil && act.Workflow != nil && r.world.childOf(act.Workflow.Name) != nil {
		pinned[id] = execution.ChildVersion{Workflow: act.Workflow.Name, Version: 1}
	}
}

func (w *world) childOf(name string) *flow.Workflow {
	if name == w.workflow.Name {
		return w.workflow
	}
	if w.library == nil {
		return nil
	}
	return w.library(name)
}

// move decides what follows, or makes one attempt; false when there is nothing to do now.
func (r *running) move() bool {
	if events := execution.Advance(nil, r.wf, r.st, r.world.now); len(events) > 0 {
		r.record(events)
		return true
	}
	for _, work := range execution.Pending(r.wf, r.st) {
		if r.attempt(work) {
			return true
		}
	}
	return false
}

// due is the next instant at which something of this execution falls due by itself.
func (r *running) due() (time.Time, bool) {
	next, ok := execution.NextDue(r.st)
	if len(r.busy) == 0 {
		return next, ok
	}
	for _, work := range execution.Pending(r.wf, r.st) {
		if at, busy := r.busy[attemptOf(work)]; busy && (!ok || at.Before(next)) {
			next, ok = at, true
		}
	}
	return next, ok
}

// receive hands a message to the core. One that is stale is dropped, as on a server.
func (r *running) receive(message execution.Message) error { return r.receiveAs(r.wf, message) }

func (r *running) receiveAs(wf *flow.Workflow, message execution.Message) error {
	events, err := execution.Receive(wf, r.st, message, r.world.now)
	if err != nil {
		return err
	}
	r.apply(events)
	return nil
}

func (r *running) apply(events []execution.Event) {
	for _, event := range events {
		if err := execution.Apply(r.wf, r.st, event); err != nil {
			panic(fmt.Sprintf("the core refused its own decision: %v", err))
		}
	}
	r.record(events)
}

// record keeps events that are applied, and sees to what follows outside.
func (r *running) record(events []execution.Event) {
	r.history = append(r.history, events...)
	r.follow(execution.Effects(r.wf, r.st, events))
}

// refold forgets the state and folds it again from the bytes of the history.
func (r *running) refold() {
	stored, err := execution.EncodeEvents(r.history)
	if err == nil {
		r.history, err = execution.DecodeEvents(stored)
	}
	st := &execution.State{}
	for i := 0; err == nil && i < len(r.history); i++ {
		err = execution.Apply(r.wf, st, r.history[i])
	}
	if err != nil {
		panic(fmt.Sprintf("the history does not fold: %v", err))
	}
	r.st = st
}

// crash kills what drives the execution: attempts in flight are lost, and another worker goes on.
func (r *running) crash(worker string) {
	r.refold()
	clear(r.busy)
	r.apply(execution.Lost(r.wf, r.st, worker, r.world.now, nil))
}

// ignoreStale tells faults apart from messages that came too late.
func ignoreStale(err error) error {
	if errors.Is(err, execution.ErrStale) {
		return nil
	}
	return err
}
