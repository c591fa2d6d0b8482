package engine

import (
	"reflect"

	"weftline/engine/execution"
	"weftline/engine/expr"
	"weftline/engine/flow"
)

// jsonValue reads stored JSON; what is not JSON is null.
func jsonValue(content []byte) any {
	value, err := expr.DecodeJSON(content)
	if err != nil {
		return nil
	}
	return value
}

// formCheck compiles the schema of a task's form; nil when it has none. Problems point into the answer.
func formCheck(form []byte) func(any) []flow.Problem {
	source, ok := jsonValue(form).(map[string]any)
	if !ok {
		return nil
	}
	return func(value any) []flow.Problem {
		schema, err := flow.NewSchema(source)
		if err != nil {
			return []flow.Problem{{Path: "/form", Code: "E420", Severity: "error", Message: "the schema of this form is not valid: " + err.Error()}}
		}
		_, problems := schema.Check(value)
		return inForm(problems)
	}
}

// inForm makes problems of a form point into the answer.
func inForm(problems []flow.Problem) []flow.Problem {
	for i := range problems {
		problems[i].Path = "/form" + problems[i].Path
	}
	return problems
}

// withoutMasked is a half-filled form without the fields of which people may see only a mask.
func withoutMasked(form, shown any) any {
	if shown == nil || reflect.DeepEqual(form, shown) {
		return form
	}
	fields, isObject := form.(map[string]any)
	visible, alike := shown.(map[string]any)
	if !isObject || !alike {
		if list, ok := shown.([]any); ok {
			return list // its masks keep the items in their places
		}
		return nil
	}
	kept := map[string]any{}
	for name, field := range fields {
		if visible[name] != execution.Mask {
			kept[name] = withoutMasked(field, visible[name])
		}
	}
	return kept
}
