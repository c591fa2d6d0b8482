package execution

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"time"

	"weftline/engine/flow"
)

// Pending lists the attempts that were dispatched and have no result, in the order of their dispatch.
func Pending(wf *flow.Workflow, st *State) []Work {
	if len(st.Flight) == 0 {
		return nil
	}
	f := finder{wf: wf, st: st}
	list := make([]Work, 0, len(st.Flight))
	for _, k := range st.Flight {
		if p, ok := f.find(k); ok {
			list = append(list, workAt(wf, st, p))
		}
	}
	return list
}

// TakenBack cancels attempts that were dispatched and have not begun when the execution came to its end, not applied
// yet. What is known to have begun is let finish instead where it will have to be undone.
func TakenBack(wf *flow.Workflow, st *State, unbegun []Work, now time.Time) []Event {
	d := decider{wf: wf, st: st, now: millis(now)}
	for _, w := range unbegun {
		if p, ok := d.find(key{w.Activity, w.Item}); ok && p.run.Phase.inFlight() {
			d.cancel(p, st.Ending.Status)
		}
	}
	return d.events
}

func workAt(wf *flow.Workflow, st *State, p place) Work {
	w := Work{
		Activity: p.Activity, Item: p.Item, Hook: p.hook, Compensating: p.undo, Attempt: p.run.Attempt,
		Type: p.act.Type, Input: p.run.Input, Started: p.run.Phase == running,
		Timeout: p.act.Timeout, MaxMemory: wf.Limits.MaxMemory, Once: p.act.Once, Checkpoint: p.act.Checkpoint,
		Priority: st.Created.Priority, Affinity: p.act.Affinity, Secrets: SecretsOf(p.act),
	}
	if p.act.Priority != "" {
		w.Priority = p.act.Priority
	}
	for _, t := range p.run.Due {
		if t.Kind == timerTotal {
			w.Deadline = instant(t.At)
		}
	}
	if !pure(p.act.Type) {
		w.IdempotencyKey = idempotencyKey(wf, st, p)
	}
	if p.act.Type == flow.TypeWorkflow {
		w.Child = childOf(wf, st, p)
	}
	return w
}

// pure: types that need no worker; Evaluate runs them.
func pure(kind string) bool {
	switch kind {
	case flow.TypeSet, flow.TypeSwitch, flow.TypeFail, flow.TypeEnd:
		return true
	}
	return false
}

// idempotencyKey is the same for all attempts of a turn: <execution>/<id>[/<item>][/<iteration>], or what
// the definition says.
func idempotencyKey(wf *flow.Workflow, st *State, p place) string {
	if p.act.IdempotencyKey != nil {
		r := reader{wf: wf, st: st, at: p, extra: turnRoots(p.act, p.run.Turn)}
		if t, err := r.twinOf(p.act.IdempotencyKey); err == nil && t.shown != nil {
			return fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, t.value))) // others store it
		} else if err == nil && t.value != nil {
			return fmt.Sprint(t.value)
		}
	}
	var usual [96]byte
	b := append(append(appendUUID(usual[:0], st.Created.ID), '/'), p.Activity...)
	if p.Item != "" {
		b = append(append(b, '/'), p.Item...)
	}
	if p.act.Repeat != nil {
		b = strconv.AppendInt(append(b, '/'), int64(p.run.Turn), 10)
	}
	if p.undo {
		b = append(b, "/compensate"...)
	}
	return string(b)
}

// childOf prefills the child of a workflow activity. Version 0 means that none was pinned.
func childOf(wf *flow.Workflow, st *State, p place) *ChildRef {
	d := decider{wf: wf, st: st}
	c := &ChildRef{Execution: d.newID(idChild, p), Wait: true}
	if p.act.Workflow != nil {
		c.Workflow, c.Wait = p.act.Workflow.Name, p.act.Workflow.Wait
	}
	if pinned, ok := st.Created.Children[p.definitionID()]; ok {
		c.Workflow, c.Version = pinned.Workflow, pinned.Version
	}
	if input, ok := p.run.Input.(map[string]any); ok {
		c.Input = input
	}
	if st.hides(wf) {
		c.inherit(reader{wf: wf, st: st, at: p, extra: turnRoots(p.act, p.run.Turn)})
	}
	return c
}

// DedupeKey evaluates the key for which the child of a workflow activity is started once; "" = it has none.
func DedupeKey(wf *flow.Workflow, st *State, w Work) (string, error) {
	p, ok := finder{wf: wf, st: st}.find(key{w.Activity, w.Item})
	if !ok || p.act.Workflow == nil || p.act.Workflow.DedupeKey == nil {
		return "", nil
	}
	r := reader{wf: wf, st: st, at: p, extra: turnRoots(p.act, p.run.Turn)}
	v, err := r.public("the key of a child", func(r reader) (any, error) { return r.value(p.act.Workflow.DedupeKey) })
	if err != nil {
		return "", asFailure(err)
	}
	k, ok := keyText(v)
	if !ok {
		return "", failure("input.invalid", classActivity, "dedupeKey has to be a text or a whole number, it is %s", kindOf(v))
	}
	return k, nil
}

// Joined lists the children that the execution waits for and somebody else started.
func Joined(wf *flow.Workflow, st *State) []ChildRow {
	var rows []ChildRow
	if len(st.Main.Runs) == 0 || st.Parked == 0 {
		return nil
	}
	eachRun(wf, st, func(p place) {
		if w := p.run.Wait; w != nil && w.Joined && w.Child != nil && p.run.Phase == waiting {
			rows = append(rows, ChildRow{ChildRef: ChildRef{Execution: *w.Child}, Activity: p.Activity, Item: p.Item})
		}
	})
	return rows
}

// inherit gives a child the values that the history of its parent masks, and says which they are.
func (c *ChildRef) inherit(r reader) {
	t, err := r.twin(func(r reader) (any, error) { return r.resolve(r.at.act) })
	input, ok := t.value.(map[string]any)
	if err != nil || !ok || t.shown == nil {
		return
	}
	c.Input, c.Hidden = input, HiddenNames(input, t.shown)
}

// definitionID names the activity in the definition: the compensation of x is x/compensate.
func (p place) definitionID() string {
	if p.undo {
		return p.Activity + "/compensate"
	}
	return p.Activity
}

// Evaluate runs an attempt of a type that needs no worker: set, switch, fail and end. ok is false for all
// others. A Result with an error is a result too.
func Evaluate(wf *flow.Workflow, st *State, w Work, now time.Time) (result Result, ok bool) {
	if !pure(w.Type) {
		return Result{}, false
	}
	result = Result{Activity: w.Activity, Item: w.Item, Hook: w.Hook, Compensating: w.Compensating,
		Attempt: w.Attempt, StartedAt: now, EndedAt: now}
	p, found := finder{wf: wf, st: st}.find(key{w.Activity, w.Item})
	if !found {
		return result, true // it is gone; Receive will say so
	}
	r := reader{wf: wf, st: st, at: p, extra: turnRoots(p.act, p.run.Turn)}
	switch w.Type {
	case flow.TypeSwitch:
		result.Value, result.Error = r.route(p.act.Switch)
	case flow.TypeFail:
		result.Error = r.ownFailure(p.act.Fail)
	case flow.TypeEnd:
		output, failed := r.endOutput(p.act.End)
		result.Value, result.Shown, result.Error = output.value, output.shown, failed
	}
	return result, true
}

func (r reader) route(s *flow.Switch) (any, *Error) {
	for _, c := range s.Cases {
		yes, err := r.condition(c.When)
		if err != nil {
			return nil, asFailure(err)
		}
		if yes {
			return map[string]any{"outcome": c.Name}, nil
		}
	}
	if s.Default != "" {
		return map[string]any{"outcome": s.Default}, nil
	}
	return nil, failure("switch.no_match", classActivity, "no case matches, and there is no default")
}

func (r reader) ownFailure(f *flow.Fail) *Error {
	kind, err := r.publicText(f.Error, "the error of a fail")
	if err != nil {
		return asFailure(err)
	}
	message, err := r.shownText(f.Message, "the message of a fail")
	if err != nil {
		return asFailure(err)
	}
	own := failure(kind, classActivity, "%s", message)
	if f.Detail != nil {
		detail, err := r.twinOf(f.Detail)
		if err != nil {
			return asFailure(err)
		}
		own.Detail = detail.seen()
	}
	return own
}

func (r reader) endOutput(e *flow.End) (twin, *Error) {
	if e == nil || e.Output == nil {
		return twin{value: map[string]any{}}, nil
	}
	output, err := r.twinOf(e.Output)
	if err != nil {
		return twin{}, asFailure(err)
	}
	return output, nil
}

// HidesInput reports whether the input of an attempt may hold what must not be stored, so that it has to be
// made by InputWithSecrets where it runs.
func HidesInput(wf *flow.Workflow, st *State, w Work) bool {
	p, ok := finder{wf: wf, st: st}.find(key{w.Activity, w.Item})
	return ok && reader{wf: wf, st: st, at: p}.hides(p.act)
}

// InputWithSecrets is the input of an attempt as its worker gets it: with secrets and sensitive values, which
// the history never holds.
func InputWithSecrets(wf *flow.Workflow, st *State, w Work, secrets map[string]string) (any, error) {
	p, ok := finder{wf: wf, st: st}.find(key{w.Activity, w.Item})
	if !ok {
		return nil, stale("%s is not there any more", w.Activity)
	}
	r := reader{wf: wf, st: st, at: p, extra: turnRoots(p.act, p.run.Turn)}
	if !r.hides(p.act) {
		return w.Input, nil
	}
	r.secrets = secrets
	if r.secrets == nil {
		r.secrets = map[string]string{}
	}
	input, err := r.resolve(p.act)
	if err != nil {
		return nil, placed(asFailure(err), p)
	}
	return input, nil
}
