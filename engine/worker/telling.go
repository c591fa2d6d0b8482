package worker

import (
	"context"
	"log/slog"

	"weftline/engine/activity"
	"weftline/engine/execution"
	"weftline/engine/logs"
	"weftline/engine/queue"
	"weftline/engine/store"
)

// about is what log lines say of an execution that is driven here.
func (p *Pool) about(l *store.Loaded) logs.About {
	return logs.About{Worker: p.name, Execution: l.ID, Workflow: l.Definition.Name, Correlation: correlation(&l.State.Created)}
}

// aboutErrand is what log lines say of an attempt that is made for another owner.
func (p *Pool) aboutErrand(l queue.Leased, e Errand) logs.About {
	return logs.About{Worker: p.name, Execution: l.Execution, Workflow: l.Workflow, Activity: l.Activity, Item: l.Item, Attempt: l.Attempt,
		Lease: l.Lease.String(), Correlation: e.CorrelationID, Span: activity.SpanOf(l.Execution.String(), l.Activity, l.Item, l.Attempt)}
}

// tellEvents writes a line for each event that has become durable: what fails or is tried again for everybody to
// see, the rest only for those who ask for it.
func (p *Pool) tellEvents(l *store.Loaded, events []execution.Event) {
	ctx := context.Background()
	if !p.Log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	about := p.about(l)
	for _, event := range events {
		level := levelOf(event.Type)
		if !p.Log.Enabled(ctx, level) {
			continue
		}
		line := about.With(string(event.Type))
		line.Activity, line.Item, line.Attempt = event.Activity, event.Item, event.Attempt
		if event.Worker != "" {
			line.Worker = event.Worker
		}
		p.Log.Log(ctx, level, "event", line.Args("seq", event.Seq, "at", event.At)...)
	}
}

func levelOf(event execution.EventType) slog.Level {
	switch event {
	case execution.ActivityRetryScheduled, execution.ActivityFailed, execution.ActivityTimedOut, execution.WorkflowFailed, execution.WorkflowTimedOut,
		execution.CompensationFailed, execution.LeaseExpired:
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// Word for the line that stands for the span of an attempt.
const attemptEnded = "AttemptEnded"

// tellAttempt writes the span of an attempt: what it was, when it began and how long it took.
func (p *Pool) tellAttempt(l *store.Loaded, r *execution.Result) {
	if r == nil || !p.Log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	about := p.about(l).With(attemptEnded)
	about.Activity, about.Item, about.Attempt = r.Activity, r.Item, r.Attempt
	about.Span = activity.SpanOf(l.ID.String(), r.Activity, r.Item, r.Attempt)
	if r.Worker != "" {
		about.Worker = r.Worker
	}
	outcome := "completed"
	if r.Error != nil {
		outcome = r.Error.Type
	}
	p.Log.Debug("attempt", about.Args("outcome", outcome, "began", r.StartedAt, "ms", r.EndedAt.Sub(r.StartedAt).Milliseconds())...)
}
