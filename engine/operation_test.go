package engine_test

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine"
)

// sessions counts the connections to the test's database beside the asker's own; those that listen only if asked.
func (w *world) sessions(listening bool) (n int) {
	w.t.Helper()
	w.connected(func(conn *pgx.Conn) error {
		return conn.QueryRow(w.t.Context(), `select count(*) from pg_stat_activity where datname = current_database()
			and pid <> pg_backend_pid() and (not $1 or query ilike 'listen %')`, listening).Scan(&n)
	})
	return n
}

// Hints are heard again after the connection that listens was lost, and what happened meanwhile is found without.
func TestALostListenerIsReplaced(t *testing.T) {
	w := newWorld(t)
	w.publish("chain", chain(3))
	w.eventually("a listener", func() bool { return w.sessions(true) > 0 })
	w.exec(`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query ilike 'listen %'`)
	id := w.start("chain", nil)
	w.ends(id, "completed")
	w.eventually("a new listener", func() bool { return w.sessions(true) > 0 })
	w.ends(w.start("chain", nil), "completed")
}

// A transaction that keeps old rows alive for as long as it runs stops nobody.
func TestAnOldSnapshotStopsNobody(t *testing.T) {
	w := newWorld(t)
	w.publish("chain", "  execution: {mode: server}\n"+chain(4))
	w.connected(func(conn *pgx.Conn) error {
		return pgx.BeginTxFunc(t.Context(), conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
			var before int
			if err := tx.QueryRow(t.Context(), "select count(*) from executions").Scan(&before); err != nil {
				return err
			}
			ids := make([]uuid.UUID, 40)
			for i := range ids {
				ids[i] = w.start("chain", nil)
			}
			for _, id := range ids {
				w.ends(id, "completed")
			}
			var still int
			if err := tx.QueryRow(t.Context(), "select count(*) from executions").Scan(&still); err != nil {
				return err
			}
			if still != before {
				t.Errorf("the snapshot moved from %d to %d executions", before, still)
			}
			return nil
		})
	})
}

// What is due is found by its index, however many timers are not due yet.
func TestDueTimersAreFoundAmongManyByTheirIndex(t *testing.T) {
	w := newWorld(t)
	w.exec(`insert into timers (execution_id, partition, due_at) select gen_random_uuid(), 0, now() + interval '1 year' + n * interval '1 second' from generate_series(1, 20000) n`)
	w.exec("analyze timers")
	text, err := os.ReadFile("../queries/timers.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"FireTimers", "NextTimer"} {
		_, statement, found := strings.Cut(string(text), "-- name: "+name)
		if !found {
			t.Fatalf("there is no statement %s", name)
		}
		_, statement, _ = strings.Cut(statement, "\n")
		statement, _, _ = strings.Cut(statement, "-- name:")
		statement = regexp.MustCompile(`@\w+`).ReplaceAllStringFunc(statement, func(name string) string {
			return map[string]string{"@from_due": "now() - interval '90 seconds'", "@batch": "1000"}[name]
		})
		var plan json.RawMessage
		w.connected(func(conn *pgx.Conn) error {
			return conn.QueryRow(t.Context(), "explain (format json) "+statement).Scan(&plan)
		})
		if !strings.Contains(string(plan), "timers_due") || regexp.MustCompile(`"Seq Scan"[^{}]*"Relation Name": "timers"`).Match(plan) {
			t.Errorf("%s reads all timers: %s", name, plan)
		}
	}
}

// An engine that was closed leaves no goroutine and no connection, however often.
func TestAClosedEngineLeavesNothingBehind(t *testing.T) {
	w := newWorld(t)
	w.publish("chain", chain(2))
	w.ends(w.start("chain", nil), "completed")
	w.stop()
	w.eventually("no session", func() bool { return w.sessions(false) == 0 })
	before := runtime.NumGoroutine()
	for range 5 {
		w.open()
		w.ends(w.start("chain", nil), "completed")
		w.stop()
	}
	w.eventually("no session", func() bool { return w.sessions(false) == 0 })
	w.eventually("no further goroutine", func() bool { return runtime.NumGoroutine() <= before })
}

// A start that was answered is read on every replica at once.
func TestWhatWasAnsweredIsReadOnEveryReplica(t *testing.T) {
	w := newWorld(t)
	other := w.beside()
	w.publish("waits", "  activities:\n    - {id: pause, type: wait, wait: {timer: {after: 1h}}}\n")
	for range 20 {
		id := w.start("waits", nil)
		detail, err := other.Execution(context.Background(), other.who, id)
		if err != nil || detail.ID != id {
			t.Fatalf("the other replica answered %+v, %v", detail, err)
		}
		page, err := other.Executions(context.Background(), other.who, engine.ExecutionFilter{PageRequest: engine.PageRequest{Limit: 1}})
		if err != nil || len(page.Items) != 1 || page.Items[0].ID != id {
			t.Fatalf("the list of the other replica holds %+v, %v", page.Items, err)
		}
	}
}
