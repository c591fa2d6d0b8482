package flow

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// schemaError says where a JSON Schema is wrong.
type schemaError struct {
	pointer []string
	message string
}

func (e *schemaError) Error() string { return e.message }

const schemaAddress = "weftline:schema"

// compileSchema reads a JSON Schema 2020-12 that refers to nothing outside itself. Formats are checked.
func compileSchema(source map[string]any) (*Schema, error) {
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	compiler.UseLoader(jsonschema.SchemeURLLoader{})
	if err := compiler.AddResource(schemaAddress, source); err != nil {
		return nil, err
	}
	compiled, err := compiler.Compile(schemaAddress)
	if err != nil {
		return nil, schemaProblem(err)
	}
	if err := checkFileMarks(source, nil); err != nil {
		return nil, err
	}
	return &Schema{Source: source, compiled: compiled}, nil
}

func schemaProblem(err error) error {
	invalid, ok := err.(*jsonschema.SchemaValidationError)
	if !ok {
		return err
	}
	cause, ok := invalid.Err.(*jsonschema.ValidationError)
	if !ok {
		return err
	}
	leaf := leaves(cause)[0]
	return &schemaError{pointer: leaf.InstanceLocation, message: say(leaf.ErrorKind)}
}

// NewSchema compiles a JSON Schema 2020-12; the error says what is wrong with it.
func NewSchema(source map[string]any) (*Schema, error) { return compileSchema(source) }

// emptyInput is the schema of a workflow that declares no input.
func emptyInput() *Schema {
	schema, _ := compileSchema(map[string]any{"type": "object", "additionalProperties": false})
	return schema
}

// Check applies defaults and checks a plain JSON value. The value given is not changed; nothing is coerced.
// The Path of a problem is the JSON pointer of the bad place; a missing or unknown property is named in
// the message and is part of the pointer.
func (s *Schema) Check(value any) (withDefaults any, problems []Problem) {
	withDefaults = applyDefaults(s.Source, value, s.Source, 0)
	err := s.compiled.(*jsonschema.Schema).Validate(withDefaults)
	if err == nil {
		return withDefaults, nil
	}
	invalid, ok := err.(*jsonschema.ValidationError)
	if !ok {
		return withDefaults, []Problem{{Code: "E420", Severity: "error", Message: err.Error()}}
	}
	for _, leaf := range leaves(invalid) {
		problems = append(problems, instanceProblems(leaf)...)
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return strings.Compare(a.Path, b.Path) })
	problems = slices.CompactFunc(problems, func(a, b Problem) bool { return a.Path == b.Path && a.Message == b.Message })
	return withDefaults, problems[:min(len(problems), maxProblems)]
}

// leaves are the errors that have no finer ones below them.
func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var all []*jsonschema.ValidationError
	for _, cause := range e.Causes {
		all = append(all, leaves(cause)...)
	}
	return all
}

func instanceProblems(e *jsonschema.ValidationError) []Problem {
	at := jsonPointer(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		return eachProperty(at, k.Missing, "%q is missing", "give it a value")
	case *kind.AdditionalProperties:
		return eachProperty(at, k.Properties, "%q is not known", "check the spelling")
	}
	return []Problem{{Path: at, Code: "E420", Severity: "error", Message: say(e.ErrorKind)}}
}

func eachProperty(at string, properties []string, format, hint string) []Problem {
	var all []Problem
	for _, property := range properties {
		all = append(all, Problem{Path: at + jsonPointer([]string{property}), Code: "E420", Severity: "error",
			Message: fmt.Sprintf(format, property), Hint: hint})
	}
	return all
}

var english = message.NewPrinter(language.English)

// say puts limits in the words of who fills in a form; the rest is said as the library does.
func say(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Minimum:
		return "At least " + number(k.Want)
	case *kind.Maximum:
		return "At most " + number(k.Want)
	case *kind.ExclusiveMinimum:
		return "More than " + number(k.Want)
	case *kind.ExclusiveMaximum:
		return "Less than " + number(k.Want)
	case *kind.MultipleOf:
		return "A multiple of " + number(k.Want)
	case *kind.MinLength:
		return "At least " + counted(k.Want, "character")
	case *kind.MaxLength:
		return "At most " + counted(k.Want, "character")
	case *kind.MinItems:
		return "At least " + counted(k.Want, "item")
	case *kind.MaxItems:
		return "At most " + counted(k.Want, "item")
	}
	return k.LocalizedString(english)
}

// number groups thousands and is exact for whole numbers of any size.
func number(n *big.Rat) string {
	if n.IsInt() && n.Num().IsInt64() {
		return english.Sprintf("%d", n.Num().Int64())
	}
	if n.IsInt() {
		return n.Num().String()
	}
	value, _ := n.Float64()
	return strconv.FormatFloat(value, 'g', -1, 64)
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return english.Sprintf("%d %s", n, what)
}

func jsonPointer(steps []string) string {
	var out strings.Builder
	for _, step := range steps {
		out.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(step))
	}
	return out.String()
}

// applyDefaults gives absent properties their default, deeply, through properties, items, allOf and local
// references. Parts that change are copied.
func applyDefaults(schema any, value any, root map[string]any, depth int) any {
	s, ok := schema.(map[string]any)
	if !ok || depth > maxNesting {
		return value
	}
	if ref, ok := s["$ref"].(string); ok {
		value = applyDefaults(resolveRef(root, ref), value, root, depth+1)
	}
	if all, ok := s["allOf"].([]any); ok {
		for _, part := range all {
			value = applyDefaults(part, value, root, depth+1)
		}
	}
	switch v := value.(type) {
	case map[string]any:
		return defaultProperties(s, v, root, depth)
	case []any:
		if items, ok := s["items"].(map[string]any); ok {
			out := slices.Clone(v)
			for i := range out {
				out[i] = applyDefaults(items, out[i], root, depth+1)
			}
			return out
		}
	}
	return value
}

func defaultProperties(s, value, root map[string]any, depth int) map[string]any {
	properties, ok := s["properties"].(map[string]any)
	if !ok {
		return value
	}
	out := maps.Clone(value)
	for name, property := range properties {
		if given, found := out[name]; found {
			out[name] = applyDefaults(property, given, root, depth+1)
			continue
		}
		if p, ok := property.(map[string]any); ok {
			if standard, found := p["default"]; found {
				out[name] = applyDefaults(property, standard, root, depth+1)
			}
		}
	}
	return out
}

// resolveRef follows a reference within the schema: #/$defs/x.
func resolveRef(root map[string]any, ref string) any {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	var at any = root
	for _, step := range strings.Split(path, "/") {
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	return at
}
