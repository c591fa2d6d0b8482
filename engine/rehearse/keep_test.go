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
				if crashesOrCancels(c) {
					continue // a person's hand and a lost worker are no part of what an execution was given
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

func crashesOrCancels(c flow.TestCase) bool {
	for _, step := range c.Script {
		if step.Cancel || step.Crash {
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
	w := rehearse(*given)
	end := execution.Describe(w.root().wf, w.root().st)
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
