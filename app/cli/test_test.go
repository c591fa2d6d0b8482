package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const greetTests = `apiVersion: weftline/v1
kind: WorkflowTest
metadata: {name: greet}
spec:
  workflow: greet.yaml
  cases:
    - name: says hello
      input: {name: Ann}
      expect: {path: [hello, pause], output: {text: Hello Ann}, duration: 10ms}
    - name: says goodbye
      input: {name: Ann}
      expect: {output: {text: Goodbye Ann}}
`

// testFolder holds the workflow and its tests.
func testFolder(t *testing.T, tests string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{"greet.yaml": good, "greet.test.yaml": tests, "other.yaml": "a: 1\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestTestRunsAFolder(t *testing.T) {
	folder := testFolder(t, greetTests)
	got := call(t, nil, "", "test", folder)
	for _, want := range []string{"ok    says hello: completed after 10ms", "FAIL  says goodbye", `12:16: expect.output: output.text is "Hello Ann", expected "Goodbye Ann"`,
		"greet: 100% covered (activities 2/2", "1 passed, 1 failed"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("missing %q in\n%s", want, got.out)
		}
	}
	if got.code != 1 {
		t.Errorf("exit %d", got.code)
	}
	if got := call(t, nil, "", "test", "--case", "hello", "--replay", filepath.Join(folder, "greet.test.yaml")); got.code != 0 || !strings.Contains(got.out, "1 passed, 0 failed") {
		t.Errorf("%+v", got)
	}
}

func TestTestForMachines(t *testing.T) {
	folder := testFolder(t, greetTests)
	junit := filepath.Join(folder, "out.xml")
	got := call(t, nil, "", "test", "--json", "--junit", junit, folder)
	var summary testSummary
	if err := json.Unmarshal([]byte(got.out), &summary); err != nil || summary.Passed != 1 || summary.Failed != 1 || summary.Coverage[0].Percent != 100 {
		t.Errorf("%v %s", err, got.out)
	}
	text, err := os.ReadFile(junit)
	if err != nil || !strings.Contains(string(text), `tests="2" failures="1"`) || !strings.Contains(string(text), `<failure message="expect.output: output.text`) {
		t.Errorf("%v %s", err, text)
	}
}

func TestTestSaysWhatCannotRun(t *testing.T) {
	for want, change := range map[string][2]string{
		"wrong.yaml is not there":    {"workflow: greet.yaml", "workflow: wrong.yaml"},
		"E401":                       {"path: [hello, pause]", "paht: [hello, pause]"},
		"other.yaml:1:1: error E402": {"workflow: greet.yaml", "workflow: other.yaml"},
	} {
		got := call(t, nil, "", "test", testFolder(t, strings.Replace(greetTests, change[0], change[1], 1)))
		if got.code != 1 || !strings.Contains(got.err, want) || !strings.Contains(got.out, "1 files could not be run") {
			t.Errorf("missing %q: %+v", want, got)
		}
	}
	if got := call(t, nil, "", "test", t.TempDir()); got.code != 1 || !strings.Contains(got.err, "there is no case to run") {
		t.Errorf("%+v", got)
	}
	if got := call(t, nil, "", "test", "--coverage-min", "101", "."); got.code != int(usageFault) {
		t.Errorf("%+v", got)
	}
}

func TestTestWantsCoverage(t *testing.T) {
	folder := testFolder(t, strings.Replace(greetTests, "Goodbye", "Hello", 1))
	text := strings.Replace(good, "  output:\n", "    - {id: never, type: set, needs: [pause], when: inputs.name == \"Eve\", outputs: {eve: \"1\"}}\n  output:\n", 1)
	if err := os.WriteFile(filepath.Join(folder, "greet.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	got := call(t, nil, "", "test", "--coverage-min", "80", folder)
	if got.code != 1 || !strings.Contains(got.out, "never seen: never") || !strings.Contains(got.out, "less than the 80%") {
		t.Errorf("%+v", got)
	}
	if got := call(t, nil, "", "test", "--coverage-min", "60", folder); got.code != 0 {
		t.Errorf("%+v", got)
	}
}

func TestTestFindsChildrenBeside(t *testing.T) {
	folder := testFolder(t, `apiVersion: weftline/v1
kind: Workflow
metadata: {name: parent}
spec:
  activities:
    - {id: part, type: workflow, workflow: {name: greet}, inputs: {name: Bob}}
  output: {said: activities.part.outputs.output.text}
---
apiVersion: weftline/v1
kind: WorkflowTest
metadata: {name: parent}
spec:
  cases: [{name: child runs, expect: {output: {said: Hello Bob}}}]
`)
	if got := call(t, nil, "", "test", folder); got.code != 0 {
		t.Errorf("%+v", got)
	}
}

func TestPlan(t *testing.T) {
	path := file(t, "greet.yaml", good)
	got := call(t, nil, "", "plan", path, "--input", "name=Ann")
	for _, want := range []string{"hello                    set       completed", "the execution is completed after 10ms", `output {"text":"Hello Ann"}`} {
		if !strings.Contains(got.out, want) {
			t.Errorf("missing %q in\n%s", want, got.out)
		}
	}
	if got.code != 0 {
		t.Errorf("exit %d %s", got.code, got.err)
	}
	if got := call(t, nil, "", "plan", path); got.code != 1 || !strings.Contains(got.err, "the input does not fit") {
		t.Errorf("%+v", got)
	}
	fetch := file(t, "fetch.yaml", "apiVersion: weftline/v1\nkind: Workflow\nmetadata: {name: fetch}\nspec:\n  activities: [{id: get, type: http, inputs: {url: http://x}}]\n  output: {code: activities.get.outputs.status}\n")
	if got := call(t, nil, "", "plan", fetch); got.code != 1 || !strings.Contains(got.out, "get needs a mock") {
		t.Errorf("%+v", got)
	}
	mocks := file(t, "mocks.yaml", "get: {result: {status: 204}}\n")
	if got := call(t, nil, "", "plan", fetch, "--mocks", mocks, "--json"); got.code != 0 || !strings.Contains(got.out, `"code": 204`) {
		t.Errorf("%+v", got)
	}
}

func TestACaseThatTakesNoTimeSaysNothingOfIt(t *testing.T) {
	if got := onItsClock("0s") + onItsClock("2h"); got != " after 2h" {
		t.Errorf("got %q", got)
	}
}
