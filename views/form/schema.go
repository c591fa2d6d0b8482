// Package form owns forms made from a JSON Schema: which field stands for which property, what was typed,
// and the value that it comes to. The same form starts an execution and answers a human task. It checks
// only what a field must be to become a value; whether the value is valid is the engine's to say. It must
// not know requests or the engine.
package form

import (
	"encoding/json"
	"slices"
	"sort"
	"strings"

	"weftline/engine/flow"
)

// schema is a JSON Schema object with its local references resolved against root.
type schema struct {
	node map[string]any
	root map[string]any
}

func newSchema(source map[string]any) schema { return schema{source, source}.resolved() }

// resolved follows local references, at most eight deep so that a circle ends.
func (s schema) resolved() schema {
	for range 8 {
		ref, ok := s.node["$ref"].(string)
		if !ok {
			return s
		}
		target, ok := lookup(s.root, ref)
		if !ok {
			return s
		}
		s.node = overlay(target, s.node)
	}
	return s
}

func lookup(root map[string]any, ref string) (map[string]any, bool) {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil, false
	}
	at := root
	for _, part := range strings.Split(path, "/") {
		next, ok := at[part].(map[string]any)
		if !ok {
			return nil, false
		}
		at = next
	}
	return at, true
}

// overlay is base with what stands beside the reference laid over it.
func overlay(base, beside map[string]any) map[string]any {
	merged := map[string]any{}
	for key, value := range base {
		merged[key] = value
	}
	for key, value := range beside {
		if key != "$ref" {
			merged[key] = value
		}
	}
	return merged
}

func (s schema) child(value any) schema {
	node, _ := value.(map[string]any)
	return schema{node, s.root}.resolved()
}

func (s schema) text(key string) string {
	text, _ := s.node[key].(string)
	return text
}

// number shows a numeric keyword as it was written, "" when absent.
func (s schema) number(key string) string {
	value, ok := s.node[key]
	if !ok {
		return ""
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(raw)
}

// typeName is the first type that is not null, "" when several or none are possible.
func (s schema) typeName() string {
	switch declared := s.node["type"].(type) {
	case string:
		return declared
	case []any:
		var names []string
		for _, name := range declared {
			if text, ok := name.(string); ok && text != "null" {
				names = append(names, text)
			}
		}
		if len(names) == 1 {
			return names[0]
		}
	}
	if _, ok := s.node["properties"].(map[string]any); ok {
		return "object"
	}
	return ""
}

// properties are the names of an object's properties in the order that they were written in, which x-order holds.
// Without it (a decoded schema has lost the order) required ones come first, then the others by name.
func (s schema) properties() []string {
	properties, _ := s.node["properties"].(map[string]any)
	var names []string
	for _, name := range append(texts(s.node["x-order"]), s.requiredNames()...) {
		if _, ok := properties[name]; ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	optional := make([]string, 0, len(properties))
	for name := range properties {
		if !slices.Contains(names, name) {
			optional = append(optional, name)
		}
	}
	sort.Strings(optional)
	return append(names, optional...)
}

func (s schema) property(name string) schema {
	properties, _ := s.node["properties"].(map[string]any)
	return s.child(properties[name])
}

func (s schema) items() schema { return s.child(s.node["items"]) }

func (s schema) requiredNames() []string { return texts(s.node["required"]) }

// texts are those of a list, decoded or not.
func texts(value any) []string {
	switch list := value.(type) {
	case []string:
		return list
	case []any:
		names := make([]string, 0, len(list))
		for _, name := range list {
			if text, ok := name.(string); ok {
				names = append(names, text)
			}
		}
		return names
	}
	return nil
}

func (s schema) requires(name string) bool { return slices.Contains(s.requiredNames(), name) }

// choices are the values of an enum, or of a oneOf/anyOf of constants with titles.
func (s schema) choices() []Option {
	if list, ok := s.node["enum"].([]any); ok {
		return options(list, nil)
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		list, _ := s.node[key].([]any)
		var values []any
		var titles []string
		for _, entry := range list {
			node, _ := entry.(map[string]any)
			value, ok := node["const"]
			if !ok {
				return nil
			}
			title, _ := node["title"].(string)
			values, titles = append(values, value), append(titles, title)
		}
		if len(values) > 0 {
			return options(values, titles)
		}
	}
	return nil
}

func options(values []any, titles []string) []Option {
	list := make([]Option, len(values))
	for i, value := range values {
		label := show(value)
		if titles != nil && titles[i] != "" {
			label = titles[i]
		}
		list[i] = Option{Value: Encode(value), Label: label}
	}
	return list
}

// Kinds of fields.
const (
	KindText     = "text"
	KindLong     = "long" // several lines
	KindSecret   = "secret"
	KindEmail    = "email"
	KindURL      = "url"
	KindNumber   = "number"
	KindInteger  = "integer"
	KindCheck    = "check"
	KindChoice   = "choice"
	KindDate     = "date"
	KindDateTime = "datetime" // typed and shown in UTC
	KindTime     = "time"
	KindObject   = "object"
	KindList     = "list"
	KindFile     = "file"
	KindJSON     = "json" // whatever no other field can hold
)

const longText = 200 // a text that may be longer than this gets several lines

func (s schema) kind() string {
	if _, ok := flow.FileRuleOf(s.node); ok {
		return KindFile
	}
	if len(s.choices()) > 0 {
		return KindChoice
	}
	switch s.typeName() {
	case "string":
		return s.textKind()
	case "number":
		return KindNumber
	case "integer":
		return KindInteger
	case "boolean":
		return KindCheck
	case "object":
		if len(s.properties()) > 0 {
			return KindObject
		}
	case "array":
		if s.items().node != nil {
			return KindList
		}
	}
	return KindJSON
}

func (s schema) sensitive() bool {
	secret, _ := s.node["x-sensitive"].(bool)
	return secret
}

func (s schema) textKind() string {
	if s.sensitive() {
		return KindSecret
	}
	switch s.text("format") {
	case "date":
		return KindDate
	case "date-time":
		return KindDateTime
	case "time":
		return KindTime
	case "email":
		return KindEmail
	case "uri", "url":
		return KindURL
	case "textarea", "multiline":
		return KindLong
	}
	if length, ok := toFloat(s.node["maxLength"]); ok && length > longText {
		return KindLong
	}
	return KindText
}
