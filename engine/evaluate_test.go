package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"weftline/engine"
)

const evaluated = `
  input: {type: object, properties: {amount: {type: integer, default: 60}, card: {type: string, x-sensitive: true, default: 4111-1111}}}
  activities:
    - {id: load, type: set, outputs: {total: inputs.amount * 2, card: inputs.card}}
    - id: loop
      type: for_each
      needs: [load]
      for_each: {items: '["a", "b"]', key: item, activities: [{id: each_one, type: set, outputs: {v: item + "!"}}]}
    - {id: ask, type: http, needs: [loop], inputs: {url: "http://h/x"}}
    - {id: last, type: set, needs: [ask], outputs: {x: activities.ask.outputs.status}}
`

// An expression is evaluated on a past execution, or on what is pinned, and can tell nothing about what is sensitive.
func TestEvaluateOnAPastExecutionAndOnPinnedData(t *testing.T) {
	w := newWorld(t, withKeys)
	w.publish("calc", evaluated)
	id := w.start("calc", nil)
	w.ends(id, "completed")
	pins := map[string]any{"ask": map[string]any{"status": int64(418)}}
	for name, c := range map[string]struct {
		request engine.EvaluateRequest
		want    string // JSON
	}{
		"an input":                {engine.EvaluateRequest{Expression: "inputs.amount + 1"}, "61"},
		"an output":               {engine.EvaluateRequest{Expression: "activities.load.outputs.total", Activity: "ask"}, "120"},
		"wrapped":                 {engine.EvaluateRequest{Expression: "${{ inputs.amount }}"}, "60"},
		"a template":              {engine.EvaluateRequest{Expression: "pay ${{ inputs.amount }} €", Template: true}, `"pay 60 €"`},
		"a template that is one":  {engine.EvaluateRequest{Expression: "${{ inputs.amount }}", Template: true}, "60"},
		"the first item":          {engine.EvaluateRequest{Expression: "item", Activity: "each_one"}, `"a"`},
		"an item":                 {engine.EvaluateRequest{Expression: "item + string(index)", Activity: "each_one", Item: "b"}, `"b1"`},
		"a result":                {engine.EvaluateRequest{Expression: "result.status", Activity: "ask"}, "200"},
		"a secret":                {engine.EvaluateRequest{Expression: "${{ secrets.ANY }}", Template: true, Activity: "ask"}, `"***"`},
		"sensitive":               {engine.EvaluateRequest{Expression: "activities.load.outputs.card"}, `"***"`},
		"about something hidden":  {engine.EvaluateRequest{Expression: `inputs.card startsWith "4"`}, "false"},
		"about something else":    {engine.EvaluateRequest{Expression: `inputs.card startsWith "*"`}, "true"},
		"an error cannot ask too": {engine.EvaluateRequest{Expression: `inputs.card == "4111-1111" ? 1 : 2`}, "2"},
	} {
		request := c.request
		request.Execution = &id
		answer, err := w.Evaluate(t.Context(), w.who, "calc", request)
		if got, _ := json.Marshal(answer.Value); err != nil || answer.Error != nil || string(got) != c.want {
			t.Errorf("%s: %s, not %s: %+v %v", name, got, c.want, answer.Error, err)
		}
	}
	answer, err := w.Evaluate(t.Context(), w.who, "calc", engine.EvaluateRequest{Expression: "activities.ask.outputs.status", Activity: "last", Mocks: pins, Input: map[string]any{"amount": int64(1)}})
	if got, _ := json.Marshal(answer.Value); err != nil || string(got) != "418" || answer.Kind != "number" {
		t.Errorf("pinned: %+v %v", answer, err)
	}
}

func TestEvaluateSaysWhatIsWrongAndWhere(t *testing.T) {
	w := newWorld(t, withKeys)
	w.publish("calc", evaluated)
	w.publish("other", "\n  activities: [{id: a, type: set, outputs: {v: \"1\"}}]\n")
	id := w.start("calc", nil)
	w.ends(id, "completed")
	for expression, want := range map[string]engine.ExpressionError{
		"1 +":                        {Code: "E301", Line: 1, Column: 3},
		"inputs.amount +\n inputs.x": {Code: "E303", Line: 2, Column: 9},
		`inputs.amount + "x"`:        {Code: "E305", Line: 1, Column: 15},
	} {
		answer, err := w.Evaluate(t.Context(), w.who, "calc", engine.EvaluateRequest{Expression: expression, Execution: &id})
		if err != nil || answer.Error == nil || answer.Error.Code != want.Code || answer.Error.Line != want.Line || answer.Error.Column != want.Column {
			t.Errorf("%s: %+v %v", expression, answer.Error, err)
		}
	}
	_, err := w.Evaluate(t.Context(), w.who, "calc", engine.EvaluateRequest{})
	wantCode(t, err, "invalid_input")
	_, err = w.Evaluate(t.Context(), w.who, "other", engine.EvaluateRequest{Expression: "1", Execution: &id})
	wantCode(t, err, "not_found")
	answer, err := w.Evaluate(t.Context(), w.who, "calc", engine.EvaluateRequest{Execution: &id, Expression: `map(split("` + strings.Repeat("a,", 1500) + `", ","), # + "` + strings.Repeat("x", 60) + `")`})
	if text, _ := answer.Value.(string); err != nil || !answer.Truncated || len(text) != 64<<10 {
		t.Errorf("%v %v %d", err, answer.Truncated, len(text))
	}
}
