package engine_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine"
	"weftline/engine/enginetest"
	"weftline/engine/worker"
)

// seed adds executions of the team that sleep for a day, with as many flushes each, and lets PostgreSQL know.
func (w *world) seed(executions, flushes int) {
	w.t.Helper()
	w.exec(fmt.Sprintf(`with sleeping as (
			insert into executions (id, team_id, partition, workflow, version, content_hash, mode, status, correlation_id, priority,
				started_by, created_at, updated_at)
			select id, '%s', n %% 32, 'seed', 1, '', 'local_sync', 'waiting', id::text, 'normal', 'ann', now(), now()
			from (select (left(first_id(now())::text, 15) || right(gen_random_uuid()::text, 21))::uuid as id, n from generate_series(1, %d) as n) as s
			returning id, partition
		), asleep as (
			insert into timers (execution_id, partition, due_at) select id, partition, now() + interval '1 day' from sleeping
		)
		insert into history (execution_id, first_seq, last_seq, at, events)
		select id, n, n, now(), convert_to(repeat('x', 200), 'UTF8') from sleeping, generate_series(1, %d) as n`, w.who.Team, executions, flushes))
	w.exec("vacuum analyze")
}

// tableReads are sequential scans, and blocks that were looked at in the table, its indexes and its large values.
type tableReads struct{ scans, blocks int }

// reads are those of the tables so far. What sessions that still run have not reported is missing.
func (w *world) reads() map[string]tableReads {
	w.t.Helper()
	reads := map[string]tableReads{}
	w.connected(func(conn *pgx.Conn) error {
		rows, err := conn.Query(w.t.Context(), `select coalesce((select i.inhparent::regclass::text from pg_inherits i where i.inhrelid = t.relid), t.relname), t.seq_scan, heap_blks_read + heap_blks_hit + coalesce(idx_blks_read + idx_blks_hit, 0)
				+ coalesce(toast_blks_read + toast_blks_hit + tidx_blks_read + tidx_blks_hit, 0)
			from pg_stat_user_tables t join pg_statio_user_tables using (relid)`)
		if err != nil {
			return err
		}
		var name string
		var r tableReads
		_, err = pgx.ForEachRow(rows, []any{&name, &r.scans, &r.blocks}, func() error {
			sum := reads[name] // of the parts of a table
			reads[name] = tableReads{sum.scans + r.scans, sum.blocks + r.blocks}
			return nil
		})
		return err
	})
	return reads
}

// roundsOf says how often a replica with nothing to do has looked for something ready, which it does each second.
func roundsOf(statements map[string]int) int {
	for text, n := range statements {
		if strings.Contains(text, "ClaimReady") {
			return n
		}
	}
	return 0
}

// A replica that has nothing to do asks little, whatever sleeps: each second a look for each kind of work, every
// half a second one for lost workers. Nothing that it asks, at rest or at work, reads a large table through.
func TestWhatSleepersCost(t *testing.T) {
	const sleeping, rounds, mostEachRound = 100_000, 6, 10
	database := enginetest.Database(t)
	w := newWorldAt(t, database)
	w.seed(sleeping, 1)
	w.stop()
	before := w.reads()
	wire := enginetest.NewWire(t, database)
	w.open(func(o *engine.Options) { o.DatabaseURL = wire.URL() })
	w.publish("chain", setChain(worker.ModeServer, 5))
	w.publish("nap", "  activities:\n    - {id: a, type: wait, wait: {timer: {after: 50ms}}}\n    - {id: b, type: http, needs: [a], inputs: {url: \"http://example.com\"}}\n")
	w.ends(w.start("chain", nil), "completed")
	w.ends(w.start("nap", nil), "completed")

	first := wire.Statements()
	idle := rest(t, wire, roundsOf(first)+rounds)
	asked := 0
	for text, n := range idle {
		asked += n - first[text]
		if n > first[text] {
			t.Logf("%4.1f a round: %.60q", float64(n-first[text])/rounds, text)
		}
	}
	if asked > mostEachRound*rounds {
		t.Errorf("%d statements in %d rounds of a replica at rest, at most %d a round are expected", asked, rounds, mostEachRound)
	}
	w.stop() // its sessions report now
	for name, after := range w.reads() {
		if scans := after.scans - before[name].scans; scans > 0 && slices.Contains([]string{"executions", "history", "timers"}, name) {
			t.Errorf("%s was read through %d times", name, scans)
		}
	}
}

// rest waits until a replica has looked for something ready so often, and answers what it asked by then.
func rest(t *testing.T, wire *enginetest.Wire, rounds int) map[string]int {
	bound := time.Now().Add(patience)
	for {
		statements := wire.Statements()
		if roundsOf(statements) >= rounds {
			return statements
		}
		if time.Now().After(bound) {
			t.Fatalf("the replica does not look: %v", slices.Sorted(maps.Keys(statements)))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// What a claim and a step cost does not depend on how much there is: blocks that PostgreSQL looks at for the same
// work beside few executions, beside ten times as many, and beside histories ten times as long.
func TestCostGrowsInLine(t *testing.T) {
	least := map[string]int{}
	measure := func(what string, executions, flushes int) {
		if cost := costBeside(t, executions, flushes); least[what] == 0 || cost < least[what] {
			least[what] = cost
		}
	}
	grows := func(what string) bool { return 2*least[what] > 3*least["few"] }
	for range 4 { // what looks every second, and the database's own upkeep, add to some rounds
		measure("few", 3_000, 1)
		measure("executions", 30_000, 1)
		measure("history", 3_000, 10)
		if !grows("executions") && !grows("history") {
			break
		}
	}
	t.Logf("blocks for an execution of 10 steps in mode server, beside few, ten times the executions, ten times the history: %v", least)
	for _, what := range []string{"executions", "history"} {
		if grows(what) {
			t.Errorf("ten times the %s make an execution cost %d blocks instead of %d, 1.5 times is the most", what, least[what], least["few"])
		}
	}
}

// costBeside is how many blocks an execution takes beside others that sleep.
func costBeside(t *testing.T, executions, flushes int) (blocks int) {
	const repetitions = 20
	w := newWorld(t)
	w.publish("chain", setChain(worker.ModeServer, 10))
	w.seed(executions, flushes)
	w.stop()
	before := w.reads()
	w.open()
	ids := make([]uuid.UUID, repetitions)
	for i := range ids {
		ids[i] = w.start("chain", nil)
		w.until(ids[i], "over", func(d engine.ExecutionDetail) bool { return d.Status == "completed" })
	}
	w.stop()
	for name, after := range w.reads() {
		blocks += after.blocks - before[name].blocks
	}
	return blocks / repetitions
}

// Reading histories prepares for the weeks that its ids are in, not for all that are kept, although its plan is made
// for any ids.
func TestReadingAWeekLeavesTheOthersAlone(t *testing.T) {
	w := newWorld(t)
	const weeksBefore = 14
	w.exec(fmt.Sprintf("select add_history_period(week_of(now()) - n * interval '7 days', week_of(now()) - (n - 1) * interval '7 days') from generate_series(1, %d) n", weeksBefore))
	names := strings.NewReplacer("@ids", "$1", "@known", "$2", "@least", "$3", "@most", "$4")
	id := uuid.Must(uuid.NewV7())
	var plan []string
	w.connected(func(conn *pgx.Conn) error {
		_, err := conn.Exec(t.Context(), "set plan_cache_mode = force_generic_plan; set enable_seqscan = off; prepare reading (uuid[], bigint[], uuid, uuid) as "+
			names.Replace(statementOf(t, "history", "HistoriesFrom")))
		if err != nil {
			return err
		}
		rows, err := conn.Query(t.Context(), fmt.Sprintf("explain execute reading('{%[1]s}', '{0}', '%[1]s', '%[1]s')", id))
		if err == nil {
			plan, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		return err
	})
	const others = weeksBefore + 3 // of the weeks to come two, and the rest
	if text := strings.Join(plan, "\n"); !strings.Contains(text, fmt.Sprintf("Subplans Removed: %d", others)) {
		t.Errorf("not all %d others are removed:\n%s", others, text)
	}
}
