package rehearse

import (
	"time"

	"weftline/engine/execution"
	"weftline/engine/flow"
)

// Planned is the path that an input takes through a workflow, without any effect.
type Planned struct {
	Status    string                 `json:"status"` // of the execution at its end; incomplete where a mock is missing
	Output    any                    `json:"output"`
	Error     *execution.Error       `json:"error"`
	Duration  string                 `json:"duration"` // on the clock of the plan: waits and pauses included
	Variables map[string]any         `json:"variables"`
	Steps     []PlannedStep          `json:"steps"` // in the order in which they came about; then those never reached
	Edges     []execution.EdgeDetail `json:"edges"`
	Problems  []Fault                `json:"problems"`
}

// PlannedStep is one activity, or one item of a loop. Inputs are resolved, secrets and sensitive values
// masked; those of a task, an event or a timer say what it waits for.
type PlannedStep struct {
	Activity   string           `json:"activity"`
	Item       string           `json:"item,omitempty"`
	Type       string           `json:"type"`
	Hook       string           `json:"hook,omitempty"`
	Status     string           `json:"status"`
	Inputs     any              `json:"inputs"`
	Outputs    any              `json:"outputs,omitempty"`
	Outcome    string           `json:"outcome,omitempty"`
	Error      *execution.Error `json:"error,omitempty"`
	SkipReason string           `json:"skipReason,omitempty"`
	Attempts   int              `json:"attempts,omitempty"`
	Mocked     bool             `json:"mocked"`    // a mock said what it comes to
	Assumed    bool             `json:"assumed"`   // it was taken to go well: nobody reads its outputs
	NeedsMock  bool             `json:"needsMock"` // the plan stops here without one
}

// PlanRequest is what a plan begins with.
type PlanRequest struct {
	Workflow  *flow.Workflow
	Library   Library
	Input     map[string]any // checked, with defaults
	Mocks     map[string]any // as in a test
	StartedAt time.Time      // zero = the start of 2026
	StartedBy string
	Stopped   func() bool // true gives up; nil = never
}

const (
	incomplete = "incomplete"
	mostSteps  = 1000
)

// Plan drives a workflow to its end, or to where it needs a mock. An activity that is not mocked and whose
// outputs nobody reads is taken to go well.
func Plan(request PlanRequest) Planned {
	w, faults := drive(request)
	root := w.root()
	detail := execution.Describe(root.wf, root.st)
	plan := Planned{Status: detail.Status, Output: detail.Output, Error: detail.Error, Duration: short(w.elapsed()),
		Variables: detail.Variables, Edges: execution.Edges(root.wf, root.st), Problems: append(faults, w.faults...)}
	if !root.st.Terminal() {
		plan.Status = incomplete
	}
	plan.Steps = root.steps(detail)
	if len(plan.Steps) > mostSteps {
		plan.Steps = plan.Steps[:mostSteps]
		plan.Problems = append(plan.Problems, Fault{Message: "only the first 1000 steps are shown"})
	}
	return plan
}

// drive rehearses a request as far as it gets.
func drive(request PlanRequest) (*world, []Fault) {
	mocks, faults := ParseMocks(request.Workflow, request.Mocks)
	return rehearse(setup{workflow: request.Workflow, library: request.Library, input: request.Input, mocks: mocks,
		startedAt: request.StartedAt, startedBy: orTester(request.StartedBy), trigger: byAPI(), assume: true, stopped: request.Stopped}), faults
}

// State is the state that a plan ends in.
func State(request PlanRequest) *execution.State {
	w, _ := drive(request)
	return w.root().st
}

func byAPI() map[string]any { return map[string]any{"type": "api"} }

// tester is who starts, decides and cancels when nothing is said.
const tester = "tester"

// steps reads the history: one entry for each activity and item, in the order in which they came about.
func (r *running) steps(detail execution.Detail) []PlannedStep {
	b := stepper{known: map[spot]int{}, types: activities(r.wf)}
	for i := range r.history {
		b.event(&r.history[i])
	}
	for _, act := range r.wf.Graph.Activities {
		b.step(spot{act.ID, ""}, "")
	}
	for i := range b.steps {
		step := &b.steps[i]
		at := spot{step.Activity, step.Item}
		step.Mocked, step.Assumed, step.NeedsMock = r.mocked[at], r.assumed[at], r.needy[at]
		if described, ok := detail.Activities[step.Activity]; ok && step.Item == "" {
			step.Status, step.Outputs = described.Status, described.Output
		}
	}
	return b.steps
}

// stepper collects the steps of a history.
type stepper struct {
	steps []PlannedStep
	known map[spot]int
	types map[string]*flow.Activity
}

func (b *stepper) step(at spot, hook string) *PlannedStep {
	if i, known := b.known[at]; known {
		return &b.steps[i]
	}
	step := PlannedStep{Activity: at.activity, Item: at.item, Hook: hook, Status: "pending"}
	if act := b.types[at.activity]; act != nil {
		step.Type = act.Type
	}
	b.known[at] = len(b.steps)
	b.steps = append(b.steps, step)
	return &b.steps[len(b.steps)-1]
}

// stepStatus is the status that an event leaves an activity in.
var stepStatus = map[execution.EventType]string{
	execution.ActivityReady: "ready", execution.ActivityDispatched: "dispatched", execution.ActivityStarted: "running",
	execution.ActivityWaiting: "waiting", execution.ActivityRetryScheduled: "retrying", execution.ActivityRepeatScheduled: "waiting",
	execution.ActivityCompleted: "completed", execution.ActivityFailed: "failed", execution.ActivityTimedOut: "timed_out",
	execution.ActivitySkipped: "skipped", execution.ActivityCancelled: "cancelled",
}

func (b *stepper) event(ev *execution.Event) {
	status, about := stepStatus[ev.Type]
	if ev.Activity == "" || ev.Compensating || !about && ev.Type != execution.HumanTaskCreated {
		return
	}
	step := b.step(spot{ev.Activity, ev.Item}, ev.Hook)
	if about {
		step.Status = status
	}
	step.Attempts = max(step.Attempts, ev.Attempt)
	switch d := ev.Data.(type) {
	case *execution.Ready:
		if d.Input != nil {
			step.Inputs = d.Input
		}
	case *execution.Waiting:
		step.Inputs = orElse(step.Inputs, waitInputs(d))
	case *execution.TaskCreated:
		step.Inputs = taskInputs(d)
	case *execution.Completed:
		step.Outputs, step.Outcome = d.Output, d.Outcome
	case *execution.Failed:
		step.Error = d.Error
	case *execution.Skipped:
		step.SkipReason = d.Reason
	case *execution.Cancelled:
		step.SkipReason = d.Reason
	}
}

func orElse(value, other any) any {
	if value == nil {
		return other
	}
	return value
}

func waitInputs(d *execution.Waiting) any {
	inputs := map[string]any{}
	for name, text := range map[string]string{"name": d.Name, "key": d.Key} {
		if text != "" {
			inputs[name] = text
		}
	}
	if d.Until != nil {
		inputs["until"] = d.Until.Format(time.RFC3339)
	}
	if len(inputs) == 0 {
		return nil
	}
	return inputs
}

func taskInputs(d *execution.TaskCreated) any {
	inputs := map[string]any{"title": d.Title}
	for name, text := range map[string]string{"description": d.Description, "assignee": d.Assignee} {
		if text != "" {
			inputs[name] = text
		}
	}
	for name, list := range map[string][]string{"users": d.Users, "groups": d.Groups, "barred": d.Barred} {
		if len(list) > 0 {
			inputs[name] = plainList(list)
		}
	}
	if d.Data != nil {
		inputs["data"] = d.Data
	}
	if d.Due != nil {
		inputs["due"] = d.Due.Format(time.RFC3339)
	}
	return inputs
}

func plainList(texts []string) []any {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
}
