package activity

import (
	"fmt"
	"strconv"
	"strings"

	"weftline/engine/flow"
)

// expectation says which answers count as good.
type expectation struct {
	statuses []string // "2xx", "204"; empty = 2xx
	schema   *flow.Schema
}

func (in *httpInputs) readExpect(given map[string]any) error {
	if given["expect"] == nil {
		return nil
	}
	expect, ok := given["expect"].(map[string]any)
	if !ok {
		return fmt.Errorf("expect must be a map with status or schema")
	}
	if err := in.expect.readStatuses(expect["status"]); err != nil {
		return err
	}
	if source, ok := expect["schema"].(map[string]any); ok {
		schema, err := flow.NewSchema(source)
		if err != nil {
			return fmt.Errorf("expect.schema: %w", err)
		}
		in.expect.schema = schema
	}
	return nil
}

func (e *expectation) readStatuses(given any) error {
	list, isList := given.([]any)
	if !isList && given != nil {
		list = []any{given}
	}
	for _, one := range list {
		text, _ := scalar(one)
		if !isStatus(text) {
			return fmt.Errorf("expect.status must be a code such as 204, a class such as 2xx, or a list of them, not %v", one)
		}
		e.statuses = append(e.statuses, text)
	}
	return nil
}

func isStatus(text string) bool {
	class, isClass := strings.CutSuffix(text, "xx")
	code, err := strconv.Atoi(text)
	return err == nil && code >= 100 && code <= 599 ||
		isClass && len(class) == 1 && strings.Contains("12345", class)
}

func (e *expectation) accepts(code int) bool {
	if len(e.statuses) == 0 {
		return code/100 == 2
	}
	for _, status := range e.statuses {
		if class, ok := strings.CutSuffix(status, "xx"); ok && class == strconv.Itoa(code/100) || status == strconv.Itoa(code) {
			return true
		}
	}
	return false
}

func (e *expectation) checkBody(body any) error {
	if e.schema == nil {
		return nil
	}
	if _, problems := e.schema.Check(body); len(problems) > 0 {
		return fmt.Errorf("at %q: %s", problems[0].Path, problems[0].Message)
	}
	return nil
}
