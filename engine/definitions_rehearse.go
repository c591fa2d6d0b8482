package engine

import (
	"context"
	"errors"
	"time"

	"weftline/engine/flow"
	"weftline/engine/rehearse"
)

// rehearseWithin bounds how long the server works on one plan or one run of tests.
const rehearseWithin = 10 * time.Second

// Plan drives a definition with mocks on a clock of its own. Children run on their published versions.
func (c *catalog) Plan(ctx context.Context, who Who, name string, request PlanRequest) (rehearse.Planned, error) {
	ctx, cancel := context.WithTimeout(ctx, rehearseWithin)
	defer cancel()
	text, err := c.textToTry(ctx, who, name, request.Definition)
	if err != nil {
		return rehearse.Planned{}, err
	}
	workflow, err := loadToTry(text)
	if err != nil {
		return rehearse.Planned{}, err
	}
	input, err := c.inputToTry(workflow, request.Input)
	if err != nil {
		return rehearse.Planned{}, err
	}
	return rehearse.Plan(c.planOf(ctx, who, workflow, input, request)), nil
}

func (c *catalog) planOf(ctx context.Context, who Who, workflow *flow.Workflow, input map[string]any, request PlanRequest) rehearse.PlanRequest {
	return rehearse.PlanRequest{Workflow: workflow, Library: c.library(ctx, who, workflow), Input: input,
		Mocks: request.Mocks, StartedAt: request.StartedAt.UTC().Truncate(time.Millisecond), StartedBy: who.User,
		Stopped: func() bool { return ctx.Err() != nil }}
}

// inputToTry is an input with its defaults. It may be no larger than that of an execution.
func (c *catalog) inputToTry(workflow *flow.Workflow, given map[string]any) (map[string]any, error) {
	if given == nil {
		given = map[string]any{}
	}
	if err := checkSize("the input", given, c.inputLimit); err != nil {
		return nil, err
	}
	checked, problems := workflow.Input.Check(given)
	input, isObject := checked.(map[string]any)
	if len(problems) > 0 || !isObject {
		return nil, &Error{Code: "invalid_input", Message: "the input does not fit the workflow's schema", Problems: problems}
	}
	return input, nil
}

// textToTry is the text given, else the draft, else the published version.
func (c *catalog) textToTry(ctx context.Context, who Who, name, given string) (string, error) {
	if given != "" {
		return given, nil
	}
	draft, err := c.Draft(ctx, who, name)
	var refusal *Error
	if !errors.As(err, &refusal) || refusal.Code != "not_found" {
		return draft.Text, err
	}
	workflow, err := c.Workflow(ctx, who, name)
	if err != nil {
		return "", err
	}
	if workflow.PublishedVersion == nil {
		return "", refusal
	}
	version, err := c.Version(ctx, who, name, *workflow.PublishedVersion)
	return version.Text, err
}

func loadToTry(text string) (*flow.Workflow, error) {
	workflow, err := flow.Load([]byte(text))
	var invalid *flow.LoadError
	if errors.As(err, &invalid) {
		return nil, &Error{Code: "invalid_definition", Message: "the definition is not valid", Problems: invalid.Report.Errors}
	}
	return workflow, err
}

// library holds the published versions of all children, and of their children.
func (c *catalog) library(ctx context.Context, who Who, workflow *flow.Workflow) rehearse.Library {
	found := map[string]*flow.Workflow{}
	var gather func(*flow.Workflow)
	gather = func(parent *flow.Workflow) {
		for _, activity := range everyActivity(parent) {
			if activity.Workflow == nil {
				continue
			}
			name := activity.Workflow.Name
			if _, known := found[name]; known || name == workflow.Name {
				continue
			}
			found[name] = nil
			if child, err := c.published(ctx, who.Team, name, activity.Workflow.Version); err == nil {
				found[name] = child
				gather(child)
			}
		}
	}
	gather(workflow)
	return func(name string) *flow.Workflow { return found[name] }
}

// Tests lists the cases of the WorkflowTest documents that stand beside a workflow: in its draft, else in
// its published version.
func (c *catalog) Tests(ctx context.Context, who Who, name string) ([]TestCase, error) {
	text, err := c.textToTry(ctx, who, name, "")
	if err != nil {
		return nil, err
	}
	suites, _ := flow.Tests([]byte(text)) // what is wrong is a problem of the draft
	list := []TestCase{}
	for _, suite := range suites {
		for _, each := range suite.Cases {
			list = append(list, TestCase{Name: each.Name, Line: each.Pos.Line})
		}
	}
	return list, nil
}

// RunTests runs them.
func (c *catalog) RunTests(ctx context.Context, who Who, name string, request TestRequest) (rehearse.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, rehearseWithin)
	defer cancel()
	text, err := c.textToTry(ctx, who, name, request.Definition)
	if err != nil {
		return rehearse.Report{}, err
	}
	workflow, err := loadToTry(text)
	if err != nil {
		return rehearse.Report{}, err
	}
	suites, _ := flow.Tests([]byte(text)) // a definition that loads has valid tests
	var cases []flow.TestCase
	for _, suite := range suites {
		for _, each := range suite.Cases {
			if request.Case == "" || request.Case == each.Name {
				cases = append(cases, each)
			}
		}
	}
	if request.Case != "" && len(cases) == 0 {
		return rehearse.Report{}, Refuse("not_found", "the workflow has no test case "+request.Case)
	}
	runner := rehearse.Runner{Workflow: workflow, Library: c.library(ctx, who, workflow), Replays: request.Replay,
		Stopped: func() bool { return ctx.Err() != nil }}
	return runner.Run(cases), nil
}
