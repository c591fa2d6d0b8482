package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine/execution"
	"weftline/engine/flow"
	"weftline/engine/human"
	"weftline/queries"
)

// taskChange is a locked task that is being changed.
type taskChange struct {
	row     queries.Task
	rules   human.Task
	who     Who
	now     time.Time
	q       *queries.Queries  // of the transaction
	message execution.Message // for the execution; the zero message is none
	noted   string            // what the task's history says was done; "" = nothing of note
}

// change runs one change of a task in a transaction: judge, alter the row, tell the execution.
func (d *desk) change(ctx context.Context, who Who, id uuid.UUID, alter func(t *taskChange) error) (queries.Task, error) {
	var row queries.Task
	var told bool
	err := inTx(ctx, d.db, func(q *queries.Queries) (err error) {
		row, told, err = d.changeLocked(ctx, q, who, id, alter)
		return err
	})
	if err != nil {
		return row, err
	}
	if told {
		d.delivered(row.ExecutionID)
	}
	d.changed(Change{Team: who.Team, Execution: row.ExecutionID, Workflow: row.Workflow, Tasks: true})
	return row, nil
}

func (d *desk) changeLocked(ctx context.Context, q *queries.Queries, who Who, id uuid.UUID, alter func(t *taskChange) error) (row queries.Task, told bool, err error) {
	if row, err = q.LockTask(ctx, who.Team, id); errors.Is(err, pgx.ErrNoRows) {
		return row, false, noTask()
	}
	if err != nil {
		return row, false, fmt.Errorf("lock the task: %w", err)
	}
	t := &taskChange{row: row, rules: rulesOf(row), who: who, now: d.now(), q: q}
	if err := alter(t); err != nil {
		return row, false, err
	}
	if err := t.save(ctx, q); err != nil {
		return row, false, err
	}
	if err := t.audit(ctx, q, row); err != nil {
		return row, false, err
	}
	told, err = d.tell(ctx, q, t)
	return t.row, told, err
}

// audit tells what was done to a task; before is its row then. Forms and comments stay where they are.
func (t *taskChange) audit(ctx context.Context, q *queries.Queries, before queries.Task) error {
	if t.noted == "" {
		return nil
	}
	return record(ctx, q, t.who, act{action: "task." + t.noted, target: t.row.ID.String(), name: t.row.Workflow + "/" + t.row.Activity,
		forWhom: textOr(t.row.Assignee, ""), before: shownTask(before), after: shownTask(t.row)})
}

func shownTask(row queries.Task) map[string]any {
	return map[string]any{"status": row.Status, "assignee": row.Assignee, "outcome": row.Outcome}
}

func (t *taskChange) save(ctx context.Context, q *queries.Queries) error {
	err := q.SaveTask(ctx, queries.SaveTaskParams{
		ID: t.row.ID, Status: t.row.Status, Assignee: t.row.Assignee, Users: t.row.Users, Outcome: t.row.Outcome,
		Draft: t.row.Draft, Decisions: t.row.Decisions, History: t.row.History, At: t.now})
	if err != nil {
		return fmt.Errorf("save the task: %w", err)
	}
	return nil
}

func (d *desk) tell(ctx context.Context, q *queries.Queries, t *taskChange) (bool, error) {
	if t.message == (execution.Message{}) {
		return false, nil
	}
	if _, err := d.deliver(ctx, q, t.row.ExecutionID, t.message); err != nil {
		return false, fmt.Errorf("tell the execution of the task: %w", err)
	}
	return true, nil
}

// CompleteTask records an answer; the status tells whether it ended the task ("done") or was one of several
// votes ("open"). Of answers given at once exactly one wins, the others are refused with conflict.
func (d *desk) CompleteTask(ctx context.Context, who Who, id uuid.UUID, answer Answer) (string, error) {
	row, err := d.change(ctx, who, id, func(t *taskChange) error { return t.decide(ctx, answer) })
	return row.Status, err
}

func (t *taskChange) decide(ctx context.Context, answer Answer) error {
	given := human.Answer{Outcome: answer.Decision, Form: answer.Form, Comment: strings.TrimSpace(answer.Comment)}
	ends, refusal := human.Decide(t.rules, personOf(t.who), given, t.now)
	if refusal != nil {
		return refused(refusal)
	}
	if err := t.nameFiles(ctx, &given); err != nil {
		return err
	}
	shown := execution.ShownBySchema(t.form(), given.Form)
	decision := Decision{By: t.who.User, Decision: given.Outcome, Form: given.Form, Comment: given.Comment, At: t.now}
	if shown != nil {
		decision.Form = shown
	}
	if err := t.put(&t.row.Decisions, append(decisionsOf(t.row), decision)); err != nil {
		return err
	}
	kind := "voted"
	if ends {
		kind = "decided"
		t.row.Status, t.row.Outcome, t.row.Draft = "done", given.Outcome, nil
	}
	t.message.Vote = &execution.Vote{
		Task: t.row.ID, Activity: t.row.Activity, Item: t.row.Item, By: t.who.User, Outcome: given.Outcome,
		Form: given.Form, Shown: shown, Comment: given.Comment, At: t.now, Decides: ends}
	return t.note(kind, given.Outcome)
}

// nameFiles checks the files of an answer that fits its form.
func (t *taskChange) nameFiles(ctx context.Context, given *human.Answer) error {
	if given.Form == nil || !flow.MarksFiles(t.form()) {
		return nil
	}
	schema, err := flow.NewSchema(t.form())
	if err != nil {
		return fmt.Errorf("the schema of the task's form: %w", err)
	}
	whole, problems, err := namedFiles(ctx, t.q, t.who.Team, schema, given.Form)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return &Error{Code: "invalid_input", Message: "a file of the form is not accepted", Problems: inForm(problems)}
	}
	given.Form = whole
	return nil
}

// ClaimTask takes a task.
func (d *desk) ClaimTask(ctx context.Context, who Who, id uuid.UUID) error {
	_, err := d.change(ctx, who, id, func(t *taskChange) error {
		if refusal := human.Claim(t.rules, personOf(who)); refusal != nil {
			return refused(refusal)
		}
		t.row.Assignee = &who.User
		return t.handled("claimed", "")
	})
	return err
}

// UnclaimTask gives a task back; who had it stays a candidate, so that a task of one person is not lost.
func (d *desk) UnclaimTask(ctx context.Context, who Who, id uuid.UUID) error {
	_, err := d.change(ctx, who, id, func(t *taskChange) error {
		if refusal := human.Release(t.rules, personOf(who), who.May(ScopeAdmin)); refusal != nil {
			return refused(refusal)
		}
		had := t.rules.Assignee
		t.row.Assignee = nil
		if !slices.Contains(t.row.Users, had) {
			t.row.Users = append(t.row.Users, had)
		}
		return t.handled("unclaimed", "")
	})
	return err
}

// AssignTask gives a task to somebody, who may then decide it.
func (d *desk) AssignTask(ctx context.Context, who Who, id uuid.UUID, user string) error {
	user = strings.TrimSpace(user)
	_, err := d.change(ctx, who, id, func(t *taskChange) error {
		if refusal := human.Assign(t.rules, personOf(who), who.May(ScopeAdmin), user); refusal != nil {
			return refused(refusal)
		}
		t.row.Assignee = &user
		return t.handled("assigned", user)
	})
	return err
}

// CommentTask says something about a task without deciding it.
func (d *desk) CommentTask(ctx context.Context, who Who, id uuid.UUID, body string) error {
	_, err := d.change(ctx, who, id, func(t *taskChange) error {
		if refusal := human.Comment(t.rules, personOf(who), who.May(ScopeAdmin), body); refusal != nil {
			return refused(refusal)
		}
		return t.handled("commented", strings.TrimSpace(body))
	})
	return err
}

// DraftTask keeps the asker's half-filled form until the task ends, without its sensitive fields; nobody else
// sees it.
func (d *desk) DraftTask(ctx context.Context, who Who, id uuid.UUID, form any) error {
	_, err := d.change(ctx, who, id, func(t *taskChange) error {
		if refusal := human.Keep(t.rules, personOf(who)); refusal != nil {
			return refused(refusal)
		}
		drafts := draftsOf(t.row)
		if drafts == nil {
			drafts = map[string]any{}
		}
		drafts[who.User] = withoutMasked(form, execution.ShownBySchema(t.form(), form))
		return t.put(&t.row.Draft, drafts)
	})
	return err
}

// form is the schema of the task's form, nil without one.
func (t *taskChange) form() map[string]any {
	schema, _ := jsonValue(t.row.Form).(map[string]any)
	return schema
}

// handled notes that somebody looked after the task, for its own history and for the execution's. Text is
// the new assignee or the comment.
func (t *taskChange) handled(kind, text string) error {
	change := execution.TaskChange{Task: t.row.ID, Activity: t.row.Activity, Item: t.row.Item, Kind: kind, By: t.who.User, At: t.now}
	if kind == "commented" {
		change.Comment = text
	} else {
		change.To = text
	}
	t.message.TaskChange = &change
	return t.note(kind, text)
}

func (t *taskChange) note(kind, text string) error {
	t.noted = kind
	return t.put(&t.row.History, append(historyOf(t.row), TaskEvent{At: t.now, Kind: kind, By: t.who.User, Text: text}))
}

func (t *taskChange) put(column *[]byte, value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write the task: %w", err)
	}
	*column = content
	return nil
}

func refused(refusal *human.Refusal) *Error {
	return &Error{Code: refusal.Code, Message: refusal.Message, Problems: refusal.Problems}
}
