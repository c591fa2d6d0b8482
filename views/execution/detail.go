package execution

import (
	"time"

	"weftline/engine/execution"
	"weftline/views/activitylog"
	"weftline/views/state"
	"weftline/views/ui"
)

// Detail is what the side panel shows of one activity.
type Detail struct {
	ID, Name, Type        string
	Look                  state.Look
	Words                 string // what it waits for, which attempt, why it was skipped
	Since, Until          *time.Time
	StartedAt, FinishedAt *time.Time
	Took                  string
	Outcome               string
	Error                 *ErrorView
	Input, Output         string
	Files                 []ui.File // in its input and output
	Items                 []ItemRow
	MoreItems             int
	Link, LinkURL         string
	Log                   []activitylog.Line // the end of what its last attempt printed
	LogURL                string             // of all of it
}

// ErrorView is a failure with what to do next.
type ErrorView struct {
	Type, Message, Advice, Detail, Where string
}

// ItemRow is one item of a loop that did not simply complete.
type ItemRow struct {
	Key   string
	Look  state.Look
	Error string
}

func (b builder) detail(id string) Detail {
	activity := b.byID[id]
	view := Detail{ID: id, Name: b.name(id), Type: activity.Type, Look: b.look(id, "")}
	detail, reached := b.activity(id)
	if id == "" || !reached {
		return view
	}
	view.StartedAt, view.FinishedAt = detail.StartedAt, detail.FinishedAt
	if detail.StartedAt != nil && detail.FinishedAt != nil {
		view.Took = ui.Duration(detail.FinishedAt.Sub(*detail.StartedAt))
	}
	view.Outcome = detail.Outcome
	view.Input, view.Output = indented(detail.Input), indented(detail.Output)
	view.Files = ui.FilesIn([]any{detail.Input, detail.Output})
	view.Error = errorView(detail.Error)
	if view.Error != nil && detail.Status == "retrying" {
		view.Error.Advice = "" // the next attempt comes by itself
	}
	view.Words = b.detailWords(id, detail)
	if wait := b.wait(id); wait != nil {
		line := b.waitLine(*wait)
		view.Words = line.Reason
		view.Since, view.Until, view.Link, view.LinkURL = line.Since, line.Until, line.Link, line.LinkURL
	}
	if detail.Items != nil {
		view.Items, view.MoreItems = itemRows(*detail.Items)
	}
	return view
}

func (b builder) detailWords(id string, detail execution.ActivityDetail) string {
	switch {
	case detail.Items != nil:
		return itemWords(*detail.Items)
	case detail.Status == "skipped":
		return skipWords(detail.SkipReason)
	case b.byID[id].Attempts > 1 && detail.Attempt > 0:
		return b.attemptWords(id, 0)
	}
	return ""
}

func errorView(e *execution.Error) *ErrorView {
	if e == nil {
		return nil
	}
	return &ErrorView{Type: e.Type, Message: e.Message, Advice: advice(e.Type), Detail: indented(e.Detail), Where: indented(e.Position)}
}

func itemRows(items execution.ItemsDetail) (rows []ItemRow, more int) {
	for _, item := range items.List {
		row := ItemRow{Key: item.Key, Look: state.Of(item.Status)}
		if item.Error != nil {
			row.Error = item.Error.Type + ": " + item.Error.Message
		}
		rows = append(rows, row)
	}
	return rows, max(0, items.Total-items.Completed-len(rows))
}

// EventRow is one line of the event list.
type EventRow struct {
	Seq      int64
	Type     string
	At       time.Time
	Offset   string // since the start: "+1.2 s"
	Activity string
	Name     string
	Item     string
	Attempt  int
	Worker   string
	Data     string
}

func (b builder) events() []EventRow {
	events := b.Events
	if len(events) > shownEvents {
		events = events[len(events)-shownEvents:]
	}
	rows := make([]EventRow, 0, len(events))
	for _, event := range events {
		rows = append(rows, EventRow{
			Seq: event.Seq, Type: string(event.Type), At: event.At, Offset: b.offset(event.At),
			Activity: event.Activity, Name: b.name(event.Activity), Item: event.Item,
			Attempt: event.Attempt, Worker: event.Worker, Data: indented(event.Data),
		})
	}
	return rows
}

func (b builder) offset(at time.Time) string {
	if b.Detail.StartedAt == nil || at.Before(*b.Detail.StartedAt) {
		return ""
	}
	return "+" + ui.Duration(at.Sub(*b.Detail.StartedAt))
}
