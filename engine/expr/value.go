package expr

import (
	"slices"
	"strconv"
	"strings"
)

// Value is a compiled tree of constants and expressions that is resolved to a plain value. It is immutable
// and safe for concurrent use. The zero Value is null.
type Value struct {
	literal any // used when nothing below is an expression
	dynamic bool

	program *Program          // a whole expression: the result keeps its type
	parts   []part            // text with expressions in it
	items   []*Value          // a list
	fields  map[string]*Value // an object

	programs []*Program // all below, in the order of keys and items
	refs     References // of them: known when the value is made, because each evaluation asks
}

// part is a stretch of a template: a program, or text.
type part struct {
	text    string
	program *Program
}

// Constant is a value without expressions; v must be a plain JSON value.
func Constant(v any) *Value { return &Value{literal: v} }

// Expression is a value that is one bare expression.
func Expression(p *Program) *Value {
	return (&Value{dynamic: true, program: p}).withReferences()
}

// ListOf and ObjectOf build a value from parts.
func ListOf(items []*Value) *Value {
	v := &Value{items: items}
	literal := make([]any, len(items))
	for i, item := range items {
		v.dynamic = v.dynamic || item.dynamic
		literal[i] = item.literal
	}
	if !v.dynamic {
		return Constant(literal)
	}
	return v.withReferences()
}

// ObjectOf builds an object; see ListOf.
func ObjectOf(fields map[string]*Value) *Value {
	v := &Value{fields: fields}
	literal := make(map[string]any, len(fields))
	for key, field := range fields {
		v.dynamic = v.dynamic || field.dynamic
		literal[key] = field.literal
	}
	if !v.dynamic {
		return Constant(literal)
	}
	return v.withReferences()
}

// CompileValue compiles a plain JSON value in which every string is a template: ${{ }} holds an expression,
// $${{ is a literal ${{. The error is an *Error whose Path is the JSON pointer of the string.
func CompileValue(tree any) (*Value, error) {
	switch t := tree.(type) {
	case string:
		return CompileTemplate(t)
	case []any:
		items := make([]*Value, len(t))
		for i, item := range t {
			v, err := CompileValue(item)
			if err != nil {
				return nil, below(err, strconv.Itoa(i))
			}
			items[i] = v
		}
		return ListOf(items), nil
	case map[string]any:
		fields := make(map[string]*Value, len(t))
		for _, key := range sortedKeys(t) {
			v, err := CompileValue(t[key])
			if err != nil {
				return nil, below(err, key)
			}
			fields[key] = v
		}
		return ObjectOf(fields), nil
	}
	plain, err := Normalize(tree)
	if err != nil {
		return nil, err
	}
	return Constant(plain), nil
}

// below puts a step in front of the path of an error.
func below(err error, key string) error {
	if e, ok := err.(*Error); ok {
		e.Path = "/" + pointerEscape.Replace(key) + e.Path
	}
	return err
}

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// Literal is the value itself when it has no expression in it.
func (v *Value) Literal() (any, bool) {
	if v == nil {
		return nil, true
	}
	return v.literal, !v.dynamic
}

// Fields are the entries of an object that has expressions in it, else nil.
func (v *Value) Fields() map[string]*Value { return v.fields }

// Whole is the one expression that is the value, nil for texts, lists and maps.
func (v *Value) Whole() *Program { return v.program }

// Eval resolves the value. The error is an *Error whose Path says where in the value it happened.
func (v *Value) Eval(env Env) (any, error) {
	switch {
	case v == nil:
		return nil, nil
	case !v.dynamic:
		return v.literal, nil
	case v.program != nil:
		return v.program.Eval(env)
	case v.parts != nil:
		return evalParts(v.parts, env, unescaped)
	case v.items != nil:
		list := make([]any, len(v.items))
		for i, item := range v.items {
			value, err := item.Eval(env)
			if err != nil {
				return nil, below(err, strconv.Itoa(i))
			}
			list[i] = value
		}
		return list, nil
	}
	object := make(map[string]any, len(v.fields))
	for key, field := range v.fields {
		value, err := field.Eval(env)
		if err != nil {
			return nil, v.firstError(env, key, err)
		}
		object[key] = value
	}
	return object, nil
}

// EvalEscaped resolves a template as text in which what expressions give is passed through escape, while what
// the author wrote stays as it is.
func (v *Value) EvalEscaped(env Env, escape func(string) string) (any, error) {
	switch {
	case v == nil || !v.dynamic:
		return v.Eval(env)
	case v.program != nil:
		return evalParts([]part{{program: v.program}}, env, escape)
	case v.parts != nil:
		return evalParts(v.parts, env, escape)
	}
	return v.Eval(env)
}

func unescaped(text string) string { return text }

// firstError makes the reported error independent of the order of a map.
func (v *Value) firstError(env Env, key string, err error) error {
	for _, name := range sortedFields(v.fields) {
		if name >= key {
			break
		}
		if _, earlier := v.fields[name].Eval(env); earlier != nil {
			return below(earlier, name)
		}
	}
	return below(err, key)
}

func sortedFields(fields map[string]*Value) []string {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func evalParts(parts []part, env Env, escape func(string) string) (any, error) {
	var out strings.Builder
	for _, p := range parts {
		if p.program == nil {
			out.WriteString(p.text)
			continue
		}
		value, err := p.program.Eval(env)
		if err != nil {
			return nil, err
		}
		text, err := plainText(value)
		if err != nil {
			return nil, p.program.asError(err)
		}
		out.WriteString(escape(text))
		if out.Len() > maxWork {
			return nil, p.program.asError(&Error{Code: CodeLimit, Message: "the text is too large"})
		}
	}
	return out.String(), nil
}

// withReferences notes what a value that has just been made reads.
func (v *Value) withReferences() *Value {
	v.programs = v.collect()
	if len(v.programs) == 1 {
		v.refs = v.programs[0].refs
		return v
	}
	for _, p := range v.programs {
		v.refs.Roots = append(v.refs.Roots, p.refs.Roots...)
		v.refs.Activities = append(v.refs.Activities, p.refs.Activities...)
		v.refs.Secrets = append(v.refs.Secrets, p.refs.Secrets...)
		v.refs.Variables = append(v.refs.Variables, p.refs.Variables...)
	}
	for _, list := range []*[]string{&v.refs.Roots, &v.refs.Activities, &v.refs.Secrets, &v.refs.Variables} {
		slices.Sort(*list)
		*list = slices.Clip(slices.Compact(*list))
	}
	return v
}

func (v *Value) collect() []*Program {
	var all []*Program
	if v.program != nil {
		all = append(all, v.program)
	}
	for _, p := range v.parts {
		if p.program != nil {
			all = append(all, p.program)
		}
	}
	for _, item := range v.items {
		all = append(all, item.Programs()...)
	}
	for _, name := range sortedFields(v.fields) {
		all = append(all, v.fields[name].Programs()...)
	}
	return all
}

// Programs are all expressions of the value, in the order of keys and items. The list must not be changed.
func (v *Value) Programs() []*Program {
	if v == nil {
		return nil
	}
	return v.programs
}

// Names are the roots that the expressions of the value read, sorted.
func (v *Value) Names() []string { return v.References().Roots }

// References are what the expressions of the value read. The lists must not be changed.
func (v *Value) References() References {
	if v == nil {
		return References{}
	}
	return v.refs
}
