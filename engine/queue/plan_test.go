package queue_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"weftline/engine/enginetest"
	"weftline/engine/queue"
)

// A claim of offered work is planned once a session, however its arguments differ: planning it took longer than the
// claim. Afterwards the session plans other statements as before.
func TestAClaimOfOfferedWorkKeepsItsPlan(t *testing.T) {
	config, err := pgxpool.ParseConfig(enginetest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 1
	db, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	works, team, execution := queue.NewWorks(db), uuid.New(), uuid.New()
	for _, fit := range []queue.Fit{
		{Needs: []string{"http"}}, {Needs: []string{"worker/render"}, Team: &team}, {Needs: []string{"http"}, Queues: []string{"slow"}},
		{Needs: []string{"http"}, Workflows: []string{"a", "b"}, Labels: map[string]string{"gpu": "yes"}}, {Needs: []string{"http"}, Execution: &execution},
	} {
		fit.Worker = uuid.New()
		if leased, err := works.Claim(t.Context(), fit, 5); err != nil || len(leased) != 0 {
			t.Fatalf("leased %v, %v", leased, err)
		}
	}
	var statements, anew int
	if err := db.QueryRow(t.Context(), `select count(*), sum(custom_plans) from pg_prepared_statements where statement like '-- name: ClaimWork %'`).Scan(&statements, &anew); err != nil {
		t.Fatal(err)
	}
	if statements != 1 || anew != 0 {
		t.Errorf("%d statements were planned anew %d times", statements, anew)
	}
	var mode string
	if err := db.QueryRow(t.Context(), `select current_setting('plan_cache_mode')`).Scan(&mode); err != nil || mode != "auto" {
		t.Errorf("the session plans %s, %v", mode, err)
	}
}
