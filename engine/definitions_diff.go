package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"weftline/engine/flow"
	"weftline/queries"
)

// Diff compares two sides of a workflow by text and by activity, and counts what runs on it now. A side that
// is not published yet is empty; one that is no valid definition has no changes by activity.
func (c *catalog) Diff(ctx context.Context, who Who, name, from, to string) (Diff, error) {
	row, err := c.q.WorkflowByName(ctx, who.Team, name)
	if errors.Is(err, pgx.ErrNoRows) {
		return Diff{}, noWorkflow(name)
	}
	if err != nil {
		return Diff{}, fmt.Errorf("read workflow %s: %w", name, err)
	}
	older, err := c.side(ctx, who, row.Workflow, from)
	if err != nil {
		return Diff{}, err
	}
	newer, err := c.side(ctx, who, row.Workflow, to)
	if err != nil {
		return Diff{}, err
	}
	return c.diffOf(ctx, who, row.Workflow, older, newer)
}

// nothing is what a first version is compared with by activity.
const nothing = "apiVersion: weftline/v1\nkind: Workflow\nmetadata: {name: %s}\nspec: {activities: []}\n"

func (c *catalog) diffOf(ctx context.Context, who Who, workflow queries.Workflow, older, newer side) (Diff, error) {
	affects, err := c.affects(ctx, who, workflow)
	if err != nil {
		return Diff{}, err
	}
	diff := Diff{From: older.label, To: newer.label, FromText: string(older.text), ToText: string(newer.text), Affects: affects,
		Text: flow.Unified(string(older.text), string(newer.text), older.label, newer.label), Changes: []flow.Change{}}
	compared := older.text
	if len(compared) == 0 {
		compared = fmt.Appendf(nil, nothing, workflow.Name)
	}
	if changes, err := flow.Compare(compared, newer.text); err == nil && changes != nil {
		diff.Changes = changes
	}
	return diff, nil
}

// side is one of the texts that are compared.
type side struct {
	label string // a version number, "draft" or "published"
	text  []byte
}

func (c *catalog) side(ctx context.Context, who Who, workflow queries.Workflow, wanted string) (side, error) {
	switch wanted {
	case "draft":
		draft, err := c.Draft(ctx, who, workflow.Name)
		return side{"draft", []byte(draft.Text)}, err
	case "published":
		if workflow.PublishedVersion == nil {
			return side{label: "published"}, nil
		}
		wanted = strconv.Itoa(int(*workflow.PublishedVersion))
	}
	number, err := strconv.Atoi(wanted)
	if err != nil {
		return side{}, Refuse("bad_request", fmt.Sprintf("%q is no side to compare: give a version number, draft or published", wanted))
	}
	version, err := findVersion(ctx, c.q, who, workflow.Name, number)
	return side{strconv.Itoa(number), version.Text}, err
}

// affects counts what is open on a workflow. PerActivity counts what waits there for a person or an event.
func (c *catalog) affects(ctx context.Context, who Who, workflow queries.Workflow) (Affects, error) {
	affects := Affects{PerActivity: map[string]int{}}
	statuses, err := c.q.WorkflowStatusCounts(ctx, who.Team, workflow.Name)
	if err != nil {
		return affects, fmt.Errorf("count the executions of %s: %w", workflow.Name, err)
	}
	for _, row := range statuses {
		switch row.Status {
		case "waiting", "scheduled", "paused":
			affects.Waiting += int(row.Count)
		default:
			affects.Running += int(row.Count)
		}
	}
	waits, err := c.q.WaitsByActivity(ctx, who.Team, workflow.Name)
	if err != nil {
		return affects, fmt.Errorf("count the waits of %s: %w", workflow.Name, err)
	}
	for _, row := range waits {
		affects.PerActivity[row.Activity] = int(row.Tasks + row.Events)
		affects.OpenTasks += int(row.Tasks)
	}
	schedules, err := c.q.CountSchedules(ctx, who.Team, workflow.Name)
	if err != nil {
		return affects, fmt.Errorf("count the schedules of %s: %w", workflow.Name, err)
	}
	affects.Schedules = int(schedules)
	return affects, nil
}
