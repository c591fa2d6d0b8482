package execution

import (
	"reflect"
	"slices"
	"strings"

	"weftline/engine/expr"
	"weftline/engine/flow"
)

// Sensitive values. A value that may depend on a sensitive one has a twin: what people may see of it. Every
// expression is evaluated twice, on the values and on their twins, in which sensitive values are Mask; where
// the two results differ, the value tells something that must stay hidden. The twin is recorded beside the
// value, so that showing needs no knowledge of where a value came from. Executions without sensitive values
// have no twins and pay nothing.

// Mask stands for a value that must not be stored or shown.
const Mask = "***"

// twin is a value and what people may see of it; shown nil = the same.
type twin struct{ value, shown any }

// seen is what people may see of a value.
func (t twin) seen() any { return seen(t.value, t.shown) }

func seen(value, shown any) any {
	if shown != nil {
		return shown
	}
	return value
}

// Hides reports whether an execution holds values that must not be stored in plain.
func Hides(wf *flow.Workflow, st *State) bool { return st.hides(wf) }

// hides: the input schema marks something as sensitive, or something sensitive came from elsewhere.
func (st *State) hides(wf *flow.Workflow) bool { return st.Hiding || st.hasSensitive(wf) }

// twin evaluates on the values and on their twins.
func (r reader) twin(eval func(reader) (any, error)) (twin, error) {
	value, err := eval(r)
	if err != nil || r.masked || r.extraShown == nil && !r.st.hides(r.wf) {
		return twin{value: value}, err
	}
	masked, err := eval(r.hiding())
	if err != nil {
		return twin{value, Mask}, nil
	}
	return twin{value, difference(value, masked)}, nil
}

// hiding is the same reader over the twins.
func (r reader) hiding() reader {
	r.masked = true
	return r
}

func (r reader) twinOf(v *expr.Value) (twin, error) {
	return r.twin(func(r reader) (any, error) { return r.value(v) })
}

func (r reader) twinNamed(list []flow.Named) (twin, error) {
	return r.twin(func(r reader) (any, error) {
		named, err := r.named(list)
		return named, err
	})
}

// SensitiveRefused is the type of the failure of what would store a sensitive value in plain.
const SensitiveRefused = "sensitive.refused"

// public evaluates what is stored in plain: it must not depend on anything hidden.
func (r reader) public(what string, eval func(reader) (any, error)) (any, error) {
	t, err := r.twin(eval)
	if err == nil && t.shown != nil {
		return nil, failure(SensitiveRefused, classActivity, "%s is stored in plain, so it must not depend on a sensitive value", what)
	}
	return t.value, err
}

func (r reader) publicText(v *expr.Value, what string) (string, error) {
	got, err := r.public(what, func(r reader) (any, error) { return r.textOf(v, what) })
	text, _ := got.(string)
	return text, err
}

func (r reader) publicTexts(v *expr.Value, what string) ([]string, error) {
	got, err := r.public(what, func(r reader) (any, error) { return r.textsOf(v, what) })
	texts, _ := got.([]string)
	return texts, err
}

// shownText is a text for people: with Mask where it would tell something hidden.
func (r reader) shownText(v *expr.Value, what string) (string, error) {
	t, err := r.twin(func(r reader) (any, error) { return r.textOf(v, what) })
	text, _ := t.seen().(string)
	return text, err
}

// difference is the twin of a value, given what came of the same computation on twins; nil when there is none.
func difference(value, masked any) any {
	if reflect.DeepEqual(value, masked) {
		return nil
	}
	return blend(value, masked)
}

func blend(value, masked any) any {
	switch v := value.(type) {
	case map[string]any:
		if m, ok := masked.(map[string]any); ok && sameKeys(v, m) {
			shown := make(map[string]any, len(v))
			for k := range v {
				shown[k] = blend(v[k], m[k])
			}
			return shown
		}
	case []any:
		if m, ok := masked.([]any); ok && len(m) == len(v) {
			shown := make([]any, len(v))
			for i := range v {
				shown[i] = blend(v[i], m[i])
			}
			return shown
		}
	case string:
		if m, ok := masked.(string); ok && (m == v || strings.Contains(m, Mask)) {
			return m
		}
	}
	if reflect.DeepEqual(value, masked) {
		return value
	}
	return Mask
}

func sameKeys(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for k := range a {
		if _, ok := b[k]; !ok {
			return false
		}
	}
	return true
}

// concealed is a value of the same shape that tells nothing.
func concealed(v any) any {
	switch t := v.(type) {
	case nil:
		return nil
	case map[string]any:
		shown := make(map[string]any, len(t))
		for k := range t {
			shown[k] = concealed(t[k])
		}
		return shown
	case []any:
		shown := make([]any, len(t))
		for i := range t {
			shown[i] = concealed(t[i])
		}
		return shown
	}
	return Mask
}

// shownList is the twin of a list as a list of the same length; nil when there is none.
func shownList(t twin) []any {
	list, _ := t.value.([]any)
	if t.shown == nil {
		return nil
	}
	if shown, ok := t.shown.([]any); ok && len(shown) == len(list) {
		return shown
	}
	return slices.Repeat([]any{Mask}, len(list))
}

// shownTrigger is what people may see of what started an execution: of one that hides something, not what
// came from outside.
func (st *State) shownTrigger(wf *flow.Workflow) map[string]any {
	return maskTrigger(orEmpty(st.Created.Trigger), st.hides(wf))
}

func maskTrigger(trigger map[string]any, hides bool) map[string]any {
	if !hides {
		return trigger
	}
	shown := make(map[string]any, len(trigger))
	for name, value := range trigger {
		switch name {
		case "body", "payload", "headers", "query":
			value = concealed(value)
		}
		shown[name] = value
	}
	return shown
}
