package openapi

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"weftline/engine/execution"
)

// schemas turns Go types into JSON Schemas; named structs become components and are referred to.
type schemas struct {
	components object
}

func newSchemas() *schemas { return &schemas{components: object{}} }

// special are types whose JSON is not what their fields say.
var special = map[reflect.Type]object{
	reflect.TypeFor[time.Time]():       {"type": "string", "format": "date-time"},
	reflect.TypeFor[uuid.UUID]():       {"type": "string", "format": "uuid"},
	reflect.TypeFor[json.RawMessage](): {},
	reflect.TypeFor[execution.Event](): {
		"type":     "object",
		"required": []string{"seq", "type", "at", "data"},
		"properties": object{
			"seq":      object{"type": "integer", "format": "int64", "description": "1..n without gaps"},
			"type":     object{"type": "string", "examples": []any{"ActivityCompleted"}},
			"at":       object{"type": "string", "format": "date-time"},
			"activity": object{"type": "string"},
			"item":     object{"type": "string"},
			"attempt":  object{"type": "integer"},
			"worker":   object{"type": "string"},
			"aside":    object{"type": "boolean", "description": "it changes nothing: who does not know its type may pass over it"},
			"data":     object{},
		},
	},
}

func (s *schemas) of(t reflect.Type) object {
	if known, ok := special[t]; ok {
		return known
	}
	switch t.Kind() {
	case reflect.Pointer:
		return object{"anyOf": []any{s.of(t.Elem()), object{"type": "null"}}}
	case reflect.Slice:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		return s.named(t)
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer", "format": "int64"}
	}
	return object{} // any
}

func (s *schemas) named(t reflect.Type) object {
	name := nameOf(t)
	if _, made := s.components[name]; !made {
		s.components[name] = object{} // a type that holds itself must find its name taken
		properties, required := object{}, []string{}
		s.fields(t, properties, &required)
		schema := object{"type": "object", "properties": properties}
		if len(required) > 0 {
			schema["required"] = required
		}
		s.components[name] = schema
	}
	return object{"$ref": "#/components/schemas/" + name}
}

func (s *schemas) fields(t reflect.Type, properties object, required *[]string) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			s.fields(field.Type, properties, required)
		case name == "-" || !field.IsExported():
		case name != "":
			properties[name] = withLeast(s.of(field.Type), field.Tag.Get("least"))
			if !strings.Contains(options, "omitempty") && !strings.HasSuffix(t.Name(), "Request") {
				*required = append(*required, name)
			}
		}
	}
}

// withLeast adds what the tag least says of a number.
func withLeast(schema object, tag string) object {
	if least, err := strconv.Atoi(tag); err == nil {
		schema["minimum"] = least
	}
	return schema
}

// nameOf: Page[weftline/engine.Workflow] is called WorkflowPage.
func nameOf(t reflect.Type) string {
	outer, inner, generic := strings.Cut(t.Name(), "[")
	if !generic {
		return outer
	}
	inner = strings.TrimSuffix(inner, "]")
	return inner[strings.LastIndexByte(inner, '.')+1:] + outer
}
