package expr

import (
	"maps"
	"slices"
)

// Type is what is known about a value before it exists. A nil Type is any value.
type Type struct {
	Kind   Kind
	Fields map[string]*Type // of an object: the keys it may have
	Open   bool             // an object that may have other keys too
	Loose  bool             // other keys are possible, but only ?. and ?? may ask for them
	Elem   *Type            // of a list
	Named  bool             // only single keys with fixed names may be read

	// Lookup finds keys beside Fields, when there are too many to list.
	Lookup func(key string) (*Type, bool)
	// Missing explains a key that Fields does not have; nil = an ordinary message with a suggestion.
	Missing func(key string) (code, message, hint string)
	// Doubt is why the value may be null; reading a key of it without ?. or ?? is then the advice W701.
	Doubt string
}

// Scope says which roots an expression may read and what they hold.
type Scope struct {
	Roots map[string]*Type
	// Absent explains a root that exists elsewhere but not here, "" = not known at all.
	Absent func(root string) (code, message, hint string)
}

// With gives a scope with more roots.
func (s *Scope) With(roots map[string]*Type) *Scope {
	merged := maps.Clone(s.Roots)
	maps.Copy(merged, roots)
	return &Scope{Roots: merged, Absent: s.Absent}
}

// Of makes a type of scalar kinds.
func Of(kind Kind) *Type { return &Type{Kind: kind, Open: kind&Object != 0} }

// ListOfType makes a list type; elem nil = any items.
func ListOfType(elem *Type) *Type { return &Type{Kind: List, Elem: elem} }

// Struct makes an object with exactly these keys.
func Struct(fields map[string]*Type) *Type { return &Type{Kind: Object, Fields: fields} }

// kind of a type; nil is anything.
func (t *Type) kind() Kind {
	if t == nil || t.Kind == 0 {
		return Any
	}
	return t.Kind
}

// never reports whether the type cannot be of any of these kinds.
func (t *Type) never(k Kind) bool { return t.kind()&k == 0 }

// either is the type of a value that is one or the other.
func either(a, b *Type) *Type {
	if a == nil || b == nil || a.kind() == Any || b.kind() == Any {
		return nil
	}
	if a.Kind == Null {
		return withNull(b)
	}
	if b.Kind == Null {
		return withNull(a)
	}
	if a == b {
		return a
	}
	joined := &Type{Kind: a.Kind | b.Kind, Open: true}
	if a.Kind == List && b.Kind == List {
		joined.Elem = either(a.Elem, b.Elem)
	}
	return joined
}

func withNull(t *Type) *Type {
	c := *t
	c.Kind |= Null
	return &c
}

// withoutNull is the type left of ??.
func withoutNull(t *Type) *Type {
	if t == nil || t.Kind&Null == 0 || t.Kind == Null {
		return t
	}
	c := *t
	c.Kind &^= Null
	return &c
}

func (t *Type) names() []string {
	return slices.Sorted(maps.Keys(t.Fields))
}

// TypeOfSchema reads a JSON Schema as a type. What it cannot know is any value.
func TypeOfSchema(schema map[string]any) *Type { return schemaType(schema, schema, 0) }

var schemaKinds = map[string]Kind{
	"null": Null, "boolean": Boolean, "integer": Number, "number": Number, "string": Text, "array": List, "object": Object,
}

func schemaType(schema any, root map[string]any, depth int) *Type {
	s, ok := schema.(map[string]any)
	if !ok || depth > 20 {
		return nil
	}
	if _, isRef := s["$ref"]; isRef {
		return nil
	}
	t := &Type{Kind: kindsOf(s["type"])}
	if t.Kind == 0 {
		t.Kind = enumKinds(s)
	}
	if t.Kind == 0 && s["properties"] != nil {
		t.Kind = Object | Null | Boolean | Number | Text | List
	}
	if t.Kind == 0 {
		return nil
	}
	if properties, ok := s["properties"].(map[string]any); ok {
		t.Fields = make(map[string]*Type, len(properties))
		for name, property := range properties {
			t.Fields[name] = schemaType(property, root, depth+1)
		}
		t.Loose = s["additionalProperties"] == nil
		_, patterns := s["patternProperties"]
		t.Open = patterns || s["additionalProperties"] == true || isSchema(s["additionalProperties"])
		for _, word := range []string{"allOf", "anyOf", "oneOf", "if"} {
			t.Open = t.Open || s[word] != nil
		}
	} else {
		t.Open = s["additionalProperties"] != false
	}
	if t.Kind&List != 0 {
		t.Elem = schemaType(s["items"], root, depth+1)
	}
	return t
}

func isSchema(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}

func kindsOf(word any) Kind {
	switch w := word.(type) {
	case string:
		return schemaKinds[w]
	case []any:
		var k Kind
		for _, each := range w {
			k |= kindsOf(each)
		}
		return k
	}
	return 0
}

func enumKinds(s map[string]any) Kind {
	values, _ := s["enum"].([]any)
	if c, found := s["const"]; found {
		values = append(values, c)
	}
	var k Kind
	for _, v := range values {
		k |= KindOf(v)
	}
	return k
}
