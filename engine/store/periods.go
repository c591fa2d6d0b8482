package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgconn"

	"weftline/queries"
)

// The history is kept in periods of a week, each a table of its own, which is dropped when no execution is left that
// began in it; what is in no period is in the rest. See decision 0012.

// smallRest is up to which size, in bytes, the rest may be looked through while nobody else can read it.
const smallRest = 8 << 20

// AddPeriods makes the tables of the weeks that begin soon. What cannot be done now, since somebody uses the tables or
// another replica is at it, is done the next time; a week that never gets its table is kept in the rest.
func (s *Store) AddPeriods(ctx context.Context) error {
	if err := putOff(s.q.OpenRest(ctx)); err != nil {
		return fmt.Errorf("let what comes into the rest of the history: %w", err)
	}
	weeks, err := s.q.ComingPeriods(ctx)
	if err != nil {
		return err
	}
	for _, week := range weeks {
		if week.Taken {
			continue
		}
		if err := putOff(s.addPeriod(ctx, week.Begins, week.Ends)); err != nil {
			return fmt.Errorf("make a table for the history of the week from %s on: %w", week.Begins.Format(time.DateOnly), err)
		}
	}
	return nil
}

func (s *Store) addPeriod(ctx context.Context, begins, ends time.Time) error {
	small, err := s.q.RestIsSmall(ctx, smallRest)
	if err != nil {
		return err
	}
	if !small {
		if err := s.q.ShutRest(ctx, begins, ends); err != nil {
			return err
		}
		if err := s.q.LookThroughRest(ctx, begins); err != nil {
			return err
		}
	}
	return s.q.AddPeriod(ctx, begins, ends)
}

// dropPeriods drops the periods of which no execution is left. One that is kept for longer than was foreseen is swept:
// the histories of its deleted executions, which stayed since all of it was to go, are deleted one by one.
func (s *Store) dropPeriods(ctx context.Context) error {
	closing, err := s.q.ClosingPeriods(ctx)
	if err != nil {
		return err
	}
	for _, period := range closing {
		dropped, err := s.q.DropPeriod(ctx, period.BeginsAt)
		if err = putOff(err); err == nil && !dropped && period.Overdue {
			err = s.sweep(ctx, period)
		}
		if err != nil {
			return fmt.Errorf("forget the histories of the week from %s on: %w", period.BeginsAt.Format(time.DateOnly), err)
		}
	}
	return nil
}

func (s *Store) sweep(ctx context.Context, period queries.ClosingPeriodsRow) (err error) {
	for after := period.First; after != period.Below; {
		if after, err = s.q.SweepHistory(ctx, period.Below, after, endedAtOnce); err != nil {
			return err
		}
	}
	return s.q.ReopenPeriod(ctx, period.BeginsAt)
}

// putOff passes on what is no reason to try again later.
func putOff(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return err
	}
	switch pg.Code {
	case pgerrcode.LockNotAvailable, pgerrcode.DeadlockDetected, // somebody uses the table
		pgerrcode.DuplicateTable, pgerrcode.DuplicateObject, pgerrcode.UniqueViolation, pgerrcode.UndefinedObject: // another replica was faster
		return nil
	}
	return err
}
