package rehearse

import (
	"reflect"
	"strings"
	"testing"

	"weftline/engine/flow"
)

func load(t testing.TB, spec string) *flow.Workflow {
	t.Helper()
	return loadNamed(t, "test", spec)
}

func loadNamed(t testing.TB, name, spec string) *flow.Workflow {
	t.Helper()
	workflow, err := flow.Load([]byte("apiVersion: weftline/v1\nkind: Workflow\nmetadata: {name: " + name + "}\nspec:\n" + spec))
	if err != nil {
		t.Fatalf("the definition is not valid: %v", err)
	}
	return workflow
}

func planned(t *testing.T, spec string, input, mocks map[string]any) Planned {
	t.Helper()
	workflow := load(t, spec)
	checked, problems := workflow.Input.Check(input)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return Plan(PlanRequest{Workflow: workflow, Input: checked.(map[string]any), Mocks: mocks})
}

func stepOf(t *testing.T, plan Planned, activity, item string) PlannedStep {
	t.Helper()
	for _, step := range plan.Steps {
		if step.Activity == activity && step.Item == item {
			return step
		}
	}
	t.Fatalf("%s %s is no step of %+v", activity, item, plan.Steps)
	return PlannedStep{}
}

const loan = `
  input:
    type: object
    required: [amount]
    properties:
      amount: {type: integer}
      token: {type: string, x-sensitive: true, default: tok}
  activities:
    - id: score
      type: http
      inputs: {url: "http://scores/${{ inputs.amount }}", headers: {authorization: "${{ inputs.token }}"}}
      outputs: {points: result.body.points}
    - id: band
      type: switch
      needs: [score]
      switch: {cases: [{name: good, when: activities.score.outputs.points > 50}], default: poor}
    - id: pay
      type: http
      needs: [band.good]
      inputs: {method: POST, url: "http://bank/pay", body: {amount: "${{ inputs.amount }}"}}
    - id: refuse
      type: human
      needs: [band.poor]
      human: {title: "Refuse ${{ inputs.amount }}?", candidates: {groups: [desk]}, due: 1h}
    - id: tell
      type: http
      needs: [pay, refuse.expired]
      inputs: {url: "http://mail"}
`

func TestPlanFollowsTheInput(t *testing.T) {
	plan := planned(t, loan, map[string]any{"amount": int64(10)}, map[string]any{"score": map[string]any{"points": int64(80)}})
	if plan.Status != "completed" || len(plan.Problems) > 0 {
		t.Fatalf("%s %+v", plan.Status, plan.Problems)
	}
	if step := stepOf(t, plan, "score", ""); !step.Mocked || step.Inputs.(map[string]any)["url"] != "http://scores/10" {
		t.Errorf("%+v", step)
	}
	if step := stepOf(t, plan, "pay", ""); !step.Assumed || step.Status != "completed" || !reflect.DeepEqual(step.Inputs.(map[string]any)["body"], map[string]any{"amount": int64(10)}) {
		t.Errorf("%+v", step)
	}
	if step := stepOf(t, plan, "refuse", ""); step.Status != "skipped" || step.SkipReason != "branch" {
		t.Errorf("%+v", step)
	}
	lit := map[string]bool{}
	for _, edge := range plan.Edges {
		lit[edge.From+"."+edge.Port+">"+edge.To] = edge.Lit
	}
	want := map[string]bool{"score.>band": true, "band.good>pay": true, "band.poor>refuse": false, "pay.>tell": true, "refuse.expired>tell": false}
	if !reflect.DeepEqual(lit, want) {
		t.Errorf("edges %v", lit)
	}
}

func TestPlanMasksWhatIsSensitive(t *testing.T) {
	plan := planned(t, loan, map[string]any{"amount": int64(10), "token": "very-secret"}, map[string]any{"score": map[string]any{"points": int64(80)}})
	headers := stepOf(t, plan, "score", "").Inputs.(map[string]any)["headers"]
	if !reflect.DeepEqual(headers, map[string]any{"authorization": "***"}) {
		t.Errorf("%v", headers)
	}
}

func TestPlanStopsWhereItNeedsAMock(t *testing.T) {
	plan := planned(t, loan, map[string]any{"amount": int64(10)}, nil)
	if plan.Status != "incomplete" || !stepOf(t, plan, "score", "").NeedsMock || stepOf(t, plan, "pay", "").Status != "pending" {
		t.Fatalf("%s %+v", plan.Status, plan.Steps)
	}
	if len(plan.Problems) != 1 || plan.Problems[0].Activity != "score" || !strings.Contains(plan.Problems[0].Message, "needs a mock") {
		t.Errorf("%+v", plan.Problems)
	}
}

func TestPlanShowsRetriesPausesAndTasks(t *testing.T) {
	plan := planned(t, `
  activities:
    - id: load
      type: http
      retry: {attempts: 3, strategy: fixed, delay: 10s}
      inputs: {url: http://x}
    - {id: rest, type: wait, needs: [load], wait: {timer: {after: 5m}}}
    - id: ask
      type: human
      needs: [rest]
      human: {title: Go on?, candidates: {users: [ann]}}
    - {id: never, type: http, needs: [ask.rejected], inputs: {url: http://x}}
`, map[string]any{}, map[string]any{"load": []any{map[string]any{"error": "http.503"}, map[string]any{"status": int64(200)}}})
	if plan.Status != "completed" || plan.Duration != "5m10s" {
		t.Fatalf("%s after %s: %+v", plan.Status, plan.Duration, plan.Problems)
	}
	if step := stepOf(t, plan, "load", ""); step.Attempts != 2 {
		t.Errorf("%+v", step)
	}
	if step := stepOf(t, plan, "ask", ""); !step.Assumed || step.Outcome != "approved" || step.Inputs.(map[string]any)["title"] != "Go on?" {
		t.Errorf("%+v", step)
	}
}

func TestPlanShowsEachItem(t *testing.T) {
	plan := planned(t, `
  activities:
    - id: send
      type: for_each
      for_each:
        items: [{to: ann}, {to: bob}]
        key: item.to
        activity: {type: http, inputs: {url: "http://mail/${{ item.to }}"}}
    - {id: count, type: set, needs: [send], outputs: {sent: activities.send.outputs.completed}}
  output: {sent: activities.count.outputs.sent}
`, map[string]any{}, map[string]any{"send": map[string]any{"items": map[string]any{"bob": map[string]any{"ok": false}}, "outputs": map[string]any{"ok": true}}})
	if plan.Status != "completed" || !reflect.DeepEqual(plan.Output, map[string]any{"sent": int64(2)}) {
		t.Fatalf("%s %v %+v", plan.Status, plan.Output, plan.Problems)
	}
	if step := stepOf(t, plan, "send", "bob"); step.Inputs.(map[string]any)["url"] != "http://mail/bob" || !reflect.DeepEqual(step.Outputs, map[string]any{"ok": false}) {
		t.Errorf("%+v", step)
	}
}

func TestPlanSaysWhatIsWrongWithMocks(t *testing.T) {
	plan := planned(t, loan, map[string]any{"amount": int64(10)}, map[string]any{
		"scroe": map[string]any{}, "band": map[string]any{}, "score": map[string]any{"result": int64(1), "error": "x.y"}})
	var said []string
	for _, problem := range plan.Problems {
		said = append(said, problem.Message)
	}
	for _, want := range []string{`did you mean "score"?`, "needs no mock", "give one of result, outputs and error"} {
		if !strings.Contains(strings.Join(said, "\n"), want) {
			t.Errorf("%q is not among %q", want, said)
		}
	}
}

func TestPlanOfChildren(t *testing.T) {
	child := loadNamed(t, "child", `
  input: {type: object, properties: {n: {type: integer}}}
  activities:
    - {id: get, type: http, inputs: {url: http://x}, outputs: {found: result.body.found}}
  output: {twice: activities.get.outputs.found * 2}
`)
	parent := load(t, `
  activities:
    - {id: part, type: workflow, workflow: {name: child}, inputs: {n: 1}}
  output: {all: activities.part.outputs.output.twice}
`)
	library := func(name string) *flow.Workflow {
		if name == "child" {
			return child
		}
		return nil
	}
	plan := Plan(PlanRequest{Workflow: parent, Library: library, Mocks: map[string]any{"part/get": map[string]any{"found": int64(21)}}})
	if plan.Status != "completed" || !reflect.DeepEqual(plan.Output, map[string]any{"all": int64(42)}) {
		t.Errorf("%s %v %+v", plan.Status, plan.Output, plan.Problems)
	}
	if plan := Plan(PlanRequest{Workflow: parent, Library: library}); plan.Status != "incomplete" || plan.Problems[0].Activity != "part/get" {
		t.Errorf("%s %+v", plan.Status, plan.Problems)
	}
}
