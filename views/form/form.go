package form

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"weftline/engine/flow"
	"weftline/views/ui"
)

// Form is a JSON Schema as fields, filled with what was typed.
type Form struct {
	Fields   []Field
	Problems []Problem // all of them, in the order of the fields, those of no field last
}

// Problem is one complaint; Field is the id of the field it belongs to, "" when it belongs to none.
type Problem struct {
	Field, Label, Message string
}

// Field is one input, or a group of them.
type Field struct {
	Name      string // posted name: the JSON pointer of the value, e.g. /lines/0/qty
	ID        string // of the element
	Label     string
	Help      string
	Kind      string
	Required  bool
	Value     string // as typed; "true" for a checked box, JSON for a choice
	Example   string
	Options   []Option
	Min, Max  string
	Error     string
	Fields    []Field // of an object; the rows of a list
	Row       bool    // a row of a list: it can be removed
	Sensitive bool
	File      ui.File // what a file field holds; no Name = nothing yet
	Accept    string  // of a file field, as browsers read it
}

// Option is one choice; Value is the JSON of what it stands for.
type Option struct {
	Value, Label string
}

// Build makes the form of a schema. typed holds what was posted, or what Fill made of a value; problems
// are those of Parse and of the engine, their Path a JSON pointer.
func Build(source map[string]any, typed url.Values, problems []flow.Problem) Form {
	b := builder{typed: typed, errors: map[string]string{}}
	for _, problem := range problems {
		if b.errors[problem.Path] == "" {
			b.errors[problem.Path] = problem.Message
		}
	}
	root := newSchema(source)
	form := Form{Fields: b.fields(root, "")}
	form.Problems = append(b.found, b.homeless(problems)...)
	return form
}

type builder struct {
	typed  url.Values
	errors map[string]string // message by pointer; taken out when a field shows it
	found  []Problem
}

func (b *builder) fields(object schema, pointer string) []Field {
	var fields []Field
	for _, name := range object.properties() {
		field := b.field(object.property(name), pointer+"/"+escape(name), label(object.property(name), name))
		field.Required = object.requires(name)
		fields = append(fields, field)
	}
	return fields
}

func (b *builder) field(s schema, pointer, label string) Field {
	field := Field{
		Name:      pointer,
		ID:        elementID(pointer),
		Label:     label,
		Kind:      s.kind(),
		Help:      help(s),
		Value:     b.typed.Get(pointer),
		Options:   s.choices(),
		Min:       s.number("minimum"),
		Max:       s.number("maximum"),
		Example:   example(s),
		Error:     b.take(pointer, label),
		Sensitive: s.sensitive(),
	}
	switch field.Kind {
	case KindObject:
		field.Fields = b.fields(s, pointer)
	case KindList:
		field.Fields = b.rows(s, pointer, label)
	case KindFile:
		rule, _ := flow.FileRuleOf(s.node)
		field.Accept = strings.Join(rule.Accept, ",")
		if value, err := Decode(field.Value); err == nil {
			field.File, _ = ui.FileOf(value)
		}
	}
	return field
}

func (b *builder) rows(list schema, pointer, label string) []Field {
	rows := make([]Field, rowCount(b.typed, pointer))
	for i := range rows {
		rows[i] = b.field(list.items(), fmt.Sprintf("%s/%d", pointer, i), fmt.Sprintf("%s %d", label, i+1))
		rows[i].Row, rows[i].Required = true, true
	}
	return rows
}

func (b *builder) take(pointer, label string) string {
	message, ok := b.errors[pointer]
	if ok {
		delete(b.errors, pointer)
		b.found = append(b.found, Problem{elementID(pointer), label, message})
	}
	return message
}

// homeless are the problems that no field could show.
func (b *builder) homeless(problems []flow.Problem) []Problem {
	var rest []Problem
	for _, problem := range problems {
		if b.errors[problem.Path] == problem.Message {
			delete(b.errors, problem.Path)
			rest = append(rest, Problem{Label: strings.TrimPrefix(problem.Path, "/"), Message: problem.Message})
		}
	}
	return rest
}

func label(s schema, name string) string {
	if title := s.text("title"); title != "" {
		return title
	}
	words := strings.NewReplacer("_", " ", "-", " ").Replace(name)
	if words == "" {
		return name
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

// help says in words what the field accepts, after the author's own description.
func help(s schema) string {
	var parts []string
	if description := s.text("description"); description != "" {
		parts = append(parts, strings.TrimRight(strings.TrimSpace(description), "."))
	}
	parts = append(parts, bounds(s)...)
	if pattern := s.text("pattern"); pattern != "" {
		parts = append(parts, "Must match "+pattern)
	}
	switch s.kind() {
	case KindDateTime:
		parts = append(parts, "In UTC")
	case KindFile:
		parts = append(parts, fileBounds(s)...)
	}
	return strings.Join(parts, ". ")
}

func bounds(s schema) []string {
	var parts []string
	for _, bound := range []struct{ low, high, unit string }{
		{"minimum", "maximum", ""}, {"minLength", "maxLength", " characters"}, {"minItems", "maxItems", " entries"},
	} {
		low, high := s.number(bound.low), s.number(bound.high)
		switch {
		case low != "" && high != "":
			parts = append(parts, low+" to "+high+bound.unit)
		case low != "":
			parts = append(parts, "At least "+low+bound.unit)
		case high != "":
			parts = append(parts, "At most "+high+bound.unit)
		}
	}
	if low := s.number("exclusiveMinimum"); low != "" {
		parts = append([]string{"More than " + low}, parts...)
	}
	if high := s.number("exclusiveMaximum"); high != "" {
		parts = append(parts, "Less than "+high)
	}
	return parts
}

func fileBounds(s schema) (parts []string) {
	rule, _ := flow.FileRuleOf(s.node)
	if len(rule.Accept) > 0 {
		parts = append(parts, strings.Join(rule.Accept, " or "))
	}
	if rule.MaxSize > 0 {
		parts = append(parts, "At most "+ui.Bytes(rule.MaxSize))
	}
	return parts
}

// TakesFiles reports whether the form has a field for a file, so that it must be sent in parts.
func (f Form) TakesFiles() bool { return takesFiles(f.Fields) }

func takesFiles(fields []Field) bool {
	return slices.ContainsFunc(fields, func(field Field) bool { return field.Kind == KindFile || takesFiles(field.Fields) })
}

// Encoding is how a browser sends the form.
func (f Form) Encoding() string {
	if f.TakesFiles() {
		return "multipart/form-data"
	}
	return "application/x-www-form-urlencoded"
}

func example(s schema) string {
	if examples, ok := s.node["examples"].([]any); ok && len(examples) > 0 {
		return show(examples[0])
	}
	return ""
}

// elementID turns a pointer into an id that CSS and fragments can name.
func elementID(pointer string) string {
	return "f" + strings.NewReplacer("/", "-", "~1", "_", "~0", "_", " ", "_").Replace(pointer)
}

// countName is the posted name that holds a list's number of rows.
func countName(pointer string) string { return pointer + "#" }

func rowCount(typed url.Values, pointer string) int {
	n, err := strconv.Atoi(typed.Get(countName(pointer)))
	if err != nil || n < 0 {
		return 0
	}
	return min(n, maxRows)
}

const (
	maxRows    = 200  // rows of one list; longer ones are typed as JSON
	mostFields = 2000 // from so many fields on lists have no rows that nobody filled in, whatever the schema asks for
)

func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }
