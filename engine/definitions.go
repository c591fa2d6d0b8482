package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine/execution"
	"weftline/engine/flow"
	"weftline/engine/worker"
	"weftline/queries"
)

// catalog implements Definitions.
type catalog struct {
	db       queries.Pool
	q        *queries.Queries
	policies *policies
	catalogLinks
}

// catalogLinks is what the catalog needs of the rest of the engine.
type catalogLinks struct {
	unable     func(activity *flow.Activity) string // why an activity cannot run on this server, "" = it can
	mistakes   func(ctx context.Context, code []flow.Code) []flow.Problem
	resolve    func(ctx context.Context, team uuid.UUID, workflow, version string) error
	published  func(ctx context.Context, team uuid.UUID, workflow, version string) (*flow.Workflow, error)
	connection func(ctx context.Context, team uuid.UUID, name string) (kind string, err error) // "" = there is none
	latest     func(ctx context.Context, who Who, filter ExecutionFilter) (Page[ExecutionSummary], error)
	attempt    func(ctx context.Context, team uuid.UUID, trial worker.Trial) (execution.Result, []LogLine)
	// state is an execution of the team as it stands; a *Error not_found when there is none.
	state      func(ctx context.Context, who Who, id uuid.UUID) (*flow.Workflow, *execution.State, error)
	now        func() time.Time // the database's
	inputLimit int              // bytes of the input of an execution, as JSON
	changed    func(Change)     // called after commit
}

func newCatalog(db queries.Pool, policies *policies, links catalogLinks) *catalog {
	return &catalog{db: db, q: queries.New(db), policies: policies, catalogLinks: links}
}

const (
	maxDefinition  = 1 << 20 // bytes of a definition text
	lastExecutions = 5       // shown with one workflow
	longestTitle   = 200     // bytes
)

var workflowName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// Validate checks a text without a team: references to other workflows are not looked up.
func (c *catalog) Validate(ctx context.Context, text []byte) flow.Report {
	reading := c.read(ctx, text)
	if reading.Valid {
		reading.Warnings = append(reading.Warnings, asWarnings(c.unsupported(reading.Workflow))...)
	}
	return reading.Report
}

// Workflows lists the team's workflows by name.
func (c *catalog) Workflows(ctx context.Context, who Who, filter WorkflowFilter) (Page[Workflow], error) {
	after, err := decodeCursor[string](filter.Cursor)
	if err != nil {
		return Page[Workflow]{}, err
	}
	var labels json.RawMessage
	if len(filter.Labels) > 0 {
		labels = labelsJSON(filter.Labels)
	}
	rows, err := c.q.ListWorkflows(ctx, queries.ListWorkflowsParams{
		TeamID: who.Team, After: after, Labels: labels, Search: pattern(filter.Query), PageSize: filter.size() + 1})
	if err != nil {
		return Page[Workflow]{}, fmt.Errorf("list workflows: %w", err)
	}
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row.Workflow.Name
	}
	open, err := c.openProposals(ctx, who, names...)
	if err != nil {
		return Page[Workflow]{}, err
	}
	return paginate(rows, filter.PageRequest,
		func(row queries.ListWorkflowsRow) Workflow {
			workflow := workflowOf(row.Workflow, row.HasDraft)
			workflow.OpenProposals = open[workflow.Name]
			return workflow
		},
		func(last queries.ListWorkflowsRow) any { return last.Workflow.Name })
}

// Workflow is one workflow with its last executions.
func (c *catalog) Workflow(ctx context.Context, who Who, name string) (Workflow, error) {
	row, err := c.q.WorkflowByName(ctx, who.Team, name)
	if errors.Is(err, pgx.ErrNoRows) {
		return Workflow{}, noWorkflow(name)
	}
	if err != nil {
		return Workflow{}, fmt.Errorf("read workflow %s: %w", name, err)
	}
	workflow := workflowOf(row.Workflow, row.HasDraft)
	page, err := c.latest(ctx, who, ExecutionFilter{PageRequest: PageRequest{Limit: lastExecutions}, Workflow: name})
	workflow.LastExecutions = page.Items
	if err != nil {
		return workflow, err
	}
	if workflow.Schedule, err = c.schedulesOf(ctx, who, name); err != nil {
		return workflow, err
	}
	open, err := c.openProposals(ctx, who, name)
	workflow.OpenProposals = open[name]
	return workflow, err
}

// openProposals counts the open proposals of workflows.
func (c *catalog) openProposals(ctx context.Context, who Who, names ...string) (map[string]int, error) {
	rows, err := c.q.CountOpenProposals(ctx, who.Team, names)
	if err != nil {
		return nil, fmt.Errorf("count open proposals: %w", err)
	}
	open := map[string]int{}
	for _, row := range rows {
		open[row.Workflow] = int(row.Count)
	}
	return open, nil
}

// schedulesOf lists the first schedules of a workflow; nil when there is none.
func (c *catalog) schedulesOf(ctx context.Context, who Who, name string) (any, error) {
	rows, err := c.q.ListSchedules(ctx, who.Team, uuid.Nil, &name, defaultPage)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	schedules := make([]Schedule, len(rows))
	for i, row := range rows {
		schedules[i] = scheduleOf(row)
	}
	return schedules, nil
}

func workflowOf(row queries.Workflow, hasDraft bool) Workflow {
	workflow := Workflow{
		Name: row.Name, Title: row.Title, Description: row.Description, Labels: map[string]string{},
		PublishedVersion: optionalInt(row.PublishedVersion), HasDraft: hasDraft, UpdatedAt: row.UpdatedAt, UpdatedBy: row.UpdatedBy,
	}
	_ = json.Unmarshal(row.Labels, &workflow.Labels) // written by labelsJSON
	return workflow
}

func optionalInt(value *int32) *int {
	if value == nil {
		return nil
	}
	whole := int(*value)
	return &whole
}

func noWorkflow(name string) *Error { return Refuse("not_found", "there is no workflow "+name) }

// lockWorkflow serializes changes of one workflow until the transaction ends.
func lockWorkflow(ctx context.Context, q *queries.Queries, who Who, name string) (queries.Workflow, error) {
	row, err := q.LockWorkflow(ctx, who.Team, name)
	if errors.Is(err, pgx.ErrNoRows) {
		return row, noWorkflow(name)
	}
	if err != nil {
		return row, fmt.Errorf("lock workflow %s: %w", name, err)
	}
	return row, nil
}

// showInLists copies what lists show from a definition to its workflow's row.
func showInLists(ctx context.Context, q *queries.Queries, who Who, workflow *flow.Workflow) error {
	title, _, _ := strings.Cut(strings.TrimSpace(workflow.Description), "\n")
	if title == "" {
		title = workflow.Name
	}
	err := q.DescribeWorkflow(ctx, queries.DescribeWorkflowParams{
		TeamID: who.Team, Name: workflow.Name, UpdatedBy: cleanText(who.User),
		Title: clip(title, longestTitle), Description: cleanText(workflow.Description), Labels: labelsJSON(workflow.Labels)})
	if err != nil {
		return fmt.Errorf("describe workflow %s: %w", workflow.Name, err)
	}
	return nil
}

// labelsJSON writes labels for a jsonb column.
func labelsJSON(labels map[string]string) json.RawMessage {
	clean := make(map[string]string, len(labels))
	for key, value := range maps.All(labels) {
		clean[cleanText(key)] = cleanText(value)
	}
	content, _ := json.Marshal(clean) // a map of texts always has a JSON form
	return content
}
