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

// Try makes one attempt of one activity for real, and of those before it that the request names. The others are
// rehearsed, and nothing follows from it but the effects and a line of the audit for each, written before them.
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
	if err := c.canTryAll(workflow, request); err != nil {
		return Tried{}, err
	}
	trial, err := c.trial(ctx, who, workflow, request)
	if err != nil {
		return Tried{}, err
	}
	return c.tryUpTo(ctx, who, workflow, request, trial)
}

// mostTried bounds the attempts of one trial: items of loops and repeats are attempts of their own.
const mostTried = 100

// tryUpTo makes one attempt after the other until that of the activity asked for, or until none comes any more.
func (c *catalog) tryUpTo(ctx context.Context, who Who, workflow *flow.Workflow, request TryRequest, trial *rehearse.Trial) (Tried, error) {
	var before []TriedStep
	reached := func(problems []rehearse.Fault) Tried {
		return Tried{TriedStep: TriedStep{PlannedStep: trial.Reached(), Took: "0s", Log: []LogLine{}}, Before: before, Problems: problems}
	}
	for {
		tried, err := c.tryOne(ctx, who, workflow, trial)
		if err != nil {
			return Tried{}, err
		}
		if tried.Activity == request.Activity && (request.Item == "" || tried.Item == request.Item) {
			return Tried{TriedStep: tried, Before: before}, nil
		}
		before = append(before, tried)
		if len(before) == mostTried || ctx.Err() != nil {
			return reached([]rehearse.Fault{{Activity: request.Activity,
				Message: fmt.Sprintf("it was not reached: a trial ends after %d attempts or %s", mostTried, tryWithin)}}), nil
		}
		next, faults := trial.Next()
		if next == nil {
			return reached(faults), nil
		}
		trial = next
	}
}

func (c *catalog) tryOne(ctx context.Context, who Who, workflow *flow.Workflow, trial *rehearse.Trial) (TriedStep, error) {
	err := inTx(ctx, c.db, func(q *queries.Queries) error {
		return audit(ctx, q, who, "activity.tried", workflow.Name, map[string]any{"activity": trial.Work.Activity, "item": trial.Work.Item,
			"type": trial.Work.Type, "contentHash": workflow.ContentHash, "trial": trial.Execution})
	})
	if err != nil {
		return TriedStep{}, err
	}
	result, log := c.attempt(ctx, who.Team, worker.Trial{Execution: trial.Execution, Workflow: trial.Workflow, State: trial.State, Work: trial.Work})
	return TriedStep{PlannedStep: trial.Settle(result), Took: rehearse.Took(result), Log: log}, nil
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

// canTryAll refuses what cannot be tried. With some before it, what is asked for may also be done by the engine, or
// pinned: then it is where they lead.
func (c *catalog) canTryAll(workflow *flow.Workflow, request TryRequest) error {
	for _, id := range request.Before {
		if err := c.canTry(workflow, id); err != nil {
			return err
		}
	}
	target := rehearse.Activity(workflow, request.Activity)
	if len(request.Before) > 0 && target != nil && !rehearse.Triable(target.Type) {
		return nil
	}
	return c.canTry(workflow, request.Activity)
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
	plan := c.planOf(ctx, who, workflow, input, PlanRequest{Mocks: request.Mocks, StartedAt: c.now()})
	trial, faults := rehearse.Try(plan, uuid.New(), request.Activity, request.Item, request.Before...)
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
