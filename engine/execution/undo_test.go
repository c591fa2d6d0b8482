package execution

import (
	"strings"
	"testing"
	"time"
)

// saga books, and undoes what it booked when paying fails. POLICY is its compensation.
func saga(policy string) string {
	return `
  compensation: {` + policy + `, retry: {attempts: 3, strategy: fixed, delay: 150ms}}
  activities:
    - id: hotel
      type: http
      inputs: {method: POST, url: http://x}
      outputs: {ref: result.body.ref}
      compensate: {type: http, inputs: {method: DELETE, url: "http://x/${{ activities.hotel.outputs.ref }}/${{ activities.hotel.inputs.method }}"}}
    - id: seats
      type: for_each
      needs: [hotel]
      for_each:
        items: [s1, s2]
        as: seat
        key: seat
        maxConcurrent: 1
        activity:
          type: http
          inputs: {method: POST, url: "http://x/${{ seat }}"}
          compensate: {type: http, inputs: {method: DELETE, url: "http://x/${{ seat }}"}}
    - {id: car, type: http, needs: [seats], inputs: {method: POST, url: http://x}, compensate: {type: http, inputs: {method: DELETE, url: http://x}}}
    - {id: note, type: http, needs: [car], inputs: {method: POST, url: http://x}}
    - {id: pay, type: http, needs: [note], inputs: {method: POST, url: http://x}, compensate: {type: http, inputs: {method: DELETE, url: http://x}}}
`
}

func booked(t *testing.T, policy string) *sim {
	return simulate(t, saga(policy), nil).answer("hotel", body("ref", "H1")).answer("pay", broken("http.402"))
}

// undone lists what was undone with success, in order.
func (s *sim) undone() string {
	var names []string
	for _, ev := range s.history {
		if ev.Type == CompensationCompleted && ev.Activity != "" {
			names = append(names, workName(Work{Activity: ev.Activity, Item: ev.Item}))
		}
	}
	return strings.Join(names, " ")
}

func TestWhatWasCompletedIsUndoneLatestFirst(t *testing.T) {
	s := booked(t, "order: reverse").run().is("compensated").failedWith("http.402")
	s.are("hotel compensated car compensated pay failed note completed seats completed")
	if got := s.undone(); got != "car seats[s2] seats[s1] hotel" {
		t.Errorf("undone: %s", got)
	}
	if got := s.given["undo hotel"][0].(map[string]any)["url"]; got != "http://x/H1/POST" {
		t.Errorf("undo hotel was given %v", got)
	}
	if d := Describe(s.wf, s.st); d.Compensation != "complete" {
		t.Errorf("compensation is %s", d.Compensation)
	}
	if s.keys["undo car"][0] != testID.String()+"/car/compensate" {
		t.Errorf("keys: %v", s.keys["undo car"])
	}
}

func TestNothingToUndoIsAFailure(t *testing.T) {
	s := booked(t, "order: reverse").answer("hotel", broken("http.400")).run().is("failed")
	if s.count(CompensationStarted) != 0 || Describe(s.wf, s.st).Compensation != "none" {
		t.Error(s.tail())
	}
}

func TestASuccessIsNotUndone(t *testing.T) {
	s := booked(t, "order: reverse").answer("pay", body()).run().is("completed")
	if s.count(CompensationStarted) != 0 {
		t.Error(s.tail())
	}
}

func TestUndoingIsRetriedThenToldAsIncomplete(t *testing.T) {
	s := booked(t, "order: reverse").answer("undo car", broken("http.500"), broken("http.500"), body()).run().is("compensated")
	if s.count(ActivityRetryScheduled) != 2 {
		t.Error(s.tail())
	}
	s = booked(t, "order: reverse").answer("undo car", broken("http.500")).run().is("failed").failedWith("http.402")
	s.are("hotel compensated car compensation_failed")
	if d := Describe(s.wf, s.st); d.Compensation != "incomplete" || s.undone() != "seats[s2] seats[s1] hotel" {
		t.Errorf("compensation %s: %s", d.Compensation, s.undone())
	}
}

func TestUndoingStopsAtTheFirstThatCannotBeUndone(t *testing.T) {
	s := booked(t, "order: reverse, onError: stop").answer("undo car", broken("http.500")).run().is("failed")
	if s.undone() != "" || Describe(s.wf, s.st).Compensation != "incomplete" {
		t.Errorf("undone: %s", s.undone())
	}
	s.answer("undo car", body())
	s.receive(Message{Compensate: &Control{By: "bob"}})
	s.run().is("compensated")
	if s.undone() != "car seats[s2] seats[s1] hotel" {
		t.Errorf("undone: %s", s.undone())
	}
	s.refuses(Message{Compensate: &Control{}})
}

func TestAnIncompleteCompensationIsRunAgain(t *testing.T) {
	s := booked(t, "order: reverse").answer("undo seats[s2]", broken("http.500")).run().is("failed")
	s.answer("undo seats[s2]", body())
	s.receive(Message{Compensate: &Control{By: "bob"}})
	s.run().is("compensated").are("hotel compensated")
	if s.undone() != "car seats[s1] hotel seats[s2]" {
		t.Errorf("undone: %s", s.undone())
	}
}

func TestUndoingInParallel(t *testing.T) {
	s := booked(t, "order: parallel")
	for _, name := range []string{"undo car", "undo hotel", "undo seats[s1]", "undo seats[s2]"} {
		s.slow[name] = time.Minute
	}
	s.pass(time.Second)
	s.is("compensating")
	if w := Pending(s.wf, s.st); len(w) != 4 {
		t.Errorf("%d at a time", len(w))
	}
	s.run().is("compensated")
}

func TestUndoingGoesOnAfterALostWorker(t *testing.T) {
	s := booked(t, "order: reverse")
	s.slow["undo car"] = time.Minute
	s.pass(time.Second)
	s.apply(Lost(s.wf, s.st, "w2", s.now, nil))
	s.run().is("compensated")
	if s.undone() != "car seats[s2] seats[s1] hotel" {
		t.Errorf("undone: %s", s.undone())
	}
}

const heldBooking = `
  compensation: {runOn: [%RUNON%]}
  limits: {timeout: 1h}
  activities:
    - {id: book, type: http, inputs: {method: POST, url: http://x}, compensate: {type: http, inputs: {method: DELETE, url: http://x}}}
    - {id: hold, type: wait, needs: [book], wait: {timer: {after: 30d}}}
    - {id: never, type: http, needs: [hold], inputs: {url: http://x}}
`

func held(t *testing.T, runOn string) *sim {
	return simulate(t, strings.Replace(heldBooking, "%RUNON%", runOn, 1), nil).pass(time.Minute)
}

func TestCancellingUndoesOnlyWhereTheDefinitionSaysSo(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		runOn string
		asked *bool
		want  string
	}{
		{"failure, cancel", nil, "compensated"}, {"failure", nil, "completed"},
		{"failure, cancel", &no, "completed"}, {"failure", &yes, "compensated"},
	} {
		s := held(t, c.runOn)
		s.receive(Message{Cancel: &Cancel{By: "bob", Reason: "mistake", Compensate: c.asked}})
		s.run().is("cancelled").are("book " + c.want + " hold cancelled never pending")
	}
}

func TestAStepInFlightIsLetFinishAndThenUndone(t *testing.T) {
	s := simulate(t, strings.Replace(heldBooking, "%RUNON%", "cancel", 1), nil)
	s.slow["book"] = time.Minute
	s.pass(time.Second)
	s.receive(Message{Cancel: &Cancel{}})
	s.run().is("cancelled").are("book compensated")
	if s.now != at(time.Minute) {
		t.Errorf("it ended at %v", s.now)
	}
}

func TestAnExecutionThatTimesOutIsUndone(t *testing.T) {
	held(t, "timeout").run().is("timed_out").failedWith("timeout.execution").are("book compensated")
	held(t, "failure").run().is("timed_out").are("book completed")
}

const hooked = `
  compensation: {runOn: [failure]}
  activities:
    - {id: work, type: http, inputs: {method: POST, url: http://x}, compensate: {type: http, inputs: {method: DELETE, url: http://x}}}
    - {id: last, type: http, needs: [work], inputs: {method: POST, url: http://x}}
  onError:
    - {id: page, type: http, inputs: {url: "http://x/${{ error.type }}"}}
    - {id: paged, type: http, needs: [page], inputs: {url: http://x}}
  onExit:
    - {id: report, type: http, inputs: {url: "http://x/${{ execution.status }}"}}
`

func TestHooksRunLastAndSeeTheStatusToCome(t *testing.T) {
	s := simulate(t, hooked, nil).run().is("completed").ranIs("work last report")
	if s.given["report"][0].(map[string]any)["url"] != "http://x/completed" {
		t.Errorf("report was given %v", s.given["report"])
	}
	s = simulate(t, hooked, nil).answer("last", broken("http.409")).run().is("compensated")
	s.ranIs("work last undo work page paged report")
	if s.given["report"][0].(map[string]any)["url"] != "http://x/compensated" || s.given["page"][0].(map[string]any)["url"] != "http://x/http.409" {
		t.Errorf("given: %v", s.given)
	}
	if d := Describe(s.wf, s.st); d.Hooks["onError"]["paged"].Status != "completed" || d.Hooks["onExit"]["report"].Status != "completed" {
		t.Errorf("hooks: %+v", d.Hooks)
	}
	for _, ev := range s.history {
		if (ev.Hook == "onExit") != (ev.Activity == "report") {
			t.Errorf("event %d has hook %q", ev.Seq, ev.Hook)
		}
	}
}

func TestAHookCannotChangeTheResult(t *testing.T) {
	simulate(t, hooked, nil).answer("report", broken("http.500")).run().is("completed")
	s := simulate(t, hooked, nil).answer("last", broken("http.409")).answer("page", broken("http.500")).run().is("compensated").failedWith("http.409")
	s.ranIs("work last undo work page report")
	if n := len(Describe(s.wf, s.st).Errors); n != 1 {
		t.Errorf("%d errors", n)
	}
}

func TestHooksRunAfterACancel(t *testing.T) {
	s := simulate(t, hooked, nil)
	s.slow["work"] = time.Hour
	s.pass(time.Second)
	s.receive(Message{Cancel: &Cancel{}})
	s.run().is("cancelled").ranIs("work report")
	if s.given["report"][0].(map[string]any)["url"] != "http://x/cancelled" {
		t.Errorf("report was given %v", s.given["report"])
	}
}

const again = `
  activities:
    - {id: book, type: http, inputs: {method: POST, url: http://x}}
    - {id: parts, type: for_each, needs: [book], for_each: {items: [p1, p2, p3], as: part, key: part, activity: {type: http, inputs: {url: http://x}}}}
    - {id: finish, type: http, needs: [parts], inputs: {method: POST, url: http://x}}
    - {id: clean, type: http, needs: [finish], join: done, inputs: {url: http://x}}
`

func TestAFailedExecutionIsDrivenAgainFromWhatFailed(t *testing.T) {
	s := simulate(t, again, nil).answer("finish", broken("http.500"), body()).run().is("failed").failedWith("http.500")
	s.receive(Message{Retry: &Retry{By: "bob", Note: "fixed"}})
	s.run().is("completed").are("book completed parts completed finish completed")
	if len(s.given["book"]) != 1 || len(s.given["parts[p1]"]) != 1 || len(s.given["finish"]) != 2 {
		t.Errorf("given: %v", s.given)
	}
	if d := Describe(s.wf, s.st); d.Error != nil || len(d.Errors) != 0 {
		t.Errorf("it still has errors: %v", d.Errors)
	}
	s.refuses(Message{Retry: &Retry{}})
}

func TestOnlyTheFailedItemsRunAgain(t *testing.T) {
	s := simulate(t, again, nil).answer("parts[p2]", broken("http.500"), body()).run().is("failed").failedWith("for_each.items_failed")
	s.receive(Message{Retry: &Retry{By: "bob"}})
	s.run().is("completed")
	if len(s.given["parts[p1]"]) != 1 || len(s.given["parts[p2]"]) != 2 || len(s.given["parts[p3]"]) != 1 || len(s.given["finish"]) != 1 {
		t.Errorf("given: %v", s.given)
	}
}

func TestDrivenAgainFromAChosenActivityAndWithOtherInput(t *testing.T) {
	s := simulate(t, `
  input: {type: object, properties: {n: {type: integer, default: 1}}}
  variables: {v: "${{ inputs.n * 10 }}"}
  activities:
    - {id: a, type: http, inputs: {url: "http://x/${{ vars.v }}"}}
    - {id: b, type: http, needs: [a], inputs: {url: http://x}}
    - {id: c, type: http, needs: [b], inputs: {url: http://x}}
    - {id: side, type: http, inputs: {url: http://x}}
`, nil).answer("c", broken("http.500"), body()).run().is("failed")
	s.receive(Message{Retry: &Retry{By: "bob", From: "a", Input: obj("n", int64(2))}})
	s.run().is("completed")
	if len(s.given["a"]) != 2 || len(s.given["b"]) != 2 || len(s.given["side"]) != 1 || s.given["a"][1].(map[string]any)["url"] != "http://x/20" {
		t.Errorf("given: %v", s.given)
	}
}

func TestFailsAgain(t *testing.T) {
	s := simulate(t, again, nil).answer("finish", broken("http.500")).run().is("failed")
	s.receive(Message{Retry: &Retry{}})
	s.run().is("failed").failedWith("http.500")
	if s.count(WorkflowFailed) != 2 || s.count(WorkflowRetried) != 1 {
		t.Error(s.tail())
	}
}

func TestDrivenAgainTheClockOfTheExecutionStartsAnew(t *testing.T) {
	s := simulate(t, `
  limits: {timeout: 1m}
  activities:
    - {id: a, type: wait, wait: {timer: {after: 30s}}}
    - {id: b, type: http, needs: [a], inputs: {url: http://x}}
`, nil)
	s.slow["b"] = time.Hour
	s.run().is("timed_out")
	delete(s.slow, "b")
	s.now = s.now.Add(time.Hour)
	s.receive(Message{Retry: &Retry{}})
	s.run().is("completed")
}
