package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/activity"
	"weftline/engine/enginetest"
	"weftline/engine/execution"
)

// oncePerAttempt checks that nobody of the fleet made an attempt of an execution that another one had made.
func oncePerAttempt(t *testing.T, id uuid.UUID, fleet ...*world) {
	t.Helper()
	made := map[string]int{}
	for _, w := range fleet {
		for _, call := range w.http.made() {
			if call.Execution == id.String() {
				made[fmt.Sprintf("%s/%s attempt %d", call.Activity, call.Item, call.Attempt)]++
			}
		}
	}
	if len(made) == 0 {
		t.Error("nothing was made")
	}
	for attempt, n := range made {
		if n > 1 {
			t.Errorf("%s was made %d times\n%s", attempt, n, fleet[0].words(id))
		}
	}
}

// TestAnAnswerThatIsLostBeginsNothingTwice drops the answer to each statement in turn by which an execution is begun,
// claimed, read, saved, parked, handed over, lent and made elsewhere. Whoever did not hear must not do again what it did.
func TestAnAnswerThatIsLostBeginsNothingTwice(t *testing.T) {
	const work = `
  execution: {mode: %s}
  activities:
    - {id: first, type: http, inputs: {url: "http://x"}}
    - id: each
      type: for_each
      needs: [first]
      for_each: {items: "[1, 2, 3, 4, 5, 6]", maxConcurrent: 6, activity: {type: http, inputs: {url: "http://x"}}}
    - {id: rest, type: wait, needs: [each], wait: {timer: {after: 80ms}}}
    - {id: hear, type: event, needs: [rest], timeout: 1h, event: {name: go}}
    - {id: last, type: http, needs: [hear], inputs: {url: "http://x"}}
`
	modes := []string{"server", "local_sync"}
	for i, statement := range []string{"insert into history", "insert into executions", "left join teams", "update ready r set owner = $9", "update ready r set owner = $1",
		"update ready r set owner = null, turn", "from ready r left join work", "select wakes from ready", "delete from ready r using p", "insert into work",
		"update work k set worker_id", "delete from work", "delete from inbox", "select deliver", "delete from timers"} {
		mode := modes[i%len(modes)]
		t.Run(mode+" "+statement, func(t *testing.T) {
			t.Parallel()
			database := enginetest.Database(t)
			wire := enginetest.NewWire(t, database)
			share := func(o *engine.Options) { o.Concurrency = 2 }
			w := newWorldAt(t, wire.URL(), share)
			other := &world{t: t, url: database, who: w.who, http: &fakeHTTP{}}
			other.open(share)
			short := func(context.Context, activity.Call) activity.Outcome {
				time.Sleep(5 * time.Millisecond)
				return activity.Outcome{Value: map[string]any{"status": int64(200)}}
			}
			w.http.answers(short)
			other.http.answers(short)
			w.publish("all", fmt.Sprintf(work, mode))
			wire.DropReplyTo(statement, nil)
			id := w.startHeard("all")
			other.waiting(id, "hear")
			other.eventually("the signal is taken", func() bool { return other.Signal(t.Context(), other.who, id, "go", nil, "once") == nil })
			other.ends(id, "completed")
			oncePerAttempt(t, id, other, w)
		})
	}
}

// startHeard starts an execution once, though the answer may be lost.
func (w *world) startHeard(workflow string) (id uuid.UUID) {
	w.t.Helper()
	w.eventually("the start is acknowledged", func() bool {
		started, err := w.Start(w.t.Context(), w.who, engine.StartRequest{Workflow: workflow, IdempotencyKey: "once"})
		id = started.ID
		return err == nil
	})
	return id
}

// held is an http kind whose attempts wait to be let go.
type held struct {
	began  chan activity.Call
	finish chan struct{}
	letGo  func()
}

func hold(w *world) held {
	h := held{began: make(chan activity.Call, 16), finish: make(chan struct{})}
	h.letGo = sync.OnceFunc(func() { close(h.finish) })
	w.t.Cleanup(h.letGo)
	w.http.answers(func(ctx context.Context, call activity.Call) activity.Outcome {
		h.began <- call
		select {
		case <-h.finish:
		case <-ctx.Done():
		}
		return activity.Outcome{Value: map[string]any{"status": int64(200)}}
	})
	return h
}

// TestAnOwnerThatCannotLookGoesOn: the database does not answer when an owner looks for messages, while an attempt is on
// its way. The attempt goes on, and is made once.
func TestAnOwnerThatCannotLookGoesOn(t *testing.T) {
	database := enginetest.Database(t)
	wire := enginetest.NewWire(t, database)
	w := newWorldAt(t, wire.URL())
	h := hold(w)
	w.publish("chain", chain(1))
	id := w.start("chain", nil)
	enginetest.Receive(t, h.began, "the attempt")
	cut := make(chan struct{})
	wire.DropReplyTo("select wakes from ready", func() { close(cut) })
	w.must(w.Signal(t.Context(), w.who, id, "anything", nil, ""))
	enginetest.Receive(t, cut, "the answer that is lost")
	w.eventually("the signal is taken", func() bool { return w.rows("inbox", id) == 0 })
	h.letGo()
	w.ends(id, "completed")
	if made := w.http.made(); len(made) != 1 || w.incident(id) {
		t.Errorf("%d attempts, incident %t", len(made), w.incident(id))
	}
}

// TestAClaimThatIsNotHeldAnyMoreIsNotDriven: between the claim of an execution and the answer somebody else has come to own
// it. It is not begun beside that owner.
func TestAClaimThatIsNotHeldAnyMoreIsNotDriven(t *testing.T) {
	database := enginetest.Database(t)
	wire := enginetest.NewWire(t, database)
	w := newWorldAt(t, wire.URL())
	w.publish("chain", "  execution: {mode: server}\n"+chain(1))
	owner := uuid.New()
	w.exec(fmt.Sprintf(`insert into workers (id, hostname, version, state, region, zone, labels, activities, concurrency, heartbeat_at)
		values ('%s', '', '', 'idle', '', '', '{}', '{}', 8, now() + interval '1 hour')`, owner))
	past := &world{t: t, url: database, who: w.who}
	past.door()
	taken := make(chan struct{})
	wire.BeforeReplyTo("update ready r set owner = $", func() {
		past.exec(fmt.Sprintf(`update ready set owner = '%s'`, owner))
		close(taken)
	})
	lost := past.start("chain", nil)
	enginetest.Receive(t, taken, "the claim")
	w.ends(w.start("chain", nil), "completed")
	for _, call := range w.http.made() {
		if call.Execution == lost.String() {
			t.Error("an attempt was made of an execution that somebody else owns")
		}
	}
}

// TestAfterAnIncidentWhatRanIsLost: when an execution cannot go on because of a fault, what was running is over. It is
// made again as another attempt, and once-only work is not.
func TestAfterAnIncidentWhatRanIsLost(t *testing.T) {
	for _, once := range []bool{false, true} {
		w := newWorld(t)
		h := hold(w)
		w.publish("one", fmt.Sprintf("  activities:\n    - {id: a, type: http, once: %t, inputs: {url: \"http://x\"}}\n", once))
		id := w.start("one", nil)
		enginetest.Receive(t, h.began, "the attempt")
		w.exec(`alter table history add constraint fault check (first_seq = 1) not valid`) // the next flush fails
		h.letGo()
		w.eventually("an incident", func() bool { return w.incident(id) })
		w.exec(`alter table history drop constraint fault`)
		if once {
			if detail := w.ends(id, "failed"); detail.Error.Type != "engine.worker_lost" {
				t.Errorf("it failed with %+v", detail.Error)
			}
		} else {
			w.ends(id, "completed")
		}
		if w.count(id, execution.LeaseExpired) != 1 {
			t.Errorf("the history does not say that its owner was lost\n%s", w.words(id))
		}
		oncePerAttempt(t, id, w)
	}
}
