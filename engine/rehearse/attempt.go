package rehearse

import (
	"fmt"
	"time"

	"weftline/engine/execution"
	"weftline/engine/expr"
	"weftline/engine/flow"
)

// attempt answers an attempt, or begins one that takes its time; false when it is not due.
func (r *running) attempt(work execution.Work) bool {
	at := attemptOf(work)
	end, begun := r.busy[at]
	if begun && end.After(r.world.now) || r.needy[at.spot] {
		return false
	}
	if r.seek(work) {
		return true
	}
	if result, pure := execution.Evaluate(r.wf, r.st, work, r.world.now); pure {
		r.result(r.wf, result)
		return true
	}
	if work.Type == flow.TypeEmit {
		r.emit(work)
		return true
	}
	if a, failed := r.failedBefore(work); failed {
		return r.answer(work, a, begun)
	}
	a, mocked := r.mocks.find(r.nameOf(work), work.Item, work.Attempt)
	switch {
	case mocked:
		r.mocked[at.spot] = true
		return r.answer(work, a, begun)
	case work.Type == flow.TypeWorkflow && work.Child.Version > 0:
		r.child(work)
	default:
		r.unmocked(work)
	}
	return true
}

// nameOf is the name of an activity in mocks.
func (r *running) nameOf(work execution.Work) string {
	if work.Compensating {
		return r.prefix + work.Activity + "/compensate"
	}
	return r.prefix + work.Activity
}

// answer gives the mocked end of an attempt, at once or when its time is over.
func (r *running) answer(work execution.Work, a answer, begun bool) bool {
	timedOut := work.Timeout > 0 && a.takes >= work.Timeout
	takes := a.takes
	if timedOut {
		takes = work.Timeout
	}
	if takes > 0 && !begun {
		r.busy[attemptOf(work)] = r.world.now.Add(takes)
		if event := execution.Started(r.wf, r.st, work, worker(r.world.owners), r.world.now); event.Type != "" {
			r.apply([]execution.Event{event})
		}
		return true
	}
	delete(r.busy, attemptOf(work))
	result := r.resultOf(work)
	wf := r.wf
	switch {
	case timedOut:
		result.Error = &execution.Error{Type: "timeout.attempt", Class: "external",
			Message: "it did not end within " + expr.FormatDuration(work.Timeout)}
	case a.failure != nil:
		failure := *a.failure
		result.Error, result.RetryAfter = &failure, a.retryAfter
	case a.raw:
		result.Value = a.value
	default:
		result.Value, wf = a.value, r.withoutOutputs()
	}
	r.result(wf, result)
	return true
}

func (r *running) resultOf(work execution.Work) execution.Result {
	return execution.Result{Activity: work.Activity, Item: work.Item, Hook: work.Hook, Compensating: work.Compensating,
		Attempt: work.Attempt, Worker: worker(r.world.owners), StartedAt: r.world.now, EndedAt: r.world.now}
}

func worker(owner int) string { return fmt.Sprintf("worker-%d", owner+1) }

func (r *running) withoutOutputs() *flow.Workflow {
	if r.bare == nil {
		r.bare = bare(r.wf)
	}
	return r.bare
}

func (r *running) result(wf *flow.Workflow, result execution.Result) {
	if err := ignoreStale(r.receiveAs(wf, execution.Message{Result: &result})); err != nil {
		r.world.fault("", r.prefix+result.Activity, result.Item, "its result was refused: %v", err)
	}
}

// unmocked is an attempt that nobody says anything about. A test fails there; a plan takes it to go well if
// nobody reads what it puts out.
func (r *running) unmocked(work execution.Work) {
	at := spot{work.Activity, work.Item}
	name := r.nameOf(work)
	if r.world.assume && !r.reads(work.Activity) {
		r.assumed[at] = true
		r.result(r.withoutOutputs(), r.resultOf(work))
		return
	}
	r.needs(at)
	if r.world.assume {
		r.world.fault("mocks."+name, name, work.Item, "%s needs a mock: what follows reads its outputs", name)
		return
	}
	r.world.fault("mocks."+name, name, work.Item, "%s (%s) ran and has no mock%s", name, work.Type, childHint(work))
}

func childHint(work execution.Work) string {
	if work.Type == flow.TypeWorkflow {
		return fmt.Sprintf("; the workflow %s was not found either", work.Child.Workflow)
	}
	return ""
}

// needs stops the clock at an activity that cannot go on.
func (r *running) needs(at spot) { r.needy[at], r.world.stalled = true, true }

func (r *running) reads(activity string) bool {
	if r.read == nil {
		r.read = readBySomebody(r.wf)
	}
	return r.read[activity]
}

// emit delivers an event within the rehearsal.
func (r *running) emit(work execution.Work) {
	input, _ := work.Input.(map[string]any)
	name, _ := input["name"].(string)
	key, _ := input["key"].(string)
	r.world.post(posted{id: work.IdempotencyKey, name: name, key: key, payload: input["payload"], until: r.world.now.Add(keptFor)})
	result := r.resultOf(work)
	result.Value = map[string]any{"id": work.IdempotencyKey}
	r.result(r.wf, result)
}

// deepest is how deep children may nest, as on a server.
const deepest = 10

// child starts the execution of a child.
func (r *running) child(work execution.Work) {
	ref, result := *work.Child, r.resultOf(work)
	wf := r.world.childOf(ref.Workflow)
	if ref.Input == nil {
		ref.Input = map[string]any{}
	}
	checked, problems := wf.Input.Check(ref.Input)
	switch {
	case r.st.Created.Depth >= deepest:
		result.Error = childError("child.too_deep", "children may nest %d deep", deepest)
	case len(problems) > 0:
		result.Error = childError("child.input.invalid", "input of workflow %s: %s %s", ref.Workflow, problems[0].Path, problems[0].Message)
	default:
		ref.Input, _ = checked.(map[string]any)
		result.Child = &ref
	}
	r.result(r.wf, result)
}

func childError(kind, format string, args ...any) *execution.Error {
	return &execution.Error{Type: kind, Class: "workflow", Message: fmt.Sprintf(format, args...)}
}

// short writes a duration for people.
func short(d time.Duration) string {
	if d == 0 {
		return "0s"
	}
	return expr.FormatDuration(d)
}
