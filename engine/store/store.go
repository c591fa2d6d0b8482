// Package store owns the rows of executions: history, checkpoints, the queue row, timers, inbox, event
// waits, permits and tasks. One function is one transaction; rows become domain values and back here and
// nowhere else. It must not know who drives an execution, what an activity does, or HTTP.
package store

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"weftline/engine/seal"
	"weftline/queries"
)

// Store writes and reads executions. It is safe for use by many goroutines.
type Store struct {
	pool       *pgxpool.Pool
	asked      queries.Pool // the same, for what may be done for somebody who asks
	q          *queries.Queries
	log        *slog.Logger
	partitions int
	keys       *seal.Ring
	committers []*committer
	recent     *recent
	fired      *firedTimers
	stop       context.CancelFunc

	// Clock is the database's time.
	Clock *Clock
	// Library holds compiled versions.
	Library *Library
}

// Options of a store. Partitions is fixed for the life of the database; Committers are the connections
// that flush in parallel.
type Options struct {
	Partitions int
	Committers int
	Keys       *seal.Ring // empty = nothing is sealed, and what must be cannot be stored
	Log        *slog.Logger
	Asked      queries.Pool // the pool as whoever asks sees it; nil = as it is
}

// Open checks the partition count against the database's and starts the committers.
func Open(ctx context.Context, pool *pgxpool.Pool, options Options) (*Store, error) {
	if options.Asked == nil {
		options.Asked = pool
	}
	s := &Store{pool: pool, asked: options.Asked, q: queries.New(options.Asked), log: options.Log, partitions: options.Partitions, keys: options.Keys, fired: &firedTimers{}, recent: newRecent(recentBytes), Clock: newClock()}
	s.Library = newLibrary(s.q)
	if err := s.agreeOnPartitions(ctx); err != nil {
		return nil, err
	}
	if err := s.SyncClock(ctx); err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(context.Background())
	s.stop = stop
	for range max(1, options.Committers) {
		s.committers = append(s.committers, startCommitter(running, s))
	}
	return s, nil
}

// Close ends the committers; flushes still waiting are answered with an error.
func (s *Store) Close() { s.stop() }

// agreeOnPartitions records the count in a new database and refuses another one afterwards: the partition
// of an execution is stored with it.
func (s *Store) agreeOnPartitions(ctx context.Context) error {
	mine, err := json.Marshal(s.partitions)
	if err != nil {
		return err
	}
	const agree = `insert into server_settings (key, value) values ('partitions', $1)
		on conflict (key) do update set value = server_settings.value returning value`
	var stored int
	if err := s.pool.QueryRow(ctx, agree, mine).Scan(&stored); err != nil {
		return fmt.Errorf("read the number of partitions: %w", err)
	}
	if stored != s.partitions {
		return fmt.Errorf("this database has %d partitions and this server was started with %d: start it with --partitions %d", stored, s.partitions, stored)
	}
	return nil
}

// SyncClock measures the database's clock.
func (s *Store) SyncClock(ctx context.Context) error {
	sent := time.Now()
	var now time.Time
	if err := s.pool.QueryRow(ctx, "select clock_timestamp()").Scan(&now); err != nil {
		return fmt.Errorf("read the database's clock: %w", err)
	}
	s.Clock.Measured(now, sent, time.Now())
	return nil
}

// CanSeal reports whether there is a key, without which no execution may hold sensitive values.
func (s *Store) CanSeal() bool { return !s.keys.Empty() }

// Partitions is the fixed number of partitions.
func (s *Store) Partitions() int { return s.partitions }

// Partition is where an execution belongs: FNV-1a of its id modulo the number of partitions.
func (s *Store) Partition(id uuid.UUID) int16 {
	hash := uint32(2166136261)
	for _, b := range id {
		hash = (hash ^ uint32(b)) * 16777619
	}
	return int16(hash % uint32(s.partitions))
}

// Tx runs f in one transaction.
func (s *Store) Tx(ctx context.Context, f func(tx pgx.Tx, q *queries.Queries) error) error {
	return pgx.BeginFunc(ctx, s.asked, func(tx pgx.Tx) error { return f(tx, s.q.WithTx(tx)) })
}

// in is the same store reading within a transaction: a second connection taken while holding one could
// wait for ever in a small pool.
func (s *Store) in(q *queries.Queries) *Store {
	inside := *s
	inside.q = q
	return &inside
}
