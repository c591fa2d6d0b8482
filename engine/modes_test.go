package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/enginetest"
	"weftline/engine/worker"
)

// setChain is a workflow of n set activities in line.
func setChain(mode string, n int) string {
	text := fmt.Sprintf("  execution: {mode: %s}\n  activities:\n", mode)
	for i := range n {
		text += fmt.Sprintf("    - {id: s%d, type: set, outputs: {sum: \"%d\"}", i, i)
		if i > 0 {
			text += fmt.Sprintf(", needs: [s%d]", i-1)
		}
		text += "}\n"
	}
	return text
}

// rounds are the statements that a replica makes from time to time whether it has work or not.
var rounds = []string{"-- ping", "Heartbeat", "NextTimer", "OpenWork", "OverdueWork", "OtherOwners", "OwnedBy", "SchedulesToDo", "UnreadAmong", "GoneOwners"}

// What one execution of 20 steps costs when it is alone, so that nothing is shared with others. A number
// that grows here grows for everybody; one that shrinks may be written down.
func TestWhatAnExecutionCostsByMode(t *testing.T) {
	const steps, repetitions = 20, 5
	for _, most := range []struct {
		mode              string
		statements, trips int
	}{
		{worker.ModeServer, 129, 64},
		{worker.ModeLocalSync, 27, 21},
		{worker.ModeLocalAsync, 4, 2}, // one is the line of the audit
	} {
		t.Run(most.mode, func(t *testing.T) {
			database := enginetest.Database(t)
			wire := enginetest.NewWire(t, database)
			wire.Ignore(rounds...)
			w := newWorldAt(t, database, func(o *engine.Options) { o.DatabaseURL = wire.URL() })
			w.publish("chain", setChain(most.mode, steps))
			w.ends(w.start("chain", nil), "completed") // caches are warm from here on
			statements, trips := 1<<30, 1<<30
			for range repetitions { // a look for something ready, once a second, adds to some of them
				s, r := w.costOfOne(wire)
				statements, trips = min(statements, s), min(trips, r)
			}
			t.Logf("%s: %d statements in %d round trips", most.mode, statements, trips)
			if statements > most.statements || trips > most.trips {
				t.Errorf("an execution of %d steps takes %d statements in %d round trips, at most %d in %d are expected",
					steps, statements, trips, most.statements, most.trips)
			}
		})
	}
}

func (w *world) costOfOne(wire *enginetest.Wire) (statements, trips int) {
	done := make(chan struct{}, 100)
	stop := w.Watch(w.who.Team, func(c engine.Change) {
		if c.Status == "completed" {
			done <- struct{}{}
		}
	})
	defer stop()
	s, r := wire.Counts()
	w.start("chain", nil)
	select {
	case <-done:
	case <-time.After(patience):
		w.t.Fatal("the execution does not end")
	}
	statements, trips = wire.Counts()
	return statements - s, trips - r
}

func TestWhatNeedsNoWorkerEndsWithItsStartInLocalAsync(t *testing.T) {
	w := newWorld(t)
	w.publish("good", setChain(worker.ModeLocalAsync, 5))
	started, err := w.Start(t.Context(), w.who, engine.StartRequest{Workflow: "good"})
	if err != nil || started.Status != "completed" {
		t.Fatalf("started %+v, %v", started, err)
	}
	w.ends(started.ID, "completed")
	w.publish("bad", `
  execution: {mode: local_async}
  activities:
    - {id: a, type: set, outputs: {sum: "1"}}
    - {id: b, type: fail, needs: [a], fail: {error: own.kind, message: "no"}}
`)
	started, err = w.Start(t.Context(), w.who, engine.StartRequest{Workflow: "bad"})
	if err != nil || started.Status != "failed" {
		t.Fatalf("started %+v, %v", started, err)
	}
	w.ends(started.ID, "failed")
	var whole bool
	w.row(`select finished_at is not null and keep_until > finished_at and error->>'type' = 'own.kind' from executions where id = $1`, started.ID, &whole)
	if !whole {
		t.Error("the row of the execution does not say how it ended")
	}
	if n := w.rows("ready", started.ID); n != 0 {
		t.Errorf("%d rows of the queue are left", n)
	}
}

// One activity that needs no worker is written with the start in local_sync too; the next begins when it is durable. A
// team whose policy forbids it sees it refused all the same.
func TestTheFirstStepIsWrittenWithTheStartInLocalSync(t *testing.T) {
	w := newWorld(t)
	flushes := func(id uuid.UUID) (n int) {
		w.row(`select count(*) from history where execution_id = $1`, id, &n)
		return n
	}
	for steps, want := range map[int]struct {
		status  string
		flushes int
	}{1: {"completed", 1}, 2: {"running", 2}, 5: {"running", 5}} {
		name := fmt.Sprintf("chain-%d", steps)
		w.publish(name, setChain(worker.ModeLocalSync, steps))
		started, err := w.Start(t.Context(), w.who, engine.StartRequest{Workflow: name})
		if err != nil || started.Status != want.status {
			t.Errorf("%d steps: started %+v, %v", steps, started, err)
		}
		w.ends(started.ID, "completed")
		if got := flushes(started.ID); got != want.flushes {
			t.Errorf("%d steps took %d commits of the execution, want %d", steps, got, want.flushes)
		}
	}
	w.publish("handed", setChain(worker.ModeServer, 1))
	started, err := w.Start(t.Context(), w.who, engine.StartRequest{Workflow: "handed"})
	if err != nil || started.Status != "running" {
		t.Errorf("in server mode: started %+v, %v", started, err)
	}
}

// More steps than the mode leaves unsaved, a checkpoint and a real activity are boundaries.
func TestALocalAsyncStartStopsAtBoundaries(t *testing.T) {
	w := newWorld(t)
	for name, spec := range map[string]string{
		"long":       setChain(worker.ModeLocalAsync, 70),
		"checkpoint": "  execution: {mode: local_async}\n  activities:\n    - {id: a, type: set, outputs: {sum: \"1\"}, checkpoint: true}\n",
		"acts":       "  execution: {mode: local_async}\n  activities:\n    - {id: a, type: http, inputs: {url: \"http://example.com\"}}\n",
	} {
		w.publish(name, spec)
		started, err := w.Start(t.Context(), w.who, engine.StartRequest{Workflow: name})
		if err != nil || started.Status != "running" {
			t.Errorf("%s: started %+v, %v", name, started, err)
		}
		w.ends(started.ID, "completed")
	}
}

// A state is stored only together with the event that it is at: an execution with much history that only
// parks is still read, and goes on.
func TestALargeExecutionThatComesAndGoesIsRead(t *testing.T) {
	for _, mode := range []string{worker.ModeServer, worker.ModeLocalSync, worker.ModeLocalAsync} {
		t.Run(mode, func(t *testing.T) {
			w := newWorld(t)
			w.publish("large", `
  execution: {mode: `+mode+`}
  input: {type: object, properties: {text: {type: string}}}
  activities:
    - {id: hold, type: event, event: {name: go, correlation: execution.id}}
    - {id: last, type: set, needs: [hold], outputs: {sum: "2"}}
`)
			id := w.start("large", map[string]any{"text": strings.Repeat("x", 600<<10)})
			w.waiting(id, "hold")
			if err := w.Signal(t.Context(), w.who, id, "go", nil, ""); err != nil {
				t.Fatal(err)
			}
			w.ends(id, "completed")
		})
	}
}
