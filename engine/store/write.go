package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// write stores a group of flushes in one transaction and one round trip: a pipelined batch is a
// transaction by itself. Statements on many rows go by execution id, so that groups cannot deadlock on
// them; locks by name come first and sorted.
func (s *Store) write(ctx context.Context, group []*pending) error {
	w := newWriter(s, group)
	if err := w.build(); err != nil {
		return err
	}
	return s.pool.SendBatch(ctx, &w.batch).Close()
}

// writeIn stores one flush as a part of a transaction.
func (s *Store) writeIn(ctx context.Context, tx pgx.Tx, flush *Flush) error {
	w := newWriter(s, []*pending{{flush: flush}})
	if err := w.build(); err != nil {
		return err
	}
	return tx.SendBatch(ctx, &w.batch).Close()
}

func (w *writer) build() error {
	for _, f := range w.flushes {
		if err := w.store.pack(f); err != nil {
			return fmt.Errorf("seal the history of execution %s: %w", f.Execution, err)
		}
	}
	w.locks()
	w.histories()
	w.executions()
	w.statuses()
	w.recovered()
	w.otherWaits()
	w.queueRows()
	w.drained()
	for _, f := range w.flushes {
		if err := w.consequences(f); err != nil {
			return err
		}
	}
	w.endedWaits()
	w.turns()
	w.releases()
	w.parkings()
	return nil
}

// writer gathers the statements of one transaction.
type writer struct {
	store   *Store
	group   []*pending
	flushes []*Flush // of the group and their children, by execution id
	batch   pgx.Batch
}

func newWriter(s *Store, group []*pending) *writer {
	w := &writer{store: s, group: group}
	for _, p := range group {
		p.out = Written{Parked: p.flush.parksAtBirth()}
		w.flushes = append(w.flushes, p.flush)
		w.flushes = append(w.flushes, p.flush.Children...)
	}
	slices.SortFunc(w.flushes, func(a, b *Flush) int { return cmp.Compare(string(a.Execution[:]), string(b.Execution[:])) })
	return w
}

// column makes an array parameter: one value of each row. Its type spares the driver to look for one by reflection.
func column[R, V any](rows []R, value func(R) V) pgtype.FlatArray[V] {
	values := make(pgtype.FlatArray[V], len(rows))
	for i, row := range rows {
		values[i] = value(row)
	}
	return values
}

func (w *writer) those(has func(*Flush) bool) []*Flush {
	var rows []*Flush
	for _, f := range w.flushes {
		if has(f) {
			rows = append(rows, f)
		}
	}
	return rows
}

func executionID(f *Flush) pgtype.UUID { return pgtype.UUID{Bytes: f.Execution, Valid: true} }

// locks serializes with everybody who posts events to the waits opened here or uses the same permits.
func (w *writer) locks() {
	var events, permits [][3]string
	for _, f := range w.flushes {
		for _, wait := range f.WaitsOpen {
			events = append(events, [3]string{f.Team.String(), clean(wait.Name), clean(wait.Correlation)})
		}
		for _, asked := range f.Asked {
			if asked.PerSecond == 0 {
				permits = append(permits, [3]string{f.Team.String(), clean(asked.Name)})
			}
		}
		for _, released := range f.Released {
			permits = append(permits, [3]string{f.Team.String(), clean(released.Name)})
		}
	}
	w.childLocks()
	for _, key := range sortedUnique(events) {
		w.batch.Queue(`select event_lock($1, $2, $3)`, key[0], key[1], key[2])
	}
	for _, key := range sortedUnique(permits) {
		w.batch.Queue(`select permit_lock($1, $2)`, key[0], key[1])
	}
}

func optionalUUID(id *uuid.UUID) pgtype.UUID {
	if id == nil {
		return pgtype.UUID{}
	}
	return pgtype.UUID{Bytes: *id, Valid: true}
}

func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
