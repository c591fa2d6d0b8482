// Package expr owns the expression language of a definition: dialect wf/1, expr-lang behind a strict
// wrapper. It compiles text once and evaluates it against plain JSON values within bounds.
//
// It is pure: no clock, randomness, files, network, environment or map order reaches a result. It knows
// nothing of workflows; the caller says which names exist and what they hold.
//
// A value is nil, bool, int64, float64, string, []any or map[string]any, nothing else. Whole JSON numbers
// that fit are int64, so that large ids survive.
package expr

// Env knows the roots an expression may read: inputs, vars, activities, execution, trigger, secrets, item…
type Env interface {
	Root(name string) (value any, known bool)
}

// Roots is an Env whose values are all there.
type Roots map[string]any

// Root is one of them.
func (r Roots) Root(name string) (value any, known bool) {
	value, known = r[name]
	return value, known
}

// View is an object that an Env gives in place of a map when most expressions read one key of it: only what a path
// leads to is put together. Its values may be views too. No expression sees the difference, and none results in a view.
type View interface {
	Key(name string) (value any, found bool)
	Whole() map[string]any
}
