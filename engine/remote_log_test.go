package engine_test

import (
	"strings"
	"sync"
	"testing"

	"weftline/engine"
)

const renderWithKey = `
  activities:
    - {id: render, type: worker, inputs: {task: render, input: {key: "${{ secrets.GPU_KEY }}"}}, retry: {attempts: 2, delay: 1ms, errors: [gpu.*]}}
`

func (w *world) logOf(item engine.WorkItem, attempt int) []string {
	w.t.Helper()
	log, err := w.ActivityLog(w.t.Context(), w.who, item.Execution, item.Activity, engine.LogRequest{Attempt: attempt})
	if err != nil {
		w.t.Fatal(err)
	}
	lines := make([]string, len(log.Lines))
	for i, line := range log.Lines {
		if lines[i] = line.Line; line.N != i+1 {
			w.t.Errorf("line %d has the number %d", i+1, line.N)
		}
	}
	return lines
}

func lines(of ...string) []any {
	list := make([]any, len(of))
	for i, line := range of {
		list[i] = line
	}
	return list
}

// What a remote worker says is the log of its attempt, whichever call brings it, and shows none of the secrets
// that it was given.
func TestARemoteWorkerLogs(t *testing.T) {
	w := newWorld(t, func(o *engine.Options) { o.SecretKeys = [][]byte{make([]byte, 32)} })
	if err := w.Vault().PutSecret(t.Context(), w.who, engine.SecretChange{Name: "GPU_KEY", Value: "s3cr3t-1"}); err != nil {
		t.Fatal(err)
	}
	w.publish("far", renderWithKey)
	id := w.start("far", nil)
	item := w.poll(w.register(1, "render"))
	if input, _ := item.Input.(map[string]any); input["key"] != "s3cr3t-1" {
		t.Fatalf("input %v", item.Input)
	}
	for _, wrong := range []any{int64(1), map[string]any{}, []any{"a", int64(1)}} {
		_, err := w.RenewWork(t.Context(), w.who, item.LeaseID, engine.WorkProgress{Log: wrong})
		refused(t, err, "invalid_input")
	}
	if _, err := w.RenewWork(t.Context(), w.who, item.LeaseID, engine.WorkProgress{Log: "frame 1\r\nwith s3cr3t-1\n"}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(w.logOf(item, 1), "|"); got != "frame 1|with ***" {
		t.Errorf("while it runs: %q", got)
	}
	answer, err := w.FailWork(t.Context(), w.who, item.LeaseID, engine.WorkFailure{Error: engine.WorkError{Type: "gpu.hot", Message: "hot"}, Log: lines("it is hot")})
	if err != nil {
		t.Fatal(err)
	}
	second := answer.Next
	if second == nil {
		got := w.poll(item.WorkerID)
		second = &got
	}
	if _, err := w.CompleteWork(t.Context(), w.who, second.LeaseID, engine.WorkResult{Log: lines("again", "s3cr3t-1")}); err != nil {
		t.Fatal(err)
	}
	w.ends(id, "completed")
	if first, last := strings.Join(w.logOf(item, 1), "|"), strings.Join(w.logOf(item, 0), "|"); first != "frame 1|with ***|it is hot" || last != "again|***" {
		t.Errorf("the logs are %q and %q", first, last)
	}
	_, err = w.RenewWork(t.Context(), w.who, second.LeaseID, engine.WorkProgress{Log: "late"})
	refused(t, err, "lease_lost")
}

// The bounds of a log hold over all calls, and calls at one time lose no lines.
func TestTheLogOfARemoteAttemptIsBounded(t *testing.T) {
	w := newWorld(t)
	w.publish("far", renders)
	w.start("far", nil)
	item := w.poll(w.register(1, "render"))
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			if _, err := w.RenewWork(t.Context(), w.who, item.LeaseID, engine.WorkProgress{Log: lines("a", "b")}); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if n := len(w.logOf(item, 0)); n != 16 {
		t.Errorf("%d of 16 lines are kept", n)
	}
	for range 3 {
		if _, err := w.RenewWork(t.Context(), w.who, item.LeaseID, engine.WorkProgress{Log: strings.Repeat(strings.Repeat("x", 999)+"\n", 30)}); err != nil {
			t.Fatal(err)
		}
	}
	got := w.logOf(item, 0)
	if last := got[len(got)-1]; len(strings.Join(got, "")) > 65<<10 || len(got) < 80 || !strings.Contains(last, "not kept") {
		t.Errorf("%d lines, the last is %q", len(got), last)
	}
}
