package execution

import (
	"fmt"
	"reflect"
	"slices"

	"weftline/engine/flow"
)

// Apply folds one event into the state. An event that may not come now is refused with an error that wraps
// ErrIllegalTransition, and changes nothing. Apply evaluates no expression: what was computed is in the
// event, so a replay needs nothing but the history and the definition.
func Apply(wf *flow.Workflow, st *State, ev Event) error { return apply(wf, st, &ev) }

// ApplyAll folds events in their order, up to the first that may not come.
func ApplyAll(wf *flow.Workflow, st *State, events []Event) error {
	for i := range events {
		if err := apply(wf, st, &events[i]); err != nil {
			return fmt.Errorf("apply event %d: %w", events[i].Seq, err)
		}
	}
	return nil
}

func apply(wf *flow.Workflow, st *State, ev *Event) error {
	if ev.Seq != st.Seq+1 {
		return illegal(*ev, "the next event is %d", st.Seq+1)
	}
	if ev.Aside && st.Seq > 0 {
		st.Seq, st.Updated = ev.Seq, max(st.Updated, millis(ev.At))
		return nil
	}
	if !fits(ev) {
		return illegal(*ev, "it carries %T", ev.Data)
	}
	f := fold{wf: wf, st: st, ev: ev, at: millis(ev.At)}
	var err error
	if ev.Activity == "" {
		err = f.workflow()
	} else {
		err = f.activity()
	}
	if err != nil {
		return err
	}
	st.Seq, st.Updated = ev.Seq, f.at
	f.settleStatus()
	return nil
}

// fits: a payload is of the type its event carries.
func fits(ev *Event) bool {
	if ev.Data == nil {
		return true
	}
	switch ev.Data.(type) { // the frequent ones without reflection
	case *Completed:
		return ev.Type == ActivityCompleted
	case *Ready:
		return ev.Type == ActivityReady
	case *Created:
		return ev.Type == WorkflowCreated
	case *Ended:
		return ev.Type.Terminal()
	}
	want := newPayload(ev.Type)
	return want != nil && reflect.TypeOf(want) == reflect.TypeOf(ev.Data) && !reflect.ValueOf(ev.Data).IsNil()
}

// payload answers the event's payload, an empty one if it carries none.
func payload[T any](ev *Event) *T {
	if d, ok := ev.Data.(*T); ok && d != nil {
		return d
	}
	return new(T)
}

// fold is the application of one event.
type fold struct {
	wf *flow.Workflow
	st *State
	ev *Event
	at int64
}

func (f *fold) find(k key) (place, bool) { return finder{wf: f.wf, st: f.st}.find(k) }

// activity checks the event against the table and carries it out.
func (f *fold) activity() error {
	r, known := activityRules[f.ev.Type]
	if !known {
		return illegal(*f.ev, "no such event of an activity")
	}
	if IsTerminal(f.st.Status) {
		return illegal(*f.ev, "the execution is %s", f.st.Status)
	}
	p, ok := f.subject()
	if !ok {
		return illegal(*f.ev, "there is no such activity now")
	}
	if now := f.phaseOf(p); !r.phases.has(now) {
		return illegal(*f.ev, "it is %s", now)
	}
	if err := f.checkActivity(p); err != nil {
		return err
	}
	if p.fresh {
		f.begin(p)
	}
	if r.moves {
		f.dropTask(p.key)
	}
	f.carryOut(p, r)
	return nil
}

// phaseOf is the status the table asks about: of an item, that of its loop.
func (f *fold) phaseOf(p place) phase {
	if f.aboutItem() && p.loop != nil {
		return p.loop.run.Phase
	}
	return p.run.Phase
}

func (f *fold) aboutItem() bool {
	return f.ev.Type == ItemCompleted || f.ev.Type == ItemFailed || f.ev.Type == ItemCancelled
}

// subject finds what the event is about.
func (f *fold) subject() (place, bool) {
	find := finder{wf: f.wf, st: f.st, peek: true}
	switch f.ev.Type {
	case CompensationStarted, CompensationCompleted, CompensationFailed, PermitReleased:
		return find.plain(key{f.ev.Activity, f.ev.Item})
	}
	return find.find(key{f.ev.Activity, f.ev.Item})
}

// checkActivity holds what the table cannot say.
func (f *fold) checkActivity(p place) error {
	ev := f.ev
	item := f.aboutItem()
	bare := ev.Type == CompensationStarted || ev.Type == CompensationCompleted || ev.Type == CompensationFailed || ev.Type == PermitReleased
	switch {
	case p.hook != ev.Hook:
		return illegal(*ev, "its hook is %q", p.hook)
	case p.undo != ev.Compensating && !bare:
		return illegal(*ev, "the execution is %s", f.st.Status)
	case item != p.isItem && !(item && p.loop != nil && p.graph == nil):
		return illegal(*ev, "it is not about an item")
	case item && (p.scope.Closed || p.scope.Open > 0):
		return illegal(*ev, "the item is not about to end")
	case ev.Type == ActivityReady && ev.Attempt != p.run.Attempt+1:
		return illegal(*ev, "attempt %d follows %d", ev.Attempt, p.run.Attempt)
	case ev.Type != ActivityReady && ev.Attempt != 0 && ev.Attempt != p.run.Attempt:
		return illegal(*ev, "its attempt is %d", p.run.Attempt)
	case ev.Type == ActivityStarted && p.run.Phase == ready && p.act.ForEach == nil:
		return illegal(*ev, "it was not dispatched")
	case ev.Type == ActivityStarted && p.act.ForEach != nil && ev.Data == nil && p.run.Loop == nil:
		return illegal(*ev, "a loop starts with its items")
	case ev.Type == CompensationStarted && (f.st.Undo.State != undoRunning || p.act.Compensate == nil || p.run.Undo != nil):
		return illegal(*ev, "it cannot be undone now")
	case p.fresh && !p.run.Phase.active() && p.run.Phase != pending:
		return illegal(*ev, "it has not begun")
	case p.loop != nil && !p.fresh && !p.undo && !bare && p.loop.run.Loop.Fates[p.item] == itemPending:
		return illegal(*ev, "its item has not begun")
	}
	return nil
}

// carryOut changes the state. It cannot fail.
func (f *fold) carryOut(p place, r *rule) {
	switch f.ev.Type {
	case ActivityReady:
		f.ready(p)
	case ActivityDispatched:
		f.move(p, dispatched)
	case ActivityStarted:
		f.started(p)
	case ActivityWaiting:
		f.waiting(p)
	case ActivityRetryScheduled:
		f.retryScheduled(p)
	case ActivityRepeatScheduled:
		f.repeatScheduled(p)
	case ActivityCompleted, ActivityFailed, ActivityTimedOut, ActivitySkipped, ActivityCancelled:
		f.end(p, r.to)
	case ItemCompleted, ItemFailed, ItemCancelled:
		f.itemEnded(p)
	case CompensationStarted:
		f.undoStarted(p)
	case CompensationCompleted, CompensationFailed:
		f.undoEnded(p, r.to)
	case PermitAcquired:
		f.permitted(p)
	case PermitReleased:
		p.run.Permit, p.run.Held = "", false
		if p.loop != nil {
			f.drop(*p.loop, p.item)
		}
	default:
		f.whileWaiting(p)
	}
}

func (f *fold) ready(p place) {
	d, r := payload[Ready](f.ev), p.run
	if r.Phase == waiting || r.Phase == pending { // a new turn, or the first
		r.Base, r.Free = r.Attempt, 0
		r.Turn = d.Iteration
	}
	if d.Input != nil || r.Phase != retrying {
		r.Input = d.Input
	}
	f.st.Top = max(f.st.Top, f.ev.Attempt)
	first := r.Begun == 0
	r.Attempt, r.Wait, r.MayStart = f.ev.Attempt, nil, false
	f.unschedule(p, timerWait)
	f.move(p, ready)
	if first {
		r.Begun = f.at
		f.schedule(p, timerTotal, f.at, p.act.TotalTimeout)
	}
	f.schedule(p, timerQueue, f.at, p.act.QueueTimeout)
	if !p.undo && p.hook == "" {
		f.st.Ran = true
	}
	f.enqueue(p)
}

// enqueue says what a ready activity needs next: a permit, the core itself, or a worker.
func (f *fold) enqueue(p place) {
	switch {
	case p.act.Semaphore != nil && !p.run.Held:
		f.push(task{Kind: toAsk, Key: p.key})
	case parks(p.act):
		f.push(task{Kind: toPark, Key: p.key})
	case paced(f.wf, p) && !p.run.MayStart:
		f.push(task{Kind: toAsk, Key: p.key})
	default:
		f.queue(p)
	}
}

// parks: types that the core drives by itself, without a worker.
func parks(act *flow.Activity) bool {
	switch act.Type {
	case flow.TypeWait, flow.TypeEvent, flow.TypeHuman, flow.TypeForEach:
		return true
	}
	return false
}

// queue puts an activity behind those of its priority.
func (f *fold) queue(p place) {
	rank := f.rank(p.key)
	at := len(f.st.Queue)
	for at > 0 && f.rank(f.st.Queue[at-1]) > rank {
		at--
	}
	f.st.Queue = slices.Insert(f.st.Queue, at, p.key)
}

func (f *fold) rank(k key) int {
	if f.wf.Graph.ByID[k.Activity] != nil && f.wf.Graph.ByID[k.Activity].Priority == "" {
		return rankOf(f.st.Created.Priority)
	}
	p, ok := f.find(k)
	if !ok || p.act.Priority == "" {
		return rankOf(f.st.Created.Priority)
	}
	return rankOf(p.act.Priority)
}

func rankOf(priority string) int {
	switch priority {
	case "critical":
		return 0
	case "high":
		return 1
	case "low":
		return 3
	}
	return 2
}

func (f *fold) started(p place) {
	f.move(p, running)
	f.unschedule(p, timerQueue)
	if f.ev.Worker != "" {
		f.st.Worker = f.ev.Worker
	}
	if p.act.ForEach != nil {
		f.loopStarted(p)
	}
}

func (f *fold) waiting(p place) {
	d := payload[Waiting](f.ev)
	w := &wait{Kind: d.Kind, Name: d.Name, Key: d.Key, Reason: d.Reason, Paced: d.PerSecond > 0}
	if p.run.Wait != nil { // a child was recorded just before
		w.Child, w.Joined = p.run.Wait.Child, p.run.Wait.Joined
	}
	p.run.Wait = w
	f.move(p, waiting)
	if w.Paced {
		return
	}
	if d.Kind == waitLimit {
		p.run.Permit = d.Name
		return
	}
	f.unschedule(p, timerQueue)
	if d.Until != nil {
		w.Until = millis(*d.Until)
		f.add(p, timer{At: w.Until, Kind: timerWait, Key: p.key})
	}
	if d.Kind == waitEvent {
		f.st.Hearing = append(f.st.Hearing, p.key)
	}
}

// Kinds of wait.
const (
	waitTimer = "timer"
	waitEvent = "event"
	waitHuman = "human"
	waitChild = "child"
	waitRetry = "retry"
	waitLimit = "limit"
	waitQueue = "queue"
)

func (f *fold) retryScheduled(p place) {
	d, r := payload[RetryScheduled](f.ev), p.run
	f.leaveWait(p)
	r.Error = d.Error
	f.st.useOfFailure(p.act, d.Error)
	if d.Free {
		r.Free++
	}
	f.move(p, retrying)
	r.Wait = &wait{Kind: waitRetry, Until: millis(d.Until)}
	if d.Error != nil {
		r.Wait.Reason = d.Error.Type
	}
	f.add(p, timer{At: r.Wait.Until, Kind: timerWait, Key: p.key})
}

func (f *fold) repeatScheduled(p place) {
	d := payload[RepeatScheduled](f.ev)
	f.leaveWait(p)
	p.run.Turn = d.Iteration
	f.move(p, waiting)
	p.run.Wait = &wait{Kind: waitTimer, Name: waitRepeat, Until: millis(d.Until)}
	f.add(p, timer{At: p.run.Wait.Until, Kind: timerWait, Key: p.key})
}

// leaveWait ends what the activity waited for.
func (f *fold) leaveWait(p place) {
	if p.run.Wait == nil {
		return
	}
	if p.run.Wait.Kind == waitEvent {
		f.st.Hearing = without(f.st.Hearing, p.key)
	}
	p.run.Wait = nil
	for _, kind := range []timerKind{timerWait, timerRemind, timerEscalate} {
		f.unschedule(p, kind)
	}
}

// move changes the status of an activity and everything that is counted by status.
func (f *fold) move(p place, to phase) {
	r, st := p.run, f.st
	from := r.Phase
	r.Phase, r.Since = to, f.at
	if from.active() != to.active() && !p.undo && p.hook == "" {
		st.Active += count(to.active()) - count(from.active())
	}
	st.Parked += count(to.parked()) - count(from.parked())
	if p.act.ForEach != nil {
		return
	}
	if from == ready {
		st.Queue = without(st.Queue, p.key)
	}
	if from.inFlight() && !to.inFlight() {
		st.Flight = without(st.Flight, p.key)
	}
	if to.inFlight() && !from.inFlight() {
		st.Flight = append(st.Flight, p.key)
	}
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// without removes the first k.
func without(keys []key, k key) []key {
	for i := range keys {
		if keys[i] == k {
			return slices.Delete(keys, i, i+1)
		}
	}
	return keys
}

func (f *fold) push(t task) { f.st.Todo = append(f.st.Todo, t) }

// dropTask removes what was to be done with an activity: its event has come. What has to end stays so
// until it does.
func (f *fold) dropTask(k key) {
	for i, t := range f.st.Todo {
		if t.Key == k && t.Kind != toLoop && (t.Kind != toCancel || activityRules[f.ev.Type].to.over()) {
			f.st.Todo = slices.Delete(f.st.Todo, i, i+1)
			return
		}
	}
}

func (f *fold) dropLoopTask(k key) {
	for i, t := range f.st.Todo {
		if t.Key == k && t.Kind == toLoop {
			f.st.Todo = slices.Delete(f.st.Todo, i, i+1)
			return
		}
	}
}
