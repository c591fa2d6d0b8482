// Package expr owns the expression language of a definition: dialect wf/1, expr-lang behind a strict
// wrapper. It compiles text once and evaluates it against plain JSON values within bounds.
//
// It is pure: no clock, randomness, files, network, environment or map order reaches a result. It knows
// nothing of workflows; the caller says which names exist and what they hold.
//
// A value is nil, bool, int64, float64, string, []any or map[string]any, nothing else. Whole JSON numbers
// that fit are int64, so that large ids survive.
package expr

// Env holds the roots an expression may read: inputs, vars, activities, execution, trigger, secrets, item…
type Env map[string]any
