package form

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"weftline/engine/flow"
)

// Parse makes the value of what was typed. A field left empty is absent; a required one is a problem, and
// so is text that is no number, date or JSON. Everything else is for the engine to check.
func Parse(source map[string]any, typed url.Values) (map[string]any, []flow.Problem) {
	p := parser{typed: typed}
	value := p.object(newSchema(source), "")
	return value, p.problems
}

type parser struct {
	typed    url.Values
	problems []flow.Problem
}

func (p *parser) object(s schema, pointer string) map[string]any {
	value := map[string]any{}
	for _, name := range s.properties() {
		at := pointer + "/" + escape(name)
		member, present := p.value(s.property(name), at, s.requires(name))
		if present {
			value[name] = member
		}
	}
	return value
}

// value answers what one field holds, and whether it holds anything.
func (p *parser) value(s schema, pointer string, required bool) (any, bool) {
	switch s.kind() {
	case KindObject:
		return p.group(s, pointer, required)
	case KindList:
		return p.list(s, pointer, required)
	case KindCheck:
		return p.typed.Get(pointer) == "true", true
	}
	text := p.typed.Get(pointer)
	if strings.TrimSpace(text) == "" {
		if required {
			p.complain(pointer, missing(s.kind()))
		}
		return nil, false
	}
	value, err := scalar(s.kind(), text)
	if err != nil {
		p.complain(pointer, err.Error())
		return nil, false
	}
	return value, true
}

func missing(kind string) string {
	if kind == KindFile {
		return "Choose a file"
	}
	return "Fill this in"
}

// group is an object; an optional one in which nothing was typed is absent, complaints and all.
func (p *parser) group(s schema, pointer string, required bool) (any, bool) {
	if !required && !p.anythingTyped(pointer) {
		return nil, false
	}
	return p.object(s, pointer), true
}

func (p *parser) anythingTyped(pointer string) bool {
	for name, values := range p.typed {
		if strings.HasPrefix(name, pointer+"/") && len(values) > 0 && values[0] != "" && values[0] != "0" {
			return true
		}
	}
	return false
}

func (p *parser) list(s schema, pointer string, required bool) (any, bool) {
	n := rowCount(p.typed, pointer)
	if n == 0 && !required {
		return nil, false
	}
	entries := make([]any, 0, n)
	for i := range n {
		entry, present := p.value(s.items(), fmt.Sprintf("%s/%d", pointer, i), true)
		if present {
			entries = append(entries, entry)
		}
	}
	return entries, true
}

func (p *parser) complain(pointer, message string) {
	p.problems = append(p.problems, flow.Problem{Path: pointer, Severity: "error", Message: message})
}

func scalar(kind, text string) (any, error) {
	switch kind {
	case KindInteger:
		return integer(strings.TrimSpace(text))
	case KindNumber:
		return number(strings.TrimSpace(text))
	case KindDateTime:
		return instant(text)
	case KindTime:
		if len(text) == len("15:04") {
			text += ":00"
		}
		return text + "Z", nil
	case KindChoice, KindFile, KindJSON:
		return Decode(text)
	default:
		return text, nil
	}
}

func integer(text string) (any, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%q is not a whole number", text)
	}
	return n, nil
}

// number keeps whole numbers exact.
func number(text string) (any, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f-f != 0 { // f-f is not 0 for infinities and NaN, which JSON does not have
		return nil, fmt.Errorf("%q is not a number", text)
	}
	return f, nil
}

var typedInstants = []string{"2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339Nano}

func instant(text string) (any, error) {
	for _, layout := range typedInstants {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC().Format(time.RFC3339), nil
		}
	}
	return nil, fmt.Errorf("%q is not a date with a time", text)
}

// Decode reads JSON with whole numbers exact. The error names the place for people.
func Decode(text string) (any, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("this is not JSON: %w", located(err, text))
	}
	if decoder.More() {
		return nil, fmt.Errorf("this is not JSON: something follows the value")
	}
	return exact(value), nil
}

func located(err error, text string) error {
	var offset int64 = -1
	if syntax, ok := err.(*json.SyntaxError); ok {
		offset = syntax.Offset
	}
	if offset < 0 || offset > int64(len(text)) {
		return err
	}
	before := text[:offset]
	line := strings.Count(before, "\n") + 1
	column := len([]rune(before[strings.LastIndex(before, "\n")+1:]))
	return fmt.Errorf("%w (line %d, column %d)", err, line, max(column, 1))
}

// exact turns decoded numbers into int64 where they are whole and fit, else float64.
func exact(value any) any {
	switch v := value.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case map[string]any:
		for key, member := range v {
			v[key] = exact(member)
		}
	case []any:
		for i, entry := range v {
			v[i] = exact(entry)
		}
	}
	return value
}

// Fill is the inverse of Parse: what would have been typed for a value. Where value has nothing, the
// schema's default stands.
func Fill(source map[string]any, value any) url.Values {
	typed := url.Values{}
	fill(typed, newSchema(source), value, "")
	return typed
}

// Example is an input to try a schema with: the first example of each field that has one and no default.
func Example(source map[string]any) map[string]any {
	value := map[string]any{}
	s := newSchema(source)
	for _, name := range s.properties() {
		property := s.property(name)
		examples, _ := property.node["examples"].([]any)
		if _, standard := property.node["default"]; !standard && len(examples) > 0 {
			value[name] = examples[0]
		}
	}
	return value
}

// Sensitive reports whether a field of the form is to be masked.
func (f Form) Sensitive() bool { return sensitive(f.Fields) }

func sensitive(fields []Field) bool {
	return slices.ContainsFunc(fields, func(field Field) bool { return field.Sensitive || sensitive(field.Fields) })
}

func fill(typed url.Values, s schema, value any, pointer string) {
	if value == nil {
		value = s.node["default"]
	}
	switch kind := s.kind(); kind {
	case KindObject:
		members, _ := value.(map[string]any)
		for _, name := range s.properties() {
			fill(typed, s.property(name), members[name], pointer+"/"+escape(name))
		}
	case KindList:
		fillList(typed, s, value, pointer)
	case KindChoice, KindFile, KindJSON:
		if value != nil {
			typed.Set(pointer, Encode(value))
		}
	case KindDateTime:
		typed.Set(pointer, typedInstant(value))
	default:
		if value != nil {
			typed.Set(pointer, show(value))
		}
	}
}

func fillList(typed url.Values, s schema, value any, pointer string) {
	entries, _ := value.([]any)
	n := len(entries)
	if least, _ := toFloat(s.node["minItems"]); len(typed) < mostFields {
		n = max(n, int(min(least, maxRows)))
	}
	typed.Set(countName(pointer), strconv.Itoa(n))
	for i := range n {
		var entry any
		if i < len(entries) {
			entry = entries[i]
		}
		fill(typed, s.items(), entry, fmt.Sprintf("%s/%d", pointer, i))
	}
}

func typedInstant(value any) string {
	text, _ := value.(string)
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return t.UTC().Format("2006-01-02T15:04:05")
}

// Encode is compact JSON of a value that came from JSON or YAML.
func Encode(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(raw)
}

// show is a value as a person would type it: text bare, anything else as JSON.
func show(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	return Encode(value)
}

func toFloat(value any) (float64, bool) {
	switch n := value.(type) {
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}
