package execution

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"
)

func at(d time.Duration) time.Time { return testTime.Add(d) }

func TestTimersAfterAtAndInThePast(t *testing.T) {
	s := simulate(t, `
  input: {type: object, required: [moment], properties: {moment: {type: string}}}
  activities:
    - {id: until, type: wait, wait: {timer: {at: inputs.moment}}}
    - {id: nap, type: wait, wait: {timer: {after: 1500ms}}}
    - {id: gone, type: wait, wait: {timer: {at: "2026-01-01T00:00:00Z"}}}
    - {id: local, type: wait, wait: {timer: {at: "2026-03-01T10:30:00", timezone: Europe/Berlin}}}
`, obj("moment", "2026-03-01T09:00:03Z"))
	s.advance()
	s.is("waiting").are("gone completed nap waiting")
	if due, ok := NextDue(s.st); !ok || !due.Equal(at(1500*time.Millisecond)) {
		t.Errorf("next due is %v", due)
	}
	s.pass(time.Second)
	s.are("nap waiting")
	s.pass(500 * time.Millisecond)
	s.are("nap completed until waiting")
	s.run().is("completed")
	if s.count(TimerScheduled) != 4 || s.count(TimerFired) != 4 {
		t.Errorf("%d scheduled, %d fired", s.count(TimerScheduled), s.count(TimerFired))
	}
	if !s.now.Equal(time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)) {
		t.Errorf("it ended at %v", s.now)
	}
}

const hears = `
  input: {type: object, properties: {k: {type: string, default: k1}}}
  activities:
    - {id: reply, type: event, event: {name: order.paid, correlation: inputs.k}, timeout: 10s}
    - {id: got, type: http, needs: [reply], inputs: {url: "http://x/${{ activities.reply.outputs.payload.answer }}"}}
    - {id: late, type: http, needs: [reply.timeout], inputs: {url: http://x}}
    - {id: always, type: http, needs: [reply.done], inputs: {url: http://x}}
`

func TestAnEventByItsWait(t *testing.T) {
	s := simulate(t, hears, nil).pass(time.Second).is("waiting")
	want := []WaitRow{{WaitKey: WaitKey{Activity: "reply"}, Name: "order.paid", Correlation: "k1", Until: at(10 * time.Second)}}
	if !reflect.DeepEqual(s.all.Waits, want) {
		t.Errorf("waits opened: %+v", s.all.Waits)
	}
	s.receive(Message{Signal: &Signal{ID: "e1", Name: "order.paid", Activity: "reply", Payload: obj("answer", int64(42))}})
	s.run().is("completed").are("reply completed got completed late skipped always completed")
	if len(s.all.WaitsEnded) != 1 || s.given["got"][0].(map[string]any)["url"] != "http://x/42" {
		t.Errorf("ended %v, given %v", s.all.WaitsEnded, s.given["got"])
	}
}

func TestAnEventThatDoesNotComeIsABranch(t *testing.T) {
	s := simulate(t, hears, nil).run().is("completed").are("reply completed got skipped late completed always completed")
	if got := Describe(s.wf, s.st).Activities["reply"].Outcome; got != "timeout" {
		t.Errorf("the outcome is %q", got)
	}
	if s.now != at(10*time.Second) || len(s.all.WaitsEnded) != 1 {
		t.Errorf("ended at %v, waits ended %v", s.now, s.all.WaitsEnded)
	}
}

func TestAnEventThatDoesNotComeFailsWhenNobodyTakesThat(t *testing.T) {
	simulate(t, `
  activities:
    - {id: reply, type: event, event: {name: x.y, correlation: execution.id}, timeout: 10s}
    - {id: got, type: http, needs: [reply], inputs: {url: http://x}}
`, nil).run().is("failed").failedWith("event.timeout").are("reply failed got skipped")
}

const twoSignals = `
  activities:
    - {id: before, type: wait, wait: {timer: {after: 1s}}}
    - {id: first, type: event, needs: [before], event: {name: go, correlation: execution.id}, timeout: 20s}
    - {id: second, type: event, needs: [first], event: {name: go, correlation: execution.id}, timeout: 20s}
  output: {got: "[activities.first.outputs.payload, activities.second.outputs.payload]"}
`

func TestASignalBeforeItsWaitIsKeptAndConsumedOnce(t *testing.T) {
	s := simulate(t, twoSignals, nil)
	s.advance()
	s.signal("go", "s1", int64(1))
	s.refuses(Message{Signal: &Signal{ID: "s1", Name: "go", Direct: true}})
	s.signal("stop", "s0", nil)
	s.pass(2 * time.Second)
	s.is("waiting").are("first completed second waiting")
	s.refuses(Message{Signal: &Signal{ID: "s1", Name: "go", Direct: true}})
	s.signal("go", "s2", int64(2))
	s.run().is("completed").outputIs(obj("got", []any{int64(1), int64(2)}))
	if s.count(SignalConsumed) != 2 || s.count(SignalReceived) != 3 {
		t.Errorf("%d consumed of %d", s.count(SignalConsumed), s.count(SignalReceived))
	}
	s.refuses(Message{Signal: &Signal{ID: "s3", Name: "go", Direct: true}})
}

func TestCountWhereAndSchemaOfAnEvent(t *testing.T) {
	s := simulate(t, `
  activities:
    - id: both
      type: event
      event:
        name: sized
        correlation: execution.id
        count: 2
        where: event.payload.size > 10
        schema: {type: object, required: [size], properties: {size: {type: integer}}}
      timeout: 20s
  output: {got: "map(activities.both.outputs.events, .payload.size)"}
`, nil)
	s.advance()
	for i, size := range []any{int64(11), int64(3), "large", int64(12)} {
		s.signal("sized", string(rune('a'+i)), obj("size", size))
	}
	s.run().is("completed").outputIs(obj("got", []any{int64(11), int64(12)}))
	if s.count(SignalConsumed) != 2 {
		t.Errorf("%d consumed", s.count(SignalConsumed))
	}
	ok, err := Matches(s.wf, s.st, WaitKey{Activity: "both"}, obj("payload", obj("size", int64(20))))
	if ok || err != nil {
		t.Errorf("a wait that is over matches: %v %v", ok, err)
	}
}

func TestMatchesAsksTheConditionOfAnOpenWait(t *testing.T) {
	s := simulate(t, `
  activities:
    - {id: big, type: event, event: {name: sized, correlation: execution.id, where: event.payload.size > 10}, timeout: 20s}
`, nil)
	s.advance()
	for size, want := range map[int64]bool{3: false, 11: true} {
		if got, err := Matches(s.wf, s.st, WaitKey{Activity: "big"}, obj("payload", obj("size", size))); err != nil || got != want {
			t.Errorf("size %d: %v %v", size, got, err)
		}
	}
}

func TestAnEventForAWaitThatIsOverIsReported(t *testing.T) {
	s := simulate(t, `
  activities:
    - {id: one, type: event, event: {name: go, correlation: '"k"'}, timeout: 1s}
    - {id: two, type: event, needs: [one.timeout], event: {name: go, correlation: '"other"'}, timeout: 1h}
`, nil).pass(2 * time.Second)
	s.is("waiting")
	s.receive(Message{Signal: &Signal{ID: "e1", Name: "go", Activity: "one"}})
	s.advance()
	s.is("waiting").are("two waiting")
	last := s.history[len(s.history)-1]
	if last.Type != SignalReceived || !last.Data.(*Received).Late {
		t.Errorf("the last event is %v %+v", last.Type, last.Data)
	}
}

const asks = `
  input: {type: object, properties: {who: {type: string, default: boss}}}
  activities:
    - id: ask
      type: human
      human:
        title: May ${{ execution.actor }}?
        assignee: ${{ inputs.who }}
        candidates: {groups: [board]}
        outcomes: [approved, rejected, unclear]
        notActor: true
        quorum: 2
        due: 5h
        remind: [1h, 2h]
        escalate: [{after: 3h, to: {groups: [chairs]}}]
    - {id: approved, type: http, needs: [ask], inputs: {url: "http://x/${{ activities.ask.outputs.by }}"}}
    - {id: rejected, type: http, needs: [ask.rejected, ask.expired], inputs: {url: "http://x/${{ activities.ask.outcome }}"}}
`

func TestATaskIsCreatedWithWhatPeopleSee(t *testing.T) {
	s := simulate(t, asks, nil).pass(time.Second).is("waiting")
	if len(s.all.Tasks) != 1 {
		t.Fatalf("tasks: %+v", s.all.Tasks)
	}
	task := s.all.Tasks[0]
	if !task.Create || task.Status != "open" || task.Title != "May ann?" || task.Assignee != "boss" ||
		!reflect.DeepEqual(task.Groups, []string{"board"}) || !reflect.DeepEqual(task.Barred, []string{"ann"}) ||
		!reflect.DeepEqual(task.Outcomes, []string{"approved", "rejected", "unclear"}) || task.Quorum != 2 || !task.Due.Equal(at(5*time.Hour)) {
		t.Errorf("the task is %+v", task)
	}
	again := simulate(t, asks, nil).pass(time.Second)
	if again.all.Tasks[0].ID != task.ID {
		t.Error("deciding twice gives another task")
	}
}

func TestADecisionIsABranch(t *testing.T) {
	s := simulate(t, asks, nil).pass(time.Second)
	first := s.voteOf("ask", "ben", "approved")
	first.Decides = false
	s.receive(Message{Vote: first})
	s.pass(time.Minute)
	s.is("waiting")
	second := s.voteOf("ask", "cleo", "approved")
	second.Comment, second.Form = "fine", obj("amount", 12.5)
	s.receive(Message{Vote: second})
	s.refuses(Message{Vote: second})
	s.run().is("completed").are("ask completed approved completed rejected skipped")
	out := Describe(s.wf, s.st).Activities["ask"].Output.(map[string]any)
	if out["by"] != "cleo" || out["comment"] != "fine" || len(out["votes"].([]any)) != 2 || out["outcome"] != "approved" {
		t.Errorf("the output is %v", out)
	}
	if s.count(HumanTaskVoted) != 2 || s.count(HumanTaskDecided) != 1 || s.all.Tasks[len(s.all.Tasks)-1].Status != "done" {
		t.Errorf("tasks: %+v", s.all.Tasks)
	}
}

func TestAnOutcomeThatNobodyTakesIsAFailure(t *testing.T) {
	s := simulate(t, asks, nil).pass(time.Second)
	s.vote("ask", "ben", "unclear").is("failed").failedWith("human.unclear").are("ask failed approved skipped rejected skipped")
}

func TestRemindEscalateAndExpire(t *testing.T) {
	s := simulate(t, asks, nil).run().is("completed").are("approved skipped rejected completed")
	if s.count(HumanTaskReminded) != 2 || s.count(HumanTaskEscalated) != 1 || s.count(HumanTaskExpired) != 1 || s.count(HumanTaskDecided) != 0 {
		t.Errorf("history: %s", s.tail())
	}
	if s.given["rejected"][0].(map[string]any)["url"] != "http://x/expired" {
		t.Errorf("rejected was given %v", s.given["rejected"])
	}
	var last TaskRow
	for _, row := range s.all.Tasks {
		if len(row.AddGroups) > 0 && row.AddGroups[0] != "chairs" {
			t.Errorf("escalated to %v", row.AddGroups)
		}
		last = row
	}
	if last.Status != "expired" || s.now != at(5*time.Hour) {
		t.Errorf("the task ended as %+v at %v", last, s.now)
	}
}

func TestOnDueIsTheOutcomeOfSilence(t *testing.T) {
	simulate(t, `
  activities:
    - {id: ask, type: human, human: {title: Object, candidates: {groups: [b]}, outcomes: [agreed, objected], due: 2s, onDue: agreed}}
    - {id: go, type: http, needs: [ask.agreed], inputs: {url: http://x}}
    - {id: halt, type: http, needs: [ask.objected], inputs: {url: http://x}}
`, nil).run().is("completed").are("ask completed go completed halt skipped")
}

func TestTaskChangesAreRecorded(t *testing.T) {
	s := simulate(t, asks, nil).pass(time.Second)
	task := s.voteOf("ask", "", "").Task
	for _, kind := range []string{"claimed", "unclaimed", "assigned", "commented"} {
		s.receive(Message{TaskChange: &TaskChange{Task: task, Activity: "ask", Kind: kind, By: "ben"}})
	}
	s.refuses(Message{TaskChange: &TaskChange{Task: task, Activity: "ask", Kind: "eaten"}})
	s.refuses(Message{TaskChange: &TaskChange{Task: uuid.New(), Activity: "ask", Kind: "claimed"}})
	s.is("waiting")
}

func TestCancellingClosesWhatIsOpen(t *testing.T) {
	s := simulate(t, `
  activities:
    - {id: nap, type: wait, wait: {timer: {after: 30s}}}
    - {id: hear, type: event, event: {name: facts, correlation: execution.id}, timeout: 30s}
    - {id: ask, type: human, human: {title: Well?, candidates: {groups: [b]}, due: 30s}}
    - {id: again, type: http, retry: {attempts: 2, strategy: fixed, delay: 30s}, inputs: {url: http://x}}
    - {id: call, type: workflow, workflow: {name: child}}
`, nil).answer("again", broken("http.503")).pass(time.Second).is("waiting")
	kinds := map[string]string{}
	for _, w := range Describe(s.wf, s.st).Waits {
		kinds[w.Activity] = w.Kind
	}
	want := map[string]string{"nap": "timer", "hear": "event", "ask": "human", "again": "retry", "call": "child"}
	if !reflect.DeepEqual(kinds, want) {
		t.Errorf("waits: %v", kinds)
	}
	s.receive(Message{Cancel: &Cancel{By: "bob", Reason: "changed my mind"}})
	s.run().is("cancelled").are("nap cancelled hear cancelled ask cancelled again cancelled call cancelled")
	if len(Describe(s.wf, s.st).Waits) != 0 || len(s.all.WaitsEnded) != 1 || len(s.all.CancelChildren) != 1 ||
		s.all.Tasks[len(s.all.Tasks)-1].Status != "cancelled" {
		t.Errorf("left open: %+v", s.all)
	}
	if _, ok := NextDue(s.st); ok {
		t.Error("a timer outlived the execution")
	}
	s.refuses(Message{Cancel: &Cancel{}})
}
