package form

import (
	"encoding/json"
	"net/url"
	"reflect"
	"testing"

	"weftline/engine/flow"
)

const order = `{
  "type": "object",
  "required": ["customer", "lines", "express"],
  "$defs": {"money": {"type": "number", "minimum": 0}},
  "properties": {
    "customer": {"type": "string", "title": "Customer number", "minLength": 3},
    "express": {"type": "boolean"},
    "channel": {"enum": ["web", "shop", 7], "default": "web"},
    "placed": {"type": "string", "format": "date-time"},
    "total": {"$ref": "#/$defs/money"},
    "note": {"type": ["string", "null"], "maxLength": 500},
    "address": {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}, "zip": {"type": "string"}}},
    "tags": {"type": "array", "items": {"type": "string"}, "default": ["new"]},
    "lines": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["sku", "qty"],
      "properties": {"sku": {"type": "string"}, "qty": {"type": "integer", "default": 1}}}},
    "extra": {}
  }
}`

func parseJSON(t *testing.T, text string) map[string]any {
	t.Helper()
	value, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return value.(map[string]any)
}

func TestKindsLabelsAndOrder(t *testing.T) {
	schema := parseJSON(t, order)
	form := Build(schema, Fill(schema, nil), nil)
	type brief struct{ name, label, kind, value string }
	var got []brief
	for _, f := range form.Fields {
		got = append(got, brief{f.Name, f.Label, f.Kind, f.Value})
	}
	want := []brief{
		{"/customer", "Customer number", KindText, ""},
		{"/lines", "Lines", KindList, ""},
		{"/express", "Express", KindCheck, ""},
		{"/address", "Address", KindObject, ""},
		{"/channel", "Channel", KindChoice, `"web"`},
		{"/extra", "Extra", KindJSON, ""},
		{"/note", "Note", KindLong, ""},
		{"/placed", "Placed", KindDateTime, ""},
		{"/tags", "Tags", KindList, ""},
		{"/total", "Total", KindNumber, ""},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("fields:\n got %v\nwant %v", got, want)
	}
	if rows := form.Fields[1].Fields; len(rows) != 1 || rows[0].Fields[1].Value != "1" {
		t.Errorf("minItems and the default within a row are not there: %+v", rows)
	}
}

func TestParseIsTheInverseOfFill(t *testing.T) {
	schema := parseJSON(t, order)
	value := parseJSON(t, `{"customer": "c-1", "express": true, "channel": 7, "placed": "2026-03-29T00:30:00Z",
	  "total": 9007199254740993, "note": "two\nlines", "address": {"city": "Ulm"}, "tags": ["a", "b"],
	  "lines": [{"sku": "x", "qty": 2}], "extra": {"a": [1, 2.5]}}`)
	got, problems := Parse(schema, Fill(schema, value))
	if len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	if !reflect.DeepEqual(got, value) {
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(value)
		t.Errorf("got  %s\nwant %s", a, b)
	}
}

func TestWhatCannotBecomeAValueIsAProblemAtItsField(t *testing.T) {
	schema := parseJSON(t, order)
	typed := url.Values{"/total": {"many"}, "/lines#": {"1"}, "/lines/0/sku": {"x"}, "/lines/0/qty": {"1.5"}, "/extra": {"{\n  oops"}}
	_, problems := Parse(schema, typed)
	form := Build(schema, typed, problems)
	want := []string{"f-customer", "f-lines-0-qty", "f-extra", "f-total"}
	var got []string
	for _, p := range form.Problems {
		got = append(got, p.Field)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("fields with problems = %v, want %v", got, want)
	}
	if f := form.Fields[9]; f.Value != "many" || f.Error == "" {
		t.Errorf("what was typed must stay beside its complaint: %+v", f)
	}
}

func TestOptionalGroupLeftEmptyIsAbsent(t *testing.T) {
	schema := parseJSON(t, order)
	value, _ := Parse(schema, url.Values{"/customer": {"abc"}})
	for _, name := range []string{"address", "tags", "note", "channel"} {
		if _, there := value[name]; there {
			t.Errorf("%s is there though nothing was typed: %v", name, value[name])
		}
	}
	if _, problems := Parse(schema, url.Values{"/address/zip": {"1"}}); !has(problems, "/address/city") {
		t.Errorf("a group that was begun needs its required fields: %v", problems)
	}
}

func TestRowsAreAddedAndRemoved(t *testing.T) {
	schema := parseJSON(t, order)
	typed := Fill(schema, parseJSON(t, `{"lines": [{"sku": "a", "qty": 1}, {"sku": "b", "qty": 2}, {"sku": "c", "qty": 3}]}`))
	typed.Set(RemoveRow, "/lines/1")
	if !Edit(schema, typed) {
		t.Fatal("the remove button was not seen")
	}
	typed.Del(RemoveRow)
	typed.Set(AddRow, "/lines")
	Edit(schema, typed)
	typed.Set("/lines/2/sku", "d")
	got, _ := Parse(schema, typed)
	want := parseJSON(t, `{"x": [{"sku": "a", "qty": 1}, {"sku": "c", "qty": 3}, {"sku": "d", "qty": 1}]}`)["x"]
	if !reflect.DeepEqual(got["lines"], want) {
		t.Errorf("lines = %v, want %v", got["lines"], want)
	}
}

func TestProblemsOfTheEngineReachFieldsOrTheSummary(t *testing.T) {
	form := Build(parseJSON(t, order), url.Values{}, []flow.Problem{
		{Path: "/customer", Message: "too short"}, {Path: "", Message: "additional property x"},
	})
	want := []Problem{{"f-customer", "Customer number", "too short"}, {"", "", "additional property x"}}
	if !reflect.DeepEqual(form.Problems, want) {
		t.Errorf("problems = %v, want %v", form.Problems, want)
	}
}

func TestBrokenJSONSaysWhere(t *testing.T) {
	_, err := Decode("{\n  \"a\": 1,\n  oops\n}")
	want := "this is not JSON: invalid character 'o' looking for beginning of object key string (line 3, column 3)"
	if err == nil || err.Error() != want {
		t.Errorf("err = %v, want %s", err, want)
	}
}

func has(problems []flow.Problem, path string) bool {
	for _, p := range problems {
		if p.Path == path {
			return true
		}
	}
	return false
}

// TestAFileFieldHoldsWhatStandsForTheFile: filled and parsed it is the same value; taking it back leaves nothing.
func TestAFileFieldHoldsWhatStandsForTheFile(t *testing.T) {
	schema := parseJSON(t, `{"type": "object", "required": ["scan"], "properties": {"scan": {"type": "object", "x-file": {"accept": ["image/*", "application/pdf"], "maxSize": "2MiB"}}}}`)
	value := parseJSON(t, `{"scan": {"$file": "7", "name": "scan.png", "size": 2048}}`)
	typed := Fill(schema, value)
	if got, problems := Parse(schema, typed); len(problems) > 0 || !reflect.DeepEqual(got, value) {
		t.Errorf("parsed %v, %v", got, problems)
	}
	form := Build(schema, typed, nil)
	field := form.Fields[0]
	if !form.TakesFiles() || field.File.Name != "scan.png" || field.File.Size != "2 KiB" || field.Accept != "image/*,application/pdf" || field.Help != "image/* or application/pdf. At most 2.0 MiB" {
		t.Errorf("field %+v", field)
	}
	if _, known := FileRule(schema, "/other"); known {
		t.Error("a field that is not there is a file")
	}
	typed.Set(TakeBack, "/scan")
	if !Edit(schema, typed) || typed.Get("/scan") != "" {
		t.Errorf("taken back, but %v", typed)
	}
	if _, problems := Parse(schema, typed); len(problems) != 1 || problems[0].Message != "Choose a file" {
		t.Errorf("problems %+v", problems)
	}
}

// A form asks in the order that the author wrote, also in groups; what an order does not name follows.
func TestFieldsStandInTheOrderOfTheirDeclaration(t *testing.T) {
	schema := parseJSON(t, `{"type": "object", "required": ["b"], "x-order": ["z", "b", "group"], "properties": {
	  "b": {"type": "string", "examples": ["one"]}, "a": {"type": "string"}, "z": {"type": "string", "default": "q", "examples": ["no"]},
	  "group": {"type": "object", "x-order": ["y", "x"], "properties": {"x": {"type": "string"}, "y": {"type": "string"}}}}}`)
	form := Build(schema, url.Values{}, nil)
	var got []string
	for _, field := range form.Fields {
		got = append(got, field.Label)
	}
	got = append(got, form.Fields[2].Fields[0].Label)
	if want := []string{"Z", "B", "Group", "A", "Y"}; !reflect.DeepEqual(got, want) {
		t.Errorf("fields = %v, want %v", got, want)
	}
	if example := Example(schema); !reflect.DeepEqual(example, map[string]any{"b": "one"}) {
		t.Errorf("an example is %v", example)
	}
}

// However many entries a schema asks for, and in lists within lists, a form stays one that a page can hold.
func TestASchemaCannotMakeAFormWithoutEnd(t *testing.T) {
	list := map[string]any{"type": "array", "minItems": 1e8, "items": map[string]any{"type": "string"}}
	for range 8 {
		list = map[string]any{"type": "array", "minItems": 150.0, "items": list}
	}
	schema := map[string]any{"type": "object", "properties": map[string]any{"n": list, "m": map[string]any{"type": "array", "minItems": 1e300, "items": map[string]any{"type": "string"}}}}
	if typed := Fill(schema, nil); len(typed) > 5000 {
		t.Errorf("%d fields", len(typed))
	}
}
