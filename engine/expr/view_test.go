package expr_test

import (
	"testing"

	"weftline/engine/expr"
)

// views gives every object of the environment, down to the first list, as a view.
type views expr.Roots

func (v views) Root(name string) (any, bool) {
	value, known := v[name]
	return viewed(value), known
}

// view is no map, so that one which gets out of an expression is not taken for the object.
type view struct{ object map[string]any }

func (v view) Key(name string) (any, bool) {
	value, found := v.object[name]
	return viewed(value), found
}

func (v view) Whole() map[string]any { return v.object }

func viewed(value any) any {
	if object, ok := value.(map[string]any); ok {
		return view{object}
	}
	return value
}

// environments hold the same, once as maps and once as views: no expression sees the difference.
func environments(t testing.TB) map[string]expr.Env {
	roots := environment(t)
	return map[string]expr.Env{"maps": roots, "views": views(roots)}
}
