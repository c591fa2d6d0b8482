package rehearse

import (
	"os"
	"path/filepath"
	"testing"

	"weftline/engine/execution"
	"weftline/engine/flow"
)

// What is kept of an execution comes to the same end, by the same path: for every case of the examples, and for a
// workflow with attempts, items, a person, an event and what undoes.
func TestAKeptExecutionPassesAsATest(t *testing.T) {
	files, err := filepath.Glob("../../app/examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	texts := map[string]string{"everything": keptEverything}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(file)] = string(text)
	}
	kept := 0
	for name, text := range texts {
		workflow, err := flow.Load([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		suites, _ := flow.Tests([]byte(text))
		for _, suite := range suites {
			for _, c := range suite.Cases {
				if crashes(c) {
					continue // a lost worker is no part of what an execution was given
				}
				kept++
				keptPasses(t, name+": "+c.Name, workflow, text, c)
			}
		}
	}
	if kept < 3 {
		t.Errorf("only %d cases were tried", kept)
	}
}

func crashes(c flow.TestCase) bool {
	for _, step := range c.Script {
		if step.Crash {
			return true
		}
	}
	return false
}

func keptPasses(t *testing.T, name string, workflow *flow.Workflow, text string, c flow.TestCase) {
	t.Helper()
	runner := &Runner{Workflow: workflow}
	given, faults := runner.setup(c)
	if given == nil {
		t.Fatalf("%s: %v", name, faults)
	}
	keptWorldPasses(t, name, workflow, text, rehearse(*given))
}

// keptWorldPasses keeps what a world came to and runs the case of it.
func keptWorldPasses(t *testing.T, name string, workflow *flow.Workflow, text string, w *world) {
	t.Helper()
	runner := &Runner{Workflow: workflow}
	end := execution.Describe(w.root().wf, w.root().st)
	if !execution.IsTerminal(end.Status) {
		t.Fatalf("%s: it does not end, it is %s: %v", name, end.Status, w.faults)
	}
	whole, err := flow.WithTest([]byte(text), workflow.Name, Keep(workflow, w.root().history, end, "kept"))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if _, err := flow.Load(whole); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, whole[len(text):])
	}
	if string(whole[:len(text)]) != text {
		t.Errorf("%s: what stood there was changed", name)
	}
	suites, _ := flow.Tests(whole)
	if result := runner.Case(suites[len(suites)-1].Cases[0]); !result.Passed || result.Status != end.Status {
		t.Errorf("%s: %+v\n%s", name, result, whole[len(text):])
	}
}

// What a hand did to an execution is kept as well: who cancelled it, and when. What was retried is kept as its last
// life, whose mocks are those of the attempts that count.
func TestACancelledAndARetriedExecutionIsKept(t *testing.T) {
	const cut = `apiVersion: weftline/v1
kind: Workflow
metadata: {name: cut}
spec:
  compensation: {runOn: [cancel]}
  activities:
    - {id: load, type: http, inputs: {url: https://shop.example}, compensate: {type: http, inputs: {url: https://shop.example/undo}}}
    - {id: pause, type: wait, needs: [load], wait: {timer: {after: 10m}}}
    - {id: slow, type: http, needs: [pause], retry: {attempts: 5, delay: 20s, strategy: fixed}, timeout: 30s, inputs: {url: https://shop.example/slow}}
    - {id: ask, type: human, needs: [load], human: {title: Go on?, candidates: {users: [ann]}}}
    - {id: after, type: http, needs: [slow, ask], inputs: {url: https://shop.example/after}}
---
apiVersion: weftline/v1
kind: WorkflowTest
metadata: {name: cut}
spec:
  cases:
    - name: cancelled while an attempt is under way
      mocks: {load: {outputs: {status: 200}, takes: 4s}, load/compensate: {status: 200}, slow: [{error: http.503, takes: 25s}, {takes: 29s}]}
      script: [{at: 11m, cancel: true, by: ann, reason: not needed}]
    - name: cancelled while it pauses before the next attempt, and nothing is undone
      mocks: {load: {status: 200}, slow: {error: http.503}}
      script: [{at: 615s, cancel: true, compensate: false}]
    - name: cancelled while a person is asked
      mocks: {load: {status: 200}, load/compensate: {status: 200}}
      script: [{at: 1m, cancel: true, by: ann}]
      expect: {status: cancelled}
`
	workflow, err := flow.Load([]byte(cut))
	if err != nil {
		t.Fatal(err)
	}
	suites, _ := flow.Tests([]byte(cut))
	for _, c := range suites[0].Cases {
		keptPasses(t, c.Name, workflow, cut, c)
	}

	const again = `apiVersion: weftline/v1
kind: Workflow
metadata: {name: again}
spec:
  compensation: {runOn: [failure]}
  activities:
    - {id: load, type: http, inputs: {url: https://shop.example}, compensate: {type: http, inputs: {url: https://shop.example/undo}}}
    - {id: ship, type: http, needs: [load], retry: {attempts: 2, delay: 1s}, inputs: {url: https://shop.example/ship}}
  output: {status: activities.ship.outputs.status}
---
apiVersion: weftline/v1
kind: WorkflowTest
metadata: {name: again}
spec:
  cases:
    - name: fails, and so does what undoes it
      mocks: {load: {status: 200}, ship: [{error: http.503}, {error: http.404}, {error: http.503}, {status: 201}], load/compensate: {error: http.404}}
`
	workflow, err = flow.Load([]byte(again))
	if err != nil {
		t.Fatal(err)
	}
	suites, _ = flow.Tests([]byte(again))
	runner := &Runner{Workflow: workflow}
	given, faults := runner.setup(suites[0].Cases[0])
	if given == nil {
		t.Fatal(faults)
	}
	w := rehearse(*given)
	if status := w.root().st.Status; status != execution.StatusFailed {
		t.Fatalf("the first life is %s, not failed", status)
	}
	if err := w.root().receive(execution.Message{Retry: &execution.Retry{By: "ann"}}); err != nil {
		t.Fatal(err)
	}
	for w.move() {
	}
	if status := w.root().st.Status; status != execution.StatusCompleted {
		t.Fatalf("the second life is %s, not completed: %v", status, w.faults)
	}
	keptWorldPasses(t, "retried by hand", workflow, again, w)
}

const keptEverything = `apiVersion: weftline/v1
kind: Workflow
metadata: {name: everything}
spec:
  input: {type: object, properties: {lines: {type: array, default: [a, b]}}}
  activities:
    - {id: load, type: http, inputs: {url: https://shop.example}, retry: {attempts: 3, delay: 1s}, compensate: {type: http, inputs: {url: https://shop.example/undo}}}
    - {id: each, type: for_each, needs: [load], for_each: {items: inputs.lines, activity: {type: http, retry: 2, inputs: {url: "https://shop.example/${{ item }}"}}}}
    - {id: ask, type: human, needs: [each], human: {title: Go on?, candidates: {users: [ann]}, due: 1d}}
    - {id: heard, type: event, needs: [ask], event: {name: packed, correlation: '"k"'}, timeout: 1h}
    - {id: late, type: set, needs: [ask.expired], outputs: {late: "true"}}
    - {id: ship, type: http, needs: [heard], inputs: {url: https://shop.example/ship}}
---
apiVersion: weftline/v1
kind: WorkflowTest
metadata: {name: everything}
spec:
  cases:
    - name: all goes well in the end
      mocks:
        load: [{error: http.503}, {status: 200, body: {outputs: 1}}]
        each: {items: {"0": {status: 200}, "1": [{error: http.502}, {status: 200}]}}
        ship: {outputs: {outputs: {odd: true}}}
      script:
        - {at: 1h, human: ask, outcome: approved, by: ann, comment: fine}
        - {at: 90m, event: packed, key: k, payload: {box: 4}}
    - name: shipping fails, and all is undone
      mocks: {load: {status: 200}, each: {status: 200}, ship: {error: http.404}, load/compensate: {status: 200}}
      script:
        - {at: 1h, human: ask, outcome: approved, by: ann}
        - {at: 90m, event: packed, key: k, payload: {}}
      expect: {status: compensated}
    - name: nobody answers
      mocks: {load: {status: 200}, each: {status: 200}}
`
