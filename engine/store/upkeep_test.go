package store_test

import (
	"log/slog"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine/enginetest"
	"weftline/engine/store"
)

func TestNoTimerIsNotATimerThatIsDue(t *testing.T) {
	s := newStore(t)
	if _, ok, err := s.NextTimer(t.Context()); ok || err != nil {
		t.Errorf("a database without timers has one, %v", err)
	}
}

// Timers that are due together fire by instant, then by id, in every batch and over all of them; each makes its
// execution ready.
func TestTimersFireInOrder(t *testing.T) {
	const timers = 2_500 // more than two batches
	pool := enginetest.Pool(t)
	s, err := store.Open(t.Context(), pool, store.Options{Partitions: 32, Committers: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if _, err := pool.Exec(t.Context(), `with made as (
			insert into executions (id, team_id, partition, workflow, version, content_hash, mode, status, correlation_id, priority,
				started_by, created_at, updated_at)
			select gen_random_uuid(), gen_random_uuid(), 0, 'w', 1, '', 'server', 'waiting', '', 'normal', 'ann', now(), now()
			from generate_series(1, $1) returning id
		)
		insert into timers (execution_id, partition, due_at)
		select id, 0, now() - make_interval(mins => (row_number() over () % 7)::int) from made`, timers); err != nil {
		t.Fatal(err)
	}
	rows, err := pool.Query(t.Context(), `select execution_id from timers order by due_at, execution_id`)
	if err != nil {
		t.Fatal(err)
	}
	wanted, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		t.Fatal(err)
	}
	var fired []uuid.UUID
	for more := true; more; {
		var woken []uuid.UUID
		if woken, more, err = s.FireTimers(t.Context()); err != nil {
			t.Fatal(err)
		}
		fired = append(fired, woken...)
	}
	if !slices.Equal(fired, wanted) {
		t.Errorf("%d timers fired of %d, or not in the order of their instants and ids", len(fired), len(wanted))
	}
	var ready int
	if err := pool.QueryRow(t.Context(), `select count(*) from ready where owner is null`).Scan(&ready); err != nil || ready != timers {
		t.Errorf("%d executions are ready of %d, %v", ready, timers, err)
	}
}
