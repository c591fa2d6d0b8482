package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const good = `apiVersion: weftline/v1
kind: Workflow
metadata:
  name: greet
spec:
  input:
    type: object
    required: [name]
    properties:
      name: { type: string }
  activities:
    - id: hello
      type: set
      outputs:
        text: '"Hello " + inputs.name'
    - id: pause
      type: wait
      needs: [hello]
      wait: { timer: { after: 10ms } }
  output:
    text: activities.hello.output.text
`

// outcome of a command.
type outcome struct {
	code     int
	out, err string
}

func call(t *testing.T, env map[string]string, in string, args ...string) outcome {
	t.Helper()
	var out, err bytes.Buffer
	code := Main(args, Terminal{In: strings.NewReader(in), Out: &out, Err: &err,
		Env: func(name string) (string, bool) { value, ok := env[name]; return value, ok }})
	return outcome{code, out.String(), err.String()}
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestUnknownCommandListsTheCommands(t *testing.T) {
	got := call(t, nil, "", "fly")
	if got.code == 0 || !strings.Contains(got.err, `"fly"`) || !strings.Contains(got.err, "validate") {
		t.Errorf("%+v", got)
	}
}

func TestEveryCommandHasHelp(t *testing.T) {
	for _, c := range commands() {
		got := call(t, nil, "", c.name, "--help")
		if got.code != 0 || len(got.out) < 20 || got.err != "" {
			t.Errorf("%s --help: %+v", c.name, got)
		}
	}
}

func TestWrongUsage(t *testing.T) {
	for _, args := range [][]string{{"validate"}, {"validate", "--nonsense", "x"}, {"diff", "a"}, {"executions"}, {"executions", "fly"}, {"version", "x"}} {
		if got := call(t, nil, "", args...); got.code != int(usageFault) || got.err == "" {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

func TestValidate(t *testing.T) {
	wrong := file(t, "wrong.yaml", strings.Replace(good, "needs: [hello]", "needs: [helo]", 1))
	if got := call(t, nil, good, "validate", "-"); got.code != 0 || got.err != "" {
		t.Errorf("%+v", got)
	}
	if got := call(t, nil, good, "validate", "--pretty", "-"); got.code != 0 || !strings.Contains(got.out, "greet is valid") {
		t.Errorf("%+v", got)
	}
	lines := call(t, nil, "", "validate", wrong)
	if lines.code != 1 || !strings.HasPrefix(lines.err, wrong+":18:15: error E2") || !strings.Contains(lines.err, "helo") {
		t.Errorf("%+v", lines)
	}
	pretty := call(t, nil, "", "validate", "--pretty", wrong)
	if !strings.Contains(pretty.err, "   18 |       needs: [helo]\n      |               ^^^^\n") || !strings.Contains(pretty.err, "  at:   spec.activities[1]") {
		t.Errorf("%s", pretty.err)
	}
	asJSON := call(t, nil, "", "validate", "--json", wrong)
	var report fileReport
	if err := json.Unmarshal([]byte(asJSON.out), &report); err != nil || report.Valid || report.File != wrong || len(report.Errors) != 1 {
		t.Errorf("%v %s", err, asJSON.out)
	}
	script := strings.Replace(good, "  activities:\n", "  activities:\n    - {id: s, type: script, inputs: {language: javascript, source: \"return (\"}}\n", 1)
	if got := call(t, nil, script, "validate", "-"); got.code != 1 || !strings.Contains(got.err, "E316") || !strings.Contains(got.err, "is not closed") {
		t.Errorf("%+v", got)
	}
	if missing := call(t, nil, "", "validate", "/nowhere.yaml"); missing.code != 1 || !strings.Contains(missing.err, "/nowhere.yaml") {
		t.Errorf("%+v", missing)
	}
}

func TestFormat(t *testing.T) {
	path := file(t, "greet.yaml", strings.Replace(good, "  name: greet", "     name:   \"greet\"", 1))
	if got := call(t, nil, "", "fmt", "--check", path); got.code != 1 || strings.TrimSpace(got.out) != path {
		t.Errorf("%+v", got)
	}
	if got := call(t, nil, "", "fmt", path); got.code != 0 {
		t.Errorf("%+v", got)
	}
	if got := call(t, nil, "", "fmt", "--check", path); got.code != 0 {
		t.Errorf("the canonical form is not canonical: %+v", got)
	}
	text, _ := os.ReadFile(path)
	if got := call(t, nil, string(text), "fmt", "-"); got.out != string(text) {
		t.Errorf("%+v", got)
	}
}

func TestDiff(t *testing.T) {
	a, b := file(t, "a.yaml", good), file(t, "b.yaml", strings.Replace(good, "10ms", "20ms", 1))
	if got := call(t, nil, "", "diff", a, a); got.code != 0 || got.out != "" {
		t.Errorf("%+v", got)
	}
	got := call(t, nil, "", "diff", a, b)
	if got.code != 2 || !strings.Contains(got.out, "changed  activity pause") || !strings.Contains(got.out, "20ms") {
		t.Errorf("%+v", got)
	}
	less := file(t, "less.yaml", strings.Replace(good, "10ms", `"${{ 1 <= 2 ? '1s' : '2s' }}"`, 1))
	if got := call(t, nil, "", "diff", a, less); !strings.Contains(got.out, "1 <= 2") {
		t.Errorf("%+v", got)
	}
	asJSON := call(t, nil, "", "diff", "--json", a, b)
	var changes struct{ Changes []map[string]any }
	if err := json.Unmarshal([]byte(asJSON.out), &changes); err != nil || asJSON.code != 2 || len(changes.Changes) != 1 {
		t.Errorf("%v %+v", err, asJSON)
	}
}

func TestLanguageCommands(t *testing.T) {
	if got := call(t, nil, good, "graph", "-"); got.code != 0 || !strings.Contains(got.out, "pause (wait)  ← hello") {
		t.Errorf("%+v", got)
	}
	if got := call(t, nil, "", "schema"); got.code != 0 || !json.Valid([]byte(got.out)) {
		t.Errorf("%.200s", got.out)
	}
	if got := call(t, nil, "", "explain", "E204"); got.code != 0 || !strings.Contains(got.out, "needs") {
		t.Errorf("%+v", got)
	}
	if got := call(t, nil, "", "explain", "E999"); got.code != 1 {
		t.Errorf("%+v", got)
	}
	if got := call(t, nil, "", "version"); got.code != 0 || !strings.HasPrefix(got.out, "weftline ") {
		t.Errorf("%+v", got)
	}
}

func TestRemoteCommandsSayWhatIsMissing(t *testing.T) {
	if got := call(t, nil, "", "executions", "list"); got.code != 1 || !strings.Contains(got.err, "WEFTLINE_TOKEN") {
		t.Errorf("%+v", got)
	}
	env := map[string]string{"WEFTLINE_TOKEN": "t", "WEFTLINE_URL": "http://127.0.0.1:1"}
	if got := call(t, env, "", "tasks", "list"); got.code != 1 || !strings.Contains(got.err, "WEFTLINE_URL") {
		t.Errorf("%+v", got)
	}
}
