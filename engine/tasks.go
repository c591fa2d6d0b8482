package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine/execution"
	"weftline/engine/human"
	"weftline/queries"
)

// desk implements Tasks. What people do to a task and what it means for the execution are one transaction:
// the task's row is locked, the rules of package human are asked, and the message for the execution is
// stored beside the change.
type desk struct {
	db queries.Pool
	q  *queries.Queries
	deskLinks
}

// deskLinks is what the desk needs of the rest of the engine.
type deskLinks struct {
	now       func() time.Time // the database's clock, which timers follow too
	deliver   func(ctx context.Context, q *queries.Queries, to uuid.UUID, message execution.Message) (int64, error)
	delivered func(execution uuid.UUID) // called after a message was committed
	changed   func(Change)              // called after commit
}

func newDesk(db queries.Pool, links deskLinks) *desk {
	return &desk{db: db, q: queries.New(db), deskLinks: links}
}

// Tasks lists what the asker may see: open tasks first, the most urgent on top.
func (d *desk) Tasks(ctx context.Context, who Who, filter TaskFilter) (Page[Task], error) {
	after, err := decodeCursor[taskCursor](filter.Cursor)
	if err != nil {
		return Page[Task]{}, err
	}
	rows, err := d.q.ListTasks(ctx, queries.ListTasksParams{
		TeamID: who.Team, SeesAll: seesAllTasks(who), Me: who.User, MyGroups: append([]string{}, who.Groups...),
		Status: filter.Status, Execution: filter.Execution, Assignee: assigneeOf(filter, who), InGroup: filter.Group,
		Workflow: filter.Workflow, Overdue: filter.Overdue, Search: pattern(filter.Query),
		After: after.Rank, AfterID: after.ID, PageSize: filter.size() + 1})
	if err != nil {
		return Page[Task]{}, fmt.Errorf("list tasks: %w", err)
	}
	now := d.now()
	return paginate(rows, filter.PageRequest,
		func(row queries.ListTasksRow) Task { return taskOf(row.Task, who, now) },
		func(last queries.ListTasksRow) any { return taskCursor{Rank: &last.Rank, ID: last.Task.ID} })
}

type taskCursor struct {
	Rank *float64
	ID   uuid.UUID
}

func assigneeOf(filter TaskFilter, who Who) string {
	if filter.Assignee == "me" {
		return who.User
	}
	return filter.Assignee
}

// seesAllTasks holds for admins and for who stands in for everybody.
func seesAllTasks(who Who) bool {
	return who.May(ScopeAdmin) || slices.Contains(who.Groups, human.Everybody)
}

// Task is one task; whoever may not see it is told that it does not exist.
func (d *desk) Task(ctx context.Context, who Who, id uuid.UUID) (Task, error) {
	row, err := d.q.TaskByID(ctx, who.Team, id)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !maySee(row, who) {
		return Task{}, noTask()
	}
	if err != nil {
		return Task{}, fmt.Errorf("read the task: %w", err)
	}
	return taskOf(row, who, d.now()), nil
}

func noTask() *Error { return Refuse("not_found", "there is no such task") }

func maySee(row queries.Task, who Who) bool {
	return seesAllTasks(who) || row.Requester == who.User || rulesOf(row).IsCandidate(personOf(who))
}

func personOf(who Who) human.Person { return human.Person{Name: who.User, Groups: who.Groups} }

// taskOf shows a row to an asker, with the form that they left half-filled.
func taskOf(row queries.Task, who Who, now time.Time) Task {
	task := Task{
		ID: row.ID, Execution: row.ExecutionID, Workflow: row.Workflow, Activity: row.Activity, Item: row.Item,
		Title: row.Title, Description: row.Description, Status: row.Status, Outcome: row.Outcome, Assignee: row.Assignee,
		Candidates: Candidates{Users: row.Users, Groups: row.Groups}, Quorum: int(row.Quorum), Outcomes: row.Outcomes,
		AllowComment: row.AllowComment, Decisions: decisionsOf(row), Due: row.Due, ExpiresAt: row.Due,
		CreatedAt: row.CreatedAt, Requester: row.Requester, History: historyOf(row),
		Data: jsonValue(row.Data), Draft: draftsOf(row)[who.User],
	}
	task.Form, _ = jsonValue(row.Form).(map[string]any)
	if refusal := human.MayDecide(rulesOf(row), personOf(who), now); refusal != nil {
		task.WhyNot = refusal.Message
	} else {
		task.MayDecide = true
	}
	return task
}

// rulesOf is a row as the rules see it.
func rulesOf(row queries.Task) human.Task {
	task := human.Task{
		Status: row.Status, Users: row.Users, Groups: row.Groups, Barred: row.Barred, Requester: row.Requester,
		Quorum: int(row.Quorum), Outcomes: row.Outcomes, AllowComment: row.AllowComment, CheckForm: formCheck(row.Form),
	}
	if row.Assignee != nil {
		task.Assignee = *row.Assignee
	}
	if row.Due != nil {
		task.Due = *row.Due
	}
	for _, decision := range decisionsOf(row) {
		task.Votes = append(task.Votes, human.Vote{By: decision.By, Outcome: decision.Decision})
	}
	return task
}

func decisionsOf(row queries.Task) []Decision {
	decisions := []Decision{}
	_ = json.Unmarshal(row.Decisions, &decisions) // written by this package
	return decisions
}

// historyOf is what happened to the task: the flush of its execution writes how it began, escalated and
// ended, people's changes the rest.
func historyOf(row queries.Task) []TaskEvent {
	history := []TaskEvent{}
	_ = json.Unmarshal(row.History, &history) // always a list of events
	return history
}

// draftsOf are the half-filled forms by person.
func draftsOf(row queries.Task) map[string]any {
	drafts, _ := jsonValue(row.Draft).(map[string]any)
	return drafts
}
