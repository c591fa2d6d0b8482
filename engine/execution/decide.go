package execution

import (
	"fmt"
	"hash/fnv"
	"time"

	"github.com/google/uuid"

	"weftline/engine/expr"
	"weftline/engine/flow"
	"weftline/engine/retry"
)

// usualEvents is room for what is decided at a start: they fill a kilobyte.
const usualEvents = 7

// New makes an execution of a definition: created, validated, and started or scheduled. The events are
// applied; Advance goes on from there.
func New(wf *flow.Workflow, start Start, now time.Time) (*State, []Event, error) {
	st := &State{}
	d := decider{wf: wf, st: st, now: millis(now), events: make([]Event, 0, usualEvents)}
	created := Created(start)
	created.Input, created.Trigger = expr.SolidObject(start.Input), expr.SolidObject(start.Trigger)
	d.emit(WorkflowCreated, &created)
	d.emit(WorkflowValidated, nil)
	if err := ApplyAll(wf, st, d.events); err != nil {
		return nil, nil, err
	}
	for st.Drives == 0 && st.Ending == nil && d.step() {
	}
	return st, d.events, nil
}

// Decide answers the next decision as events that belong together, in a fixed order; none when everything
// that is left waits for a worker, for a message, for a timer or is over. It changes nothing.
func Decide(wf *flow.Workflow, st *State, now time.Time) []Event {
	d := decider{wf: wf, st: st, now: millis(now)}
	d.decide()
	return d.events
}

// Advance decides and applies until nothing follows, and appends all events, applied, to those given. What it leaves
// is pending work, waits, timers, or an end.
func Advance(events []Event, wf *flow.Workflow, st *State, now time.Time) []Event {
	d := decider{wf: wf, st: st, now: millis(now), events: events}
	for d.step() {
	}
	return d.events
}

// step decides once and applies that; false when nothing follows. It panics if the core refuses its own
// decision, which is a fault of the core.
func (d *decider) step() bool {
	d.base = len(d.events)
	d.decide()
	for i := d.base; i < len(d.events); i++ {
		if err := apply(d.wf, d.st, &d.events[i]); err != nil {
			panic(fmt.Sprintf("the core refused its own decision: %v", err))
		}
	}
	return len(d.events) > d.base
}

// decider turns the state, as it is at now, into events.
type decider struct {
	wf     *flow.Workflow
	st     *State
	now    int64
	events []Event
	base   int // events before this one are applied
}

func (d *decider) emit(t EventType, data any) { d.emitAt(t, place{}, 0, d.now, data) }

// about emits an event of an activity with the number of its current attempt.
func (d *decider) about(t EventType, p place, data any) {
	attempt := 0
	if p.run != nil {
		attempt = p.run.Attempt
	}
	d.emitAt(t, p, attempt, d.now, data)
}

// emitAt gives an event its time, which is never before that of the event before it.
func (d *decider) emitAt(t EventType, p place, attempt int, at int64, data any) {
	if n := len(d.events); n > d.base {
		at = max(at, millis(d.events[n-1].At))
	} else {
		at = max(at, d.st.Updated)
	}
	d.events = append(d.events, Event{
		Seq: d.st.Seq + int64(len(d.events)-d.base) + 1, Type: t, At: instant(at),
		Activity: p.Activity, Item: p.Item, Hook: p.hook, Compensating: p.undo, Attempt: attempt, Data: d.clean(data),
	})
}

// clean takes hidden values out of the failures that an event carries.
func (d *decider) clean(data any) any {
	switch e := data.(type) {
	case *Failed:
		e.Error = d.scrubber().Error(e.Error)
	case *RetryScheduled:
		e.Error = d.scrubber().Error(e.Error)
	case *ItemEnded:
		e.Error = d.scrubber().Error(e.Error)
	case *Ending:
		e.Error = d.scrubber().Error(e.Error)
	case *Ended:
		e.Error = d.scrubber().Error(e.Error)
	}
	return data
}

func (d *decider) find(k key) (place, bool) { return finder{wf: d.wf, st: d.st, peek: true}.find(k) }

func (d *decider) read(p place) reader {
	return reader{wf: d.wf, st: d.st, at: p, now: d.now}
}

func (d *decider) decide() {
	st := d.st
	switch {
	case st.Status == "" || st.Terminal():
	case st.Paused && st.Ending == nil:
		d.deadline()
	case st.Drives == 0 && st.Ending == nil:
		d.start()
	case !st.HasVariables && len(d.wf.Variables) > 0 && st.Ending == nil:
		d.variables()
	case len(st.Todo) > 0:
		d.do(st.Todo[0])
	case d.due():
	case d.dispatch():
	default:
		d.conclude()
	}
}

// start begins the execution, unless it has to wait for its instant or its slot.
func (d *decider) start() {
	st, c := d.st, &d.st.Created
	early := c.StartAt != nil && millis(*c.StartAt) > d.now
	short := c.NeedsPermit && !st.Granted
	timed := len(st.Timers) > 0
	switch {
	case early && st.Status == StatusValidated:
		d.emit(WorkflowScheduled, &Scheduled{Until: c.StartAt, Reason: "start_at"})
	case early:
	case short && (st.Status == StatusValidated || timed):
		d.emit(WorkflowScheduled, &Scheduled{Reason: waitLimit})
	case short:
	case !st.HasVariables && len(d.wf.Variables) > 0:
		d.variables()
	default:
		d.emit(WorkflowStarted, nil)
	}
}

// variables evaluates spec.variables; each may read those before it.
func (d *decider) variables() {
	vars, shown := map[string]any{}, map[string]any{}
	r := d.read(place{})
	r.extra, r.extraShown = map[string]any{"vars": vars}, d.twins("vars", shown)
	differs := false
	for _, v := range d.wf.Variables {
		t, err := r.twinOf(v.Value)
		if err != nil {
			f := asFailure(err)
			f.Message = "variable " + v.Name + ": " + f.Message
			d.verdict(Ending{Status: StatusFailed, Error: f})
			return
		}
		vars[v.Name], shown[v.Name] = t.value, t.seen()
		differs = differs || t.shown != nil
	}
	if !differs {
		shown = nil
	}
	d.emit(VariablesSet, &Variables{Variables: vars, Shown: shown})
}

// twins are the twins of what an expression reads besides the state; nil when nothing is hidden.
func (d *decider) twins(name string, shown any) map[string]any {
	if shown == nil || !d.st.hides(d.wf) {
		return nil
	}
	return map[string]any{name: shown}
}

// do carries out what a fold has decided.
func (d *decider) do(t task) {
	p, ok := d.find(t.Key)
	if !ok {
		panic(fmt.Sprintf("nothing is at %v", t.Key))
	}
	switch t.Kind {
	case toStart:
		d.begin(p)
	case toSkip:
		d.about(ActivitySkipped, p, &Skipped{Reason: d.skipReason(p, t.Reason)})
	case toPark:
		d.park(p)
	case toAsk:
		d.askPermit(p)
	case toCancel:
		d.cancel(p, t.Reason)
	case toLoop:
		d.loop(p)
	case toItem:
		d.item(p)
	case toUndone:
		d.undone(p)
	}
}

// skipReason: under fail-fast a branch is not left out by a decision but by the failure.
func (d *decider) skipReason(p place, reason string) string {
	if p.scope.Stop && reason == reasonBranch {
		return reasonFailFast
	}
	return reason
}

// begin makes an activity ready whose join lets it run, unless its condition says no.
func (d *decider) begin(p place) {
	if !p.undo && p.scope.Stop && !startsAnyway(p.act) {
		d.about(ActivitySkipped, p, &Skipped{Reason: reasonFailFast})
		return
	}
	if p.act.When != nil && !p.undo {
		yes, err := d.read(p).condition(p.act.When)
		if err != nil {
			d.failed(p, asFailure(err))
			return
		}
		if !yes {
			d.about(ActivitySkipped, p, &Skipped{Reason: reasonWhen})
			return
		}
	}
	d.ready(p, 0)
}

// ready resolves the inputs for a turn.
func (d *decider) ready(p place, turn int) {
	r := d.read(p)
	r.extra = turnRoots(p.act, turn)
	input, err := r.recorded()
	if err != nil {
		d.failed(p, asFailure(err))
		return
	}
	var data any
	if input != nil || turn > 0 {
		data = &Ready{Input: input, Iteration: turn}
	}
	d.emitAt(ActivityReady, p, p.run.Attempt+1, d.now, data)
}

func turnRoots(act *flow.Activity, turn int) map[string]any {
	if act.Repeat == nil {
		return nil
	}
	return map[string]any{"iteration": int64(turn)}
}

func (d *decider) askPermit(p place) {
	if p.act.Semaphore == nil || p.run.Held {
		d.askTurn(p)
		return
	}
	name := p.act.Semaphore.Name
	if p.act.Semaphore.Key != nil {
		k, err := d.read(p).public("the key of a semaphore", func(r reader) (any, error) { return r.value(p.act.Semaphore.Key) })
		if err != nil {
			d.failed(p, asFailure(err))
			return
		}
		name = fmt.Sprintf("%s:%v", name, k)
	}
	d.about(ActivityWaiting, p, &Waiting{Kind: waitLimit, Name: name, Capacity: max(p.act.Semaphore.Permits, 1),
		Reason: "waits for a permit of " + name})
}

// dispatch hands what is ready to workers, as far as maxParallel allows.
func (d *decider) dispatch() bool {
	room := d.wf.Limits.MaxParallel
	if room <= 0 {
		room = defaultParallel
	}
	room -= len(d.st.Flight)
	for _, k := range d.st.Queue[:min(max(room, 0), len(d.st.Queue))] {
		if p, ok := d.find(k); ok {
			d.about(ActivityDispatched, p, nil)
		}
	}
	return len(d.events) > d.base
}

const defaultParallel = 50

// cancel ends an activity from outside. What it leaves open is named for those who close it.
func (d *decider) cancel(p place, reason string) {
	c := &Cancelled{Reason: reason}
	if w := p.run.Wait; w != nil {
		c.Task, c.Child = w.Task, p.childToCancel()
	}
	d.about(ActivityCancelled, p, c)
	d.release(p)
}

// childToCancel is the child that has to end with its activity.
func (p place) childToCancel() *uuid.UUID {
	if p.run.Wait == nil || p.run.Wait.Joined || p.act.Workflow != nil && p.act.Workflow.Abandon {
		return nil
	}
	return p.run.Wait.Child
}

// release gives a permit back, or takes the request for it back.
func (d *decider) release(p place) {
	if p.run.Permit != "" {
		q := p
		q.undo = false
		d.emitAt(PermitReleased, q, 0, d.now, &PermitNamed{Name: p.run.Permit})
	}
}

// failed ends an activity as failed, without another try.
func (d *decider) failed(p place, err *Error) {
	f := &Failed{Error: placed(err, p)}
	if w := p.run.Wait; w != nil {
		f.Task, f.Child = w.Task, p.childToCancel()
	}
	t := ActivityFailed
	if err.Type == timeoutAttempt || err.Type == timeoutTotal {
		t = ActivityTimedOut
	}
	d.about(t, p, f)
	d.release(p)
}

// Error types of time-outs.
const (
	timeoutAttempt   = "timeout.attempt"
	timeoutTotal     = "timeout.total"
	timeoutQueue     = "timeout.queue"
	timeoutExecution = "timeout.execution"
)

// attemptFailed schedules another attempt or ends the activity. While everything comes to an end nothing
// is tried again, but work that is let finish does so on another worker when its own was lost.
func (d *decider) attemptFailed(p place, err *Error, asked time.Duration) {
	stopping := !p.undo && p.hook == "" && (p.scope.Stop || d.st.Ending != nil)
	lostOnce := p.act.Once && err.Type == retry.WorkerLost
	policy := d.policy(p)
	next := retry.Next(policy, retry.Try{
		Type: err.Type, Class: err.Class, Used: p.run.Attempt - p.run.Base - p.run.Free, Free: p.run.Free,
		Asked: asked, Seed: d.seed(p),
	})
	if stopping && err.Type != retry.WorkerLost || lostOnce || !next.Again {
		d.failed(p, err)
		return
	}
	d.about(ActivityRetryScheduled, p, &RetryScheduled{
		Error: placed(err, p), Free: next.Free,
		Until: instant(d.now + ceilMillis(next.Pause)), Delay: next.Pause.String(),
	})
}

// policy is the retry of an activity; what undoes has that of the compensation unless it says its own.
func (d *decider) policy(p place) flow.Retry {
	if p.undo && p.act.Retry.Attempts <= 1 {
		return d.wf.Compensation.Retry
	}
	return p.act.Retry
}

// seed of the jitter: the same attempt always pauses as long.
func (d *decider) seed(p place) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%s/%s/%d", d.st.Created.ID, p.Activity, p.Item, p.run.Attempt)
	return h.Sum64()
}

// complete ends an activity well; outputs that cannot be computed make it fail.
func (d *decider) complete(p place, result twin, outcome string) {
	output := result
	if p.act.Outputs != nil {
		r := d.read(p)
		r.extra = turnRoots(p.act, p.run.Turn)
		if r.extra == nil {
			r.extra = map[string]any{}
		}
		r.extra["result"] = result.value
		if result.shown != nil {
			r.extraShown = map[string]any{"result": result.shown}
		}
		mapped, err := r.twinNamed(p.act.Outputs)
		if err != nil {
			d.failed(p, asFailure(err))
			return
		}
		output = mapped
	} else if p.act.ForEach != nil {
		output = twin{} // put together from the items
	}
	ends := p.act.Type == flow.TypeEnd && p.hook == "" && !p.undo
	if ends {
		output = twin{} // it is that of the execution
	}
	if err := d.overMemory(output.value); err != nil {
		d.failed(p, err)
		return
	}
	var data any
	usage := usageIn(p.act, result.value)
	if output.value != nil || outcome != "" || p.run.Turn > 0 || usage != nil {
		data = &Completed{Output: output.value, Shown: output.shown, Outcome: outcome, Iteration: p.run.Turn, Usage: usage}
	}
	d.about(ActivityCompleted, p, data)
	d.release(p)
	if ends && d.st.Ending == nil {
		d.endBy(result)
	}
}

// endBy is the end activity: it completes the execution, unless something failed that nobody handled.
func (d *decider) endBy(output twin) {
	if len(d.st.Errors) > 0 {
		d.verdict(Ending{Status: StatusFailed})
		return
	}
	d.verdict(Ending{Status: StatusCompleted, Output: output.value, Shown: output.shown})
}

// outcome ends a human task or an event. One that nobody takes is a failure.
func (d *decider) outcome(p place, outcome string, result twin, untaken *Error) {
	if goodOutcome(p.act, outcome) || outcomeTaken(p, outcome) {
		d.complete(p, result, outcome)
		return
	}
	d.attemptFailed(p, untaken, 0)
}
