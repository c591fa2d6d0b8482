package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"weftline/engine/enginetest"
)

func TestDoctor(t *testing.T) {
	url := enginetest.Database(t)
	ask := func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		code := Main(append([]string{"doctor", "--database-url", url}, args...), Terminal{Out: &out, Err: &errs, Env: func(string) (string, bool) { return "", false }})
		return code, out.String() + errs.String()
	}
	if code, says := ask(); code != 0 || says != "0 open executions, 0 in limbo, 0 quarantined, 0 that no worker serves\n" {
		t.Errorf("a healthy database: %d %s", code, says)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `insert into executions (id, team_id, partition, workflow, version, content_hash, mode,
			status, correlation_id, priority, started_by, created_at, updated_at)
		values (gen_random_uuid(), gen_random_uuid(), 0, 'lost', 1, '', 'server', 'running', '', 'normal', 'ann', now(), now())`); err != nil {
		t.Fatal(err)
	}
	if code, says := ask(); code != 1 || !strings.Contains(says, "lost  running since") {
		t.Errorf("an execution without any cause: %d %s", code, says)
	}
	if _, err := conn.Exec(t.Context(), `insert into ready (execution_id, partition, turn, team_id, workflow, queue, since)
		select gen_random_uuid(), 7, now(), id, 'nightly', 'night', now() - interval '90 seconds' from teams`); err != nil {
		t.Fatal(err)
	}
	if code, says := ask(); code != 1 || !strings.Contains(says, "1 executions of workflow nightly (team default, queue night, partition 7, priority normal) wait for a worker, the oldest for 9") ||
		!strings.Contains(says, ", 1 that no worker serves\n") {
		t.Errorf("a queue that nobody serves: %d %s", code, says)
	}
	if _, err := conn.Exec(t.Context(), `insert into work (execution_id, activity, item, compensating, attempt, hook, team_id, workflow, needs, queue, labels, prefer, turn, timeout_ms, body)
		select gen_random_uuid(), 'a', '', false, 1, '', id, 'mixed', 'http', 'dusk', '{}', '{}', now(), 0, '' from teams`); err != nil {
		t.Fatal(err)
	}
	if code, says := ask(); code != 1 || !strings.Contains(says, "1 attempts of workflow mixed (team default) wait for a worker of the queue dusk") {
		t.Errorf("an activity's queue that nobody serves: %d %s", code, says)
	}
	if code, says := ask("--json"); code != 1 || !strings.Contains(says, `"unserved":[{"team":"default","workflow":"nightly","queue":"night"`) || !strings.Contains(says, `"open":1,"limbo":[{"execution":"`) {
		t.Errorf("the same as JSON: %d %s", code, says)
	}
}
