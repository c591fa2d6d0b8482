package flow_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"weftline/engine/expr"
	"weftline/engine/flow"
)

func TestEdgesFollowNeeds(t *testing.T) {
	w := load(t, activities(
		`{id: ask, type: human, human: {title: T, assignee: ann, due: 1h}}`,
		`{id: call, type: http, inputs: {url: "http://x.test"}}`,
		`{id: next, needs: [ask.rejected, call, ask.expired], `+set+`}`,
		`{id: caught, needs: [{id: call, port: failure, errors: [http.404]}, call.success], `+set+`}`,
	))
	next := w.Graph.ByID["next"]
	if len(next.In) != 2 || next.In[0].From != 0 || len(next.In[0].Ports) != 2 || next.In[0].Plain || !next.In[1].Plain {
		t.Errorf("edges of next: %+v", next.In)
	}
	caught := w.Graph.ByID["caught"].In[0]
	if caught.Plain || caught.Ports[0].Name != "failure" || caught.Ports[0].Errors[0] != "http.404" || caught.Ports[1].Name != "success" {
		t.Errorf("edge of caught: %+v", caught)
	}
	if out := w.Graph.ByID["call"].Out; len(out) != 2 || out[0] != 2 || out[1] != 3 {
		t.Errorf("edges out of call: %v", out)
	}
}

func TestDefaultsAndPoliciesAreMergedIntoActivities(t *testing.T) {
	w := load(t, definition(`
  retry: {attempts: 5, strategy: fixed, delay: 1s}
  defaults: {http: {method: POST, headers: {A: "1", B: "1"}}}
  affinity: {queue: big}
  activities:
    - {id: plain, type: http, inputs: {url: "http://x.test"}}
    - {id: own, type: http, retry: 2, timeout: 5s, inputs: {url: "http://x.test", method: GET, headers: {B: "2"}}}
    - {id: loop, type: for_each, for_each: {items: [1], tolerate: 5%, activity: {type: http, inputs: {url: "http://x.test"}}}}
    - {id: undone, type: http, inputs: {url: "http://x.test"}, compensate: {type: http, inputs: {url: "http://x.test/undo"}}}
`))
	plain, own, loop, undone := w.Graph.ByID["plain"], w.Graph.ByID["own"], w.Graph.ByID["loop"], w.Graph.ByID["undone"]
	if r := plain.Retry; r.Attempts != 5 || r.Strategy != "fixed" || r.Jitter != "none" || r.MaxDelay != time.Minute {
		t.Errorf("spec.retry: %+v", r)
	}
	if r := own.Retry; r.Attempts != 2 || r.Strategy != "fixed" || r.Delay != time.Second {
		t.Errorf("own retry over spec.retry: %+v", r)
	}
	if loop.Retry.Attempts != 1 || loop.ForEach.Activity.Retry.Attempts != 5 {
		t.Errorf("spec.retry reaches the connectors only: %+v", loop.Retry)
	}
	if r := undone.Compensate.Retry; r.Attempts != 5 || r.Strategy != "exponential" || r.Delay != 2*time.Second {
		t.Errorf("compensation: %+v", r)
	}
	if _, given := evaluated(t, undone.Compensate.Inputs)["method"]; given {
		t.Error("spec.defaults reach compensate")
	}
	inputs := evaluated(t, own.Inputs)
	headers := inputs["headers"].(map[string]any)
	if inputs["method"] != "GET" || headers["A"] != "1" || headers["B"] != "2" {
		t.Errorf("inputs over defaults: %v", inputs)
	}
	if plain.Timeout != 30*time.Second || own.Timeout != 5*time.Second || plain.Affinity.Queue != "big" {
		t.Errorf("timeouts %v %v, affinity %+v", plain.Timeout, own.Timeout, plain.Affinity)
	}
	if fe := loop.ForEach; !fe.TolerateIsShare || fe.TolerateShare != 0.05 || fe.As != "item" {
		t.Errorf("loop: %+v", fe)
	}
}

func evaluated(t *testing.T, v *expr.Value) map[string]any {
	t.Helper()
	got, err := v.Eval(expr.Roots{})
	if err != nil {
		t.Fatal(err)
	}
	return got.(map[string]any)
}

func TestNothingSaidMeansTheseDefaults(t *testing.T) {
	w := load(t, activities(`{id: a, `+set+`}`))
	if l := w.Limits; !l.FailFast || l.MaxParallel != 50 || l.QueueMax != 1000 || l.OnLimit != "queue" || l.HistoryRetention != 90*24*time.Hour {
		t.Errorf("limits: %+v", l)
	}
	if c := w.Compensation; !c.OnFailure || !c.OnTimeout || c.OnCancel || c.Parallel || c.Retry.Attempts != 5 {
		t.Errorf("compensation: %+v", c)
	}
	a := w.Graph.ByID["a"]
	if a.Retry.Attempts != 1 || a.Join.Mode != flow.JoinAll || a.Name != "a" || a.Inputs == nil || w.OnError != nil || w.Mode.Mode != "default" {
		t.Errorf("activity: %+v", a)
	}
	none := load(t, definition("  activities:\n    - {id: a, "+set+"}\n"))
	if _, problems := none.Input.Check(map[string]any{"x": int64(1)}); len(problems) != 1 {
		t.Errorf("a workflow without input takes %v", problems)
	}
}

func TestVariablesComeInDependencyOrder(t *testing.T) {
	w := load(t, definition("  variables: {c: \"${{ vars.b }}\", b: \"${{ vars.a }}\", a: 1}\n  activities:\n    - {id: a, "+set+"}\n"))
	order := ""
	for _, v := range w.Variables {
		order += v.Name
	}
	if order != "abc" {
		t.Errorf("order is %s", order)
	}
}

func TestTimersTakeLiteralsExpressionsAndTemplates(t *testing.T) {
	w := load(t, activities(
		`{id: a, type: wait, wait: {timer: {after: PT90S}}}`,
		`{id: b, type: wait, wait: {timer: {at: inputs.name}}}`,
		`{id: c, type: wait, wait: {timer: {after: "${{ inputs.n }}h"}}}`,
		`{id: d, type: wait, wait: {timer: {at: "2027-01-01T09:00", timezone: Europe/Berlin}}}`,
	))
	env := expr.Roots{"inputs": map[string]any{"n": int64(2), "name": "2027-01-01T00:00:00Z"}}
	for id, want := range map[string]any{"a": "PT90S", "b": "2027-01-01T00:00:00Z", "c": "2h", "d": "2027-01-01T09:00"} {
		wait := w.Graph.ByID[id].Wait
		value := wait.After
		if value == nil {
			value = wait.At
		}
		if got, err := value.Eval(env); err != nil || got != want {
			t.Errorf("%s = %v, %v; want %v", id, got, err, want)
		}
	}
}

func TestYAMLIsReadByTheCoreSchema(t *testing.T) {
	w := load(t, definition(`
  variables: {octal: 017, under: 1_000, day: 2026-01-02, word: yes, big: 9007199254740993, hex: 0x1F, half: .5, text: "1"}
  activities:
    - {id: a, type: set, outputs: {x: 1 + 1}}
`))
	want := map[string]any{"octal": int64(17), "under": "1_000", "day": "2026-01-02", "word": "yes", "big": int64(9007199254740993),
		"hex": int64(31), "half": 0.5, "text": "1"}
	for _, v := range w.Variables {
		if got, _ := v.Value.Literal(); got != want[v.Name] {
			t.Errorf("%s is %T %v, want %v", v.Name, got, got, want[v.Name])
		}
	}
}

// The content hash stands for the meaning: spelling, order of keys, comments and layout are not part of it.
func TestContentHashFollowsTheMeaning(t *testing.T) {
	base := load(t, activities(`{id: a, `+set+`}`, `{id: b, needs: [a], type: wait, when: inputs.flag, wait: {timer: {after: 1h30m}}}`)).ContentHash
	if len(base) != 64 {
		t.Fatalf("hash %q", base)
	}
	same := string(activities(`{type: set, id: a, outputs: {x: 1 + 1}}`, `{id: b, type: wait, when: "${{ inputs.flag }}", wait: {timer: {after: PT1H30M}}} # note`)) +
		"  transitions: [{from: a, to: b}]\n---\napiVersion: weftline/v1\nkind: Layout\nmetadata: {name: test}\nspec: {positions: {a: [10, 20]}}\n"
	if hash := load(t, []byte(same)).ContentHash; hash != base {
		t.Error("another spelling has another hash")
	}
	other := activities(`{id: a, `+set+`}`, `{id: b, needs: [a.done], type: wait, when: inputs.flag, wait: {timer: {after: 1h30m}}}`)
	if hash := load(t, other).ContentHash; hash == base {
		t.Error("another edge has the same hash")
	}
}

func TestLoadRefusesWithTheReport(t *testing.T) {
	_, err := flow.Load(activities(`{id: a, type: sett}`))
	var refused *flow.LoadError
	if !errors.As(err, &refused) || refused.Report.Valid || !strings.Contains(err.Error(), "E406") {
		t.Errorf("%v", err)
	}
}

func TestAnchorsAreReadAtTheirAlias(t *testing.T) {
	w := load(t, activities(`{id: a, type: http, retry: &r {attempts: 7}, inputs: {url: "http://x.test"}}`, `{id: b, type: http, retry: *r, inputs: {url: "http://x.test"}}`))
	if w.Graph.ByID["b"].Retry.Attempts != 7 {
		t.Error("the alias is lost")
	}
}

// A failure at run time points into the text of the definition.
func TestRunTimeErrorsPointIntoTheDefinition(t *testing.T) {
	text := definition("  activities:\n    - id: a\n      type: emit\n      emit:\n        name: x.y\n        payload:\n          v: ä ${{ trigger.body.gone }}\n          w: |\n            ${{ trigger.body.list[\n              7].z }}\n")
	w := load(t, text)
	payload := w.Graph.ByID["a"].Emit.Payload
	for path, want := range map[string]string{"/v": "gone", "/w": "7"} {
		field := payload.Fields()[path[1:]]
		_, err := field.Eval(expr.Roots{"trigger": map[string]any{"body": map[string]any{"list": []any{}}}})
		var e *expr.Error
		if !errors.As(err, &e) {
			t.Fatalf("%s: %v", path, err)
		}
		if got := marked(text, flow.Pos{Line: e.DefinitionLine, Column: e.DefinitionColumn, EndLine: e.DefinitionLine, EndColumn: e.DefinitionColumn + len(want)}); got != want {
			t.Errorf("%s: %d:%d is %q, want %q", path, e.DefinitionLine, e.DefinitionColumn, got, want)
		}
	}
}

func TestDocumentsBesideTheWorkflowAreCheckedAndGiven(t *testing.T) {
	beside := func(rest string) []byte {
		return append(activities(`{id: a, `+set+`}`), "---\napiVersion: weftline/v1\n"+rest...)
	}
	good := beside("kind: WorkflowTest\nmetadata: {name: t}\nspec: {cases: [{name: one, expect: {status: completed, duration: 5s}}]}\n---\nkind: Layout\napiVersion: weftline/v1\nspec: {positions: {a: [10, 20]}}\n")
	load(t, good)
	all, err := flow.Documents(good)
	if err != nil || len(all) != 3 || all[1].Kind != "WorkflowTest" || all[2].Value["spec"] == nil {
		t.Errorf("%v %v", all, err)
	}
	for code, text := range map[string][]byte{
		"E401": beside("kind: WorkflowTest\nmetadata: {name: t}\nspec: {cases: [{name: one, expct: {}}]}\n"),
		"E402": beside("kind: WorkflowTest\nmetadata: {name: t}\nspec: {}\n"),
		"E414": beside("kind: Layout\nspec: {positions: {a: [10]}}\n"),
	} {
		if find(flow.Validate(text).Errors, code) == nil {
			t.Errorf("%s: %v", code, flow.Validate(text).Errors)
		}
	}
}
