package cli

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"weftline/engine"
	"weftline/engine/enginetest"
)

// The server is well as long as what is ready does not wait for a worker in vain; that the process answers is not
// enough.
func TestReadyzMeansProgress(t *testing.T) {
	url := enginetest.Database(t)
	e, err := engine.Open(t.Context(), engine.Options{DatabaseURL: url}) // it drives nothing
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(t.Context())
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	const wait = `insert into ready (execution_id, partition, turn, since, priority, team_id, workflow)
		select gen_random_uuid(), 0, now() - $1::interval, now() - $1::interval, 'normal', id, 'waits' from teams limit 1`
	if _, err := conn.Exec(t.Context(), wait, "30 seconds"); err != nil {
		t.Fatal(err)
	}
	if err := (progress{e}).Ready(t.Context()); err != nil {
		t.Errorf("after half a minute: %v", err)
	}
	if _, err := conn.Exec(t.Context(), wait, "2 minutes"); err != nil {
		t.Fatal(err)
	}
	if err := (progress{e}).Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "add workers") {
		t.Errorf("after two minutes: %v", err)
	}
	if _, err := conn.Exec(t.Context(), `insert into workers (id, hostname, version, state, concurrency, workflows)
		values (gen_random_uuid(), 'near', '', 'idle', 1, '{others}')`); err != nil {
		t.Fatal(err)
	}
	if err := (progress{e}).Ready(t.Context()); err != nil {
		t.Errorf("what no worker serves takes this process away: %v", err)
	}
	const says = "2 executions wait for workers that nobody is, the oldest for 12"
	if degraded, err := (progress{e}).Degraded(t.Context()); err != nil || !strings.HasPrefix(degraded, says) || !strings.Contains(degraded, "workflow waits of team default in the queue default") {
		t.Errorf("degraded: %q, %v", degraded, err)
	}
	if _, err := conn.Exec(t.Context(), `update workers set workflows = '{waits}'`); err != nil {
		t.Fatal(err)
	}
	if degraded, err := (progress{e}).Degraded(t.Context()); err != nil || degraded != "" {
		t.Errorf("with a worker that takes them: %q, %v", degraded, err)
	}
	if err := (progress{e}).Ready(t.Context()); err == nil {
		t.Error("a worker that takes them and does not is no failure")
	}
}
