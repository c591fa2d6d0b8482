package store

import (
	"encoding/json"
	"fmt"
	"time"

	"weftline/engine/execution"
)

// taskEvent is a line of its history.
type taskEvent struct {
	At   time.Time `json:"at"`
	Kind string    `json:"kind"`
	Text string    `json:"text,omitempty"`
}

// task creates or changes the row of a human task. A task that expires must be open still: if somebody has
// decided it, its status becomes null, which the column refuses, so the whole flush fails with ErrOvertaken.
func (w *writer) task(f *Flush, row execution.TaskRow) error {
	if row.Create {
		return w.createTask(f, row)
	}
	w.batch.Queue(`update tasks set
			status = case when status = 'open' then coalesce(nullif($2::text, ''), status) end, outcome = coalesce(nullif($3::text, ''), outcome),
			users = users || $4::text[], groups = groups || $5::text[], updated_at = $6::timestamptz,
			finished_at = case when coalesce(nullif($2::text, ''), status) = 'open' then null else $6::timestamptz end,
			history = (left(history::text, -1) || case history::text when '[]' then '' else ',' end || substr($7::text, 2))::json
		where id = $1 and (status = 'open' or $2::text = 'expired' and status = 'done')`,
		row.ID, row.Status, clean(row.Outcome), cleanAll(row.AddUsers), cleanAll(row.AddGroups), row.At,
		taskHistory(changeKind(row), row.At))
	return nil
}

func (w *writer) createTask(f *Flush, row execution.TaskRow) error {
	form, err := optionalJSON(row.Form, row.Form == nil)
	if err != nil {
		return fmt.Errorf("encode the form of task %s: %w", row.ID, err)
	}
	data, err := optionalJSON(row.Data, row.Data == nil)
	if err != nil {
		return fmt.Errorf("encode the data of task %s: %w", row.ID, err)
	}
	w.batch.Queue(`insert into tasks (id, team_id, execution_id, workflow, activity, item, title, description, assignee,
			users, groups, quorum, not_actor, barred, outcomes, form, data, due, on_due, allow_comment, history,
			requester, created_at, updated_at)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $23)`,
		row.ID, f.Team, f.Execution, f.Workflow, row.Activity, clean(row.Item), clean(row.Title), clean(row.Description),
		optionalText(clean(row.Assignee)), cleanAll(row.Users), cleanAll(row.Groups), max(1, row.Quorum), row.NotActor,
		cleanAll(row.Barred), row.Outcomes, form, data, optional(row.Due), row.OnDue, row.Comment,
		taskHistory("created", row.At), f.Requester, row.At)
	return nil
}

func changeKind(row execution.TaskRow) string {
	switch {
	case row.Status == "done":
		return "decided"
	case row.Status != "" && row.Status != "open":
		return row.Status
	case len(row.AddUsers)+len(row.AddGroups) > 0:
		return "escalated"
	}
	return "changed"
}

func taskHistory(kind string, at time.Time) string {
	text, _ := json.Marshal([]taskEvent{{At: at, Kind: kind}}) // plain fields cannot fail
	return string(text)
}

func optionalJSON(value any, absent bool) ([]byte, error) {
	if absent {
		return nil, nil
	}
	return json.Marshal(value)
}

func optionalText(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func cleanAll(texts []string) []string {
	cleaned := make([]string, len(texts))
	for i, text := range texts {
		cleaned[i] = clean(text)
	}
	return cleaned
}
