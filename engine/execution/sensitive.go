package execution

import (
	"maps"
	"slices"
	"strings"

	"weftline/engine/flow"
)

// hasSensitive remembers whether the input schema marks anything as sensitive.
func (st *State) hasSensitive(wf *flow.Workflow) bool {
	if st.sensitive == unknown {
		st.sensitive = no
		if wf.Input != nil && marksSensitive(wf.Input.Source) {
			st.sensitive = yes
		}
	}
	return st.sensitive == yes
}

type answer uint8

const (
	unknown answer = iota
	no
	yes
)

// marksSensitive looks for x-sensitive anywhere in a schema.
func marksSensitive(schema any) bool {
	switch t := schema.(type) {
	case map[string]any:
		if on, _ := t["x-sensitive"].(bool); on {
			return true
		}
		for _, part := range t {
			if marksSensitive(part) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(t, marksSensitive)
	}
	return false
}

// maskInput replaces what the input schema marks as sensitive, and the inputs that are known to be.
func maskInput(wf *flow.Workflow, input map[string]any, hidden []string) map[string]any {
	if input == nil || wf.Input == nil && len(hidden) == 0 {
		return input
	}
	masked := input
	if wf.Input != nil {
		shown, ok := MaskBySchema(wf.Input.Source, input).(map[string]any)
		if !ok {
			shown = concealed(input).(map[string]any)
		}
		masked = shown
	}
	return maskNames(masked, hidden)
}

func maskNames(input map[string]any, hidden []string) map[string]any {
	if len(hidden) == 0 {
		return input
	}
	shown := make(map[string]any, len(input))
	for name, value := range input {
		if value != nil && slices.Contains(hidden, name) {
			value = Mask
		}
		shown[name] = value
	}
	return shown
}

// MaskBySchema is a value without what its JSON Schema marks as x-sensitive. A mark in a part of the schema
// of which it is not plain what it is about (a reference, a choice) hides the whole value there.
func MaskBySchema(schema map[string]any, value any) any {
	if !marksSensitive(schema) {
		return value
	}
	return schemaMask{shared: marksSensitive(schema["$defs"]) || marksSensitive(schema["definitions"])}.mask(schema, value)
}

// ShownBySchema is what people may see of a value, nil when that is all of it. A nil schema marks nothing.
func ShownBySchema(schema map[string]any, value any) any {
	return difference(value, MaskBySchema(schema, value))
}

// MarksSensitive reports whether a definition marks anything as sensitive: of its input, or of a form.
func MarksSensitive(wf *flow.Workflow) bool {
	if wf.Input != nil && marksSensitive(wf.Input.Source) {
		return true
	}
	for _, g := range []*flow.Graph{wf.Graph, wf.OnError, wf.OnExit} {
		if g != nil && formsMark(g) {
			return true
		}
	}
	return false
}

func formsMark(g *flow.Graph) bool {
	return slices.ContainsFunc(g.Activities, formMarks)
}

func formMarks(act *flow.Activity) bool {
	loop := act.ForEach
	return act.Human != nil && marksSensitive(act.Human.Form) ||
		act.Compensate != nil && formMarks(act.Compensate) ||
		loop != nil && (loop.Activity != nil && formMarks(loop.Activity) || loop.Body != nil && formsMark(loop.Body))
}

// HiddenNames are the fields of an input of which people may not see everything, sorted. A nil shown is the same as the input,
// a shown that is no object hides all.
func HiddenNames(input map[string]any, shown any) []string {
	if shown == nil {
		return nil
	}
	fields, _ := shown.(map[string]any)
	var hidden []string
	for _, name := range slices.Sorted(maps.Keys(input)) {
		if field, ok := fields[name]; !ok || difference(input[name], field) != nil {
			hidden = append(hidden, name)
		}
	}
	return hidden
}

// schemaMask: shared says that definitions which references may lead to mark something.
type schemaMask struct{ shared bool }

func (m schemaMask) mask(schema map[string]any, value any) any {
	if value == nil {
		return nil
	}
	if on, _ := schema["x-sensitive"].(bool); on || m.unclear(schema) {
		return Mask
	}
	switch v := value.(type) {
	case map[string]any:
		shown := make(map[string]any, len(v))
		for name, field := range v {
			shown[name] = m.maskField(schema, name, field)
		}
		return shown
	case []any:
		shown := make([]any, len(v))
		for i := range v {
			shown[i] = m.maskItem(schema, i, v[i])
		}
		return shown
	}
	return value
}

// unclear: a mark stands where the shape of the value does not say whether it applies.
func (m schemaMask) unclear(schema map[string]any) bool {
	for keyword, part := range schema {
		switch keyword {
		case "properties", "patternProperties", "additionalProperties", "items", "prefixItems", "$defs", "definitions":
		case "$ref", "$dynamicRef":
			if text, _ := part.(string); m.shared || strings.TrimSpace(text) == "#" {
				return true
			}
		default:
			if marksSensitive(part) {
				return true
			}
		}
	}
	return false
}

func (m schemaMask) maskField(schema map[string]any, name string, field any) any {
	properties, _ := schema["properties"].(map[string]any)
	if property, ok := properties[name].(map[string]any); ok {
		field = m.mask(property, field)
	}
	if field != nil && marksSensitive(schema["patternProperties"]) {
		return Mask
	}
	if other, ok := schema["additionalProperties"].(map[string]any); ok && properties[name] == nil {
		return m.mask(other, field)
	}
	return field
}

func (m schemaMask) maskItem(schema map[string]any, i int, item any) any {
	first, _ := schema["prefixItems"].([]any)
	if i < len(first) {
		if of, ok := first[i].(map[string]any); ok {
			return m.mask(of, item)
		}
		return item
	}
	if rest, ok := schema["items"].(map[string]any); ok {
		return m.mask(rest, item)
	}
	return item
}
