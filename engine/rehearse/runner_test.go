package rehearse

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"weftline/engine/flow"
)

// suite reads cases as they stand below spec.cases.
func suite(t testing.TB, cases string) []flow.TestCase {
	t.Helper()
	suites, report := flow.Tests([]byte("apiVersion: weftline/v1\nkind: WorkflowTest\nmetadata: {name: cases}\nspec:\n  cases:\n" + cases))
	if !report.Valid {
		t.Fatalf("the cases are not valid: %+v", report.Errors)
	}
	return suites[0].Cases
}

func runCases(t *testing.T, spec, cases string) (*Runner, []CaseResult) {
	t.Helper()
	runner := &Runner{Workflow: load(t, spec)}
	var results []CaseResult
	for _, c := range suite(t, cases) {
		results = append(results, runner.Case(c))
	}
	return runner, results
}

func mustPass(t *testing.T, spec, cases string) *Runner {
	t.Helper()
	runner, results := runCases(t, spec, cases)
	for _, result := range results {
		if !result.Passed {
			t.Errorf("%s: %+v", result.Name, result.Failures)
		}
	}
	return runner
}

// saysOf joins what a single case complains about.
func saysOf(t *testing.T, spec, cases string) string {
	t.Helper()
	_, results := runCases(t, spec, cases)
	var says []string
	for _, failure := range results[0].Failures {
		says = append(says, fmt.Sprintf("%d %s %s", failure.Line, failure.Path, failure.Message))
	}
	return strings.Join(says, "\n")
}

const release = `
  input: {type: object, properties: {service: {type: string, default: shop}}}
  compensation: {runOn: [failure, cancel], retry: {attempts: 1}}
  activities:
    - id: build
      type: http
      retry: {attempts: 3, strategy: fixed, delay: 10s}
      inputs: {method: POST, url: "http://ci/${{ inputs.service }}"}
      outputs: {image: result.body.image}
    - id: approve
      type: human
      needs: [build]
      human: {title: "Release ${{ activities.build.outputs.image }}?", candidates: {groups: [leads]}, notActor: true, due: 8h}
    - id: deploy
      type: http
      needs: [approve]
      inputs: {method: POST, url: http://prod}
      outputs: {at: result.body.at}
      compensate: {type: http, inputs: {method: POST, url: http://prod/undo}}
    - id: healthy
      type: event
      needs: [deploy]
      event: {name: deploy.healthy, correlation: inputs.service}
      timeout: 15m
    - {id: tell, type: http, needs: [approve.rejected], inputs: {url: http://chat}}
  output: {image: activities.build.outputs.image}
`

const releaseCases = `
    - name: good
      startedBy: ann
      mocks:
        build:
          - {error: http.503}
          - {result: {status: 200, body: {image: "shop:1"}}}
        deploy: {at: noon}
      script:
        - {at: 1h, human: approve, outcome: approved, by: bob}
        - {at: 1h, crash: true}
        - {at: 1h5m, event: deploy.healthy, key: shop}
      expect:
        status: completed
        path: [build, approve, deploy, healthy]
        skipped: [tell]
        attempts: {build: 2, deploy: 1}
        inputs: {build: {url: "http://ci/shop"}}
        output: {image: "shop:1"}
        duration: 1h5m
    - name: rejected
      mocks: {build: {image: "shop:1"}, tell: {}}
      script: [{at: 2h, human: approve, outcome: rejected, by: bob}]
      expect: {path: [build, approve, tell], skipped: [deploy, healthy]}
    - name: nobody decides
      mocks: {build: {image: "shop:1"}}
      expect: {status: failed, error: human.expired, duration: 8h}
    - name: unhealthy
      mocks: {build: {image: "shop:1"}, deploy: {at: noon}, deploy/compensate: {}}
      script: [{at: 1h, human: approve, by: bob}]
      expect: {status: compensated, error: event.*, attempts: {deploy/compensate: 1}, duration: 1h15m}
    - name: withdrawn
      mocks: {build: {image: "shop:1"}}
      script: [{at: 1h, cancel: not today}]
      expect: {status: cancelled, duration: 1h}
`

func TestCasesOfARelease(t *testing.T) {
	runner := mustPass(t, release, releaseCases)
	c := runner.Coverage()
	if c.Percent != 100 || c.Activities.Total != 6 || c.Ports.Total != 5 {
		t.Errorf("%+v", c)
	}
}

// Every case ends the same when the state is folded from the history after each move.
func TestReplayChangesNothing(t *testing.T) {
	for _, c := range suite(t, releaseCases) {
		plain := (&Runner{Workflow: load(t, release)}).Case(c)
		replayed := (&Runner{Workflow: load(t, release), Replays: true}).Case(c)
		if fmt.Sprint(plain) != fmt.Sprint(replayed) {
			t.Errorf("%s:\n%+v\n%+v", c.Name, plain, replayed)
		}
	}
}

func TestCoverageNamesWhatIsMissing(t *testing.T) {
	runner, _ := runCases(t, release, `
    - name: rejected
      mocks: {build: {image: "shop:1"}, tell: {}}
      script: [{at: 2h, human: approve, outcome: rejected, by: bob}]
`)
	c := runner.Coverage()
	if got := strings.Join(c.Activities.Missing, " "); got != "deploy deploy/compensate healthy" {
		t.Errorf("activities: %s", got)
	}
	if got := strings.Join(c.Ports.Missing, " "); got != "approve.approved approve.expired healthy.received healthy.timeout" {
		t.Errorf("ports: %s", got)
	}
	if c.Percent >= 100 {
		t.Errorf("%d", c.Percent)
	}
}

func TestSwitchCasesAreCovered(t *testing.T) {
	runner := mustPass(t, `
  input: {type: object, required: [size], properties: {size: {type: integer}}}
  activities:
    - id: band
      type: switch
      switch: {cases: [{name: small, when: inputs.size < 10}, {name: large, when: inputs.size > 100}], default: middle}
    - {id: quick, type: set, needs: [band.small], outputs: {way: '"quick"'}}
    - {id: careful, type: set, needs: [band.large, band.middle], outputs: {way: '"careful"'}}
  output: {way: activities.quick.outputs?.way ?? activities.careful.outputs?.way}
`, `
    - {name: small, input: {size: 1}, expect: {output: {way: quick}, skipped: [careful]}}
    - {name: large, input: {size: 101}, expect: {output: {way: careful}}}
`)
	if c := runner.Coverage(); c.Cases.Covered != 2 || !slices.Equal(c.Cases.Missing, []string{"band.middle"}) {
		t.Errorf("%+v", c.Cases)
	}
}

func TestWhatDiffersIsNamedWithItsPlace(t *testing.T) {
	says := saysOf(t, release, `
    - name: wrong
      startedBy: ann
      mocks: {build: {image: "shop:1"}, tell: {}}
      script:
        - {at: 1h, human: approve, outcome: rejected, by: bob}
      expect:
        status: failed
        error: human.rejected
        path: [build]
        skipped: []
        attempts: {build: 2}
        inputs: {build: {url: "http://ci/other", method: POST}}
        output: {image: "shop:2", more: 1}
        duration: 2h
`)
	for _, want := range []string{
		"13 expect.status the execution is completed, expected failed",
		"14 expect.error expected the error human.rejected, there is none",
		"15 expect.path the path is build → approve → tell, expected build",
		"16 expect.skipped skipped: deploy, healthy, expected none",
		"17 expect.attempts.build build had 1 attempt, expected 2",
		`18 expect.inputs.build build.url is "http://ci/shop", expected "http://ci/other"`,
		`19 expect.output output.image is "shop:1", expected "shop:2"`,
		"19 expect.output output.more is missing, expected 1",
		"20 expect.duration it took 1h, expected 2h",
	} {
		if !strings.Contains(says, want) {
			t.Errorf("missing %q in\n%s", want, says)
		}
	}
}

func TestCasesThatCannotWorkSayWhy(t *testing.T) {
	for want, cases := range map[string]string{
		"mocks.deploy deploy (http) ran and has no mock":                   "    - name: x\n      mocks: {build: {image: a}}\n      script: [{at: 1m, human: approve, by: bob}]\n",
		`mocks.biuld there is no activity "biuld"; did you mean`:           "    - name: x\n      mocks: {biuld: {}}\n",
		"script[0] ann cannot decide approve at 1m: you started":           "    - name: x\n      startedBy: ann\n      mocks: {build: {image: a}}\n      script: [{at: 1m, human: approve, by: ann}]\n",
		"script[0] it stands at 9h, but the execution was failed after 8h": "    - name: x\n      mocks: {build: {image: a}}\n      script: [{at: 9h, human: approve, by: bob}]\n",
		"script[0] deploy has no open task at 1m: it is pending":           "    - name: x\n      mocks: {build: {image: a}}\n      script: [{at: 1m, human: deploy, by: bob}]\n",
		`"maybe" is no decision of this task`:                              "    - name: x\n      mocks: {build: {image: a}}\n      script: [{at: 1m, human: approve, by: bob, outcome: maybe}]\n",
		"input/service: ":                                                  "    - name: x\n      input: {service: 1}\n",
	} {
		if says := saysOf(t, release, cases); !strings.Contains(says, want) {
			t.Errorf("missing %q in\n%s", want, says)
		}
	}
	says := saysOf(t, "  activities:\n    - {id: ask, type: human, human: {title: Q, candidates: {users: [ann]}}}\n", "    - name: x\n")
	if !strings.Contains(says, "it never ends: ask waits for a person") {
		t.Error(says)
	}
}

func TestTimeOfAttempts(t *testing.T) {
	mustPass(t, `
  activities:
    - id: slow
      type: http
      timeout: 30s
      retry: {attempts: 2, strategy: fixed, delay: 5s}
      inputs: {url: http://x}
`, `
    - name: the second try is in time
      mocks: {slow: [{takes: 2m}, {takes: 4s}]}
      expect: {attempts: {slow: 2}, duration: 39s}
    - name: never in time
      mocks: {slow: {takes: 2m}}
      expect: {error: timeout.attempt, duration: 65s}
    - name: the engine dies in the middle of an attempt
      mocks: {slow: [{takes: 20s}, {takes: 10s}]}
      script: [{at: 15s, crash: true}]
      expect: {attempts: {slow: 2}}
`)
}

func TestLoopsItemsAndSemaphores(t *testing.T) {
	mustPass(t, `
  input: {type: object, properties: {names: {type: array, items: {type: string}, default: [a, b, c]}}}
  activities:
    - id: send
      type: for_each
      for_each:
        items: inputs.names
        key: item
        tolerate: 1
        maxConcurrent: 3
        activity:
          type: http
          semaphore: {name: printer, permits: 1}
          inputs: {url: "http://mail/${{ item }}"}
          retry: {attempts: 2, strategy: fixed, delay: 1s}
  output: {sent: activities.send.outputs.completed, failed: activities.send.outputs.failed}
`, `
    - name: one fails for good, one at first
      mocks:
        send:
          result: {status: 200}
          takes: 10s
          items:
            b: {error: http.404}
            c: [{error: http.503}, {result: {status: 200}}]
      expect:
        output: {sent: 2, failed: 1}
        attempts: {"send[a]": 1, "send[b]": 1, "send[c]": 2}
        inputs: {"send[c]": {url: "http://mail/c"}}
`)
}

func TestEmittedAndEarlyEventsReachTheirWaits(t *testing.T) {
	mustPass(t, `
  activities:
    - {id: say, type: emit, emit: {name: order.paid, key: '"o1"', payload: {amount: 3}}}
    - id: heard
      type: event
      needs: [say]
      event: {name: order.paid, correlation: '"o1"', where: event.payload.amount > 2}
      timeout: 1h
      outputs: {amount: result.payload.amount}
    - {id: rest, type: wait, needs: [heard], wait: {timer: {after: 2h}}}
    - {id: late, type: event, needs: [rest], event: {name: go}, timeout: 1h}
  output: {amount: activities.heard.outputs.amount}
`, `
    - name: all
      script: [{at: 1h, event: go}, {at: 30m, note: half an hour}]
      expect: {path: [say, heard, rest, late], duration: 2h, output: {amount: 3}}
`)
}

func TestPeopleDecideByTheRulesOfTasks(t *testing.T) {
	mustPass(t, `
  activities:
    - id: two
      type: human
      human: {title: Two of you, candidates: {groups: [g]}, quorum: 2, due: 8h, remind: [1h], form: {type: object, required: [why], properties: {why: {type: string}}}}
    - {id: other, type: human, needs: [two], human: {title: "After ${{ activities.two.outputs.form.why }}", candidates: {users: [eve]}, notSameAs: [two], due: 8h}}
`, `
    - name: two people agree, then a third
      script:
        - {at: 1h, human: two, by: ann, form: {why: because}}
        - {at: 2h, human: two, by: bob, form: {why: agreed}}
        - {at: 3h, human: other, by: eve}
      expect: {path: [two, other], duration: 3h, inputs: {two: {title: Two of you, groups: [g]}, other: {title: After agreed}}}
`)
	for want, script := range map[string]string{
		"your vote is counted already":                "{at: 1h, human: two, by: ann, form: {why: a}}, {at: 2h, human: two, by: ann, form: {why: a}}",
		"the form does not fit":                       "{at: 1h, human: two, by: ann}",
		"two has no open task at 2h: it is completed": "{at: 1h, human: two, by: ann}, {at: 2h, human: two, by: bob}",
	} {
		spec := "  activities:\n    - {id: two, type: human, human: {title: T, candidates: {groups: [g]}, quorum: 2, due: 8h, form: {type: object, required: [why], properties: {why: {type: string}}}}}\n"
		if strings.Contains(want, "completed") {
			spec = "  activities:\n    - {id: two, type: human, human: {title: T, candidates: {groups: [g]}, due: 8h}}\n    - {id: rest, type: wait, needs: [two], wait: {timer: {after: 3h}}}\n"
		}
		if says := saysOf(t, spec, "    - {name: x, script: ["+script+"]}\n"); !strings.Contains(says, want) {
			t.Errorf("missing %q in\n%s", want, says)
		}
	}
}

func TestPeopleAndEventsMayBeMocked(t *testing.T) {
	mustPass(t, `
  activities:
    - {id: ask, type: human, human: {title: T, candidates: {users: [ann]}, due: 1h}}
    - {id: paid, type: event, needs: [ask], event: {name: paid, correlation: '"k"', where: event.payload.amount > 1}, timeout: 1h}
    - {id: say, type: set, needs: [ask.rejected], outputs: {who: activities.ask.outputs.by}}
  output: {amount: activities.paid.outputs?.payload?.amount, who: activities.say.outputs?.who}
`, `
    - name: both
      mocks: {ask: {outcome: approved, by: eve}, paid: {payload: {amount: 3}}}
      expect: {output: {amount: 3, who: null}, duration: 0s}
    - name: rejected
      mocks: {ask: {outcome: rejected, by: eve}}
      expect: {output: {amount: null, who: eve}}
`)
	says := saysOf(t, "  activities:\n    - {id: paid, type: event, event: {name: paid, where: event.payload.amount > 1}, timeout: 1h}\n",
		"    - {name: x, mocks: {paid: {payload: {amount: 0}}}}\n")
	if !strings.Contains(says, "does not meet where or schema") {
		t.Error(says)
	}
}

// A crash in the middle of an attempt that may happen once only is a failure, here as on a server.
func TestCrashDuringWhatMayHappenOnce(t *testing.T) {
	mustPass(t, `
  activities:
    - {id: charge, type: http, once: true, inputs: {method: POST, url: http://bank}}
`, `
    - name: lost
      mocks: {charge: {takes: 10s}}
      script: [{at: 5s, crash: true}]
      expect: {error: engine.worker_lost, duration: 5s}
    - name: cancelled in the middle
      mocks: {charge: {takes: 10s}}
      script: [{at: 5s, cancel: true, reason: enough}]
      expect: {status: cancelled}
`)
}

func TestChildrenHaveTheirOwnMocksAndPeople(t *testing.T) {
	child := loadNamed(t, "child", `
  activities:
    - {id: ask, type: human, human: {title: T, candidates: {users: [ann]}, due: 1h}}
    - {id: do, type: http, needs: [ask], inputs: {url: http://x}, outputs: {made: result.body.made}}
  output: {made: activities.do.outputs.made}
`)
	runner := &Runner{Workflow: load(t, `
  activities:
    - {id: part, type: workflow, workflow: {name: child}}
  output: {made: activities.part.outputs.output.made}
`), Library: func(string) *flow.Workflow { return child }}
	for _, c := range suite(t, `
    - name: good
      mocks: {part/do: {made: 7}}
      script: [{at: 4m, crash: true}, {at: 5m, human: part/ask, by: ann}]
      expect: {output: {made: 7}, duration: 5m}
    - name: rejected
      script: [{at: 5m, human: part/ask, outcome: rejected, by: ann}]
      expect: {status: failed, error: child.human.rejected}
    - name: mocked as a whole
      mocks: {part: {output: {made: 1}}}
      expect: {output: {made: 1}}
`) {
		if result := runner.Case(c); !result.Passed {
			t.Errorf("%s: %+v", c.Name, result.Failures)
		}
	}
}

func BenchmarkCases(b *testing.B) {
	cases := suite(b, releaseCases)
	runner := &Runner{Workflow: load(b, release)}
	for i := 0; b.Loop(); i++ {
		runner.Case(cases[i%len(cases)])
	}
}
