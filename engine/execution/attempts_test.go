package execution

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestAttemptsCountAllTriesAndPause(t *testing.T) {
	for _, c := range []struct {
		name, retry string
		answers     []answerOf
		attempts    int
		took        time.Duration
		ends        string
	}{
		{"fixed", "{attempts: 3, strategy: fixed, delay: 400ms}", []answerOf{broken("http.503")}, 3, 800 * time.Millisecond, "failed"},
		{"linear", "{attempts: 4, strategy: linear, delay: 300ms}", []answerOf{broken("http.503")}, 4, 1800 * time.Millisecond, "failed"},
		{"growing", "{attempts: 4, strategy: exponential, delay: 300ms, maxDelay: 500ms, jitter: none}", []answerOf{broken("http.503")}, 4, 1300 * time.Millisecond, "failed"},
		{"second try", "{attempts: 3, strategy: fixed, delay: 400ms}", []answerOf{broken("transport.reset"), body()}, 2, 400 * time.Millisecond, "completed"},
		{"not retried", "{attempts: 5, strategy: fixed, delay: 100ms}", []answerOf{broken("http.400")}, 1, 0, "failed"},
		{"chosen", "{attempts: 3, strategy: fixed, delay: 100ms, errors: [http.409]}", []answerOf{broken("http.409"), broken("http.500")}, 2, 100 * time.Millisecond, "failed"},
		{"excepted", "{attempts: 3, strategy: fixed, delay: 100ms, errors: [http.5xx], except: [http.501]}", []answerOf{broken("http.502"), broken("http.501")}, 2, 100 * time.Millisecond, "failed"},
		{"by class", "{attempts: 2, strategy: fixed, delay: 100ms, errors: [class.external]}", []answerOf{broken("own.thing")}, 2, 100 * time.Millisecond, "failed"},
		{"retry-after", "{attempts: 2, strategy: fixed, delay: 100ms, maxDelay: 500ms}", []answerOf{{err: broken("http.429").err, after: 2 * time.Second}, body()}, 2, 2 * time.Second, "completed"},
		{"retry-after is bounded", "{attempts: 2, strategy: fixed, delay: 100ms}", []answerOf{{err: broken("http.429").err, after: 5 * time.Hour}, body()}, 2, 15 * time.Minute, "completed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := simulate(t, `
  activities:
    - {id: a, type: http, inputs: {method: POST, url: http://x}, retry: `+c.retry+`}
`, nil).answer("a", c.answers...).run().is(c.ends)
			if got := Describe(s.wf, s.st).Activities["a"].Attempt; got != c.attempts {
				t.Errorf("%d attempts, expected %d", got, c.attempts)
			}
			if took := s.now.Sub(testTime); took != c.took {
				t.Errorf("it took %s, expected %s", took, c.took)
			}
			for _, k := range s.keys["a"] {
				if k != testID.String()+"/a" {
					t.Errorf("an attempt had the key %s", k)
				}
			}
		})
	}
}

func TestJitterIsRecordedAndTheSameEachTime(t *testing.T) {
	text := `
  activities:
    - {id: a, type: http, inputs: {url: http://x}, retry: {attempts: 5, delay: 10s, maxDelay: 1m}}
`
	pauses := func() (list []string) {
		s := simulate(t, text, nil).answer("a", broken("http.503")).run()
		for _, ev := range s.history {
			if d, ok := ev.Data.(*RetryScheduled); ok {
				list = append(list, d.Delay)
			}
		}
		return list
	}
	first := pauses()
	if len(first) != 4 || !reflect.DeepEqual(first, pauses()) || first[0] == "10s" {
		t.Errorf("pauses: %v", first)
	}
}

func TestAttemptTimeoutIsRetriedAndTheLastOneTimesOut(t *testing.T) {
	text := `
  activities:
    - {id: a, type: http, retry: {attempts: 2, strategy: fixed, delay: 100ms}, timeout: 700ms, inputs: {url: http://x}}
    - {id: b, type: http, needs: [{id: a, port: failure, errors: [timeout.*]}], inputs: {url: http://x}}
`
	simulate(t, text, nil).answer("a", broken("timeout.attempt")).run().is("completed").are("a timed_out b completed")
	s := simulate(t, text, nil).answer("a", broken("timeout.attempt"), body()).run().is("completed").are("a completed b skipped")
	if got := Pending(s.wf, s.st); len(got) != 0 {
		t.Errorf("pending: %v", got)
	}
}

func TestTotalTimeoutCutsPausesAndAttempts(t *testing.T) {
	text := `
  activities:
    - {id: a, type: http, retry: {attempts: 100, strategy: fixed, delay: 300ms}, totalTimeout: 2s, inputs: {url: http://x}}
`
	s := simulate(t, text, nil).answer("a", broken("http.503")).run().is("failed").failedWith("timeout.total").are("a timed_out")
	if s.now != at(2*time.Second) {
		t.Errorf("it ended at %v", s.now)
	}
	s = simulate(t, text, nil)
	s.slow["a"] = time.Hour
	s.advance()
	if w := Pending(s.wf, s.st)[0]; !w.Deadline.Equal(at(2 * time.Second)) {
		t.Errorf("the deadline is %v", w.Deadline)
	}
	s.run().failedWith("timeout.total")
	if s.now != at(2*time.Second) || len(Pending(s.wf, s.st)) != 0 {
		t.Errorf("it ended at %v", s.now)
	}
}

func TestQueueTimeoutSaysWhatIsMissing(t *testing.T) {
	s := simulate(t, `
  activities:
    - {id: a, type: http, queueTimeout: 5s, semaphore: {name: printer, permits: 1}, inputs: {url: http://x}}
`, nil).run().is("failed").failedWith("timeout.queue")
	if e := Describe(s.wf, s.st).Error; !strings.Contains(e.Message, "printer") {
		t.Errorf("the message is %q", e.Message)
	}
	if len(s.all.Permits) != 1 || len(s.all.Released) != 1 {
		t.Errorf("asked %v, released %v", s.all.Permits, s.all.Released)
	}
}

func TestExecutionTimeout(t *testing.T) {
	s := simulate(t, `
  limits: {timeout: 2s}
  activities:
    - {id: long, type: wait, wait: {timer: {after: 1h}}}
    - {id: busy, type: http, inputs: {url: http://x}}
    - {id: never, type: http, needs: [long], join: done, inputs: {url: http://x}}
`, nil)
	s.slow["busy"] = time.Hour
	s.run().is("timed_out").failedWith("timeout.execution").are("long cancelled busy cancelled never pending")
	if s.now != at(2*time.Second) {
		t.Errorf("it ended at %v", s.now)
	}
}

const polls = `
  activities:
    - id: poll
      type: http
      inputs: {url: "http://x/${{ iteration }}"}
      repeat: {until: 'self.body.state in ["ready", "broken"]', every: 300ms, max: 4}
      outputs: {state: result.body.state}
    - {id: use, type: http, needs: [poll], inputs: {url: "http://x/${{ activities.poll.outputs.state }}"}}
    - {id: gave_up, type: http, needs: [{id: poll, port: failure, errors: [repeat.exhausted]}], inputs: {url: http://x}}
`

func TestRepeatUntilItsConditionHolds(t *testing.T) {
	s := simulate(t, polls, nil).answer("poll", body("state", "wait"), body("state", "wait"), body("state", "ready"))
	s.run().is("completed").are("poll completed use completed gave_up skipped")
	if s.now != at(600*time.Millisecond) || s.count(ActivityCompleted, "poll") != 1 || s.count(ActivityRepeatScheduled) != 2 {
		t.Errorf("it took %v", s.now.Sub(testTime))
	}
	want := []string{testID.String() + "/poll/0", testID.String() + "/poll/1", testID.String() + "/poll/2"}
	if !reflect.DeepEqual(s.keys["poll"], want) || s.given["poll"][2].(map[string]any)["url"] != "http://x/2" {
		t.Errorf("keys %v, given %v", s.keys["poll"], s.given["poll"])
	}
}

func TestRepeatExhausted(t *testing.T) {
	simulate(t, polls, nil).answer("poll", body("state", "wait")).run().is("completed").
		are("poll failed use skipped gave_up completed")
}

func TestAFailedTurnIsNotAFalseCondition(t *testing.T) {
	simulate(t, polls, nil).answer("poll", body("state", "wait"), broken("http.500")).run().is("failed").failedWith("http.500")
}

func TestEachTurnHasItsOwnAttempts(t *testing.T) {
	s := simulate(t, `
  activities:
    - id: poll
      type: http
      inputs: {url: http://x}
      retry: {attempts: 2, strategy: fixed, delay: 1s}
      repeat: {until: self.body.over, every: 1m, max: 3}
`, nil).answer("poll", broken("http.503"), body("over", false), broken("http.503"), body("over", true)).run().is("completed")
	if s.count(ActivityRetryScheduled) != 2 {
		t.Error(s.tail())
	}
}

func TestALostWorkerUsesNoAttemptUp(t *testing.T) {
	s := simulate(t, `
  activities:
    - {id: a, type: http, inputs: {method: POST, url: http://x}}
`, nil)
	s.advance()
	first := Pending(s.wf, s.st)[0]
	for range 3 {
		s.apply(Lost(s.wf, s.st, "w2", s.now, nil))
		s.advance()
	}
	if w := Pending(s.wf, s.st)[0]; w.Attempt != 4 || w.IdempotencyKey != first.IdempotencyKey {
		t.Errorf("the attempt is %+v", w)
	}
	s.refuses(Message{Result: &Result{Activity: "a", Attempt: 1, Value: obj()}})
	s.run().is("completed")
	if s.count(LeaseExpired) != 3 || s.count(LeaseAcquired) != 3 {
		t.Error(s.tail())
	}
}

func TestTooManyLostWorkersAreAFailure(t *testing.T) {
	s := simulate(t, `
  activities:
    - {id: a, type: http, inputs: {url: http://x}}
`, nil).answer("a", broken("engine.worker_lost")).run().is("failed").failedWith("engine.worker_lost")
	if got := Describe(s.wf, s.st).Activities["a"].Attempt; got != 11 {
		t.Errorf("%d attempts", got)
	}
}

func TestOnceIsNotMadeAgainOnceItBegan(t *testing.T) {
	text := `
  activities:
    - {id: a, type: http, once: true, inputs: {url: http://x}}
`
	s := simulate(t, text, nil)
	s.advance()
	s.start(Pending(s.wf, s.st)[0])
	s.apply(Lost(s.wf, s.st, "w2", s.now, nil))
	s.run().is("failed").failedWith("engine.worker_lost")

	s = simulate(t, text, nil)
	s.advance() // dispatched, its start is not in the history: it did not begin
	s.apply(Lost(s.wf, s.st, "w2", s.now, nil))
	s.run().is("completed")
}

func TestSemaphore(t *testing.T) {
	s := simulate(t, `
  activities:
    - {id: a, type: http, semaphore: {name: printer, permits: 2, key: floor1}, retry: {attempts: 2, strategy: fixed, delay: 1s}, inputs: {url: http://x}}
`, nil).answer("a", broken("http.503"), body())
	s.run().is("waiting")
	want := []Permit{{Name: "printer:floor1", Capacity: 2, Activity: "a"}}
	if !reflect.DeepEqual(s.all.Permits, want) || Describe(s.wf, s.st).Waits[0].Kind != "limit" {
		t.Errorf("asked for %+v", s.all.Permits)
	}
	granted := Message{PermitGranted: &Permit{Name: "printer:floor1", Activity: "a"}}
	s.receive(granted)
	s.run().is("completed")
	if len(s.all.Permits) != 1 || len(s.all.Released) != 1 || s.count(PermitReleased) != 1 {
		t.Errorf("asked %v, released %v", s.all.Permits, s.all.Released)
	}
	s.refuses(granted)
}

// The permit of an item is given back after the item has ended, also when its loop is done with it by then.
func TestSemaphoreOfItems(t *testing.T) {
	s := simulate(t, `
  activities:
    - id: each
      type: for_each
      for_each:
        items: [a, b]
        key: item
        maxConcurrent: 2
        activity: {type: http, semaphore: {name: printer, permits: 1}, inputs: {url: http://x}}
`, nil)
	s.run().is("waiting")
	for _, item := range []string{"a", "b"} {
		s.receive(Message{PermitGranted: &Permit{Name: "printer", Activity: "each", Item: item}})
		s.run()
	}
	s.is("completed")
	if len(s.all.Released) != 2 || len(s.st.Main.Runs[0].Loop.Bodies) != 0 {
		t.Errorf("released %v, kept %v", s.all.Released, s.st.Main.Runs[0].Loop.Bodies)
	}
}

func TestStartAtAndTheSlotOfTheWorkflow(t *testing.T) {
	text := `
  activities:
    - {id: a, type: http, inputs: {url: http://x}}
`
	start := at(time.Hour)
	s := simulateStart(t, text, Start{StartAt: &start, NeedsPermit: true})
	s.is("scheduled")
	if due, ok := NextDue(s.st); !ok || !due.Equal(start) {
		t.Errorf("next due is %v", due)
	}
	s.run().is("scheduled")
	if w := Describe(s.wf, s.st).Waits; len(w) != 1 || w[0].Kind != "limit" {
		t.Errorf("waits: %+v", w)
	}
	s.receive(Message{PermitGranted: &Permit{Name: "workflow:test"}})
	s.run().is("completed")
	if d := Describe(s.wf, s.st); !d.StartedAt.Equal(start) {
		t.Errorf("it started at %v", d.StartedAt)
	}
}

func TestPauseStartsNothingNewAndResumes(t *testing.T) {
	s := simulate(t, `
  activities:
    - {id: first, type: http, inputs: {url: http://x}}
    - {id: second, type: http, needs: [first], inputs: {url: http://x}}
    - {id: nap, type: wait, wait: {timer: {after: 1m}}}
`, nil)
	s.slow["first"] = 10 * time.Second
	s.pass(time.Second)
	s.receive(Message{Pause: &Control{By: "ann"}})
	s.refuses(Message{Pause: &Control{}})
	s.pass(2 * time.Minute)
	s.is("paused").are("first completed second pending nap waiting")
	s.receive(Message{Resume: &Control{By: "ann"}})
	s.refuses(Message{Resume: &Control{}})
	s.run().is("completed").are("second completed nap completed")
	s.refuses(Message{Pause: &Control{}})
}

func TestCancelWhilePaused(t *testing.T) {
	s := simulate(t, `
  activities:
    - {id: first, type: http, inputs: {url: http://x}}
    - {id: second, type: http, needs: [first], inputs: {url: http://x}}
`, nil)
	s.slow["first"] = time.Hour
	s.pass(time.Second)
	s.receive(Message{Pause: &Control{}})
	s.receive(Message{Cancel: &Cancel{By: "bob"}})
	s.run().is("cancelled").are("first cancelled second pending")
}

func TestAChildEndsItsActivity(t *testing.T) {
	text := `
  activities:
    - {id: call, type: workflow, workflow: {name: child}, inputs: {number: 1}}
    - {id: use, type: http, needs: [call], inputs: {url: "http://x/${{ activities.call.outputs.output.answer }}"}}
`
	begin := func() (*sim, ChildRow) {
		s := simulateStart(t, text, Start{Children: map[string]ChildVersion{"call": {Workflow: "child", Version: 4}}, Depth: 2})
		s.run().is("waiting")
		if len(s.all.Children) != 1 {
			t.Fatalf("children: %v", s.all.Children)
		}
		return s, s.all.Children[0]
	}
	s, c := begin()
	if c.Version != 4 || c.Workflow != "child" || !c.Wait || c.Depth != 3 || !reflect.DeepEqual(c.Input, obj("number", int64(1))) {
		t.Errorf("the child is %+v", c)
	}
	if parent := s.st.Created.ID; !bytes.Equal(c.Execution[:6], parent[:6]) || c.Execution == parent || c.Execution.Version() != 8 {
		t.Errorf("the child's id %s does not have the time of its parent's, %s", c.Execution, parent)
	}
	ended := Message{ChildEnded: &ChildEnded{Execution: c.Execution, Activity: "call", Status: "completed", Output: obj("answer", int64(7))}}
	s.receive(ended)
	s.refuses(ended)
	s.run().is("completed")
	if s.given["use"][0].(map[string]any)["url"] != "http://x/7" {
		t.Errorf("use was given %v", s.given["use"])
	}

	s, c = begin()
	s.receive(Message{ChildEnded: &ChildEnded{Execution: c.Execution, Activity: "call", Status: "failed", Error: broken("http.422").err}})
	s.run().is("failed").failedWith("child.http.422").are("call failed use skipped")
	if len(s.all.CancelChildren) != 0 {
		t.Error("a child that ended is cancelled")
	}
}

func TestSecretsAndSensitiveInputsStayOutOfTheHistory(t *testing.T) {
	s := simulate(t, `
  input: {type: object, properties: {iban: {type: string, x-sensitive: true}, note: {type: string}}}
  activities:
    - id: call
      type: http
      inputs:
        method: POST
        url: http://x
        auth: {type: bearer, token: "${{ secrets.BANK }}"}
        body: {iban: "${{ inputs.iban }}", note: "${{ inputs.note }}"}
`, obj("iban", "DE02", "note", "hi"))
	s.advance()
	w := Pending(s.wf, s.st)[0]
	if !reflect.DeepEqual(w.Secrets, []string{"BANK"}) {
		t.Errorf("secrets: %v", w.Secrets)
	}
	wantMasked := obj("method", "POST", "url", "http://x", "auth", obj("type", "bearer", "token", "***"), "body", obj("iban", "***", "note", "hi"))
	if !reflect.DeepEqual(w.Input, wantMasked) {
		t.Errorf("the history has %v", w.Input)
	}
	got, err := InputWithSecrets(s.wf, s.st, w, map[string]string{"BANK": "s3cr3t"})
	want := obj("method", "POST", "url", "http://x", "auth", obj("type", "bearer", "token", "s3cr3t"), "body", obj("iban", "DE02", "note", "hi"))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the worker gets %v, %v", got, err)
	}
	if _, err := InputWithSecrets(s.wf, s.st, w, nil); err == nil {
		t.Error("a secret that is not there is no error")
	}
	s.run().is("completed")
	for _, ev := range s.history {
		b, _ := Masked(s.wf, ev).MarshalJSON()
		if strings.Contains(string(b), "DE02") || strings.Contains(string(b), "s3cr3t") {
			t.Errorf("shown: %s", b)
		}
	}
	if in := Describe(s.wf, s.st).Input.(map[string]any); in["iban"] != "***" || in["note"] != "hi" {
		t.Errorf("the detail shows %v", in)
	}
}

func TestValuesInTheHTMLOfAMailAreText(t *testing.T) {
	s := simulate(t, `
  input: {type: object, properties: {name: {type: string}}}
  activities:
    - id: mail
      type: email
      inputs: {to: a@example.com, subject: "Hi ${{ inputs.name }}", text: "${{ inputs.name }}", html: "<b>${{ inputs.name }}</b>"}
`, obj("name", `<img src="x">`))
	s.advance()
	want := obj("to", "a@example.com", "subject", `Hi <img src="x">`, "text", `<img src="x">`, "html", "<b>&lt;img src=&#34;x&#34;&gt;</b>")
	if got := Pending(s.wf, s.st)[0].Input; !reflect.DeepEqual(got, want) {
		t.Errorf("input %v", got)
	}
}

// TestTheUsageOfAllAttemptsIsSummed: of every ai activity, also of answers that were refused.
func TestTheUsageOfAllAttemptsIsSummed(t *testing.T) {
	s := simulate(t, `
  activities:
    - {id: a, type: ai, inputs: {connection: c, model: m, prompt: p}, retry: {attempts: 2, strategy: fixed, delay: 1s, errors: ["output.*"]}, outputs: {t: result.text}}
    - {id: b, type: ai, needs: [a], inputs: {connection: c, model: m, prompt: p}}
`, nil)
	used := map[string]any{"promptTokens": int64(3), "completionTokens": int64(4), "totalTokens": int64(7)}
	refused := answerOf{err: &Error{Type: "output.invalid", Class: classActivity, Message: "made up", Detail: map[string]any{"usage": used}}}
	good := fine(map[string]any{"text": "t", "json": nil, "usage": used})
	s.answer("a", refused, good).answer("b", good).run().is(StatusCompleted)
	if got := Describe(s.wf, s.st).Usage; got == nil || *got != (Usage{9, 12, 21}) {
		t.Errorf("usage %+v", got)
	}
}
