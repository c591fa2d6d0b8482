package engine_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/activity"
	"weftline/engine/execution"
)

// night is a workflow whose queue no worker of these tests serves, unless one is started for it.
const night = `
  affinity: {queue: night}
  activities:
    - {id: a, type: http, inputs: {url: "https://example.com"}}
    - {id: b, type: http, needs: [a], inputs: {url: "https://example.com"}}
`

// filters are the ways in which a worker does not take the executions of a workflow.
var filters = map[string]func(*engine.Options){
	"queue":    serving("default"),
	"workflow": func(o *engine.Options) { o.Workflows = []string{"others"} },
	"team":     func(o *engine.Options) { o.Teams = []string{"others"} },
	"partition": func(o *engine.Options) {
		o.Partitions, o.Serves = 2, []int{0}
	},
}

// startUnserved starts an execution that the world's worker does not take: with a filter of partitions that is one of
// several.
func (w *world) startUnserved(name string) uuid.UUID {
	w.t.Helper()
	for range 64 {
		id := w.start(name, nil)
		detail, err := w.Execution(w.t.Context(), w.who, id)
		if err != nil {
			w.t.Fatal(err)
		}
		if slices.ContainsFunc(detail.Waits, isUnserved) {
			return id
		}
	}
	w.t.Fatal("the worker takes every execution")
	return uuid.Nil
}

func isUnserved(wait execution.WaitDetail) bool { return wait.Kind == "unserved" }

// What needs no worker works on executions that no living worker takes, whatever filter it is that leaves them out:
// to pause, to go on and to cancel, on the replica that is asked.
func TestWhatNobodyServesCanBePausedAndCancelled(t *testing.T) {
	for name, filter := range filters {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, filter)
			w.publish("nightly", night)
			id := w.startUnserved("nightly")
			w.must(w.Pause(t.Context(), w.who, id))
			w.until(id, "paused", func(d engine.ExecutionDetail) bool { return d.Status == execution.StatusPaused })
			w.must(w.Resume(t.Context(), w.who, id))
			w.until(id, "running", func(d engine.ExecutionDetail) bool {
				return d.Status == execution.StatusRunning && slices.ContainsFunc(d.Waits, isUnserved)
			})
			w.must(w.Cancel(t.Context(), w.who, id, "nobody is there", nil))
			w.ends(id, "cancelled")
			for _, table := range []string{"ready", "timers", "inbox"} {
				if n := w.rows(table, id); n > 0 {
					t.Errorf("it has ended and left %d rows in %s", n, table)
				}
			}
			if slices.ContainsFunc(w.http.made(), func(c activity.Call) bool { return c.Execution == id.String() }) {
				t.Error("an activity ran on a worker that does not take it")
			}
		})
	}
}

// A time-out and a deadline end what nobody serves.
func TestWhatNobodyServesTimesOut(t *testing.T) {
	w := newWorld(t, serving("default"))
	w.publish("limited", "  limits: {timeout: 100ms}\n"+night)
	w.publish("nightly", night)
	soon := time.Now().Add(time.Second)
	late, err := w.Start(t.Context(), w.who, engine.StartRequest{Workflow: "nightly", Deadline: &soon})
	w.must(err)
	w.ends(w.start("limited", nil), "timed_out")
	w.ends(late.ID, "timed_out")
	if made := w.http.made(); len(made) > 0 {
		t.Errorf("%d attempts were made", len(made))
	}
}

// What a lost worker leaves, whose queue nobody serves any more, is cancelled all the same; what it was doing is known
// to be lost.
func TestWhatALostWorkerLeavesToNobodyCanBeCancelled(t *testing.T) {
	w := newWorld(t, serving("default"))
	w.publish("nightly", night)
	id := w.startUnserved("nightly")
	w.exec(`update ready set owner = '` + uuid.NewString() + `' where execution_id = '` + id.String() + `'`)
	w.must(w.Cancel(t.Context(), w.who, id, "", nil))
	w.ends(id, "cancelled")
	if n := w.count(id, execution.LeaseExpired); n != 1 {
		t.Errorf("%d leases expired", n)
	}
}

// A place in line is kept while an execution is attended, and who comes to serve it takes it from there.
func TestWhatIsAttendedKeepsItsPlace(t *testing.T) {
	w := newWorld(t, serving("default"))
	w.publish("nightly", "  limits: {timeout: 1h}\n"+night)
	id := w.startUnserved("nightly")
	var since, kept time.Time
	w.row(`select since from ready where execution_id = $1`, id, &since)
	w.eventually("it is attended", func() bool {
		var attended bool
		w.row(`select attended is not distinct from wakes from ready where execution_id = $1`, id, &attended)
		return attended
	})
	w.row(`select since from ready where execution_id = $1`, id, &kept)
	if !kept.Equal(since) {
		t.Errorf("it has waited since %s, and after it was attended since %s", since, kept)
	}
	if n := w.rows("timers", id); n != 1 {
		t.Errorf("%d timers stand for its time-out", n)
	}
	night := w.beside(serving("night"))
	w.ends(id, "completed")
	if n := w.rows("timers", id); n != 0 {
		t.Errorf("it has ended and left %d timers", n)
	}
	if made := night.http.made(); len(made) != 2 {
		t.Errorf("the worker of its queue made %d attempts", len(made))
	}
}

// A command to what waits far behind in a line does not wait for the line to come to it.
func TestACommandDoesNotWaitInLine(t *testing.T) {
	w := newWorld(t, func(o *engine.Options) { o.Concurrency = 1 })
	release := make(chan struct{})
	defer close(release)
	w.http.answers(func(ctx context.Context, _ activity.Call) activity.Outcome {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return activity.Outcome{Value: map[string]any{"status": int64(200)}}
	})
	w.publish("chain", chain(1))
	var last uuid.UUID
	for range 12 { // more than a worker with one slot owns
		last = w.start("chain", nil)
	}
	w.must(w.Cancel(t.Context(), w.who, last, "", nil))
	w.ends(last, "cancelled")
}

// Lists, the queue and the whole say what nobody serves.
func TestWhatNobodyServesIsSaid(t *testing.T) {
	w := newWorld(t, serving("default"))
	w.publish("nightly", night)
	w.publish("daily", chain(1))
	id := w.startUnserved("nightly")
	w.ends(w.start("daily", nil), "completed")
	page, err := w.Executions(t.Context(), w.who, engine.ExecutionFilter{Workflow: "nightly"})
	if err != nil || len(page.Items) != 1 || len(page.Items[0].WaitsFor) != 1 || page.Items[0].WaitsFor[0].Kind != "unserved" {
		t.Errorf("the list says %+v, %v", page.Items, err)
	}
	for _, by := range []string{"partition", "queue", "team", "workflow", "priority"} {
		rows, err := w.Queue(t.Context(), w.who, by)
		if err != nil || len(rows) != 1 || rows[0].Depth != 1 || rows[0].Unserved != 1 {
			t.Errorf("by %s the queue is %+v, %v", by, rows, err)
		}
	}
	found, err := w.Unserved(t.Context())
	if err != nil || len(found) != 1 || found[0].Queue != "night" || found[0].Workflow != "nightly" || found[0].Team != engine.DefaultTeam || found[0].Depth != 1 || found[0].Oldest <= 0 {
		t.Errorf("unserved is %+v, %v", found, err)
	}
	w.beside(serving("night"))
	w.ends(id, "completed")
	if found, err := w.Unserved(t.Context()); err != nil || len(found) != 0 {
		t.Errorf("with a worker, unserved is %+v, %v", found, err)
	}
}

// An activity may ask for a queue of its own. If nobody serves that, its execution says so, and so do readiness and doctor.
func TestAnActivityWhoseQueueNobodyServesSaysSo(t *testing.T) {
	w := newWorld(t, serving("default"))
	w.publish("mixed", `
  activities:
    - {id: a, type: http, affinity: {queue: night}, inputs: {url: "https://example.com"}}
`)
	id := w.start("mixed", nil)
	detail := w.until(id, "waiting for a pool", func(d engine.ExecutionDetail) bool { return len(d.Waits) > 0 && d.Waits[0].Kind == "unserved" })
	if wait := detail.Waits[0]; wait.Activity != "a" || wait.Reason != "waits for a worker of the queue night: no worker that is alive serves it" {
		t.Errorf("it waits for %+v", wait)
	}
	unserved, err := w.Unserved(t.Context())
	if err != nil || len(unserved) != 1 || unserved[0].Attempts != 1 || unserved[0].Queue != "night" || unserved[0].Depth != 0 {
		t.Errorf("unserved are %+v, %v", unserved, err)
	}
	w.beside(serving("night"))
	w.ends(id, "completed")
	if unserved, err = w.Unserved(t.Context()); err != nil || len(unserved) != 0 {
		t.Errorf("unserved are %+v, %v", unserved, err)
	}
}
