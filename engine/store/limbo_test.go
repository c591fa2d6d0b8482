package store_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/engine/enginetest"
	"weftline/engine/execution"
	"weftline/engine/store"
)

// TestLimbo parks executions with every cause that may drive one again, takes the causes away and sees them
// reported.
func TestLimbo(t *testing.T) {
	pool := enginetest.Pool(t)
	s, err := store.Open(t.Context(), pool, store.Options{Partitions: 32, Committers: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	parked := func(change func(*store.Flush)) uuid.UUID {
		f := begin(uuid.New())
		f.Begin.Owned, f.Leave = false, &store.Leave{}
		change(f)
		commit(t, s, f)
		return f.Execution
	}
	wait := execution.WaitRow{WaitKey: execution.WaitKey{Activity: "a"}, Name: "go"}
	parent := parked(func(*store.Flush) {})
	paused := parked(func(f *store.Flush) { f.Begin.Status = "paused" })
	causes := map[string]string{
		parked(func(f *store.Flush) { f.Leave.Due = time.Now().Add(time.Hour) }).String(): "timers",
		parked(func(f *store.Flush) { f.WaitsOpen = []execution.WaitRow{wait} }).String(): "event_waits",
		parked(func(f *store.Flush) {
			f.Tasks = []execution.TaskRow{{ID: uuid.New(), Create: true, Outcomes: []string{"yes"}}}
		}).String(): "tasks",
		parked(func(f *store.Flush) { f.Leave = nil }).String(): "ready",
	}
	child := begin(uuid.New())
	child.Begin.Parent = &parent
	commit(t, s, child)
	find := func() map[uuid.UUID]store.Limbo {
		_, limbo, err := store.FindLimbo(t.Context(), pool)
		if err != nil {
			t.Fatal(err)
		}
		found := map[uuid.UUID]store.Limbo{}
		for _, l := range limbo {
			found[l.Execution] = l
		}
		return found
	}
	if found := find(); len(found) != 0 {
		t.Fatalf("all have a cause, and these are reported: %+v", found)
	}
	for _, table := range causes {
		if _, err := pool.Exec(t.Context(), "delete from "+table); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := pool.Exec(t.Context(), `update executions set finished_at = now() where id = $1`, child.Execution); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), `insert into inbox (execution_id, message) values ($1, '{}')`, paused); err != nil {
		t.Fatal(err)
	}
	found := find()
	for id, table := range causes {
		if _, ok := found[uuid.MustParse(id)]; !ok {
			t.Errorf("without its row in %s it is not reported", table)
		}
	}
	if _, ok := found[parent]; !ok || !found[paused].Unread {
		t.Errorf("a parent whose child ended and a paused one with an unread message: %+v", found)
	}
}
