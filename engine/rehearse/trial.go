package rehearse

import (
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

// sought is the attempt that a trial wants: the first one of an activity, or of one item of it.
type sought struct {
	spot
	found *Trial
}

// Try drives a workflow with mocks to the first attempt of an activity; item "" is the first item that comes
// up. Nil and the reasons when the rehearsal does not get there. What is pinned of the activity itself has no
// meaning here.
func Try(request PlanRequest, id uuid.UUID, activity, item string) (*Trial, []Fault) {
	mocks, faults := ParseMocks(request.Workflow, request.Mocks)
	wanted := &sought{spot: spot{activity, item}}
	w := rehearse(setup{workflow: request.Workflow, library: request.Library, input: request.Input, mocks: mocks, id: id,
		startedAt: request.StartedAt, startedBy: orTester(request.StartedBy), trigger: byAPI(), assume: true,
		sought: wanted, stopped: request.Stopped})
	if wanted.found != nil {
		return wanted.found, nil
	}
	return nil, append(append(faults, w.faults...), w.root().notReached(wanted.spot))
}

// seek stops the rehearsal at the attempt that a trial wants.
func (r *running) seek(work execution.Work) bool {
	wanted := r.world.sought
	if wanted == nil || r.prefix != "" || work.Compensating || work.Activity != wanted.activity || wanted.item != "" && work.Item != wanted.item {
		return false
	}
	wanted.found = &Trial{Workflow: r.wf, State: r.st, Execution: r.id, Work: work, run: r}
	return true
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
	r.world.now = result.EndedAt
	r.result(r.wf, result)
	at := spot{t.Work.Activity, t.Work.Item}
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
