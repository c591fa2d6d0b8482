package web

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"weftline/engine"
	executionview "weftline/views/execution"
	"weftline/views/lists"
	"weftline/views/state"
	"weftline/views/ui"
	"weftline/views/versions"
)

func runRow(run engine.ExecutionSummary) lists.RunRow {
	row := lists.RunRow{
		ID: run.ID.String(), ShortID: executionview.Short(run.ID.String()), URL: "/executions/" + run.ID.String(),
		Workflow: run.Workflow, Version: run.Version, Look: state.Of(run.Status),
		StartedAt: run.StartedAt, StartedBy: run.StartedBy, Labels: labelPairs(run.Labels),
	}
	if len(run.WaitsFor) > 0 {
		first := run.WaitsFor[0]
		row.Look, row.Until = state.ForWait(first.Kind), first.Until
		if first.Activity != "" {
			row.Words = "at " + cmp.Or(first.Name, first.Activity)
		}
		if more := len(run.WaitsFor) - 1; more > 0 {
			row.Words += " and " + ui.Plural(more, "more place")
		}
	}
	if run.FinishedAt != nil {
		row.Took = ui.Duration(run.FinishedAt.Sub(run.StartedAt))
	}
	if run.Error != nil {
		row.Words = run.Error.Type + ": " + run.Error.Message
	}
	return row
}

func runRows(runs []engine.ExecutionSummary) []lists.RunRow {
	rows := make([]lists.RunRow, len(runs))
	for i, run := range runs {
		rows[i] = runRow(run)
	}
	return rows
}

func taskRow(task engine.Task, now time.Time) lists.TaskRow {
	row := lists.TaskRow{
		ID: task.ID.String(), URL: "/tasks/" + task.ID.String(), Title: task.Title, Workflow: task.Workflow,
		Activity: task.Activity, Look: state.Of(task.Status), Outcome: task.Outcome, Requester: task.Requester,
		CreatedAt: task.CreatedAt, Due: task.Due, MayDecide: task.MayDecide,
		Overdue: task.Status == "open" && task.Due != nil && task.Due.Before(now),
	}
	if task.Assignee != nil {
		row.Assignee = *task.Assignee
	}
	return row
}

func taskRows(tasks []engine.Task, now time.Time) []lists.TaskRow {
	rows := make([]lists.TaskRow, len(tasks))
	for i, task := range tasks {
		rows[i] = taskRow(task, now)
	}
	return rows
}

// workflowRows adds to each workflow its newest execution.
func (p *Pages) workflowRows(ctx context.Context, who engine.Who, workflows []engine.Workflow) ([]lists.WorkflowRow, error) {
	rows := make([]lists.WorkflowRow, len(workflows))
	for i, workflow := range workflows {
		rows[i] = lists.WorkflowRow{
			Name: workflow.Name, Title: workflow.Title, URL: "/workflows/" + workflow.Name,
			Labels: labelPairs(workflow.Labels), Draft: workflow.HasDraft, UpdatedAt: workflow.UpdatedAt,
		}
		if workflow.PublishedVersion != nil {
			rows[i].Version = *workflow.PublishedVersion
		}
		newest, err := p.Door.Executions(ctx, who, engine.ExecutionFilter{
			Workflow: workflow.Name, PageRequest: engine.PageRequest{Limit: 1}})
		if err != nil {
			return nil, err
		}
		if len(newest.Items) > 0 {
			last := runRow(newest.Items[0])
			rows[i].Last = &last
		}
	}
	return rows, nil
}

func versionRows(list []engine.Version, current *int) []versions.Row {
	rows := make([]versions.Row, len(list))
	for i, version := range list {
		rows[i] = versions.Row{
			Number: version.Version, Message: version.Message, By: version.By, At: version.At, Label: version.Label,
			Hash: versions.ShortHash(version.ContentHash), Current: current != nil && *current == version.Version,
		}
	}
	return rows
}

func labelPairs(labels map[string]string) []string {
	pairs := make([]string, 0, len(labels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, key+"="+labels[key])
	}
	return pairs
}
