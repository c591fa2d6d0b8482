package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/queries"
)

// BackfillRequest asks for the ticks from one instant to another, both included.
type BackfillRequest struct {
	From        time.Time `json:"from"`
	To          time.Time `json:"to"`
	MaxParallel int       `json:"maxParallel" least:"1"` // executions at one time; absent, here 0 = 1
}

// Backfill answers a request: so many ticks will be started.
type Backfill struct {
	ID    uuid.UUID `json:"id"`
	Ticks int       `json:"ticks"`
}

const (
	mostBackfilled = 10_000
	mostParallel   = 1000
)

// BackfillSchedule starts the ticks of a stretch of time, oldest first and at most MaxParallel at once. It
// has an overlap rule of its own: what the clock starts does not hold it up, nor the other way round.
func (s *scheduler) BackfillSchedule(ctx context.Context, who Who, id uuid.UUID, request BackfillRequest) (Backfill, error) {
	if request.MaxParallel == 0 {
		request.MaxParallel = 1
	}
	if request.MaxParallel < 1 || request.MaxParallel > mostParallel {
		return Backfill{}, Refuse("invalid_input", fmt.Sprintf("maxParallel is 1 to %d", mostParallel))
	}
	if request.From.IsZero() || request.To.IsZero() || request.To.Before(request.From) {
		return Backfill{}, Refuse("invalid_input", "a backfill needs from and to, in this order")
	}
	made := Backfill{ID: uuid.Must(uuid.NewV7())}
	_, err := s.locked(ctx, who, id, "schedule.backfilled", func(t *ticking) error {
		instants := t.plan.Between(request.From, request.To, mostBackfilled+1)
		if made.Ticks = len(instants); made.Ticks > mostBackfilled {
			return Refuse("too_large", fmt.Sprintf("the stretch has more than %d ticks: backfill it in parts", mostBackfilled))
		}
		row := queries.InsertBackfillParams{ID: made.ID, ScheduleID: id, Until: request.To, MaxParallel: int32(request.MaxParallel), CreatedBy: cleanText(who.User)}
		if made.Ticks > 0 {
			row.PlannedAt = &instants[0]
		}
		return t.q.InsertBackfill(ctx, row)
	})
	return made, err
}

// CancelBackfill starts no more ticks of a backfill; what runs goes on.
func (s *scheduler) CancelBackfill(ctx context.Context, who Who, id, backfill uuid.UUID) error {
	var cancelled int64
	err := s.store.Tx(ctx, func(_ pgx.Tx, q *queries.Queries) (err error) {
		if cancelled, err = q.CancelBackfill(ctx, backfill, id, who.Team); err != nil || cancelled == 0 {
			return err
		}
		return audit(ctx, q, who, "schedule.backfill_cancelled", id.String(), map[string]any{"backfill": backfill})
	})
	if err != nil || cancelled > 0 {
		return err
	}
	exists, err := s.q.BackfillExists(ctx, backfill, id, who.Team)
	if err != nil {
		return err
	}
	if !exists {
		return Refuse("not_found", fmt.Sprintf("there is no backfill %s of this schedule", backfill))
	}
	return Refuse("conflict", "the backfill has started all its ticks, or was cancelled before")
}

// fireBackfill starts ticks of one backfill as far as it has room.
func (s *scheduler) fireBackfill(ctx context.Context) (did bool, err error) {
	err = s.one(ctx, func(tx pgx.Tx, q *queries.Queries) (*ticking, error) {
		backfill, err := q.TakeBackfill(ctx)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		did = true
		row, err := q.LockScheduleAlone(ctx, backfill.ScheduleID)
		if err != nil {
			return nil, err
		}
		t, err := s.ticking(ctx, tx, q, row)
		if err != nil {
			return nil, err
		}
		return t, t.advance(ctx, backfill)
	})
	return did, err
}

// advance starts the next ticks of a backfill, as many as may run at once.
func (t *ticking) advance(ctx context.Context, backfill queries.Backfill) (err error) {
	if t.running, err = t.q.OpenExecutions(ctx, backfill.Running); err != nil {
		return err
	}
	next := backfill.PlannedAt
	for starts := 0; next != nil && len(t.running) < int(backfill.MaxParallel) && starts < mostStarts; starts++ {
		tick := Tick{ScheduledAt: *next, Backfill: &backfill.ID}
		if t.plan.DayOff != nil && t.plan.DayOff(next.In(t.plan.Zone).Weekday()) {
			tick.Outcome = skippedCalendar
		} else if err := t.begin(ctx, &tick); err != nil {
			return err
		}
		if err := t.record(ctx, tick); err != nil {
			return err
		}
		next = t.nextUntil(*next, backfill.Until)
	}
	return t.q.SetBackfillProgress(ctx, next, t.running, backfill.ID)
}

func (t *ticking) nextUntil(after, until time.Time) *time.Time {
	at, more := t.plan.Next(after)
	if !more || at.After(until) {
		return nil
	}
	return &at
}
