package engine

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"unicode/utf8"

	"weftline/engine/activity"
	"weftline/engine/flow"
)

// Codes of problems that only a server can see.
const (
	codeOtherName       = "E419" // metadata.name is not the workflow's
	codeNoWorkflow      = "E601" // a child workflow that is not published
	codeNoVersion       = "E602" // no version of a child workflow fits
	codeNoConnection    = "E603" // a connection that the team does not have
	codeUnsupportedType = "E604" // an activity type that no worker of this server runs
)

// judge checks a draft of the workflow name. References to what lies outside the text are warnings of the
// report, since a draft may come before them, and answered besides, since publishing refuses them.
func (c *catalog) judge(ctx context.Context, who Who, name string, text []byte) (report flow.Report, references []flow.Problem) {
	return c.judgeReading(ctx, who, name, c.read(ctx, text))
}

// read is what a text says by itself, and what those who would run its code say of that.
func (c *catalog) read(ctx context.Context, text []byte) flow.Reading {
	reading := flow.Read(text)
	reading.Add(c.mistakes(ctx, reading.Code))
	return reading
}

func (c *catalog) judgeReading(ctx context.Context, who Who, name string, reading flow.Reading) (report flow.Report, references []flow.Problem) {
	report = reading.Report
	workflow := reading.Workflow
	if report.Name != "" && report.Name != name {
		report.Valid = false
		report.Errors = append(report.Errors, otherName(reading.Text, report.Name, name))
	}
	if !report.Valid {
		return report, nil
	}
	references = append(c.unsupported(workflow), c.missingChildren(ctx, who, workflow)...)
	references = append(references, c.missingConnections(ctx, who, workflow)...)
	references = append(references, c.triggerProblems(ctx, who, workflow)...)
	references = append(references, c.policyProblems(ctx, who, workflow)...)
	report.Warnings = append(report.Warnings, asWarnings(references)...)
	return report, references
}

func asWarnings(problems []flow.Problem) []flow.Problem {
	warnings := make([]flow.Problem, len(problems))
	for i, problem := range problems {
		problem.Severity = "warning"
		warnings[i] = problem
	}
	return warnings
}

func otherName(text []byte, given, name string) flow.Problem {
	problem := flow.Problem{
		Path: "metadata.name", Pos: nameAt(text, given), Code: codeOtherName, Severity: "error",
		Message: fmt.Sprintf("the definition is named %q, but this is the workflow %q; a workflow keeps its name", given, name),
		Hint:    fmt.Sprintf("write name: %s, or save it as another workflow", name),
	}
	problem.Edits = []flow.Edit{{Pos: problem.Pos, Text: name}}
	return problem
}

// nameAt finds where metadata.name stands; the first name key with that value is it, since activities
// come later and metadata has no other.
func nameAt(text []byte, name string) flow.Pos {
	key := regexp.MustCompile(`"?\bname"?\s*:\s*["']?(` + regexp.QuoteMeta(name) + `)\b`)
	for number, line := range strings.Split(string(text), "\n") {
		if at := key.FindStringSubmatchIndex(line); at != nil {
			column := utf8.RuneCountInString(line[:at[2]]) + 1
			return flow.Pos{Line: number + 1, Column: column, EndLine: number + 1, EndColumn: column + utf8.RuneCountInString(name)}
		}
	}
	return flow.Pos{Line: 1, Column: 1, EndLine: 1, EndColumn: 1}
}

// unsupported finds activities that would wait forever for somebody to run them.
func (c *catalog) unsupported(workflow *flow.Workflow) []flow.Problem {
	var problems []flow.Problem
	for path, activity := range everyActivity(workflow) {
		if reason := c.unable(activity); reason != "" {
			why, hint, _ := strings.Cut(reason, "; ")
			problems = append(problems, flow.Problem{
				Path: path + ".type", Pos: activity.Pos, Code: codeUnsupportedType, Severity: "error",
				Message: fmt.Sprintf("this server cannot run the activity %s: %s", activity.ID, why), Hint: hint,
			})
		}
	}
	return problems
}

// missingChildren finds child workflows that cannot be started. A workflow may start itself.
func (c *catalog) missingChildren(ctx context.Context, who Who, workflow *flow.Workflow) []flow.Problem {
	var problems []flow.Problem
	for path, activity := range everyActivity(workflow) {
		child := activity.Workflow
		if child == nil || child.Name == workflow.Name && child.Version == "" {
			continue
		}
		if err := c.resolve(ctx, who.Team, child.Name, child.Version); err != nil {
			problems = append(problems, missingChild(path, activity, err))
		}
	}
	return problems
}

func missingChild(path string, activity *flow.Activity, cause error) flow.Problem {
	problem := flow.Problem{
		Path: path + ".workflow.name", Pos: activity.Pos, Code: codeNoWorkflow, Severity: "error",
		Message: fmt.Sprintf("the child workflow %s cannot be started: %s", activity.Workflow.Name, cause),
		Hint:    "publish it first",
	}
	if activity.Workflow.Version != "" {
		problem.Path, problem.Code, problem.Hint = path+".workflow.version", codeNoVersion, "publish such a version, or widen the range"
	}
	return problem
}

// missingConnections finds connections that the team does not have, or that are of another kind.
func (c *catalog) missingConnections(ctx context.Context, who Who, workflow *flow.Workflow) []flow.Problem {
	var problems []flow.Problem
	for path, step := range everyActivity(workflow) {
		name, kind := activity.ConnectionOf(step)
		if name == "" {
			continue
		}
		found, err := c.connection(ctx, who.Team, name)
		if err == nil && found == kind {
			continue
		}
		problem := flow.Problem{Path: path + ".inputs.connection", Pos: step.Pos, Code: codeNoConnection, Severity: "error",
			Message: fmt.Sprintf("the team has no connection %s of kind %s", name, kind), Hint: "an admin makes one in the settings, or by PUT /api/v1/connections/" + name}
		if err != nil {
			problem.Message = fmt.Sprintf("the connection %s could not be looked up: %s", name, err)
		}
		problems = append(problems, problem)
	}
	return problems
}

// everyActivity walks all activities of a workflow with their paths: bodies of loops, compensations and
// hooks included.
func everyActivity(workflow *flow.Workflow) iter.Seq2[string, *flow.Activity] {
	return func(yield func(string, *flow.Activity) bool) {
		_ = walkGraph("spec.activities", workflow.Graph, yield) &&
			walkGraph("spec.onError", workflow.OnError, yield) &&
			walkGraph("spec.onExit", workflow.OnExit, yield)
	}
}

func walkGraph(path string, graph *flow.Graph, yield func(string, *flow.Activity) bool) bool {
	if graph == nil {
		return true
	}
	for i, activity := range graph.Activities {
		if !walkActivity(fmt.Sprintf("%s[%d]", path, i), activity, yield) {
			return false
		}
	}
	return true
}

func walkActivity(path string, activity *flow.Activity, yield func(string, *flow.Activity) bool) bool {
	if activity == nil {
		return true
	}
	if !yield(path, activity) || !walkActivity(path+".compensate", activity.Compensate, yield) {
		return false
	}
	loop := activity.ForEach
	return loop == nil ||
		walkActivity(path+".for_each.activity", loop.Activity, yield) &&
			walkGraph(path+".for_each.activities", loop.Body, yield)
}
