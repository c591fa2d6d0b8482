package rehearse

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"weftline/engine/execution"
	"weftline/engine/flow"
)

// Trial is a rehearsal that stands at one attempt, which somebody makes for real.
type Trial struct {
	Workflow  *flow.Workflow
	State     *execution.State
	Execution uuid.UUID // of the rehearsal: new for each trial, so that nobody outside takes two for one
	Work      execution.Work
	run       *running
}

// Triable: somebody outside can make an attempt of the type by itself. The engine does the others, or hands them on.
func Triable(kind string) bool {
	switch kind {
	case flow.TypeHTTP, flow.TypeScript, flow.TypeSQL, flow.TypeEmail, flow.TypeAI, flow.TypeEmit:
		return true
	}
	return false
}

// sought are the attempts that a trial wants: those of an activity, or of one item of it, and of some before it.
type sought struct {
	spot
	before map[string]bool
	failed map[spot]execution.Error // what was tried and failed fails each time: nothing is tried again
	found  *Trial
}

// Try drives a workflow with mocks to the first attempt of an activity, or of one of those before it; item "" is
// the first item that comes up. Nil and the reasons when the rehearsal does not get there. What is pinned of
// activities that are tried has no meaning here.
func Try(request PlanRequest, id uuid.UUID, activity, item string, before ...string) (*Trial, []Fault) {
	mocks, faults := ParseMocks(request.Workflow, request.Mocks)
	wanted := &sought{spot: spot{activity, item}, before: map[string]bool{}, failed: map[spot]execution.Error{}}
	for _, each := range before {
		wanted.before[each] = true
	}
	w := rehearse(setup{workflow: request.Workflow, library: request.Library, input: request.Input, mocks: mocks, id: id,
		startedAt: request.StartedAt, startedBy: orTester(request.StartedBy), trigger: byAPI(), assume: true,
		sought: wanted, stopped: request.Stopped})
	if wanted.found != nil {
		return wanted.found, nil
	}
	return nil, append(faults, w.missed()...)
}

// Next goes on to the next attempt that is wanted, after the last one was settled. Nil where none comes any more,
// with the reasons if the activity was not reached.
func (t *Trial) Next() (*Trial, []Fault) {
	w := t.run.world
	w.sought.found = nil
	w.drive()
	if w.sought.found != nil {
		return w.sought.found, nil
	}
	if step := t.Reached(); step.Status == "completed" || step.Status == "failed" {
		return nil, nil
	}
	return nil, w.missed()
}

// Reached is the activity that the trial is about, as the rehearsal shows it now.
func (t *Trial) Reached() PlannedStep {
	r := t.run.world.root()
	at := t.run.world.sought.spot
	for _, step := range r.steps(execution.Describe(r.wf, r.st)) {
		if step.Activity == at.activity && (at.item == "" || step.Item == at.item) {
			return step
		}
	}
	return PlannedStep{Activity: at.activity, Item: at.item, Status: "pending"}
}

// missed are the reasons why what was wanted did not come.
func (w *world) missed() []Fault {
	return append(slices.Clone(w.faults), w.root().notReached(w.sought.spot))
}

// seek stops the rehearsal at an attempt that a trial wants.
func (r *running) seek(work execution.Work) bool {
	wanted := r.world.sought
	if wanted == nil || r.prefix != "" || work.Compensating || !Triable(work.Type) {
		return false
	}
	at := spot{work.Activity, work.Item}
	_, failed := wanted.failed[at]
	if failed || !wanted.before[at.activity] && (at.activity != wanted.activity || wanted.item != "" && at.item != wanted.item) {
		return false
	}
	wanted.found = &Trial{Workflow: r.wf, State: r.st, Execution: r.id, Work: work, run: r}
	return true
}

// failedBefore answers further attempts of what was tried and failed.
func (r *running) failedBefore(work execution.Work) (answer, bool) {
	if r.world.sought == nil || r.prefix != "" || work.Compensating {
		return answer{}, false
	}
	failure, failed := r.world.sought.failed[spot{work.Activity, work.Item}]
	return answer{failure: &failure}, failed
}

// notReached says what became of an activity instead.
func (r *running) notReached(at spot) Fault {
	fault := Fault{Activity: at.activity, Item: at.item, Message: "with this input and these pins it is not reached"}
	for _, step := range r.steps(execution.Describe(r.wf, r.st)) {
		if step.Activity == at.activity && step.SkipReason != "" {
			fault.Message = "with this input and these pins it is skipped: " + step.SkipReason
		}
	}
	return fault
}

// Settle takes what the attempt came to, and answers the step as people may see it.
func (t *Trial) Settle(result execution.Result) PlannedStep {
	r := t.run
	if ahead := r.world.now.Sub(result.StartedAt); ahead > 0 { // the clock jumped over waits
		result.StartedAt, result.EndedAt = result.StartedAt.Add(ahead), result.EndedAt.Add(ahead)
	}
	r.world.now = result.EndedAt
	r.result(r.wf, result)
	at := spot{t.Work.Activity, t.Work.Item}
	if result.Error != nil {
		r.world.sought.failed[at] = *result.Error
	}
	step := PlannedStep{Activity: at.activity, Item: at.item, Type: t.Work.Type, Inputs: t.Work.Input, Attempts: t.Work.Attempt}
	for i := range r.history {
		if event := &r.history[i]; event.Activity == at.activity && event.Item == at.item {
			step.settle(event.Data)
		}
	}
	return step
}

// settle reads an end: a pause before another attempt counts as a failure, for no other follows.
func (s *PlannedStep) settle(data any) {
	switch d := data.(type) {
	case *execution.Completed:
		s.Status, s.Outputs, s.Outcome = "completed", d.Output, d.Outcome
		if d.Shown != nil {
			s.Outputs = d.Shown
		}
	case *execution.Failed:
		s.Status, s.Error = "failed", d.Error
	case *execution.RetryScheduled:
		s.Status, s.Error = "failed", d.Error
	}
}

// Took is how long an attempt took, for people.
func Took(result execution.Result) string {
	return short(result.EndedAt.Sub(result.StartedAt).Round(time.Millisecond))
}
