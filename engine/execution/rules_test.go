package execution

import (
	"fmt"
	"reflect"
	"testing"
	"time"
)

func obj(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

func body(pairs ...any) answerOf { return fine(obj("status", int64(200), "body", obj(pairs...))) }

func (s *sim) outputIs(want any) *sim {
	s.t.Helper()
	if got := s.output(); !reflect.DeepEqual(got, want) {
		s.t.Fatalf("the output is %#v, expected %#v\n%s", got, want, s.tail())
	}
	return s
}

func (s *sim) ranIs(want string) *sim {
	s.t.Helper()
	if got := s.ran(); got != want {
		s.t.Fatalf("%q ran, expected %q\n%s", got, want, s.tail())
	}
	return s
}

func TestOneActivity(t *testing.T) {
	s := simulate(t, `
  activities:
    - {id: a, type: http, inputs: {url: http://x}, outputs: {number: result.body.count}}
  output: {number: activities.a.outputs.number}
`, nil)
	s.answer("a", body("count", int64(7)))
	s.run().is("completed").are("a completed").outputIs(obj("number", int64(7)))
	var types []string
	for _, ev := range s.history {
		types = append(types, string(ev.Type))
	}
	want := "[WorkflowCreated WorkflowValidated WorkflowStarted ActivityReady ActivityDispatched ActivityStarted ActivityCompleted WorkflowCompleted]"
	if fmt.Sprint(types) != want {
		t.Errorf("the history is %v", types)
	}
}

func TestVariablesAreSetBeforeTheStart(t *testing.T) {
	s := simulate(t, `
  input: {type: object, properties: {n: {type: integer, default: 2}}}
  variables: {double: "${{ inputs.n * 2 }}", quad: "${{ vars.double * 2 }}"}
  activities:
    - {id: a, type: set, outputs: {v: vars.quad}}
  output: {v: activities.a.outputs.v}
`, nil)
	s.run().is("completed").outputIs(obj("v", int64(8)))
	if s.history[2].Type != VariablesSet || s.history[3].Type != WorkflowStarted {
		t.Errorf("history begins with %v %v", s.history[2].Type, s.history[3].Type)
	}
}

func TestVariablesThatCannotBeComputedFailTheExecution(t *testing.T) {
	s := simulate(t, `
  input: {type: object, properties: {o: {type: object, default: {}}}}
  variables: {v: "${{ inputs.o.missing }}"}
  activities:
    - {id: a, type: set, outputs: {v: vars.v}}
`, nil)
	s.run().is("failed").failedWith("expr.eval").are("a pending")
}

const diamond = `
  input: {type: object, required: [way], properties: {way: {type: string}}}
  activities:
    - id: choose
      type: switch
      switch:
        cases:
          - {name: left, when: 'inputs.way == "left"'}
          - {name: right, when: 'inputs.way == "right"'}
        default: neither
    - {id: left, type: http, needs: [choose.left], inputs: {url: http://x}}
    - {id: right, type: http, needs: [choose.right], inputs: {url: http://x}}
    - {id: meet, type: http, needs: [left, right], inputs: {url: "http://x/${{ activities.left.status }}/${{ activities.right.status }}"}}
    - {id: other, type: http, needs: [choose.neither], inputs: {url: http://x}}
    - {id: last, type: http, needs: [meet, other], inputs: {url: http://x}}
`

func TestJoinAllIgnoresBranchesLeftOut(t *testing.T) {
	s := simulate(t, diamond, obj("way", "left")).run().is("completed")
	s.are("choose completed left completed right skipped meet completed other skipped last completed")
	if got := s.given["meet"][0].(map[string]any)["url"]; got != "http://x/completed/skipped" {
		t.Errorf("meet was given %v", got)
	}
	simulate(t, diamond, obj("way", "up")).run().is("completed").
		are("left skipped right skipped meet skipped other completed last completed")
}

func TestJoinAllIsSkippedAfterAFailure(t *testing.T) {
	s := simulate(t, diamond, obj("way", "left"))
	s.answer("left", broken("http.400")).run().is("failed").failedWith("http.400")
	s.are("left failed right skipped meet skipped last skipped other skipped")
	d := Describe(s.wf, s.st)
	if d.Activities["meet"].SkipReason != reasonUpstream || d.Activities["right"].SkipReason != reasonBranch {
		t.Errorf("meet: %s, right: %s", d.Activities["meet"].SkipReason, d.Activities["right"].SkipReason)
	}
}

func join(mode string) string {
	return fmt.Sprintf(`
  input: {type: object, properties: {a: {type: boolean, default: true}, b: {type: boolean, default: true}, c: {type: boolean, default: true}}}
  activities:
    - {id: a, type: http, when: inputs.a, inputs: {url: http://x}}
    - {id: b, type: http, when: inputs.b, inputs: {url: http://x}}
    - {id: c, type: http, when: inputs.c, inputs: {url: http://x}}
    - {id: meet, type: http, needs: [a, b, c], join: %s, inputs: {url: http://x}}
`, mode)
}

func TestJoins(t *testing.T) {
	for _, c := range []struct{ mode, off, want string }{
		{"all", "", "completed"}, {"all", "a", "completed"}, {"all", "abc", "skipped"},
		{"every", "", "completed"}, {"every", "a", "skipped"},
		{"done", "", "completed"}, {"done", "abc", "completed"},
		{"any", "ab", "completed"}, {"any", "abc", "skipped"},
		{"{n_of_m: 2}", "a", "completed"}, {"{n_of_m: 2}", "ab", "skipped"},
	} {
		t.Run(c.mode+" without "+c.off, func(t *testing.T) {
			input := map[string]any{}
			for _, r := range c.off {
				input[string(r)] = false
			}
			simulate(t, join(c.mode), input).run().is("completed").are("meet " + c.want)
		})
	}
}

func TestNothingRan(t *testing.T) {
	s := simulate(t, join("all"), obj("a", false, "b", false, "c", false)).run().is("completed")
	if note := Describe(s.wf, s.st).Note; note != "nothing ran" {
		t.Errorf("the note is %q", note)
	}
}

func TestJoinAnyStartsWithTheFirstAndNotesTheRest(t *testing.T) {
	s := simulate(t, join("any"), nil)
	s.slow["c"] = time.Minute
	s.run().is("completed").are("c completed meet completed")
	if s.count(ActivityDispatched, "meet") != 1 {
		t.Error("meet ran more than once")
	}
}

func TestCancelRestEndsWhatLeadsNowhereElse(t *testing.T) {
	s := simulate(t, join("{n_of_m: 2, cancelRest: true}"), nil)
	s.slow["c"] = time.Hour
	s.run().is("completed").are("a completed b completed c cancelled meet completed")
	if s.now.Sub(testTime) > time.Minute {
		t.Errorf("it took %s", s.now.Sub(testTime))
	}
}

const risky = `
  activities:
    - {id: risky, type: http, inputs: {url: http://x}}
    - {id: good, type: http, needs: [risky], inputs: {url: http://x}}
    - {id: caught, type: http, needs: [{id: risky, port: failure, errors: [http.4xx]}], inputs: {url: "http://x/${{ error.type }}"}}
    - {id: whatever, type: http, needs: [risky.done], inputs: {url: http://x}}
    - {id: either, type: http, needs: [good, caught], join: any, inputs: {url: http://x}}
    - {id: both, type: http, needs: [good, caught], inputs: {url: http://x}}
`

func TestAFailureThatAnEdgeTakesIsABranch(t *testing.T) {
	s := simulate(t, risky, nil).answer("risky", broken("http.422")).run().is("completed")
	s.are("risky failed good skipped caught completed whatever completed either completed both completed")
	if got := s.given["caught"][0].(map[string]any)["url"]; got != "http://x/http.422" {
		t.Errorf("caught was given %v", got)
	}
	simulate(t, risky, nil).run().is("completed").are("good completed caught skipped either completed both completed")
}

func TestAFailureThatNobodyTakesFailsTheExecution(t *testing.T) {
	s := simulate(t, risky, nil).answer("risky", broken("http.500")).run().is("failed").failedWith("http.500")
	s.are("risky failed good skipped caught skipped whatever completed either skipped both skipped")
}

const parallel = `
  limits: {failFast: %s}
  activities:
    - {id: bad, type: http, inputs: {url: http://x}}
    - {id: side, type: http, inputs: {url: http://x}}
    - {id: side_next, type: http, needs: [side], inputs: {url: http://x}}
    - {id: after_bad, type: http, needs: [bad], inputs: {url: http://x}}
    - {id: parked, type: wait, wait: {timer: {after: 1h}}}
    - {id: clean, type: http, needs: [bad, side, side_next, parked], join: done, inputs: {url: http://x}}
`

func TestFailFastStartsNothingNew(t *testing.T) {
	s := simulate(t, fmt.Sprintf(parallel, "true"), nil).answer("bad", broken("http.400"))
	s.slow["side"] = time.Second
	s.run().is("failed").failedWith("http.400")
	s.are("bad failed side completed side_next skipped after_bad skipped parked cancelled clean completed")
	if s.now.Sub(testTime) > time.Minute {
		t.Error("the parked timer kept it alive")
	}
	if r := Describe(s.wf, s.st).Activities["side_next"].SkipReason; r != reasonFailFast {
		t.Errorf("side_next was skipped for %s", r)
	}
}

func TestWithoutFailFastIndependentBranchesGoOn(t *testing.T) {
	s := simulate(t, fmt.Sprintf(parallel, "false"), nil).answer("bad", broken("http.400"))
	s.run().is("failed").are("side completed side_next completed after_bad skipped parked completed clean completed")
}

func TestOnFailureContinue(t *testing.T) {
	s := simulate(t, `
  activities:
    - {id: lookup, type: http, onFailure: continue, inputs: {url: http://x}, outputs: {name: result.body.name}}
    - {id: use, type: http, needs: [lookup], inputs: {url: '${{ activities.lookup.outputs?.name ?? "unknown" }}-${{ activities.lookup.status }}'}}
`, nil).answer("lookup", broken("http.404")).run().is("completed").are("lookup failed use completed")
	if got := s.given["use"][0].(map[string]any)["url"]; got != "unknown-failed" {
		t.Errorf("use was given %v", got)
	}
}

func TestOnSkipPass(t *testing.T) {
	simulate(t, `
  activities:
    - {id: passing, type: http, when: 1 == 2, onSkip: pass, inputs: {url: http://x}}
    - {id: after, type: http, needs: [passing], inputs: {url: http://x}}
    - {id: port, type: http, needs: [passing.skipped], inputs: {url: http://x}}
    - {id: plain, type: http, when: 1 == 2, inputs: {url: http://x}}
    - {id: behind, type: http, needs: [plain], inputs: {url: http://x}}
    - {id: gate, type: switch, switch: {cases: [{name: open, when: 1 == 2}], default: shut}}
    - {id: gated, type: http, needs: [gate.open], onSkip: pass, inputs: {url: http://x}}
    - {id: after_gated, type: http, needs: [gated], inputs: {url: http://x}}
`, nil).run().is("completed").
		are("passing skipped after completed port completed plain skipped behind skipped gated skipped after_gated skipped")
}

func TestSwitchGateAndNoMatch(t *testing.T) {
	gate := `
  input: {type: object, properties: {open: {type: boolean, default: true}}}
  activities:
    - {id: gate, type: switch, switch: {cases: [{name: passes, when: inputs.open}]}}
    - {id: after, type: http, needs: [gate], inputs: {url: http://x}}
`
	simulate(t, gate, nil).run().is("completed").are("gate completed after completed")
	simulate(t, gate, obj("open", false)).run().is("failed").failedWith("switch.no_match").are("after skipped")
}

func TestEndStopsWhatStillRuns(t *testing.T) {
	s := simulate(t, `
  activities:
    - {id: quick, type: http, inputs: {url: http://x}}
    - {id: long, type: wait, wait: {timer: {after: 1h}}}
    - {id: busy, type: http, inputs: {url: http://x}}
    - {id: stop, type: end, needs: [quick], end: {output: {how: '"early"'}}}
    - {id: later, type: http, needs: [long], join: done, inputs: {url: http://x}}
`, nil)
	s.slow["busy"] = time.Minute
	s.run().is("completed").outputIs(obj("how", "early"))
	s.are("quick completed long cancelled busy cancelled stop completed later pending")
}

func TestFailEndsWithItsOwnError(t *testing.T) {
	s := simulate(t, `
  activities:
    - {id: decline, type: fail, fail: {error: order.declined, message: "declined by ${{ execution.actor }}", detail: {code: 7}}}
`, nil).run().is("failed").failedWith("order.declined")
	if e := Describe(s.wf, s.st).Error; e.Message != "declined by ann" || e.Activity != "decline" {
		t.Errorf("the error is %+v", e)
	}
}

func TestOutputThatCannotBeComputedFailsTheExecution(t *testing.T) {
	simulate(t, `
  activities:
    - {id: a, type: http, inputs: {url: http://x}}
  output: {v: activities.a.outputs.body.missing}
`, nil).run().is("failed").failedWith("expr.eval").are("a completed")
}

func TestOutputsThatCannotBeComputedFailWithoutARetry(t *testing.T) {
	s := simulate(t, `
  activities:
    - {id: a, type: http, retry: {attempts: 4, delay: 1s, errors: ["*"]}, inputs: {url: http://x}, outputs: {v: result.body.missing}}
    - {id: b, type: http, needs: [a], inputs: {url: http://x}}
`, nil).run().is("failed").failedWith("expr.eval").are("a failed b skipped")
	if s.count(ActivityDispatched, "a") != 1 {
		t.Error("it was tried again")
	}
}

func TestAConditionThatIsNoBooleanFailsItsActivity(t *testing.T) {
	simulate(t, `
  activities:
    - {id: a, type: http, inputs: {url: http://x}}
    - {id: b, type: http, needs: [a], when: activities.a.outputs.body.count, inputs: {url: http://x}}
`, nil).answer("a", body("count", int64(1))).run().is("failed").failedWith("expr.eval").are("b failed")
}

func TestMaxParallelBoundsAttempts(t *testing.T) {
	s := simulate(t, `
  limits: {maxParallel: 2}
  activities:
    - {id: a, type: http, inputs: {url: http://x}}
    - {id: b, type: http, priority: low, inputs: {url: http://x}}
    - {id: c, type: http, inputs: {url: http://x}}
    - {id: d, type: http, priority: critical, inputs: {url: http://x}}
`, nil)
	s.advance()
	var names string
	for _, w := range Pending(s.wf, s.st) {
		names += w.Activity
	}
	if names != "da" {
		t.Errorf("%q are with workers, expected the critical one and the first", names)
	}
	if waits := Describe(s.wf, s.st).Waits; len(waits) != 2 || waits[0].Kind != "queue" {
		t.Errorf("waits: %+v", waits)
	}
	s.run().is("completed").ranIs("d a c b")
}

func TestTheSameAttemptIsAnsweredOnce(t *testing.T) {
	s := simulate(t, `
  activities:
    - {id: a, type: http, retry: {attempts: 2, strategy: fixed, delay: 1s}, inputs: {url: http://x}}
`, nil)
	s.advance()
	w := Pending(s.wf, s.st)[0]
	lateOne := s.mock(w)
	s.receive(Message{Result: &Result{Activity: "a", Attempt: 1, Error: broken("http.503").err}})
	s.refuses(Message{Result: &lateOne})
	s.pass(2 * time.Second)
	s.is("completed")
	s.refuses(Message{Result: &lateOne})
}
