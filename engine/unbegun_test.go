package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/activity"
	"weftline/engine/enginetest"
	"weftline/engine/execution"
)

// undoable has a step that was made and one that a remote worker or a slot is to make; both can be undone.
const undoable = `
  limits: {timeout: %s}
  compensation: {runOn: [cancel, timeout]}
  activities:
    - {id: book, type: set, outputs: {x: "1"}, compensate: {type: http, inputs: {url: "http://undo.book"}}}
    - {id: send, needs: [book], compensate: {type: http, inputs: {url: "http://undo.send"}}, %s}
`

const (
	sentFar  = "type: worker, inputs: {task: send}"
	sentHere = "type: http, inputs: {url: http://send}"
)

// called are the addresses that an execution called.
func (w *world) called(id uuid.UUID) (urls []string) {
	for _, call := range w.http.made() {
		if input, _ := call.Input.(map[string]any); call.Execution == id.String() {
			url, _ := input["url"].(string)
			urls = append(urls, url)
		}
	}
	return urls
}

// onlyBookUndone checks that send never began.
func (w *world) onlyBookUndone(id uuid.UUID, status string) {
	w.t.Helper()
	detail := w.ends(id, status)
	if urls := w.called(id); len(urls) != 1 || urls[0] != "http://undo.book" {
		w.t.Errorf("called were %v", urls)
	}
	if send := detail.Activities["send"]; send.Status != "cancelled" || w.started(id, "send") != 0 {
		w.t.Errorf("send is %s\n%s", send.Status, w.words(id))
	}
	if n := w.rows("work", id); n != 0 {
		w.t.Errorf("%d rows of work are left", n)
	}
}

func (w *world) started(id uuid.UUID, activity string) (n int) {
	for _, event := range w.events(id) {
		if event.Type == execution.ActivityStarted && event.Activity == activity && !event.Compensating {
			n++
		}
	}
	return n
}

func (w *world) dispatched(id uuid.UUID, activity string) {
	w.t.Helper()
	w.until(id, "dispatched", func(d engine.ExecutionDetail) bool { return d.Activities[activity].Status == "dispatched" })
}

// TestWhatHasNotBegunIsTakenBack: an attempt that waits for whoever begins it is cancelled with its execution, though what
// has begun is let finish so that it can be undone; it does not begin when somebody comes for it later.
func TestWhatHasNotBegunIsTakenBack(t *testing.T) {
	w := newWorld(t)
	w.publish("far", fmt.Sprintf(undoable, "1h", sentFar))
	w.publish("brief", fmt.Sprintf(undoable, "300ms", sentFar))
	cancelled, late := w.start("far", nil), w.start("brief", nil)
	w.dispatched(cancelled, "send")
	if err := w.Cancel(t.Context(), w.who, cancelled, "", nil); err != nil {
		t.Fatal(err)
	}
	w.onlyBookUndone(cancelled, "cancelled")
	w.onlyBookUndone(late, "timed_out")
	worker := w.register(2, "send")
	w.none(worker)

	leased := w.start("far", nil)
	item := w.poll(worker)
	if err := w.Cancel(t.Context(), w.who, leased, "", nil); err != nil {
		t.Fatal(err)
	}
	w.until(leased, "about to end", func(d engine.ExecutionDetail) bool {
		return d.Status == "running" && d.Activities["send"].Status == "running"
	})
	if _, err := w.CompleteWork(t.Context(), w.who, item.LeaseID, engine.WorkResult{Activity: "send", Output: "sent"}); err != nil {
		t.Fatal(err)
	}
	w.ends(leased, "cancelled")
	if urls := w.called(leased); len(urls) != 2 {
		t.Errorf("undone were %v", urls)
	}
}

// TestWhatWaitsForASlotHereIsTakenBack: likewise of a slot in the same process.
func TestWhatWaitsForASlotHereIsTakenBack(t *testing.T) {
	for _, once := range []string{"", ", once: true"} {
		w := newWorld(t, func(o *engine.Options) { o.Concurrency = 1 })
		began, finish := make(chan struct{}, 1), make(chan struct{})
		w.http.answers(func(ctx context.Context, call activity.Call) activity.Outcome {
			if call.Workflow == "busy" {
				began <- struct{}{}
				select {
				case <-finish:
				case <-ctx.Done():
				}
			}
			return activity.Outcome{Value: map[string]any{}}
		})
		w.publish("busy", chain(1))
		w.publish("near", fmt.Sprintf(undoable, "1h", sentHere+once))
		busy := w.start("busy", nil)
		enginetest.Receive(t, began, "the busy attempt")
		id := w.start("near", nil)
		w.until(id, "before its slot", func(d engine.ExecutionDetail) bool {
			return d.Activities["send"].Status == "dispatched" || once != "" && d.Activities["send"].Status == "running"
		})
		if err := w.Cancel(t.Context(), w.who, id, "", nil); err != nil {
			t.Fatal(err)
		}
		w.until(id, "compensating", func(d engine.ExecutionDetail) bool { return d.Activities["send"].Status == "cancelled" })
		close(finish)
		w.ends(busy, "completed")
		w.ends(id, "cancelled")
		if urls := w.called(id); len(urls) != 1 || urls[0] != "http://undo.book" {
			t.Errorf("called were %v", urls)
		}
	}
}

// TestAPausedExecutionBeginsNothing: what was offered before the pause waits for the end of it, and is then the same attempt.
func TestAPausedExecutionBeginsNothing(t *testing.T) {
	w := newWorld(t)
	w.publish("far", fmt.Sprintf(undoable, "1h", sentFar))
	id := w.start("far", nil)
	w.dispatched(id, "send")
	if err := w.Pause(t.Context(), w.who, id); err != nil {
		t.Fatal(err)
	}
	w.until(id, "paused", func(d engine.ExecutionDetail) bool { return d.Status == "paused" })
	w.leaves(id)
	worker := w.register(1, "send")
	w.none(worker)
	if err := w.Resume(t.Context(), w.who, id); err != nil {
		t.Fatal(err)
	}
	item := w.poll(worker)
	if item.Attempt != 1 {
		t.Errorf("attempt %d", item.Attempt)
	}
	if _, err := w.CompleteWork(t.Context(), w.who, item.LeaseID, engine.WorkResult{Activity: "send"}); err != nil {
		t.Fatal(err)
	}
	w.ends(id, "completed")
}

// TestALeaseThatWasFasterThanACancelIsLetFinish: who decides is the row of the offer, whatever the owner has heard.
func TestALeaseThatWasFasterThanACancelIsLetFinish(t *testing.T) {
	w := newWorld(t)
	w.publish("far", fmt.Sprintf(undoable, "1h", sentFar))
	id := w.start("far", nil)
	w.eventually("send is offered", func() bool { return w.rows("work", id) == 1 })
	w.exec(fmt.Sprintf(`update work set worker_id = '%s', lease = gen_random_uuid(), leased_at = now(), expires_at = now() + interval '1 hour'
		where execution_id = '%s'`, uuid.NewString(), id))
	if err := w.Cancel(t.Context(), w.who, id, "", nil); err != nil {
		t.Fatal(err)
	}
	ending := func(d engine.ExecutionDetail) bool { return w.count(id, execution.WorkflowEnding) > 0 }
	if send := w.until(id, "about to end", ending).Activities["send"]; send.Status != "dispatched" || w.rows("work", id) != 1 {
		t.Errorf("send is %s\n%s", send.Status, w.words(id))
	}
	w.exec(fmt.Sprintf(`update work set expires_at = now() - interval '%s' where execution_id = '%s'`, time.Second, id))
	worker := w.register(1, "send") // it is made again, since it may have had its effect
	item := w.poll(worker)
	if _, err := w.CompleteWork(t.Context(), w.who, item.LeaseID, engine.WorkResult{Activity: "send"}); err != nil {
		t.Fatal(err)
	}
	w.ends(id, "cancelled")
	if urls := w.called(id); len(urls) != 2 {
		t.Errorf("undone were %v", urls)
	}
}
