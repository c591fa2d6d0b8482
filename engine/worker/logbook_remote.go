package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"weftline/engine/activity"
	"weftline/engine/execution"
	"weftline/engine/queue"
	"weftline/engine/store"
)

// Mask takes the secrets that the remote worker of an attempt was given out of what it answers. An attempt whose
// secrets cannot be told any more fails, so that nothing is stored that may hold one.
func (p *Pool) Mask(ctx context.Context, l queue.Leased, result *execution.Result) error {
	errand, err := ReadErrand(l.Body)
	if err != nil {
		return err
	}
	call, err := p.CallOf(ctx, l, errand)
	switch byPolicy := (refused{}); {
	case errors.Is(err, execution.ErrStale):
		result.Value, result.Error = nil, nil // it is over; what came of it is dropped
	case errors.As(err, &byPolicy), errors.Is(err, activity.ErrNotUsable):
		result.Value, result.Error = nil, Unprepared(err)
	case err != nil:
		return err
	default:
		scrubber := execution.NewScrubber(call.Secrets)
		result.Value, result.Error = scrubber.Value(result.Value), scrubber.Error(result.Error)
	}
	return nil
}

// KeepLog stores what the remote worker that holds a lease says of its attempt, without the secrets that it was
// given. An attempt has one log, whatever replicas its worker speaks to; its bounds are those of all attempts.
func (p *Pool) KeepLog(ctx context.Context, l queue.Leased, text string) error {
	errand, err := ReadErrand(l.Body)
	if err != nil {
		return err
	}
	call, err := p.CallOf(ctx, l, errand)
	if err != nil {
		return fmt.Errorf("what the lines must not show cannot be told: %w", err)
	}
	text = execution.NewScrubber(append(call.Secrets, call.Sensitive...)).Text(text)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for {
		book := p.logbook(l.Team, l.Workflow, l.Execution, execution.Work{Activity: l.Activity, Item: l.Item, Compensating: l.Compensating, Attempt: l.Attempt})
		before, _, err := p.Store.Log(ctx, book.key, 0)
		if err != nil {
			return err
		}
		book.resume(before)
		for _, line := range lines {
			book.take("stdout", strings.TrimSuffix(line, "\r"))
		}
		if len(book.lines) == 0 {
			return nil
		}
		stored, err := p.Store.AppendLog(ctx, book.key, book.lines)
		if err != nil {
			return err
		}
		if stored {
			book.tell()
			return nil
		} // another replica stored lines meanwhile: these come after them
	}
}

// resume goes on after lines that are stored.
func (b *logbook) resume(lines []store.LogLine) {
	for _, line := range lines {
		b.count = line.N
		b.size += len(line.Line)
		b.full = b.full || line.Stream == ownStream
	}
}
