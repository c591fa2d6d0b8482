package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"weftline/engine/flow"
	"weftline/engine/rehearse"
	"weftline/engine/worker"
	"weftline/queries"
)

// tryWithin bounds one attempt of a trial, the wait for a slot included; its answer has to reach who waits for it.
const tryWithin = 50 * time.Second

// Try makes one attempt of one activity for real. What comes before it is rehearsed, and nothing follows from it
// but its effects and a line of the audit, which is written before them.
func (c *catalog) Try(ctx context.Context, who Who, name string, request TryRequest) (Tried, error) {
	ctx, cancel := context.WithTimeout(ctx, tryWithin)
	defer cancel()
	if err := c.mayTry(ctx, who, request); err != nil {
		return Tried{}, err
	}
	workflow, err := c.workflowToTry(ctx, who, name, request.Definition)
	if err != nil {
		return Tried{}, err
	}
	if err := c.canTry(workflow, request.Activity); err != nil {
		return Tried{}, err
	}
	trial, err := c.trial(ctx, who, workflow, request)
	if err != nil {
		return Tried{}, err
	}
	err = inTx(ctx, c.db, func(q *queries.Queries) error {
		return audit(ctx, q, who, "activity.tried", name, map[string]any{"activity": request.Activity, "item": trial.Work.Item,
			"type": trial.Work.Type, "contentHash": workflow.ContentHash, "trial": trial.Execution})
	})
	if err != nil {
		return Tried{}, err
	}
	result, log := c.attempt(ctx, who.Team, worker.Trial{Execution: trial.Execution, Workflow: trial.Workflow, State: trial.State, Work: trial.Work})
	return Tried{PlannedStep: trial.Settle(result), Took: rehearse.Took(result), Log: log}, nil
}

// mayTry refuses what nobody said yes to: the person, or the reviewers that the team asks for. Pinned outputs lead
// an activity wherever one wants, so that it was reviewed with its workflow does not make it harmless here.
func (c *catalog) mayTry(ctx context.Context, who Who, request TryRequest) error {
	if !request.Effects {
		return &Error{Code: "invalid_input", Message: "this has effects: say so with effects: true",
			Problems: []flow.Problem{{Path: "/effects", Code: "invalid_input", Severity: "error", Message: "has to be true"}}}
	}
	policy, err := c.policies.of(ctx, who.Team)
	if err != nil {
		return err
	}
	if policy.Approvals() > 0 {
		return Refuse("review_required", "the team reviews what acts outside, and a single activity would go around that; plan it, or propose the draft")
	}
	return nil
}

// workflowToTry is the definition under its own name: secrets and connections are there by the name of a workflow.
func (c *catalog) workflowToTry(ctx context.Context, who Who, name, given string) (*flow.Workflow, error) {
	text, err := c.textToTry(ctx, who, name, given)
	if err != nil {
		return nil, err
	}
	workflow, err := loadToTry(text)
	if err != nil {
		return nil, err
	}
	if workflow.Name != name {
		return nil, Refuse("invalid_definition", fmt.Sprintf("the definition is that of %s, not of %s", workflow.Name, name))
	}
	return workflow, nil
}

// canTry refuses activities that no attempt outside an execution can be made of.
func (c *catalog) canTry(workflow *flow.Workflow, id string) error {
	activity := rehearse.Activity(workflow, id)
	switch {
	case activity == nil:
		return Refuse("invalid_input", fmt.Sprintf("there is no activity %q", id))
	case activity.Type == flow.TypeWorker:
		return Refuse("invalid_input", fmt.Sprintf("%s is done by a remote worker, and those work for executions only", id))
	case activity.Type == flow.TypeWorkflow:
		return Refuse("invalid_input", fmt.Sprintf("%s starts another workflow: try its activities where it is drawn", id))
	case engineDrives(activity.Type):
		return Refuse("invalid_input", fmt.Sprintf("the engine itself does %s, a %s activity: the plan shows all of it", id, activity.Type))
	}
	if reason := c.unable(activity); reason != "" {
		return Refuse("invalid_input", fmt.Sprintf("this server cannot run %s: %s", id, reason))
	}
	return nil
}

// trial rehearses up to the attempt.
func (c *catalog) trial(ctx context.Context, who Who, workflow *flow.Workflow, request TryRequest) (*rehearse.Trial, error) {
	input, err := c.inputToTry(workflow, request.Input)
	if err != nil {
		return nil, err
	}
	if _, faults := rehearse.ParseMocks(workflow, request.Mocks); len(faults) > 0 {
		return nil, untriable("the mocks do not fit the workflow: "+faults[0].Message, faults)
	}
	rehearsing, cancel := context.WithTimeout(ctx, rehearseWithin)
	defer cancel()
	plan := c.planOf(rehearsing, who, workflow, input, PlanRequest{Mocks: request.Mocks, StartedAt: c.now()})
	trial, faults := rehearse.Try(plan, uuid.New(), request.Activity, request.Item)
	if trial == nil {
		return nil, untriable(fmt.Sprintf("%s is not reached: %s", request.Activity, faults[0].Message), faults)
	}
	return trial, nil
}

func untriable(message string, faults []rehearse.Fault) *Error {
	refused := &Error{Code: "invalid_input", Message: message}
	for _, fault := range faults {
		path := ""
		if fault.Path != "" {
			path = "/" + fault.Path
		}
		refused.Problems = append(refused.Problems, flow.Problem{Path: path, Code: "invalid_input", Severity: "error", Message: fault.Message})
	}
	return refused
}
