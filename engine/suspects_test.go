package engine_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/enginetest"
)

// TestWhatCannotBeTheCauseIsNotSuspected: a crash counts on what was under way in the process that died. It does not count
// on what only waited for somebody else, nor on anything when the process was being stopped.
func TestWhatCannotBeTheCauseIsNotSuspected(t *testing.T) {
	w := newWorld(t)
	w.publish("far", renders)
	w.publish("near", "  activities:\n    - {id: a, type: http, inputs: {url: \"http://x\"}}\n")
	waits := w.start("far", nil)
	w.eventually("it is offered", func() bool { return w.rows("work", waits) == 1 })
	w.leaves(waits)
	w.stop()
	w.door()
	crashed, stopped := uuid.New(), uuid.New()
	w.exec(fmt.Sprintf(`insert into workers (id, hostname, version, state, region, zone, labels, activities, concurrency, heartbeat_at)
		values ('%s', '', '', 'draining', '', '', '{}', '{}', 8, now() - interval '1 hour')`, stopped))
	w.exec(fmt.Sprintf(`insert into ready (execution_id, partition, turn, team_id, workflow, owner, claimed_at)
		select id, partition, now(), team_id, workflow, '%s', created_at from executions where id = '%s'`, crashed, waits))
	own := func(id, owner uuid.UUID) uuid.UUID {
		w.exec(fmt.Sprintf(`update ready set owner = '%s', claimed_at = now() where execution_id = '%s'`, owner, id))
		return id
	}
	guilty, innocent := own(w.start("near", nil), crashed), own(w.start("near", nil), stopped)
	heir := &world{t: t, url: w.url, who: w.who, http: &fakeHTTP{}}
	h := hold(heir)
	heir.open()
	crashes := func(id uuid.UUID) (n int) {
		w.row(`select crashes from executions where id = $1`, id, &n)
		return n
	}
	for range 2 { // both are taken over and under way
		enginetest.Receive(t, h.began, "an attempt")
	}
	heir.leaves(waits)
	for id, want := range map[uuid.UUID]int{waits: 0, innocent: 0, guilty: 1} {
		if n := crashes(id); n != want {
			t.Errorf("%d crashes are counted, %d expected", n, want)
		}
	}
	h.letGo()
	heir.ends(guilty, "completed")
	heir.ends(innocent, "completed")
}

// TestTheInnocentAreAcquittedInGroups: with more crashes allowed the suspects are driven in groups that get smaller. The
// culprit is found as soon as it would be alone, and of a crowd nobody else is set aside.
func TestTheInnocentAreAcquittedInGroups(t *testing.T) {
	const most, crowd = 4, 10
	w := newWorld(t)
	w.publish("deadly", "  activities:\n    - {id: die, type: http, inputs: {url: \""+deadly+"\"}}\n")
	w.publish("chain", chain(3))
	w.stop()
	w.door()
	log := t.TempDir() + "/effects"
	var innocent []uuid.UUID
	for range crowd {
		innocent = append(innocent, w.start("chain", nil))
	}
	culprit := w.start("deadly", nil)
	for range crowd {
		innocent = append(innocent, w.start("chain", nil))
	}
	w.exec(`update executions set crashes = 1`) // all were lost once already
	w.exec(fmt.Sprintf(`update ready set owner = '%s', claimed_at = now()`, uuid.New()))
	w.replicaRestarted(replica{Database: w.url, Log: log, Quarantine: most})
	w.until(culprit, "quarantined", func(d engine.ExecutionDetail) bool { return d.Quarantine != nil })
	for _, id := range innocent {
		w.ends(id, "completed")
	}
	deaths := 0
	for _, effect := range effects(t, log) {
		if len(effect) >= 36 && effect[:36] == culprit.String() {
			deaths++
		}
	}
	if deaths != most-2 { // once among four, once alone
		t.Errorf("it brought %d processes down", deaths)
	}
}
