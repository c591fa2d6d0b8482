package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/activity"
	"weftline/engine/enginetest"
	"weftline/engine/execution"
)

const twoCalls = `
  input: {type: object, properties: {n: {type: integer, default: 1}}}
  activities:
    - id: add
      type: set
      outputs: {sum: inputs.n + 1}
    - id: call
      type: http
      needs: [add]
      inputs: {url: "http://example.com/${{activities.add.outputs.sum}}"}
    - id: last
      type: set
      needs: [call]
      outputs: {status: activities.call.outputs.status}
  output: {status: activities.last.outputs.status}
`

func TestAnExecutionRunsToItsEnd(t *testing.T) {
	w := newWorld(t)
	w.publish("two-calls", twoCalls)
	id := w.start("two-calls", map[string]any{"n": int64(41)})
	detail := w.ends(id, "completed")
	if got := detail.Output.(map[string]any)["status"]; got != int64(200) {
		t.Errorf("output %v", detail.Output)
	}
	calls := w.http.made()
	if len(calls) != 1 || calls[0].Input.(map[string]any)["url"] != "http://example.com/42" {
		t.Errorf("calls %+v", calls)
	}
	if calls[0].IdempotencyKey != id.String()+"/call" {
		t.Errorf("idempotency key %s", calls[0].IdempotencyKey)
	}
	w.leavesNothing(id)
}

// Nothing may be left of an execution that ended but its history.
func (w *world) leavesNothing(id uuid.UUID) {
	w.t.Helper()
	for _, table := range []string{"ready", "timers", "inbox", "event_waits", "permits"} {
		bound := time.Now().Add(patience)
		for n := 1; n > 0; {
			if n = w.rows(table, id); n > 0 && time.Now().After(bound) {
				w.t.Fatalf("%d rows of %s are left", n, table)
			}
		}
	}
}

func TestEveryModeComesToTheSameEnd(t *testing.T) {
	for _, mode := range []string{"server", "local_sync", "local_async"} {
		t.Run(mode, func(t *testing.T) {
			w := newWorld(t, func(o *engine.Options) { o.Mode = mode })
			w.publish("two-calls", twoCalls)
			id := w.start("two-calls", nil)
			detail := w.ends(id, "completed")
			if detail.Mode != mode {
				t.Errorf("mode %s", detail.Mode)
			}
			w.leavesNothing(id)
		})
	}
}

func TestInputThatDoesNotFitStartsNothing(t *testing.T) {
	w := newWorld(t)
	w.publish("two-calls", twoCalls)
	_, err := w.Start(t.Context(), w.who, engine.StartRequest{Workflow: "two-calls", Input: map[string]any{"n": "x"}})
	var refusal *engine.Error
	if !errors.As(err, &refusal) || refusal.Code != "invalid_input" || len(refusal.Problems) != 1 || refusal.Problems[0].Path != "/n" {
		t.Errorf("answer %v", err)
	}
	page, err := w.Executions(t.Context(), w.who, engine.ExecutionFilter{})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("%d executions, %v", len(page.Items), err)
	}
}

func TestARepeatedKeyStartsOnce(t *testing.T) {
	w := newWorld(t)
	w.publish("two-calls", twoCalls)
	request := engine.StartRequest{Workflow: "two-calls", Input: map[string]any{"n": int64(1)}, IdempotencyKey: "k"}
	ids := make(chan uuid.UUID, 8)
	for range cap(ids) {
		go func() {
			started, err := w.Start(t.Context(), w.who, request)
			if err != nil {
				t.Error(err)
			}
			ids <- started.ID
		}()
	}
	first := enginetest.Receive(t, ids, "a start")
	for range cap(ids) - 1 {
		if other := enginetest.Receive(t, ids, "a start"); other != first {
			t.Errorf("%s and %s were started with one key", first, other)
		}
	}
	request.Input = map[string]any{"n": int64(2)}
	var refusal *engine.Error
	if _, err := w.Start(t.Context(), w.who, request); !errors.As(err, &refusal) || refusal.Code != "idempotency_mismatch" {
		t.Errorf("another body answered %v", err)
	}
}

func TestABatchStartsAllOrNone(t *testing.T) {
	w := newWorld(t)
	w.publish("two-calls", twoCalls)
	good, bad := engine.StartRequest{Input: map[string]any{"n": int64(1)}}, engine.StartRequest{Input: map[string]any{"n": "x"}}
	if _, err := w.StartBatch(t.Context(), w.who, "two-calls", 0, []engine.StartRequest{good, bad}); err == nil {
		t.Error("a batch with a bad item was started")
	}
	if page, _ := w.Executions(t.Context(), w.who, engine.ExecutionFilter{}); len(page.Items) != 0 {
		t.Errorf("%d of a refused batch were started", len(page.Items))
	}
	ids, err := w.StartBatch(t.Context(), w.who, "two-calls", 0, []engine.StartRequest{good, good, good})
	if err != nil || len(ids) != 3 {
		t.Fatal(ids, err)
	}
	for _, id := range ids {
		w.ends(id, "completed")
	}
}

func TestPauseResumeAndCancel(t *testing.T) {
	w := newWorld(t)
	w.publish("waits", `
  activities:
    - {id: pause, type: wait, wait: {timer: {after: 1h}}}
`)
	id := w.start("waits", nil)
	w.waiting(id, "pause")
	for _, step := range []struct {
		do     func(context.Context, engine.Who, uuid.UUID) error
		status string
	}{{w.Pause, "paused"}, {w.Resume, "waiting"}} {
		if err := step.do(t.Context(), w.who, id); err != nil {
			t.Fatal(err)
		}
		w.until(id, step.status, func(d engine.ExecutionDetail) bool { return d.Status == step.status })
	}
	if err := w.Cancel(t.Context(), w.who, id, "enough", nil); err != nil {
		t.Fatal(err)
	}
	w.ends(id, "cancelled")
	w.leavesNothing(id)
	var refusal *engine.Error
	if err := w.Cancel(t.Context(), w.who, id, "again", nil); !errors.As(err, &refusal) || refusal.Code != "conflict" {
		t.Errorf("cancelling twice answered %v", err)
	}
}

func TestAFailedExecutionIsDrivenAgain(t *testing.T) {
	w := newWorld(t)
	w.publish("two-calls", twoCalls)
	w.http.answers(func(context.Context, activity.Call) activity.Outcome {
		return activity.Outcome{Err: &execution.Error{Type: "http.400", Class: "external", Message: "no"}}
	})
	id := w.start("two-calls", nil)
	w.ends(id, "failed")
	w.http.answers(nil)
	if err := w.Retry(t.Context(), w.who, id, execution.Retry{Note: "fixed"}); err != nil {
		t.Fatal(err)
	}
	w.ends(id, "completed")
}

func TestAChildEndsBeforeItsParent(t *testing.T) {
	w := newWorld(t)
	w.publish("two-calls", twoCalls)
	w.publish("parent", `
  activities:
    - {id: child, type: workflow, workflow: {name: two-calls}, inputs: {n: 5}}
    - {id: after, type: set, needs: [child], outputs: {status: activities.child.outputs.status}}
  output: {status: activities.after.outputs.status, inner: activities.child.outputs.output.status}
`)
	id := w.start("parent", nil)
	detail := w.ends(id, "completed")
	output := detail.Output.(map[string]any)
	if output["status"] != "completed" || output["inner"] != int64(200) {
		t.Errorf("output %v", output)
	}
	page, err := w.Executions(t.Context(), w.who, engine.ExecutionFilter{Workflow: "two-calls"})
	if err != nil || len(page.Items) != 1 {
		t.Fatal(page, err)
	}
	child, err := w.Execution(t.Context(), w.who, page.Items[0].ID)
	if err != nil || child.Parent == nil || *child.Parent != id {
		t.Errorf("the child's parent is %v, %v", child.Parent, err)
	}
}

func TestAPersonDecides(t *testing.T) {
	w := newWorld(t)
	w.publish("asks", `
  activities:
    - id: ask
      type: human
      human: {title: "Pay?", candidates: {groups: [everybody]}, due: 1h}
  output: {by: activities.ask.outputs.by}
`)
	id := w.start("asks", nil)
	w.waiting(id, "ask")
	page, err := w.Tasks(t.Context(), w.who, engine.TaskFilter{Execution: &id})
	if err != nil || len(page.Items) != 1 {
		t.Fatal(page, err)
	}
	if _, err := w.CompleteTask(t.Context(), w.who, page.Items[0].ID, engine.Answer{Decision: "approved"}); err != nil {
		t.Fatal(err)
	}
	detail := w.ends(id, "completed")
	if detail.Output.(map[string]any)["by"] != "ann" {
		t.Errorf("output %v", detail.Output)
	}
}

func TestAHistoryIsReplayed(t *testing.T) {
	w := newWorld(t)
	w.publish("two-calls", twoCalls)
	id := w.start("two-calls", nil)
	live := w.ends(id, "completed")
	encoded, err := execution.EncodeEvents(w.events(id))
	if err != nil {
		t.Fatal(err)
	}
	replayed, err := w.Replay(t.Context(), w.who, encoded)
	if err != nil {
		t.Fatal(err)
	}
	if replayed.Status != live.Status || replayed.LastSeq != live.LastSeq || replayed.ID != id {
		t.Errorf("replayed %+v", replayed)
	}
	for _, foreign := range []string{`{"events":7}`, `[{"seq":"one"}]`, `{"events":[{"seq":1,"type":"WorkflowCreated","data":[]}]}`, `{}`} {
		_, err := w.Replay(t.Context(), w.who, []byte(foreign))
		wantCode(t, err, "bad_request")
		if strings.Contains(err.Error(), "execution.") || strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: %v", foreign, err)
		}
	}
	middle, err := w.StateAt(t.Context(), w.who, id, live.LastSeq-1)
	if err != nil || middle.Status != "running" || middle.LastSeq != live.LastSeq-1 {
		t.Errorf("the state before the end is %s at %d, %v", middle.Status, middle.LastSeq, err)
	}
}

func TestStartsThatAreRefused(t *testing.T) {
	w := newWorld(t)
	w.publish("two-calls", twoCalls)
	far := time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
	for words, request := range map[string]engine.StartRequest{
		"five years": {StartAt: &far},
		"more than":  {StartAfter: "P3650D"},
		"not both":   {StartAt: &far, StartAfter: "1s"},
		"has a name": {Labels: map[string]string{"": "x"}},
		"priority":   {Priority: "urgent"},
	} {
		request.Workflow = "two-calls"
		_, err := w.Start(t.Context(), w.who, request)
		wantCode(t, err, "bad_request")
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", words, err)
		}
	}
}

// A person's start is a line of the audit; a program's is told by its history alone.
func TestStartsByPeopleAreAudited(t *testing.T) {
	w := newWorld(t)
	w.publish("two-calls", twoCalls)
	program := w.who
	program.Via = "nightly"
	for who, lines := range map[*engine.Who]int{&w.who: 1, &program: 0} {
		started, err := w.Start(t.Context(), *who, engine.StartRequest{Workflow: "two-calls"})
		if err != nil {
			t.Fatal(err)
		}
		page, err := w.Identity().Audit(t.Context(), w.who, engine.AuditFilter{Action: "execution.started", Target: started.ID.String()})
		if err != nil || len(page.Items) != lines {
			t.Errorf("by %q: %d lines, %v", who.Via, len(page.Items), err)
		}
		if first := w.events(started.ID)[0].Data.(*execution.Created); first.StartedBy != w.who.User {
			t.Errorf("the history says that %q started it", first.StartedBy)
		}
	}
}
