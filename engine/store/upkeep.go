package store

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"weftline/engine/execution"
)

// firedAtOnce bounds the timers fired by one statement.
const firedAtOnce = 1000

// FireTimers wakes executions whose timer is due, earliest first, and answers which; more reports that
// there may be others.
func (s *Store) FireTimers(ctx context.Context) (woken []uuid.UUID, more bool, err error) {
	rows, err := s.q.FireTimers(ctx, s.fired.from(), firedAtOnce)
	for _, row := range rows {
		woken = append(woken, row.ExecutionID)
		s.fired.upTo(row.DueAt)
	}
	return woken, len(woken) == firedAtOnce, err
}

const (
	// firedMargin is how far below the last timer that fired a look still begins: one may be set late, or have been
	// locked by somebody who then failed.
	firedMargin = 90 * time.Second
	// firedFull is the pause between two looks at all timers.
	firedFull = 30 * time.Second
)

// firedTimers is the low watermark of timers. Entries of timers that fired stay in the index as long as any
// transaction may see them; walking over them at each look would stop the timers.
type firedTimers struct {
	mu       sync.Mutex
	last     time.Time // due instant of the last one that fired
	lastFull time.Time
}

// from is where a look begins.
func (f *firedTimers) from() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last.Add(-firedMargin)
}

func (f *firedTimers) upTo(due time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if due.After(f.last) {
		f.last = due
	}
}

// forget makes the next looks begin at the first of all timers, if it is time for that.
func (f *firedTimers) forget(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.Sub(f.lastFull) >= firedFull {
		f.last, f.lastFull = time.Time{}, now
	}
}

// NextTimer is how long it is until the next timer is due; ok is false when there is none.
func (s *Store) NextTimer(ctx context.Context) (wait time.Duration, ok bool, err error) {
	s.fired.forget(time.Now())
	seconds, err := s.q.NextTimer(ctx, s.fired.from())
	if err != nil || seconds < 0 {
		return 0, false, err
	}
	return time.Duration(seconds * float64(time.Second)), true, nil
}

// Forget deletes what has served its time: kept events, answers by event id, keys of starts, old ticks,
// the rows of workers long gone, ended executions past their retention, periods of the history of which none is left,
// and files that nothing uses. It makes the periods that come next.
func (s *Store) Forget(ctx context.Context) error {
	return errors.Join(s.q.ForgetOldEvents(ctx), s.q.ForgetOldAnswers(ctx), s.q.ForgetOldStartKeys(ctx), s.q.ForgetOldTicks(ctx),
		s.q.ForgetOldWorkers(ctx), s.q.ForgetOldPaces(ctx), s.q.ClosePeriods(ctx), s.forgetEnded(ctx), s.q.ForgetUnusedFiles(ctx),
		s.dropPeriods(ctx), s.AddPeriods(ctx))
}

// endedAtOnce bounds the executions deleted by one statement.
const endedAtOnce = 200

// forgetEnded deletes executions, with all that belongs to them, that ended longer ago than both their definition
// and their team keep them.
func (s *Store) forgetEnded(ctx context.Context) error {
	for {
		deleted, err := s.q.ForgetEnded(ctx, endedAtOnce)
		if err != nil || deleted < endedAtOnce {
			return err
		}
	}
}

// Incident records that an execution cannot go on because of an internal fault, gives it up and wakes it
// again after a pause that grows with each failure in a row. lost is whose attempts of it are over, Nil nobody's.
func (s *Store) Incident(ctx context.Context, id, owner, lost uuid.UUID, fault error) error {
	const record = `with e as (
			update executions set incident = $3, incidents = incidents + 1, updated_at = now() where id = $1
			returning id, partition, now() + least(power(2, least(incidents, 10)), 300) * interval '1 second' as due
		), gone as (
			delete from ready where execution_id = $1 and owner = $2 returning execution_id
		), told as (
			insert into inbox (execution_id, message) select execution_id, $4 from gone where $4::bytea is not null
		)
		insert into timers (execution_id, partition, due_at)
		select e.id, e.partition, e.due from e join gone on gone.execution_id = e.id
		on conflict (execution_id) do update set due_at = excluded.due_at`
	message, err := s.ownerLost(lost)
	if err == nil {
		_, err = s.pool.Exec(ctx, record, id, owner, clean(fault.Error()), message)
	}
	return err
}

// ownerLost is the message for whoever drives an execution after the worker; nil when nobody was lost.
func (s *Store) ownerLost(worker uuid.UUID) ([]byte, error) {
	if worker == uuid.Nil {
		return nil, nil
	}
	return s.encodeMessage(execution.Message{OwnerLost: &execution.OwnerLost{Worker: worker.String()}})
}
