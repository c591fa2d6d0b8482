package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/enginetest"
	"weftline/engine/execution"
)

const renders = `
  activities:
    - {id: render, type: worker, inputs: {task: render, input: {frame: 7}}}
  output: {got: activities.render.output.output}
`

// chained runs two tasks in line.
const chained = `
  activities:
    - {id: one, type: worker, inputs: {task: render, input: 1}}
    - {id: two, type: worker, needs: [one], inputs: {task: render, input: "${{ activities.one.output.output }}"}}
`

func seconds(n int) *int { return &n }

// register makes a remote worker for tasks.
func (w *world) register(concurrency int, tasks ...string) uuid.UUID {
	w.t.Helper()
	return w.registered(engine.WorkerRequest{Hostname: "far", Activities: tasks, MaxConcurrency: concurrency})
}

func (w *world) registered(request engine.WorkerRequest) uuid.UUID {
	w.t.Helper()
	ticket, err := w.RegisterWorker(w.t.Context(), w.who, request)
	if err != nil {
		w.t.Fatal(err)
	}
	return ticket.WorkerID
}

// poll waits for one attempt.
func (w *world) poll(worker uuid.UUID) engine.WorkItem {
	w.t.Helper()
	for bound := time.Now().Add(patience); time.Now().Before(bound); {
		items, err := w.PollWork(w.t.Context(), w.who, worker, engine.WorkPoll{WaitSeconds: seconds(5)})
		if err != nil {
			w.t.Fatal(err)
		}
		if len(items.Items) > 0 {
			return items.Items[0]
		}
	}
	w.t.Fatal("there is no work")
	return engine.WorkItem{}
}

func (w *world) none(worker uuid.UUID) {
	w.t.Helper()
	items, err := w.PollWork(w.t.Context(), w.who, worker, engine.WorkPoll{Max: 10, WaitSeconds: seconds(0)})
	if err != nil || len(items.Items) > 0 {
		w.t.Errorf("there should be no work: %+v %v", items, err)
	}
}

func refused(t *testing.T, err error, code string) {
	t.Helper()
	var refusal *engine.Error
	if !errors.As(err, &refusal) || refusal.Code != code {
		t.Errorf("answered %v, expected %s", err, code)
	}
}

func TestARemoteWorkerMakesAnAttempt(t *testing.T) {
	w := newWorld(t)
	w.publish("far", renders)
	id := w.start("far", nil)
	worker := w.register(2, "render")
	item := w.poll(worker)
	if item.Execution != id || item.Activity != "render" || item.Attempt != 1 || item.Task != "render" || item.IdempotencyKey != id.String()+"/render" || item.ExecutionMode != "local_sync" {
		t.Errorf("%+v", item)
	}
	if frame, _ := item.Input.(map[string]any); frame["frame"] != int64(7) {
		t.Errorf("input %v", item.Input)
	}
	// The start is history before the worker has the attempt.
	started := false
	for _, event := range w.events(id) {
		started = started || event.Type == execution.ActivityStarted && event.Worker == worker.String()
	}
	if !started {
		t.Errorf("the start is not in the history:\n%s", w.words(id))
	}
	if rows := w.rows("ready", id); rows != 0 {
		t.Error("an execution that only waits for a remote worker has a row in the queue")
	}
	answer, err := w.CompleteWork(t.Context(), w.who, item.LeaseID, engine.WorkResult{Activity: "render", Output: map[string]any{"url": "x"}})
	if err != nil || answer.ExecutionStatus != "completed" {
		t.Errorf("%+v %v", answer, err)
	}
	detail := w.ends(id, "completed")
	if got, _ := detail.Output.(map[string]any)["got"].(map[string]any); got["url"] != "x" {
		t.Errorf("output %v", detail.Output)
	}
	_, err = w.CompleteWork(t.Context(), w.who, item.LeaseID, engine.WorkResult{Output: "again"})
	refused(t, err, "lease_lost")
	if w.rows("work", id) != 0 {
		t.Error("a row of work is left")
	}
}

// A start whose first steps are all for others is offered by the flush that begins it: when it is answered they can be
// leased, whatever becomes of this process, and the execution sleeps.
func TestAStartForRemoteWorkersIsOfferedWithIt(t *testing.T) {
	database := enginetest.Database(t)
	wire := enginetest.NewWire(t, database)
	w := newWorldAt(t, database, func(o *engine.Options) { o.DatabaseURL = wire.URL() })
	w.publish("far", renders)
	w.publish("both", `
  activities:
    - {id: far, type: worker, inputs: {task: render, input: 1}}
    - {id: near, type: http, inputs: {url: "http://x"}}
`)
	id := w.start("far", nil)
	if offered := w.rows("work", id); offered != 1 {
		t.Errorf("right after the start there are %d offers", offered)
	}
	for statement := range wire.Statements() {
		if strings.Contains(statement, "insert into ready") {
			t.Error("the start took a place in the queue, to leave it again")
		}
	}
	both := w.start("both", nil)
	worker := w.register(2, "render")
	for range 2 {
		item := w.poll(worker)
		if _, err := w.CompleteWork(t.Context(), w.who, item.LeaseID, engine.WorkResult{Activity: item.Activity}); err != nil {
			t.Error(err)
		}
	}
	w.ends(id, "completed")
	w.ends(both, "completed")
	w.gapless(id)
}

func TestAWorkerGoesOnWithTheSameExecution(t *testing.T) {
	w := newWorld(t)
	w.publish("far", chained)
	id := w.start("far", nil)
	worker := w.register(1, "render")
	first := w.poll(worker)
	_, err := w.CompleteWork(t.Context(), w.who, first.LeaseID, engine.WorkResult{Activity: "two"})
	refused(t, err, "wrong_path")
	answer, err := w.CompleteWork(t.Context(), w.who, first.LeaseID, engine.WorkResult{Activity: "one", Output: int64(41)})
	if err != nil || answer.Next == nil {
		t.Fatalf("%+v %v", answer, err)
	}
	next := answer.Next
	if next.Activity != "two" || next.LeaseID != first.LeaseID || next.Input != int64(41) || answer.LeaseExpiresAt == nil {
		t.Errorf("%+v", next)
	}
	_, err = w.CompleteWork(t.Context(), w.who, first.LeaseID, engine.WorkResult{Activity: "one", Output: int64(42)})
	refused(t, err, "wrong_path")
	if _, err := w.CompleteWork(t.Context(), w.who, next.LeaseID, engine.WorkResult{Activity: "two", Output: nil}); err != nil {
		t.Error(err)
	}
	w.ends(id, "completed")
}

func TestARemoteFailureIsTriedAgain(t *testing.T) {
	w := newWorld(t)
	w.publish("far", `
  activities:
    - {id: render, type: worker, inputs: {task: render}, retry: {attempts: 2, delay: 1ms, errors: [gpu.*]}}
`)
	id := w.start("far", nil)
	worker := w.register(1, "render")
	item := w.poll(worker)
	_, err := w.FailWork(t.Context(), w.who, item.LeaseID, engine.WorkFailure{Error: engine.WorkError{Type: "engine.worker_lost"}})
	if err == nil {
		t.Error("a worker may use the engine's own errors") // engine.* is reserved
	}
	answer, err := w.FailWork(t.Context(), w.who, item.LeaseID, engine.WorkFailure{Error: engine.WorkError{Type: "gpu.hot", Message: "too hot"}})
	if err != nil {
		t.Fatal(err)
	}
	second := answer.Next
	if second == nil {
		got := w.poll(worker)
		second = &got
	}
	if second.Attempt != 2 || second.IdempotencyKey != item.IdempotencyKey {
		t.Errorf("%+v", second)
	}
	if _, err := w.FailWork(t.Context(), w.who, second.LeaseID, engine.WorkFailure{Error: engine.WorkError{Type: "gpu.hot", Message: "too hot"}}); err != nil {
		t.Fatal(err)
	}
	if detail := w.ends(id, "failed"); detail.Error.Type != "gpu.hot" {
		t.Errorf("%+v", detail.Error)
	}
}

func TestOnlyWhoMayGetsWork(t *testing.T) {
	w := newWorld(t)
	w.publish("far", `
  activities:
    - {id: render, type: worker, inputs: {task: render}, affinity: {labels: {gpu: "true"}, queue: fast}}
`)
	id := w.start("far", nil)
	w.eventually("an offer", func() bool { return w.rows("work", id) == 1 })
	gpu := map[string]string{"gpu": "true"}
	w.none(w.registered(engine.WorkerRequest{Hostname: "h", Activities: []string{"other"}, Labels: gpu, MaxConcurrency: 9}))
	w.none(w.registered(engine.WorkerRequest{Hostname: "h", Activities: []string{"render"}, MaxConcurrency: 9}))
	w.none(w.registered(engine.WorkerRequest{Hostname: "h", Activities: []string{"render"}, Labels: gpu, Workflows: []string{"another"}, MaxConcurrency: 9}))
	w.none(w.registered(engine.WorkerRequest{Hostname: "h", Activities: []string{"render"}, Labels: gpu, Queues: []string{"default"}, MaxConcurrency: 9}))

	w.exec(`insert into teams (id, name) values ('11111111-1111-4111-8111-111111111111', 'others')`)
	mine := w.who
	w.who.Team = uuid.MustParse("11111111-1111-4111-8111-111111111111")
	foreign := w.registered(engine.WorkerRequest{Hostname: "h", Activities: []string{"render"}, Labels: gpu, MaxConcurrency: 9})
	w.none(foreign)
	w.who = mine
	_, err := w.PollWork(t.Context(), w.who, foreign, engine.WorkPoll{WaitSeconds: seconds(0)})
	refused(t, err, "conflict")

	fits := w.registered(engine.WorkerRequest{Hostname: "h", Activities: []string{"render"}, Labels: gpu, Queues: []string{"fast"}, MaxConcurrency: 1})
	item := w.poll(fits)
	w.none(fits) // it holds all that it can
	w.who.User = "bob"
	_, err = w.CompleteWork(t.Context(), w.who, item.LeaseID, engine.WorkResult{})
	refused(t, err, "lease_lost")
	w.who = mine
	if _, err := w.CompleteWork(t.Context(), w.who, item.LeaseID, engine.WorkResult{}); err != nil {
		t.Error(err)
	}
	w.ends(id, "completed")
}

// A worker that is paused past its lease and wakes after somebody else took over changes nothing.
func TestAZombieWorkerChangesNothing(t *testing.T) {
	w := newWorld(t)
	w.publish("far", renders)
	id := w.start("far", nil)
	zombie, heir := w.register(1, "render"), w.register(1, "render")
	old := w.poll(zombie)
	w.exec(`update work set expires_at = now()`) // it was paused for longer than its lease
	item := w.poll(heir)
	if item.Attempt != 2 || item.IdempotencyKey != old.IdempotencyKey {
		t.Errorf("%+v", item)
	}
	_, err := w.CompleteWork(t.Context(), w.who, old.LeaseID, engine.WorkResult{Activity: "render", Output: "late"})
	refused(t, err, "lease_lost")
	orders, err := w.WorkerHeartbeat(t.Context(), w.who, zombie, engine.WorkerBeat{Leases: []uuid.UUID{old.LeaseID}})
	if err != nil || len(orders.Lost) != 1 || orders.Lost[0] != old.LeaseID {
		t.Errorf("%+v %v", orders, err)
	}
	if _, err := w.RenewWork(t.Context(), w.who, old.LeaseID, engine.WorkProgress{}); err == nil {
		t.Error("a lost lease was renewed")
	}
	if _, err := w.CompleteWork(t.Context(), w.who, item.LeaseID, engine.WorkResult{Output: "right"}); err != nil {
		t.Fatal(err)
	}
	if detail := w.ends(id, "completed"); detail.Output.(map[string]any)["got"] != "right" {
		t.Errorf("%v", detail.Output)
	}
}

// A lost worker uses no attempt up; with once it is a failure.
func TestALostRemoteWorker(t *testing.T) {
	for once, status := range map[string]string{"false": "completed", "true": "failed"} {
		t.Run("once "+once, func(t *testing.T) {
			w := newWorld(t)
			w.publish("far", `
  activities:
    - {id: render, type: worker, inputs: {task: render}, once: `+once+`}
`)
			id := w.start("far", nil)
			w.poll(w.register(1, "render"))
			w.exec(`update work set expires_at = now()`)
			if status == "completed" {
				item := w.poll(w.register(1, "render"))
				if _, err := w.CompleteWork(t.Context(), w.who, item.LeaseID, engine.WorkResult{}); err != nil {
					t.Fatal(err)
				}
			}
			detail := w.ends(id, status)
			if status == "failed" && detail.Error.Type != "engine.worker_lost" {
				t.Errorf("%+v", detail.Error)
			}
		})
	}
}

func TestACancelledAttemptIsTakenBack(t *testing.T) {
	w := newWorld(t)
	w.publish("far", renders)
	id := w.start("far", nil)
	item := w.poll(w.register(1, "render"))
	if err := w.Cancel(t.Context(), w.who, id, "enough", nil); err != nil {
		t.Fatal(err)
	}
	w.ends(id, "cancelled")
	_, err := w.CompleteWork(t.Context(), w.who, item.LeaseID, engine.WorkResult{})
	refused(t, err, "lease_lost")
	if w.rows("work", id) != 0 {
		t.Error("the offer is still there")
	}
}

func TestAnAttemptThatTakesTooLong(t *testing.T) {
	w := newWorld(t)
	w.publish("far", `
  activities:
    - {id: render, type: worker, inputs: {task: render}, timeout: 2s}
`)
	id := w.start("far", nil)
	w.poll(w.register(1, "render"))
	if detail := w.ends(id, "failed"); detail.Error.Type != "timeout.attempt" {
		t.Errorf("%+v", detail.Error)
	}
}

// Stopped, replaced and unknown workers get nothing; a drained one finishes what it holds.
func TestTheLifeOfARemoteWorker(t *testing.T) {
	w := newWorld(t)
	w.publish("far", renders)
	first, second := w.start("far", nil), w.start("far", nil)
	worker := w.register(2, "render")
	item := w.poll(worker)
	orders, err := w.DrainWorker(t.Context(), w.who, worker)
	if err != nil || orders.State != "draining" {
		t.Fatalf("%+v %v", orders, err)
	}
	w.none(worker)
	answer, err := w.CompleteWork(t.Context(), w.who, item.LeaseID, engine.WorkResult{Output: "a"})
	if err != nil || answer.Next != nil {
		t.Errorf("%+v %v", answer, err)
	}
	_, err = w.PollWork(t.Context(), w.who, worker, engine.WorkPoll{WaitSeconds: seconds(0)})
	refused(t, err, "conflict") // it is stopped
	_, err = w.WorkerHeartbeat(t.Context(), w.who, uuid.New(), engine.WorkerBeat{})
	refused(t, err, "conflict")

	old := w.register(1, "render")
	w.poll(old)
	heir := w.registered(engine.WorkerRequest{Hostname: "far", Activities: []string{"render"}, Replaces: &old})
	_, err = w.WorkerHeartbeat(t.Context(), w.who, old, engine.WorkerBeat{})
	refused(t, err, "conflict")
	item = w.poll(heir) // what the old one held is lost at once
	if _, err := w.CompleteWork(t.Context(), w.who, item.LeaseID, engine.WorkResult{Output: "b"}); err != nil {
		t.Error(err)
	}
	w.ends(first, "completed")
	w.ends(second, "completed")
}

// Many workers poll at once: every attempt is made exactly once.
func TestNoAttemptIsLeasedTwice(t *testing.T) {
	w := newWorld(t)
	w.publish("far", `
  input: {type: object, properties: {list: {type: array}}}
  limits: {maxParallel: 100}
  activities:
    - id: each
      type: for_each
      for_each: {items: inputs.list, maxConcurrent: 60, activity: {type: worker, inputs: {task: render, input: "${{ item }}"}}}
`)
	list := make([]any, 60)
	for i := range list {
		list[i] = i
	}
	id := w.start("far", map[string]any{"list": list})
	var mu sync.Mutex
	made := map[string]int{}
	ctx, stop := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	for range 4 {
		worker := w.register(8, "render")
		workers.Go(func() {
			for ctx.Err() == nil {
				items, err := w.PollWork(ctx, w.who, worker, engine.WorkPoll{Max: 8, WaitSeconds: seconds(1)})
				if err != nil {
					return
				}
				for _, item := range items.Items {
					mu.Lock()
					made[item.Item]++
					mu.Unlock()
					if _, err := w.CompleteWork(context.WithoutCancel(ctx), w.who, item.LeaseID, engine.WorkResult{Item: item.Item, Output: item.Input}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	w.ends(id, "completed")
	stop()
	workers.Wait()
	if len(made) != 60 {
		t.Errorf("%d items were made", len(made))
	}
	for item, n := range made {
		if n != 1 {
			t.Errorf("item %s was made %d times", item, n)
		}
	}
}

// A replica that dies leaves remote work alone: it goes on, and its result is taken by the next owner.
func TestRemoteWorkOutlivesItsOwner(t *testing.T) {
	w := newWorld(t)
	w.publish("far", `
  activities:
    - {id: render, type: worker, inputs: {task: render}}
    - {id: near, type: http, inputs: {url: "https://example.com"}}
`)
	id := w.start("far", nil)
	item := w.poll(w.register(1, "render"))
	w.stop()
	heir := &world{t: t, url: w.url, who: w.who, http: &fakeHTTP{}}
	heir.open()
	if _, err := heir.CompleteWork(t.Context(), w.who, item.LeaseID, engine.WorkResult{}); err != nil {
		t.Fatal(err)
	}
	heir.ends(id, "completed")
	if n := heir.count(id, execution.ActivityRetryScheduled); n != 0 {
		t.Errorf("%d attempts were lost:\n%s", n, heir.words(id))
	}
}
