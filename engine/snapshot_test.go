package engine_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// me is a worker that owned all that came and went.
const me = "'01900000-0000-7000-8000-000000000001'"

// askedOften is what every replica asks each second or more often.
var askedOften = []struct{ file, name string }{
	{"ready", "ClaimReady"}, {"workers", "GoneOwners"}, {"inbox", "UnreadAmong"}, {"inbox", "Inboxes"},
	{"timers", "NextTimer"}, {"timers", "FireTimers"}, {"ready", "TakeReady"}, {"workers", "Heartbeat"},
}

func statementOf(t *testing.T, file, name string) string {
	text, err := os.ReadFile("../queries/" + file + ".sql")
	if err != nil {
		t.Fatal(err)
	}
	_, statement, found := strings.Cut(string(text), "-- name: "+name+" ")
	if !found {
		t.Fatalf("there is no statement %s", name)
	}
	_, statement, _ = strings.Cut(statement, "\n")
	statement, _, _ = strings.Cut(statement, "-- name:")
	return statement
}

// While a snapshot is held nothing that came and went can be cleared away. What replicas ask all the time costs as much
// as before all the same; work ends, and what is past its retention goes.
func TestAHeldSnapshotMakesNothingDearer(t *testing.T) {
	const rounds, each = 12, 1000
	w := newWorld(t)
	w.publish("chain", "  execution: {mode: server}\n"+chain(2))
	w.publish("nap", "  activities:\n    - {id: a, type: wait, wait: {timer: {after: 50ms}}}\n")
	w.publish("short", "  limits: {historyRetention: 1h}\n  activities:\n    - {id: a, type: set, outputs: {x: '1'}}\n")
	w.connected(func(conn *pgx.Conn) error {
		return pgx.BeginTxFunc(t.Context(), conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
			var none int
			if err := tx.QueryRow(t.Context(), "select count(*) from executions").Scan(&none); err != nil {
				return err
			}
			before := w.blocks()
			for range rounds {
				w.comeAndGo(each)
			}
			after := w.blocks()
			for name, n := range after {
				t.Logf("%-14s %d blocks before, %d after %d came and went", name, before[name], n, rounds*each)
				if n > 2*before[name]+4 {
					t.Errorf("%s looks at %d blocks instead of %d", name, n, before[name])
				}
			}
			old := w.start("short", nil)
			w.ends(old, "completed")
			w.ends(w.start("chain", nil), "completed")
			w.ends(w.start("nap", nil), "completed")
			w.exec("update executions set keep_until = keep_until - interval '60 days', finished_at = finished_at - interval '60 days' where id = '" + old.String() + "'")
			w.tidy()
			if n := w.rows("history", old); n != 0 {
				t.Errorf("%d rows of a history are past their retention", n)
			}
			return nil
		})
	})
}

// blocks is how many blocks each of the statements looks at, with the parameters that a replica at work gives them.
func (w *world) blocks() map[string]int {
	w.t.Helper()
	values := map[string]string{"@teams": "'{" + w.who.Team.String() + "}'", "@from_turns": "array[now() - interval '90 seconds']",
		"@from_due": "now() - interval '90 seconds'", "@queues": "'{}'", "@workflows": "'{}'", "@of_teams": "'{}'",
		"@partitions": "(select array_agg(n) from generate_series(0, 31) n)", "@batch": "64", "@at_once": "64", "@owner": me, "@known": "'{}'", "@me": me, "@id": me,
		"@lease_seconds": "10", "@seconds": "40", "@ids": "'{" + uuid.NewString() + "}'", "@state": "'idle'", "@active": "0",
		"@cpu_usage": "0", "@memory_usage": "0", "@queue_length": "0"}
	blocks := map[string]int{}
	w.connected(func(conn *pgx.Conn) error {
		for _, q := range askedOften {
			statement := regexp.MustCompile(`@\w+`).ReplaceAllStringFunc(statementOf(w.t, q.file, q.name), func(name string) string { return values[name] })
			err := pgx.BeginFunc(w.t.Context(), conn, func(tx pgx.Tx) error {
				var text []byte
				if err := tx.QueryRow(w.t.Context(), "explain (analyze, buffers, format json) "+statement).Scan(&text); err != nil {
					return fmt.Errorf("%s: %w", q.name, err)
				}
				var plan []struct {
					Plan struct {
						Hit  int `json:"Shared Hit Blocks"`
						Read int `json:"Shared Read Blocks"`
					}
				}
				if err := json.Unmarshal(text, &plan); err != nil {
					return err
				}
				blocks[q.name] = plan[0].Plan.Hit + plan[0].Plan.Read
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return blocks
}

// comeAndGo lets n executions pass through the queue, ten minutes ago: ready, owned, sent a message, asleep, gone. They
// belong to a partition that no worker claims from.
func (w *world) comeAndGo(n int) {
	w.exec(fmt.Sprintf(`insert into ready (execution_id, partition, turn, since, team_id, workflow)
		select gen_random_uuid(), 99, now() - interval '10 minutes', now() - interval '10 minutes', '%s', 'passing' from generate_series(1, %d)`, w.who.Team, n))
	w.exec(`update ready set owner = ` + me + `, claimed_at = now() where workflow = 'passing'`)
	w.exec(`insert into inbox (execution_id, message) select execution_id, 'x' from ready where workflow = 'passing'`)
	w.exec(`delete from inbox where message = 'x'`)
	w.exec(`insert into timers (execution_id, partition, due_at)
		select execution_id, 99, now() - interval '10 minutes' from ready where workflow = 'passing'`)
	w.exec(`delete from timers where partition = 99`)
	w.exec(`delete from ready where workflow = 'passing'`)
}
