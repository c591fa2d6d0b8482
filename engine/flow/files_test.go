package flow_test

import (
	"fmt"
	"strings"
	"testing"

	"weftline/engine/expr"
	"weftline/engine/flow"
)

func TestAMarkOfAFileIsChecked(t *testing.T) {
	for mark, complaint := range map[string]string{
		`true`: "", `{accept: [application/pdf, image/*], maxSize: 5MiB}`: "", `{}`: "",
		`yes please`: "is true, or", `{accept: pdf}`: "list of media types", `{accept: [pdf]}`: "list of media types",
		`{accept: []}`: "list of media types", `{maxSize: 5}`: "a size such as 5MiB", `{maxSize: 0B}`: "a size such as 5MiB",
		`{max: 5MiB}`: "not max",
	} {
		text := activities(`{id: ask, type: human, human: {title: Sign, due: 1h, candidates: {users: [ben]},
      form: {type: object, properties: {contract: {type: object, x-file: ` + mark + `}}}}}`)
		said := ""
		for _, problem := range flow.Validate(text).Errors {
			said += problem.Message + "\n"
		}
		if (complaint == "") != (said == "") || !strings.Contains(said, complaint) {
			t.Errorf("x-file: %s: %q, want %q", mark, said, complaint)
		}
	}
	_, err := flow.NewSchema(map[string]any{"type": "object", "properties": map[string]any{
		"x-file": map[string]any{"type": "string"},
		"name":   map[string]any{"type": "string", "x-file": true}}})
	if err == nil || !strings.Contains(err.Error(), "needs type: object") {
		t.Errorf("a file that is a text: %v", err)
	}
}

// TestFilesAreFoundWhereTheirSchemaSays: in members, items, references and parts of a schema, and nowhere else.
func TestFilesAreFoundWhereTheirSchemaSays(t *testing.T) {
	schema, err := flow.NewSchema(decoded(t, `{"type": "object", "$defs": {"scan": {"type": "object", "x-file": {"accept": ["image/*"]}}},
		"properties": {"one": {"$ref": "#/$defs/scan"}, "many": {"type": "array", "items": {"type": "object", "x-file": true}}, "other": {}},
		"allOf": [{"properties": {"more": {"type": "object", "properties": {"a/b": {"type": "object", "x-file": {"maxSize": "2KiB"}}}}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	value := decoded(t, `{"one": {"$file": "1"}, "many": [{"$file": "2"}, {"$file": "3"}], "other": {"$file": "4"}, "more": {"a/b": {"$file": "5"}}}`)
	found := map[string]string{}
	replaced := schema.ReplaceFiles(value, func(at string, rule flow.FileRule, file any) any {
		id, _ := flow.FileID(file)
		found[at] = fmt.Sprintf("%s %v %d", id, rule.Accept, rule.MaxSize)
		return "file " + id
	})
	want := map[string]string{"/one": "1 [image/*] 0", "/many/0": "2 [] 0", "/many/1": "3 [] 0", "/more/a~1b": "5 [] 2048"}
	if fmt.Sprint(found) != fmt.Sprint(want) {
		t.Errorf("found %v, want %v", found, want)
	}
	if got := replaced.(map[string]any); got["one"] != "file 1" || fmt.Sprint(got["other"]) != "map[$file:4]" || fmt.Sprint(value["one"]) != "map[$file:1]" {
		t.Errorf("replaced %v, given %v", replaced, value)
	}
}

func TestARuleOfFilesRefusesTypesAndSizes(t *testing.T) {
	rule := flow.FileRule{Accept: []string{"application/pdf", "image/*"}, MaxSize: 10}
	for _, fits := range []string{"application/pdf", "image/png", "Image/PNG"} {
		if fault := rule.Refusal(fits, 10); fault != "" {
			t.Errorf("%s: %s", fits, fault)
		}
	}
	if fault := rule.Refusal("application/pdf", 11); !strings.Contains(fault, "11 bytes") {
		t.Errorf("too large: %q", fault)
	}
	for _, other := range []string{"text/html", "imagery/png", "application/octet-stream"} {
		if rule.Refusal(other, 1) == "" {
			t.Errorf("%s is accepted", other)
		}
	}
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	value, err := expr.DecodeJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return value.(map[string]any)
}
