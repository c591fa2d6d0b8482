package expr_test

import (
	"strings"
	"testing"

	"weftline/engine/expr"
)

func scope(t *testing.T) *expr.Scope {
	t.Helper()
	schema, err := expr.DecodeJSON([]byte(`{"type": "object", "additionalProperties": false, "properties": {
		"n": {"type": "integer"}, "name": {"type": "string"}, "flag": {"type": "boolean"}, "maybe": {"type": ["string", "null"]},
		"any": {}, "order": {"type": "object", "properties": {"id": {"type": "string"}}},
		"lines": {"type": "array", "items": {"type": "object", "required": ["qty"], "properties": {"qty": {"type": "integer"}, "sku": {"type": "string"}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return &expr.Scope{Roots: map[string]*expr.Type{"inputs": expr.TypeOfSchema(schema.(map[string]any)), "free": nil}}
}

func TestNamesAndTypesAreCheckedBeforeAnythingRuns(t *testing.T) {
	for _, c := range []struct {
		source, code, words string
		column              int
	}{
		{`inputs.naem`, "E303", `"name"`, 8},
		{`inputs?.naem`, "E303", `"name"`, 9},
		{`input.n`, "E302", `"inputs"`, 1},
		{`hello`, "E302", `put a text in quotes`, 1},
		{`len`, "E302", `function`, 1},
		{`inputs.order.idd`, "E303", `"id"`, 14},
		{`inputs.n + inputs.name`, "E305", "number and a text", 10},
		{`inputs.n == inputs.name`, "E305", "one type", 10},
		{`inputs.n and inputs.flag`, "E305", "truthiness", 8},
		{`not inputs.name`, "E305", "truthiness", 12},
		{`inputs.n ? 1 : 2`, "E305", "condition", 8},
		{`inputs.n.x`, "E305", `number has no key "x"`, 10},
		{`inputs.lines.qty`, "E305", "map(list, .qty)", 14},
		{`map(inputs.lines, .qyt)`, "E303", `"qty"`, 20},
		{`filter(inputs.lines, .qty)`, "E305", "predicate of filter", 23},
		{`sum(inputs.lines, .sku)`, "E305", "summed", 20},
		{`upper(inputs.n)`, "E305", "argument 1 of upper", 14},
		{`count(inputs.name, # > 1)`, "E305", "not a list", 14},
		{`inputs.n in inputs.name`, "E305", "right side of in", 20},
		{`inputs.name contains 1`, "E305", "right side", 22},
		{`let a = inputs.n; a + "x"`, "E305", "number and a text", 21},
		{`inputs["naem"]`, "E303", `"name"`, 8},
		{`first(inputs.lines).qyt`, "E303", `"qty"`, 21},
	} {
		program, err := expr.Compile(c.source)
		if err != nil {
			t.Errorf("%s: %v", c.source, err)
			continue
		}
		_, errors := program.Check(scope(t))
		if len(errors) == 0 || errors[0].Code != c.code || errors[0].Column != c.column || !strings.Contains(errors[0].Message+" "+errors[0].Hint, c.words) {
			t.Errorf("%s: %v, want %s at %d with %q", c.source, errors, c.code, c.column, c.words)
		}
	}
}

func TestGoodExpressionsHaveATypeAndNoFindings(t *testing.T) {
	for source, want := range map[string]string{
		`inputs.n + 1`: "number", `inputs.n / 2`: "number", `inputs.name + "x"`: "text", `inputs.n > 1 and inputs.flag`: "boolean",
		`inputs.maybe ?? "none"`: "text", `inputs.maybe == null`: "boolean", `inputs.order?.coupon ?? 0`: "anything", `inputs.any.deep.er`: "anything",
		`free.x.y + 1`: "number", `map(inputs.lines, .qty)`: "list", `sum(inputs.lines, .qty)`: "number", `inputs.lines[0].qty * 2`: "number",
		`inputs.flag ? 1 : "one"`: "number or text", `find(inputs.lines, .qty > 1)?.sku ?? ""`: "text", `let a = [1]; a[0]`: "number",
		`{"a": 1}.a`: "number", `default(inputs.maybe, 1)`: "number or text", `fromJSON(inputs.name).x`: "anything", `if inputs.flag { 1 } else { 2 }`: "number",
		`reduce(inputs.lines, #acc + #.qty, 0)`: "anything", `inputs.lines | len()`: "number", `sort(map(inputs.lines, .qty))[0]`: "number",
	} {
		program, err := expr.Compile(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		got, errors := program.Check(scope(t))
		word := "anything"
		if got != nil {
			word = got.Kind.String()
		}
		if len(errors) > 0 || word != want {
			t.Errorf("%s is %s, %v; want %s", source, word, errors, want)
		}
	}
}
