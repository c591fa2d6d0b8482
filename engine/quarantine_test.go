package engine_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"weftline/engine"
	"weftline/engine/store"
)

// replicaRestarted runs a replica that is started again whenever it dies, until the test is over.
func (w *world) replicaRestarted(r replica) {
	w.t.Helper()
	over, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			process, err := r.start()
			if err != nil {
				w.t.Error(err)
				return
			}
			died := make(chan error, 1)
			go func() { died <- process.Wait() }()
			select {
			case <-died:
			case <-over:
				_ = process.Process.Kill()
				<-died
				return
			}
		}
	}()
	w.t.Cleanup(func() { close(over); <-gone })
}

// An execution that takes down every process that drives it is set aside, visibly; the others go on, those that
// get nothing done for long included. A person releases it.
func TestWhatKillsItsProcessIsQuarantinedAlone(t *testing.T) {
	const most = 3
	w := newWorld(t)
	w.publish("deadly", "  activities:\n    - {id: die, type: http, inputs: {url: \""+deadly+"\"}}\n")
	w.publish("chain", chain(30))
	w.stop()
	w.door()
	log := t.TempDir() + "/effects"
	culprit := w.start("deadly", nil)
	var innocent []uuid.UUID
	for range 4 {
		innocent = append(innocent, w.start("chain", nil))
	}
	w.replicaRestarted(replica{Database: w.url, Log: log, Quarantine: most})
	quarantined := w.until(culprit, "quarantined", func(d engine.ExecutionDetail) bool { return d.Quarantine != nil })
	if !strings.Contains(quarantined.Quarantine.Reason, "died 3 times in a row") || quarantined.OwnerWorker != nil {
		t.Errorf("quarantined as %+v, owned by %v", quarantined.Quarantine, quarantined.OwnerWorker)
	}
	deaths := 0
	for _, effect := range effects(t, log) {
		if strings.HasPrefix(effect, culprit.String()) {
			deaths++
		}
	}
	if deaths != most {
		t.Errorf("it killed %d processes before it was set aside, %d are allowed", deaths, most)
	}
	for _, id := range innocent {
		w.ends(id, "completed")
	}
	w.staysAside(culprit)
	if err := os.WriteFile(log+".harmless", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.must(w.Release(t.Context(), w.who, culprit, "the script is right now"))
	w.ends(culprit, "completed")
	var refusal *engine.Error
	if err := w.Release(t.Context(), w.who, culprit, ""); !errors.As(err, &refusal) || refusal.Code != "conflict" {
		t.Errorf("released again: %v", err)
	}
	if n := w.audited("execution.released"); n != 1 {
		t.Errorf("the audit has %d releases", n)
	}
}

// staysAside checks that a message does not bring a quarantined execution back, that it is in a list and no limbo.
func (w *world) staysAside(id uuid.UUID) {
	w.t.Helper()
	w.must(w.Signal(w.t.Context(), w.who, id, "go", nil, ""))
	page, err := w.Executions(w.t.Context(), w.who, engine.ExecutionFilter{Workflow: "deadly"})
	if err != nil || len(page.Items) != 1 || len(page.Items[0].WaitsFor) != 1 || page.Items[0].WaitsFor[0].Kind != "quarantine" {
		w.t.Errorf("in the list it is %+v, %v", page.Items, err)
	}
	w.connected(func(conn *pgx.Conn) error {
		var nobody uuid.UUID
		if err := conn.QueryRow(w.t.Context(), `select owner from ready where execution_id = $1`, id).Scan(&nobody); err != nil || nobody != uuid.Max {
			w.t.Errorf("it belongs to %s, %v", nobody, err)
		}
		return nil
	})
	pool, err := pgxpool.New(w.t.Context(), w.url)
	if err != nil {
		w.t.Fatal(err)
	}
	defer pool.Close()
	found, err := store.FindQuarantined(w.t.Context(), pool)
	if err != nil || len(found) != 1 || found[0].Execution != id {
		w.t.Errorf("set aside are %+v, %v", found, err)
	}
	if _, limbo, err := store.FindLimbo(w.t.Context(), pool); err != nil || len(limbo) > 0 {
		w.t.Errorf("in limbo are %+v, %v", limbo, err)
	}
}

// Cancelling needs no release: what was set aside is driven again, and the first that it does is to end.
func TestWhatIsQuarantinedCanBeCancelled(t *testing.T) {
	w := newWorld(t)
	w.publish("held", `
  activities:
    - {id: hold, type: event, event: {name: go, correlation: execution.id}}
    - {id: call, type: http, needs: [hold], inputs: {url: "http://example.com"}}
`)
	id := w.start("held", nil)
	w.waiting(id, "hold")
	w.stop()
	w.exec(`update executions set quarantined_at = now(), crashes = 5`)
	w.exec(`insert into ready (execution_id, partition, turn, team_id, workflow, owner)
		select id, 0, now(), team_id, workflow, 'ffffffff-ffff-ffff-ffff-ffffffffffff' from executions
		on conflict (execution_id) do update set owner = excluded.owner`)
	heir := &world{t: t, url: w.url, who: w.who, http: &fakeHTTP{}}
	heir.open()
	if err := heir.Cancel(t.Context(), w.who, id, "it kills", nil); err != nil {
		t.Fatal(err)
	}
	if detail := heir.ends(id, "cancelled"); detail.Quarantine != nil || len(heir.http.made()) != 0 {
		t.Errorf("quarantine %+v, %d calls", detail.Quarantine, len(heir.http.made()))
	}
}
