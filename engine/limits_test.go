package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/activity"
	"weftline/engine/enginetest"
	"weftline/engine/execution"
)

// TestStartsASecondAreLimitedOverAllExecutions: with maxPerSecond the database gives out turns one gap apart, so
// no start of any execution comes before its own.
func TestStartsASecondAreLimitedOverAllExecutions(t *testing.T) {
	w := newWorld(t)
	w.publish("paced", `
  limits: {maxPerSecond: 2}
  activities:
    - {id: one, type: http, inputs: {url: http://x}}
    - {id: two, type: http, inputs: {url: http://x}}
`)
	ids := []uuid.UUID{w.start("paced", nil), w.start("paced", nil)}
	var turns []time.Time
	for _, id := range ids {
		w.ends(id, "completed")
		turn := map[string]time.Time{}
		for _, event := range w.events(id) {
			switch d := event.Data.(type) {
			case *execution.Timer:
				turn[event.Activity] = d.Until
				turns = append(turns, d.Until)
			}
			if event.Type == execution.ActivityDispatched && event.At.Before(turn[event.Activity]) {
				t.Errorf("%s started at %s, its turn was %s", event.Activity, event.At, turn[event.Activity])
			}
		}
		w.leavesNothing(id)
	}
	const gap = 500*time.Millisecond - time.Millisecond // instants are whole milliseconds
	slices.SortFunc(turns, time.Time.Compare)
	for i := 1; i < len(turns); i++ {
		if turns[i].Sub(turns[i-1]) < gap {
			t.Errorf("the turns %v are too near to each other", turns)
		}
	}
	if len(turns) == 0 {
		t.Error("nobody had to wait for a turn")
	}
}

// TestAnExecutionHoldsNoMoreThanItMay: an output that would make it larger than maxMemory is the failure
// limit.memory, with both figures.
func TestAnExecutionHoldsNoMoreThanItMay(t *testing.T) {
	w := newWorld(t)
	w.http.answers(func(context.Context, activity.Call) activity.Outcome {
		return activity.Outcome{Value: map[string]any{"body": string(make([]byte, 3000))}}
	})
	w.publish("large", `
  limits: {maxMemory: 8KiB}
  activities:
    - {id: a, type: http, inputs: {url: http://x}}
    - {id: b, type: http, needs: [a], inputs: {url: http://x}}
    - {id: c, type: http, needs: [b], inputs: {url: http://x}}
`)
	detail := w.ends(w.start("large", nil), "failed")
	if detail.Error.Type != "limit.memory" || detail.Error.Activity != "c" || detail.Activities["b"].Status != "completed" {
		t.Errorf("error %+v", detail.Error)
	}
	for _, call := range w.http.made() {
		if call.MaxMemory != 8<<10 {
			t.Errorf("the worker was told %d bytes", call.MaxMemory)
		}
	}
}

// TestEndedExecutionsAreKeptAsLongAsTheLongestRetention: an execution goes, with all that belongs to it, when both
// its workflow and its team have kept it long enough; one that is open stays.
func TestEndedExecutionsAreKeptAsLongAsTheLongestRetention(t *testing.T) {
	w := newWorld(t)
	w.publish("short", "  limits: {historyRetention: 1h}\n  activities:\n    - {id: a, type: set, outputs: {x: '1'}}\n")
	w.publish("long", "  limits: {historyRetention: 30d}\n  activities:\n    - {id: a, type: set, outputs: {x: '1'}}\n")
	w.publish("open", "  limits: {historyRetention: 1h}\n  activities:\n    - {id: a, type: wait, wait: {timer: {after: 1h}}}\n")
	short, long, open := w.start("short", nil), w.start("long", nil), w.start("open", nil)
	w.ends(short, "completed")
	w.ends(long, "completed")
	w.waiting(open, "a")
	w.exec("update executions set keep_until = keep_until - interval '2 days', finished_at = finished_at - interval '2 days'")
	kept := func(id uuid.UUID) bool {
		_, err := w.Execution(t.Context(), w.who, id)
		return err == nil
	}
	w.exec(fmt.Sprintf(`update teams set policy = '{"executionRetention": "7d"}' where id = '%s'`, w.who.Team))
	w.tidy()
	if !kept(short) || !kept(long) || !kept(open) {
		t.Fatal("the team keeps them for 7 days")
	}
	w.exec(fmt.Sprintf(`update teams set policy = '{}' where id = '%s'`, w.who.Team))
	w.tidy()
	if kept(short) || !kept(long) || !kept(open) {
		t.Errorf("kept: short %t, long %t, open %t", kept(short), kept(long), kept(open))
	}
	if n := w.rows("history", short); n != 0 {
		t.Errorf("%d rows of history are left", n)
	}
}

// tidy runs the upkeep once.
func (w *world) tidy() {
	w.t.Helper()
	if err := w.Engine.Tidy(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

const sharedParent = `
  input: {type: object, properties: {order: {type: string}}}
  activities:
    - {id: call, type: workflow, workflow: {name: shared-child, dedupeKey: "${{ inputs.order }}"}}
  output: {child: activities.call.outputs.executionId, x: activities.call.outputs.output.x}
`

// TestAChildIsStartedOnceForItsKey: whoever asks for the same key waits for the same child and gets its output,
// also when it is over already; another key is another child, and cancelling one parent leaves the child alone.
func TestAChildIsStartedOnceForItsKey(t *testing.T) {
	w := newWorld(t)
	w.publish("shared-child", `
  activities:
    - {id: hear, type: event, timeout: 1h, event: {name: go, correlation: "'all'"}}
    - {id: put, type: set, needs: [hear], outputs: {x: "7"}}
  output: {x: activities.put.outputs.x}
`)
	w.publish("shared-parent", sharedParent)
	order := func(key string) map[string]any { return map[string]any{"order": key} }
	first := w.start("shared-parent", order("a"))
	w.waiting(first, "call")
	second, third, other := w.start("shared-parent", order("a")), w.start("shared-parent", order("a")), w.start("shared-parent", order("b"))
	for _, id := range []uuid.UUID{second, third, other} {
		w.waiting(id, "call")
	}
	if err := w.Cancel(t.Context(), w.who, third, "", nil); err != nil {
		t.Fatal(err)
	}
	w.ends(third, "cancelled")
	w.post(engine.PostedEvent{Name: "go", Correlation: "all"})
	child := func(id uuid.UUID) string { return w.ends(id, "completed").Output.(map[string]any)["child"].(string) }
	a := child(first)
	if b := child(second); b != a {
		t.Errorf("two parents of one key have the children %s and %s", a, b)
	}
	if b := child(other); b == a {
		t.Error("another key got the same child")
	}
	if late := child(w.start("shared-parent", order("a"))); late != a {
		t.Errorf("a later parent has the child %s, not %s", late, a)
	}
	var waits int
	w.row("select count(*) from child_waits where $1::uuid is not null", uuid.MustParse(a), &waits)
	if waits != 0 {
		t.Errorf("%d waits for children are left", waits)
	}
}

// TestWaitingForASlotCountsForTheQueueTimeout: an attempt that gets no slot in time fails; one that has its slot
// runs on however long it takes.
func TestWaitingForASlotCountsForTheQueueTimeout(t *testing.T) {
	w := newWorld(t, func(o *engine.Options) { o.Concurrency = 1 })
	running, finish := make(chan struct{}), make(chan struct{})
	w.http.answers(func(ctx context.Context, call activity.Call) activity.Outcome {
		close(running)
		select {
		case <-finish:
		case <-ctx.Done():
		}
		return activity.Outcome{Value: map[string]any{}}
	})
	const patient = 2 * time.Second // for its own slot, which is free
	w.publish("busy", fmt.Sprintf("  activities:\n    - {id: a, type: http, queueTimeout: %s, inputs: {url: http://x}}\n", patient))
	w.publish("late", "  activities:\n    - {id: b, type: http, queueTimeout: 100ms, inputs: {url: http://x}}\n")
	busy := w.start("busy", nil)
	enginetest.Receive(t, running, "the busy attempt")
	overdue := time.After(patient)
	late := w.ends(w.start("late", nil), "failed")
	if late.Error.Type != "timeout.queue" {
		t.Errorf("error %+v", late.Error)
	}
	<-overdue
	close(finish)
	w.ends(busy, "completed")
}

// TestTheNewestOfABurstWins: with onLimit: replace as many as may run at once stay, the newest; every older one is
// cancelled, whether it ran or still waited for room, and however it was started.
func TestTheNewestOfABurstWins(t *testing.T) {
	w := newWorld(t)
	const held = `
  limits: {maxConcurrent: %d, onLimit: replace}
  activities:
    - {id: hear, type: event, timeout: 1h, event: {name: go}}
`
	w.publish("one", fmt.Sprintf(held, 1))
	w.publish("two", fmt.Sprintf(held, 2))
	w.publish("parent", "  activities:\n    - {id: call, type: workflow, workflow: {name: one, wait: false}}\n")
	burst := func(name string) (ids []uuid.UUID) {
		for range 3 {
			ids = append(ids, w.start(name, nil))
		}
		batch, err := w.StartBatch(t.Context(), w.who, name, 0, make([]engine.StartRequest, 3))
		if err != nil {
			t.Fatal(err)
		}
		return append(ids, batch...)
	}
	stay := func(ids []uuid.UUID, stay int) {
		t.Helper()
		older := len(ids) - stay
		for _, id := range ids[:older] {
			if by := w.ends(id, "cancelled").Error.Message; !strings.Contains(by, "replaced by a newer execution") {
				t.Errorf("it was cancelled because %s", by)
			}
		}
		for _, id := range ids[older:] {
			w.waiting(id, "hear")
		}
	}
	ones, twos := burst("one"), burst("two")
	stay(ones, 1)
	stay(twos, 2)
	w.ends(w.start("parent", nil), "completed")
	w.ends(ones[len(ones)-1], "cancelled")
}
