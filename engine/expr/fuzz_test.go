package expr_test

import (
	"encoding/json"
	"errors"
	"testing"

	"weftline/engine/expr"
)

// FuzzExpr: no expression makes compiling, checking or evaluating panic; every error is an *Error with a
// place inside the text; the result is plain JSON, and the same each time and from maps or views.
func FuzzExpr(f *testing.F) {
	for _, seed := range []string{
		`inputs.n + 1`, `inputs.tags?.z ?? "d"`, `map(inputs.rows, ({"k": .k, "i": #index}))`, `let a = 1; if a > 0 { a } else { null }`,
		`reduce(inputs.list, #acc + #, 0)`, `sortBy(inputs.rows, .v, "desc") | len()`, `contains("a", "b") and not matches(inputs.name, "^a")`,
		`groupBy(inputs.rows, .k)["b"][0].v ** -2`, `inputs.list[-1:][0]`, `default(inputs.x.y, [1, {"a": 2}]) == 'x'`, `1e308 * 10 / 0 % 2`,
		`formatTime(inputs.when, "2006", "Europe/Berlin") + uuid5("dns", "x")`, `"\u{1F680}" in ["🚀"]`, `#`, `a..b`, `f()()`, `{(1): 2}`,
	} {
		f.Add(seed)
	}
	scope := &expr.Scope{Roots: map[string]*expr.Type{"inputs": nil, "activities": nil}}
	f.Fuzz(func(t *testing.T, source string) {
		program, err := expr.Compile(source)
		var e *expr.Error
		if err != nil {
			if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 {
				t.Fatalf("%q: %#v", source, err)
			}
			return
		}
		program.Check(scope)
		first, err := program.Eval(environment(t))
		second, again := program.Eval(views(environment(t)))
		if (err == nil) != (again == nil) {
			t.Fatalf("%q: %v, then %v", source, err, again)
		}
		if err != nil {
			if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 || e.Error() != again.Error() {
				t.Fatalf("%q: %#v, then %v", source, err, again)
			}
			return
		}
		a, failed := json.Marshal(first)
		b, _ := json.Marshal(second)
		if failed != nil || string(a) != string(b) {
			t.Fatalf("%q: %s, then %s (%v)", source, a, b, failed)
		}
	})
}
