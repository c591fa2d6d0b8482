package rehearse

import (
	"testing"

	"weftline/engine/execution"
	"weftline/engine/expr"
)

// A loop's body can be asked about while it runs and when it is over and forgotten.
func TestPreviewInALoop(t *testing.T) {
	workflow := load(t, `
  activities:
    - {id: before, type: set, outputs: {v: "7"}}
    - id: loop
      type: for_each
      needs: [before]
      for_each:
        items: '["a", "b"]'
        as: letter
        key: letter
        activities: [{id: each_one, type: set, outputs: {v: letter + "!"}}]
    - {id: single, type: for_each, needs: [before], for_each: {items: "[5, 6]", activity: {type: set, outputs: {v: item}}}}
    - {id: stuck, type: http, needs: [before], inputs: {url: "http://x"}}
    - {id: reads, type: set, needs: [stuck], outputs: {v: activities.stuck.outputs.status}}
`)
	state := State(PlanRequest{Workflow: workflow, Input: map[string]any{}})
	for name, c := range map[string]struct{ expression, activity, item, want string }{
		"the first item":     {`letter + string(index)`, "each_one", "", "a0"},
		"an item":            {`letter + string(index)`, "each_one", "b", "b1"},
		"no such item":       {`letter`, "each_one", "zzz", "a"},
		"an index is no key": {`letter`, "each_one", "1", "a"},
		"what came before":   {`string(activities.before.outputs.v)`, "each_one", "b", "7"},
		"a single activity":  {`string(item)`, "single/each", "1", "6"},
		"far too many":       {`string(item)`, "single/each", "99", "5"},
		"not reached":        {`activities.before.status`, "reads", "", "completed"},
		"unknown activity":   {`string(activities.before.outputs.v)`, "nobody", "", "7"},
	} {
		program, err := expr.Compile(c.expression)
		if err != nil {
			t.Fatal(err)
		}
		got, err := execution.Preview(workflow, state, c.activity, c.item, expr.Expression(program))
		if got != c.want || err != nil {
			t.Errorf("%s: %v, not %s: %v", name, got, c.want, err)
		}
	}
}
