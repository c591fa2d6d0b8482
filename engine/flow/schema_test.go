package flow_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"weftline/engine/expr"
	"weftline/engine/flow"
)

func schemaOf(t *testing.T, text string) *flow.Schema {
	t.Helper()
	source, err := expr.DecodeJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := flow.NewSchema(source.(map[string]any))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

const order = `{"type": "object", "required": ["id", "lines"], "additionalProperties": false, "properties": {
  "id": {"type": "string", "pattern": "^o"}, "urgent": {"type": "boolean", "default": false},
  "address": {"type": "object", "default": {}, "properties": {"country": {"type": "string", "default": "DE"}}},
  "card": {"type": "string", "x-sensitive": true}, "mail": {"type": "string", "format": "email"},
  "lines": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["qty"],
    "properties": {"qty": {"type": "integer", "minimum": 1}, "unit": {"type": "string", "default": "pc"}, "note": {"type": "string", "x-sensitive": true}}}}}}`

func TestSchemaAppliesDefaultsDeeply(t *testing.T) {
	given := map[string]any{"id": "o1", "lines": []any{map[string]any{"qty": int64(2)}}}
	got, problems := schemaOf(t, order).Check(given)
	text, _ := json.Marshal(got)
	want := `{"address":{"country":"DE"},"id":"o1","lines":[{"qty":2,"unit":"pc"}],"urgent":false}`
	if len(problems) > 0 || string(text) != want {
		t.Errorf("%s %v", text, problems)
	}
	if len(given) != 2 {
		t.Error("the value given was changed")
	}
}

func TestSchemaNamesEveryBadPlace(t *testing.T) {
	for _, c := range []struct{ value, path, words string }{
		{`{"lines": [{"qty": 1}]}`, "/id", `"id" is missing`},
		{`{"id": "o1", "lines": [{"qty": 1}, {"qty": 0}]}`, "/lines/1/qty", "1"},
		{`{"id": "o1", "lines": [{"qty": "1"}]}`, "/lines/0/qty", "integer"},
		{`{"id": "o1", "lines": [{"qty": 1}], "urgnet": true}`, "/urgnet", `"urgnet"`},
		{`{"id": "x1", "lines": []}`, "/id", "pattern"},
		{`{"id": "o1", "lines": [{"qty": 1}], "mail": "nobody"}`, "/mail", "email"},
		{`[]`, "", "object"},
	} {
		value, _ := expr.DecodeJSON([]byte(c.value))
		_, problems := schemaOf(t, order).Check(value)
		found := false
		for _, p := range problems {
			found = found || p.Path == c.path && strings.Contains(p.Message, c.words)
		}
		if !found {
			t.Errorf("%s: %+v", c.value, problems)
		}
	}
}

func TestSchemaSaysLimitsInWords(t *testing.T) {
	for _, c := range []struct{ schema, value, words string }{
		{`{"maximum": 5000}`, `9999`, "At most 5,000"},
		{`{"minimum": 0.5}`, `0.25`, "At least 0.5"},
		{`{"exclusiveMinimum": 0}`, `0`, "More than 0"},
		{`{"exclusiveMaximum": 9007199254740993}`, `9007199254740993`, "Less than 9,007,199,254,740,993"},
		{`{"multipleOf": 5}`, `7`, "A multiple of 5"},
		{`{"minLength": 1}`, `""`, "At least 1 character"},
		{`{"maxLength": 2}`, `"abc"`, "At most 2 characters"},
		{`{"minItems": 2}`, `[1]`, "At least 2 items"},
		{`{"maxItems": 1}`, `[1, 2]`, "At most 1 item"},
	} {
		value, _ := expr.DecodeJSON([]byte(c.value))
		if _, problems := schemaOf(t, c.schema).Check(value); len(problems) != 1 || problems[0].Message != c.words {
			t.Errorf("%s: %+v, not %q", c.schema, problems, c.words)
		}
	}
}

func TestSchemaKeepsLargeWholeNumbers(t *testing.T) {
	schema := schemaOf(t, `{"type": "object", "properties": {"n": {"type": "integer", "maximum": 9007199254740993}}}`)
	if _, problems := schema.Check(map[string]any{"n": int64(9007199254740993)}); len(problems) > 0 {
		t.Error(problems)
	}
	if _, problems := schema.Check(map[string]any{"n": int64(9007199254740994)}); len(problems) == 0 {
		t.Error("9007199254740994 passes for 9007199254740993")
	}
}

func compiledLanguage(t *testing.T) *jsonschema.Schema {
	t.Helper()
	source, err := jsonschema.UnmarshalJSON(bytes.NewReader(flow.JSONSchema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("language", source); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("language")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// The published schema and the checker come from one table: what the checker takes, the schema takes.
func TestPublishedSchemaAgreesWithTheChecker(t *testing.T) {
	schema := compiledLanguage(t)
	good, _ := filepath.Glob("testdata/*.yaml")
	if len(good) == 0 {
		t.Fatal("no definitions in testdata")
	}
	for _, file := range good {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := flow.Plain(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(plain); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if report := flow.Validate(text); !report.Valid {
			t.Errorf("%s: %v", file, report.Errors)
		}
	}
	for name, text := range map[string][]byte{
		"unknown key":   activities(`{id: a, whne: x, ` + set + `}`),
		"unknown input": activities(`{id: a, type: http, inputs: {url: "http://x.test", heders: {}}}`),
		"foreign block": activities(`{id: a, wait: {timer: {after: 1s}}, ` + set + `}`),
		"missing block": activities(`{id: a, type: emit}`),
		"bare duration": activities(`{id: a, timeout: 30, ` + set + `}`),
		"word":          activities(`{id: a, onSkip: stop, ` + set + `}`),
		"in a loop":     activities(`{id: a, type: for_each, for_each: {items: [1], activities: [{id: b, x: y, ` + set + `}]}}`),
	} {
		plain, err := flow.Plain(text)
		if err != nil {
			t.Fatal(err)
		}
		if schema.Validate(plain) == nil {
			t.Errorf("%s: the published schema takes what the checker refuses", name)
		}
	}
}

func TestPublishedSchemaDescribesEveryField(t *testing.T) {
	var schema struct {
		Defs map[string]struct {
			Title, Description string
			Properties         map[string]struct {
				Ref         string `json:"$ref"`
				Title       string
				Description string
				Examples    []any
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(flow.JSONSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"http", "script", "sql", "email", "human", "wait", "event", "emit", "workflow", "for_each", "switch", "set", "worker", "ai", "fail", "end"} {
		def, ok := schema.Defs["type."+kind]
		if !ok || def.Title == "" || def.Description == "" {
			t.Errorf("type %s is not described", kind)
		}
		for key, property := range def.Properties {
			if property.Title == "" || property.Description == "" {
				t.Errorf("%s.%s has no title or description", kind, key)
			}
		}
	}
}
