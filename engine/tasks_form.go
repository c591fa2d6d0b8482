package engine

import (
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
		for i := range problems {
			problems[i].Path = "/form" + problems[i].Path
		}
		return problems
	}
}
