package expr_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"weftline/engine/expr"
)

// What an expression gives reads back from JSON as it is, whatever it was made of.
func TestResultsReadBackFromJSONAsTheyAre(t *testing.T) {
	env := expr.Roots{"bytes": "a\xff\xfeb", "none": map[string]any{"list": []any(nil), "object": map[string]any(nil)},
		"odd": map[string]any{"k\xff": int64(1)}}
	for _, source := range []string{
		`bytes`, `bytes + "c"`, `[bytes]`, `{"k": bytes}`, `"\xff"`, `{"\xff": 1}`, `none`, `none.list`, `none.object`, `[none.list]`,
		`merge(none, {"a": 1})`, `odd`, `merge(odd, {"a": 1})`, `map([1], bytes)`, `none.list ?? 1`,
	} {
		program, err := expr.Compile(source)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		got, err := program.Eval(env)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		if back, err := expr.DecodeJSON(text); err != nil || !reflect.DeepEqual(back, got) {
			t.Errorf("%s = %#v, reads back as %#v (%v)", source, got, back, err)
		}
	}
}
