package engine_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/activity"
	"weftline/engine/execution"
)

const hears = `
  input: {type: object, properties: {order: {type: string}}, additionalProperties: false}
  activities:
    - id: hear
      name: Hear of the payment
      type: event
      timeout: 1h
      event: {name: paid, correlation: inputs.order, where: event.payload.amount > 10}
    - id: last
      type: set
      needs: [hear]
      outputs: {amount: activities.hear.outputs.payload.amount}
  output: {amount: activities.last.outputs.amount}
`

func (w *world) post(event engine.PostedEvent) engine.PostedResult {
	w.t.Helper()
	result, err := w.PostEvent(w.t.Context(), w.who, event)
	if err != nil {
		w.t.Fatal(err)
	}
	return result
}

func paid(order string, amount int64) engine.PostedEvent {
	return engine.PostedEvent{Name: "paid", Correlation: order, Payload: map[string]any{"amount": amount}}
}

func TestAnEventReachesItsWait(t *testing.T) {
	w := newWorld(t)
	w.publish("hears", hears)
	id := w.start("hears", map[string]any{"order": "o1"})
	w.waiting(id, "hear")
	if result := w.post(paid("o2", 20)); result.Matched != 0 || result.KeptUntil == nil {
		t.Errorf("an event of another key: %+v", result)
	}
	if result := w.post(paid("o1", 5)); result.Matched != 0 || result.KeptUntil == nil {
		t.Errorf("an event that where refuses: %+v", result)
	}
	if result := w.post(paid("o1", 20)); result.Matched != 1 || result.KeptUntil != nil {
		t.Errorf("the event: %+v", result)
	}
	detail := w.ends(id, "completed")
	if detail.Output.(map[string]any)["amount"] != int64(20) {
		t.Errorf("output %v", detail.Output)
	}
	w.leavesNothing(id)
}

func TestTheListSaysWhatIsWaitedFor(t *testing.T) {
	w := newWorld(t)
	w.publish("hears", hears)
	id := w.start("hears", map[string]any{"order": "o1"})
	w.waiting(id, "hear")
	page, err := w.Executions(t.Context(), w.who, engine.ExecutionFilter{})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("the list: %+v, %v", page, err)
	}
	if waits := page.Items[0].WaitsFor; len(waits) != 1 || waits[0] != (engine.WaitSummary{Kind: "event", Activity: "hear", Name: "Hear of the payment"}) {
		t.Errorf("it waits for %+v", waits)
	}
	w.post(paid("o1", 20))
	w.ends(id, "completed")
	if page, err = w.Executions(t.Context(), w.who, engine.ExecutionFilter{}); err != nil || page.Items[0].WaitsFor != nil {
		t.Errorf("ended, it waits for %+v, %v", page.Items[0].WaitsFor, err)
	}
}

func TestAnEventThatComesFirstIsKeptForOneWait(t *testing.T) {
	w := newWorld(t)
	w.publish("hears", hears)
	w.post(paid("o1", 5))
	w.post(paid("o1", 30))
	first := w.start("hears", map[string]any{"order": "o1"})
	w.ends(first, "completed")
	second := w.start("hears", map[string]any{"order": "o1"})
	w.waiting(second, "hear")
	w.post(paid("o1", 40))
	detail := w.ends(second, "completed")
	if detail.Output.(map[string]any)["amount"] != int64(40) {
		t.Errorf("the second wait got %v", detail.Output)
	}
}

func TestAnEventIDIsPostedOnce(t *testing.T) {
	w := newWorld(t)
	w.publish("hears", hears)
	id := w.start("hears", map[string]any{"order": "o1"})
	w.waiting(id, "hear")
	event := paid("o1", 20)
	event.EventID = "e1"
	if first, again := w.post(event), w.post(event); first != again || first.Matched != 1 {
		t.Errorf("answers %+v and %+v", first, again)
	}
	w.ends(id, "completed")
}

func TestASignalComesBeforeItsWaitAndOnce(t *testing.T) {
	w := newWorld(t)
	w.publish("signalled", `
  activities:
    - {id: pause, type: wait, wait: {timer: {after: 100ms}}}
    - {id: go, type: event, needs: [pause], timeout: 1h, event: {name: go}}
    - {id: again, type: event, needs: [go], timeout: 1h, event: {name: go}}
  output: {first: activities.go.outputs.payload, second: activities.again.outputs.payload}
`)
	id := w.start("signalled", nil)
	for range 2 {
		if err := w.Signal(t.Context(), w.who, id, "go", "one", "s1"); err != nil {
			t.Fatal(err)
		}
	}
	w.waiting(id, "again")
	if err := w.Signal(t.Context(), w.who, id, "go", "two", "s2"); err != nil {
		t.Fatal(err)
	}
	output := w.ends(id, "completed").Output.(map[string]any)
	if output["first"] != "one" || output["second"] != "two" {
		t.Errorf("output %v", output)
	}
	var refusal *engine.Error
	if err := w.Signal(t.Context(), w.who, id, "go", nil, ""); !errors.As(err, &refusal) || refusal.Code != "conflict" {
		t.Errorf("a signal after the end answered %v", err)
	}
	if err := w.Signal(t.Context(), w.who, id, "go", nil, "s3"); !errors.As(err, &refusal) || refusal.Code != "conflict" {
		t.Errorf("a new id after the end answered %v", err)
	}
	if err := w.Signal(t.Context(), w.who, id, "go", "two", "s2"); err != nil {
		t.Errorf("repeated after the end, the signal answered %v", err)
	}
}

func TestAPayloadThatDoesNotFitIsRefused(t *testing.T) {
	w := newWorld(t)
	w.publish("typed", `
  activities:
    - {id: hear, type: event, timeout: 1h, event: {name: typed, schema: {type: object, required: [n]}}}
`)
	id := w.start("typed", nil)
	w.waiting(id, "hear")
	var refusal *engine.Error
	if _, err := w.PostEvent(t.Context(), w.who, engine.PostedEvent{Name: "typed", Payload: map[string]any{}}); !errors.As(err, &refusal) || refusal.Code != "invalid_input" {
		t.Errorf("the event answered %v", err)
	}
	if err := w.Signal(t.Context(), w.who, id, "typed", map[string]any{}, ""); !errors.As(err, &refusal) || refusal.Code != "invalid_input" {
		t.Errorf("the signal answered %v", err)
	}
	if err := w.Signal(t.Context(), w.who, id, "typed", map[string]any{"n": int64(1)}, ""); err != nil {
		t.Fatal(err)
	}
	w.ends(id, "completed")
}

func TestAnEmittedEventReachesOthers(t *testing.T) {
	w := newWorld(t)
	w.publish("hears", hears)
	w.publish("emits", `
  activities:
    - {id: tell, type: emit, emit: {name: paid, key: "'o9'", payload: {amount: 99}}}
`)
	id := w.start("hears", map[string]any{"order": "o9"})
	w.waiting(id, "hear")
	w.ends(w.start("emits", nil), "completed")
	w.ends(id, "completed")
}

func TestTimersSurviveARestart(t *testing.T) {
	w := newWorld(t)
	w.publish("sleeps", `
  activities:
    - {id: sleep, type: wait, wait: {timer: {after: 1s}}}
`)
	id := w.start("sleeps", nil)
	w.waiting(id, "sleep")
	w.stop()
	w.open()
	detail := w.ends(id, "completed")
	if slept := detail.FinishedAt.Sub(*detail.StartedAt); slept < time.Second {
		t.Errorf("it slept %s", slept)
	}
}

const printer = `
  activities:
    - {id: print, type: http, semaphore: {name: printer, permits: 2}, inputs: {url: "http://example.com"}}
`

// pairs answers http calls two by two, and knows the most at one time: a call ends when another one is
// there, so it takes two permits for any to end.
type pairs struct {
	now, most atomic.Int32
	meet      chan struct{}
}

func (p *pairs) answer(ctx context.Context, _ activity.Call) activity.Outcome {
	n := p.now.Add(1)
	defer p.now.Add(-1)
	for most := p.most.Load(); n > most && !p.most.CompareAndSwap(most, n); {
		most = p.most.Load()
	}
	select {
	case p.meet <- struct{}{}:
	case <-p.meet:
	case <-ctx.Done():
	}
	return activity.Outcome{Value: map[string]any{"status": int64(200)}}
}

func TestASemaphoreIsNeverOverdrawn(t *testing.T) {
	w := newWorld(t)
	w.publish("prints", printer)
	p := pairs{meet: make(chan struct{})}
	w.http.answers(p.answer)
	ids := make([]engine.Started, 8)
	for i := range ids {
		ids[i].ID = w.start("prints", nil)
	}
	for _, started := range ids {
		w.ends(started.ID, "completed")
		w.leavesNothing(started.ID)
	}
	if most := p.most.Load(); most != 2 {
		t.Errorf("%d at one time, the semaphore has 2 permits", most)
	}
}

func TestAWorkflowLimit(t *testing.T) {
	w := newWorld(t)
	for _, onLimit := range []string{"queue", "skip", "reject", "replace"} {
		name := "limited-" + onLimit
		w.publish(name, `
  limits: {maxConcurrent: 1, onLimit: `+onLimit+`}
  activities:
    - {id: hear, type: event, timeout: 1h, event: {name: go}}
`)
		first := w.start(name, nil)
		w.waiting(first, "hear")
		second, err := w.Start(t.Context(), w.who, engine.StartRequest{Workflow: name})
		var refusal *engine.Error
		switch onLimit {
		case "skip":
			if err != nil || !second.Skipped {
				t.Errorf("skip answered %+v, %v", second, err)
			}
		case "reject":
			if !errors.As(err, &refusal) || refusal.Code != "limit_reached" {
				t.Errorf("reject answered %v", err)
			}
		case "queue", "replace":
			if err != nil || second.Status != "scheduled" {
				t.Errorf("%s answered %+v, %v", onLimit, second, err)
			}
		}
		if onLimit == "replace" {
			w.ends(first, "cancelled")
		} else if err := w.Signal(t.Context(), w.who, first, "go", nil, ""); err != nil {
			t.Fatal(err)
		}
		if onLimit == "queue" || onLimit == "replace" {
			w.waiting(second.ID, "hear")
			if err := w.Signal(t.Context(), w.who, second.ID, "go", nil, ""); err != nil {
				t.Fatal(err)
			}
			w.ends(second.ID, "completed")
		}
	}
}

// leaves waits until no worker owns an execution that only waits.
func (w *world) leaves(id uuid.UUID) {
	w.t.Helper()
	for bound := time.Now().Add(patience); w.rows("ready", id) > 0; {
		if time.Now().After(bound) {
			w.t.Fatalf("the execution only waits and is owned still\n%s", w.words(id))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestWhatWaitsTakesNoRoom: an execution that waits for an event or a permit leaves its worker, whenever in
// its life it began to wait; else enough of them would stop the worker.
func TestWhatWaitsTakesNoRoom(t *testing.T) {
	w := newWorld(t)
	w.publish("later", `
  activities:
    - {id: first, type: set, outputs: {x: "1"}}
    - {id: hear, type: event, needs: [first], timeout: 1h, event: {name: go}}
`)
	w.publish("holds", `
  activities:
    - {id: first, type: set, outputs: {x: "1"}}
    - {id: hear, type: event, needs: [first], timeout: 1h, semaphore: {name: one, permits: 1}, event: {name: go}}
`)
	for _, name := range []string{"later", "holds", "holds"} {
		id := w.start(name, nil)
		w.waiting(id, "hear")
		w.leaves(id)
	}
}

// TestAKeptEventIsTakenBesideAPermit: asking for a permit in the same moment does not hide what was kept.
func TestAKeptEventIsTakenBesideAPermit(t *testing.T) {
	w := newWorld(t)
	w.publish("both", `
  activities:
    - {id: first, type: set, outputs: {x: "1"}}
    - {id: hear, type: event, needs: [first], timeout: 1h, event: {name: paid, correlation: "'both'"}}
    - {id: print, type: http, needs: [first], semaphore: {name: printer, permits: 1}, inputs: {url: "http://example.com"}}
`)
	w.post(paid("both", 20))
	w.ends(w.start("both", nil), "completed")
}

// TestAVoteInTheMomentOfItsDue: whoever is told "done" has decided, however near the due it was.
func TestAVoteInTheMomentOfItsDue(t *testing.T) {
	w := newWorld(t)
	w.publish("due", `
  activities:
    - {id: decide, type: human, human: {title: Pay?, candidates: {groups: [everybody]}, due: 200ms}}
    - {id: late, type: set, needs: [decide.expired], outputs: {x: "1"}}
`)
	for i := range 10 {
		id := w.start("due", nil)
		w.waiting(id, "decide")
		page, err := w.Tasks(t.Context(), w.who, engine.TaskFilter{Execution: &id})
		if err != nil || len(page.Items) != 1 {
			t.Fatalf("%+v, %v", page, err)
		}
		time.Sleep(time.Until(page.Items[0].CreatedAt.Add(time.Duration(190+i) * time.Millisecond)))
		status, voteErr := w.CompleteTask(t.Context(), w.who, page.Items[0].ID, engine.Answer{Decision: "approved"})
		outcome := w.ends(id, "completed").Activities["decide"].Outcome
		if voted := voteErr == nil && status == "done"; voted != (outcome == "approved") {
			t.Errorf("the vote answered %q, %v and the activity ended with %s", status, voteErr, outcome)
		}
	}
}

// A list says what executions wait for that no person and no event ends: time, the next attempt, a child, and until
// when.
func TestAListSaysWhatEndsByItself(t *testing.T) {
	w := newWorld(t)
	w.http.answers(func(context.Context, activity.Call) activity.Outcome {
		return activity.Outcome{Err: &execution.Error{Type: "http.503", Class: "external", Message: "made up"}}
	})
	w.publish("sleeps", "  activities:\n    - {id: pause, type: wait, wait: {timer: {after: 1h}}}\n    - {id: longer, type: wait, wait: {timer: {after: 2h}}}\n")
	w.publish("tries", "  activities:\n    - {id: call, type: http, inputs: {url: http://x}, retry: {attempts: 3, strategy: fixed, delay: 30m}}\n")
	w.publish("asks", "  activities:\n    - {id: sub, type: workflow, workflow: {name: sleeps}}\n")
	for name, want := range map[string]engine.WaitSummary{
		"sleeps": {Kind: "timer", Activity: "pause"}, "tries": {Kind: "retry", Activity: "call"}, "asks": {Kind: "child", Activity: "sub"},
	} {
		id := w.start(name, nil)
		w.eventually(name+" waits", func() bool {
			page, err := w.Executions(t.Context(), w.who, engine.ExecutionFilter{Workflow: name})
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range page.Items {
				if item.ID == id && len(item.WaitsFor) > 0 {
					got := item.WaitsFor[0]
					if got.Kind != want.Kind || got.Activity != want.Activity || (got.Until == nil) != (want.Kind == "child") || (got.Execution == "") != (want.Kind != "child") {
						t.Errorf("%s waits for %+v", name, got)
					}
					return true
				}
			}
			return false
		})
		w.must(w.Cancel(t.Context(), w.who, id, "", nil))
		w.ends(id, "cancelled")
		page, err := w.Executions(t.Context(), w.who, engine.ExecutionFilter{Workflow: name, Status: []string{"cancelled"}})
		if err != nil || len(page.Items) == 0 || len(page.Items[0].WaitsFor) > 0 {
			t.Errorf("after its end %s: %+v, %v", name, page.Items, err)
		}
	}
}
