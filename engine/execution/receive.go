package execution

import (
	"slices"
	"time"

	"weftline/engine/expr"
	"weftline/engine/flow"
)

// usualAnswer is room for the start and the end of an attempt.
const usualAnswer = 2

// Receive turns a message into events that are not applied yet; Advance follows when they are. A message
// that is late, repeated or about something that is not there is refused with an error that wraps ErrStale,
// and gives no events. A granted permit that is refused has to be given back by the caller.
func Receive(wf *flow.Workflow, st *State, msg Message, now time.Time) ([]Event, error) {
	d := decider{wf: wf, st: st, now: millis(now), events: make([]Event, 0, usualAnswer)}
	if st.Terminal() && msg.Retry == nil && msg.Compensate == nil {
		return nil, stale("the execution is %s", st.Status)
	}
	if err := d.receive(msg); err != nil {
		return nil, err
	}
	return d.events, nil
}

func (d *decider) receive(msg Message) error {
	switch {
	case msg.Result != nil:
		return d.result(msg.Result)
	case msg.Began != nil:
		return d.began(msg.Began)
	case msg.Signal != nil:
		return d.signal(msg.Signal)
	case msg.Vote != nil:
		return d.vote(msg.Vote)
	case msg.TaskChange != nil:
		return d.taskChange(msg.TaskChange)
	case msg.ChildEnded != nil:
		return d.childEnded(msg.ChildEnded)
	case msg.PermitGranted != nil:
		return d.permit(msg.PermitGranted)
	case msg.Cancel != nil:
		return d.cancelAll(msg.Cancel)
	case msg.Pause != nil:
		return d.pause(msg.Pause)
	case msg.Resume != nil:
		return d.resume(msg.Resume)
	case msg.Retry != nil:
		return d.retry(msg.Retry)
	case msg.Compensate != nil:
		return d.compensateAgain(msg.Compensate)
	}
	return stale("the message is empty")
}

// result is what an attempt came to. Only that of the current attempt counts.
func (d *decider) result(r *Result) error {
	p, err := d.attempt(r)
	if err != nil {
		return err
	}
	if p.run.Phase == dispatched {
		d.startAttempt(p, r.Worker, r.StartedAt)
	}
	d.now = max(d.now, p.run.Since)
	switch {
	case r.Error != nil:
		d.attemptFailed(p, d.errorOf(p, r.Error), r.RetryAfter)
	case r.Child != nil:
		d.childBegun(p, r.Child)
	case p.act.Type == flow.TypeSwitch:
		value, _ := r.Value.(map[string]any)
		outcome, _ := value["outcome"].(string)
		d.finishTurn(p, twin{value: expr.Solid(r.Value)}, outcome)
	default:
		d.finishTurn(p, d.resultOf(p, r), "")
	}
	return nil
}

// began is the start of an attempt on another worker.
func (d *decider) began(b *Began) error {
	p, ok := d.find(key{b.Activity, b.Item})
	if !ok || p.fresh || p.run.Phase != dispatched || p.run.Attempt != b.Attempt || p.undo != b.Compensating {
		return stale("attempt %d of %s does not wait to start", b.Attempt, b.Activity)
	}
	d.startAttempt(p, b.Worker, b.At)
	return nil
}

// resultOf is the result of an attempt and what people may see of it. Another system's answer is searched for
// hidden values; a script may have turned them into anything, so all of its result is hidden.
func (d *decider) resultOf(p place, r *Result) twin {
	t := twin{value: expr.Solid(r.Value), shown: r.Shown}
	switch {
	case t.value == nil || t.shown != nil || pure(p.act.Type) || !d.st.hides(d.wf):
	case p.act.Type == flow.TypeScript && d.givenSensitive(p):
		t.shown = concealed(t.value)
	default:
		t.shown = difference(t.value, d.scrubber().Value(t.value))
	}
	return t
}

// errorOf is the failure of an attempt without what a script may have printed of hidden values.
func (d *decider) errorOf(p place, e *Error) *Error {
	if p.act.Type != flow.TypeScript || !d.st.hides(d.wf) || !d.givenSensitive(p) {
		return e
	}
	hidden := *e
	hidden.Message, hidden.Detail = "the script failed; what it said is hidden, since it was given sensitive values", concealed(expr.Solid(e.Detail))
	return &hidden
}

// givenSensitive reports whether the inputs of an activity depend on something hidden other than secrets.
func (d *decider) givenSensitive(p place) bool {
	r := d.read(p)
	r.extra = turnRoots(p.act, p.run.Turn)
	t, err := r.twin(func(r reader) (any, error) { return r.resolve(p.act) })
	return err != nil || t.shown != nil
}

// attempt finds the attempt a result is of.
func (d *decider) attempt(r *Result) (place, error) {
	p, ok := d.find(key{r.Activity, r.Item})
	switch {
	case !ok || p.fresh || p.isItem || p.hook != r.Hook || p.undo != r.Compensating:
		return p, stale("%s has no attempt now", r.Activity)
	case !p.run.Phase.inFlight() || p.act.ForEach != nil:
		return p, stale("%s is %s", r.Activity, p.run.Phase)
	case p.run.Attempt != r.Attempt:
		return p, stale("attempt %d of %s is over, it is at %d", r.Attempt, r.Activity, p.run.Attempt)
	}
	return p, nil
}

// startAttempt records the start of an attempt, not before its dispatch and not in the future.
func (d *decider) startAttempt(p place, worker string, at time.Time) {
	ms := d.now
	if !at.IsZero() {
		ms = min(max(millis(at), p.run.Since), d.now)
	}
	d.emitAt(ActivityStarted, p, p.run.Attempt, ms, nil)
	d.events[len(d.events)-1].Worker = worker
}

// Started is the event that an attempt begins now on a worker, not applied yet: of work that must be known to
// have begun before it has an effect (once, remote), and of what runs long. Its Type is "" if the attempt is
// not waiting to start.
func Started(wf *flow.Workflow, st *State, w Work, worker string, now time.Time) Event {
	d := decider{wf: wf, st: st, now: millis(now)}
	p, found := d.find(key{w.Activity, w.Item})
	if !found || p.fresh || p.run.Phase != dispatched || p.run.Attempt != w.Attempt || p.undo != w.Compensating {
		return Event{}
	}
	d.startAttempt(p, worker, now)
	return d.events[0]
}

func (d *decider) childBegun(p place, c *ChildRef) {
	d.about(ChildStarted, p, &ChildBegun{
		Execution: c.Execution, Workflow: c.Workflow, Version: c.Version, Input: expr.SolidObject(c.Input), Hidden: c.Hidden,
		Wait: c.Wait, Key: c.Key, Joined: c.Joined,
	})
	if !c.Wait {
		d.complete(p, twin{value: map[string]any{"output": nil, "executionId": c.Execution.String(), "status": "started"}}, "")
		return
	}
	d.about(ActivityWaiting, p, &Waiting{Kind: waitChild, Name: c.Workflow, Reason: "waits for its child execution"})
}

func (d *decider) childEnded(c *ChildEnded) error {
	p, ok := d.find(key{c.Activity, c.Item})
	if !ok || p.run.Phase != waiting || p.run.Wait.Child == nil || *p.run.Wait.Child != c.Execution {
		return stale("%s does not wait for child %s", c.Activity, c.Execution)
	}
	over := &ChildOver{Execution: c.Execution, Status: c.Status, Error: c.Error}
	if c.Status == StatusCompleted {
		d.about(ChildCompleted, p, over)
		d.finishTurn(p, childResult(c), "")
		return nil
	}
	d.about(ChildFailed, p, over)
	d.childFailed(p, c)
	return nil
}

func childResult(c *ChildEnded) twin {
	view := func(output any) map[string]any {
		return map[string]any{"output": output, "executionId": c.Execution.String(), "status": c.Status}
	}
	t := twin{value: view(expr.Solid(c.Output))}
	if c.Shown != nil {
		t.shown = view(c.Shown)
	}
	return t
}

func (d *decider) childFailed(p place, c *ChildEnded) {
	f := failure("child."+c.Status, classExternal, "child execution %s is %s", c.Execution, c.Status)
	if c.Error != nil {
		f.Type, f.Class = "child."+c.Error.Type, c.Error.Class
		f.Message += ": " + c.Error.Message
	}
	if f.Class == classInfrastructure {
		f.Class = classExternal // it is the child that failed, not us
	}
	f.Detail = map[string]any{"executionId": c.Execution.String(), "status": c.Status}
	p.run = ended(p.run)
	d.attemptFailed(p, f, 0)
}

// ended is a run whose child or task is over, so that nothing is left open.
func ended(r *run) *run {
	c := *r
	c.Wait = nil
	return &c
}

// Received reports whether the execution received a signal of that id.
func (st *State) Received(signalID string) bool { return st.Seen[signalID] }

// signal takes a signal by name, or an event that was matched to one wait. What nobody waits for is kept
// when it was sent to this execution, and only reported when it was meant for a wait that is over.
func (d *decider) signal(s *Signal) error {
	if s.ID != "" && d.st.Seen[s.ID] {
		return stale("signal %s was received before", s.ID)
	}
	kept := keptSignal{Seq: d.st.Seq + 1, ID: s.ID, Name: s.Name, Payload: expr.Solid(s.Payload), Shown: s.Shown, At: d.now}
	rec := &Received{ID: s.ID, Name: s.Name, Payload: kept.Payload, Shown: s.Shown, By: s.By, Direct: s.Direct}
	d.emit(SignalReceived, rec)
	p, found := d.listener(s, kept)
	if !found {
		rec.Late = !s.Direct
		return nil
	}
	d.about(SignalConsumed, p, &Consumed{ID: s.ID, Name: s.Name, Signal: kept.Seq})
	heard := append(slices.Clone(p.run.Wait.Heard), kept)
	if len(heard) >= max(p.act.Event.Count, 1) {
		d.heardAll(p, heard)
	}
	return nil
}

// listener is the first wait that takes the signal. A condition that cannot be computed does not take it.
func (d *decider) listener(s *Signal, kept keptSignal) (place, bool) {
	for _, k := range d.st.Hearing {
		if !s.Direct && k != (key{s.Activity, s.Item}) {
			continue
		}
		p, ok := d.find(k)
		if !ok || p.act.Event == nil || p.run.Wait == nil || p.run.Wait.Name != s.Name {
			continue
		}
		if fits, err := d.accepts(p, kept); err == nil && fits {
			return p, true
		}
	}
	return place{}, false
}

func (d *decider) task(k key, is func(*wait) bool) (place, error) {
	p, ok := d.find(k)
	if !ok || p.run.Phase != waiting || p.run.Wait.Task == nil || !is(p.run.Wait) {
		return p, stale("the task of %s is over", k.Activity)
	}
	return p, nil
}

func (d *decider) vote(v *Vote) error {
	p, err := d.task(key{v.Activity, v.Item}, func(w *wait) bool { return *w.Task == v.Task })
	if err != nil {
		return err
	}
	voted := &TaskVoted{Task: v.Task, By: v.By, Outcome: v.Outcome, Form: expr.Solid(v.Form), Shown: v.Shown, Comment: v.Comment, At: v.At.UTC().Truncate(time.Millisecond)}
	d.about(HumanTaskVoted, p, voted)
	if !v.Decides {
		return nil
	}
	d.about(HumanTaskDecided, p, &TaskDecided{Task: v.Task, By: v.By, Outcome: v.Outcome})
	votes := append(slices.Clone(p.run.Wait.Votes), *voted)
	result := taskResult(*voted, millis(v.At), votes)
	untaken := failure("human."+v.Outcome, classExternal, "%s decided %q", v.By, v.Outcome)
	untaken.Detail = result.seen()
	p.run = ended(p.run)
	d.outcome(p, v.Outcome, result, untaken)
	return nil
}

func (d *decider) taskChange(c *TaskChange) error {
	p, err := d.task(key{c.Activity, c.Item}, func(w *wait) bool { return *w.Task == c.Task })
	if err != nil {
		return err
	}
	t, known := map[string]EventType{
		"claimed": HumanTaskClaimed, "unclaimed": HumanTaskUnclaimed,
		"assigned": HumanTaskAssigned, "commented": HumanTaskCommented,
	}[c.Kind]
	if !known {
		return stale("a task cannot be %q", c.Kind)
	}
	d.about(t, p, &TaskChanged{Task: c.Task, By: c.By, To: c.To, Comment: c.Comment})
	return nil
}

func (d *decider) permit(granted *Permit) error {
	if granted.Activity == "" {
		if !d.st.Created.NeedsPermit || d.st.Granted || d.st.Drives > 0 || d.st.Ending != nil {
			return stale("the execution waits for no slot")
		}
		d.emit(PermitAcquired, &PermitNamed{Name: granted.Name})
		return nil
	}
	p, ok := d.find(key{granted.Activity, granted.Item})
	if granted.At != nil {
		return d.turn(p, ok, granted)
	}
	if !ok || p.run.Phase != waiting || p.run.Held || p.run.Permit != granted.Name {
		return stale("%s waits for no permit of %s", granted.Activity, granted.Name)
	}
	d.about(PermitAcquired, p, &PermitNamed{Name: granted.Name})
	return nil
}

func (d *decider) cancelAll(c *Cancel) error {
	if d.st.Ending != nil {
		return stale("the execution is coming to its end (%s)", endStatus(d.st))
	}
	undo := d.wf.Compensation.OnCancel
	if c.Compensate != nil {
		undo = *c.Compensate
	}
	d.verdict(Ending{Status: StatusCancelled, By: c.By, Reason: c.Reason, Compensate: undo})
	return nil
}

func (d *decider) pause(c *Control) error {
	if d.st.Paused || d.st.Ending != nil || !workflowRules[WorkflowPaused].allows(d.st.Status) {
		return stale("an execution that is %s cannot be paused", d.st.Status)
	}
	d.emit(WorkflowPaused, &Controlled{By: c.By, Note: c.Note})
	return nil
}

func (d *decider) resume(c *Control) error {
	if !d.st.Paused {
		return stale("the execution is not paused")
	}
	d.emit(WorkflowResumed, &Controlled{By: c.By, Note: c.Note})
	return nil
}

func (d *decider) retry(r *Retry) error {
	if d.st.Status != StatusFailed && d.st.Status != StatusTimedOut {
		return stale("an execution that is %s cannot be driven again", d.st.Status)
	}
	if r.From != "" && d.wf.Graph.ByID[r.From] == nil {
		return stale("there is no activity %s", r.From)
	}
	d.emit(WorkflowRetried, &Retried{By: r.By, From: r.From, Item: r.Item, Input: expr.SolidObject(r.Input), Note: r.Note, Hidden: d.st.Created.Hidden})
	return nil
}

func (d *decider) compensateAgain(c *Control) error {
	if d.st.Status != StatusFailed || d.st.Undo.State != undoIncomplete {
		return stale("the execution has no incomplete compensation")
	}
	d.emit(WorkflowRetried, &Retried{By: c.By, Note: c.Note, Compensate: true})
	return nil
}

// Matches asks the condition and schema of an event wait about an event that has its name and correlation.
// event has payload, and may have id and name. A wait that is not there does not match.
func Matches(wf *flow.Workflow, st *State, w WaitKey, event map[string]any) (bool, error) {
	d := decider{wf: wf, st: st}
	p, ok := d.find(key(w))
	if !ok || p.run.Phase != waiting || p.act.Event == nil {
		return false, nil
	}
	id, _ := event["id"].(string)
	name, _ := event["name"].(string)
	return d.accepts(p, keptSignal{ID: id, Name: name, Payload: event["payload"], At: d.st.Updated})
}

// conforms reports whether a payload fits the schema of its wait.
func conforms(s *flow.Schema, payload any) bool {
	_, problems := s.Check(payload)
	return len(problems) == 0
}

// Lost is the takeover by a new owner: the lease of the old one is over, and so is every attempt it may have
// been making, but not those that are elsewhere (nil = none is). The events are not applied yet. Attempts that
// only may have begun are made again, which uses none up; with once, an attempt that did begin has failed.
func Lost(wf *flow.Workflow, st *State, worker string, now time.Time, elsewhere func(activity, item string) bool) []Event {
	d := decider{wf: wf, st: st, now: millis(now)}
	if st.Terminal() || st.Status == "" {
		return nil
	}
	d.emit(LeaseExpired, nil)
	d.events[0].Worker = st.Worker
	d.emit(LeaseAcquired, nil)
	d.events[1].Worker = worker
	for _, k := range st.Flight {
		if elsewhere != nil && elsewhere(k.Activity, k.Item) {
			continue
		}
		if p, ok := d.find(k); ok {
			d.lost(p)
		}
	}
	return d.events
}

func (d *decider) lost(p place) {
	err := failure("engine.worker_lost", classInfrastructure, "the worker was lost during attempt %d", p.run.Attempt)
	if p.act.Once && p.run.Phase == dispatched { // its start would be in the history
		q := *p.act
		q.Once = false
		p.act = &q
	}
	d.attemptFailed(p, err, 0)
}
