package strictjson

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestParseIsExact(t *testing.T) {
	for text, want := range map[string]any{
		`9007199254740993`:           int64(9007199254740993),
		`-9223372036854775808`:       int64(-9223372036854775808),
		`1.5`:                        1.5,
		`1e2`:                        100.0,
		`"a\u00e9\ud83d\ude00"`:      "aé😀",
		`"\\u0000 \\ud800"`:          `\u0000 \ud800`, // an escaped backslash, not an escape
		`{"a":[1,null,true],"b":{}}`: map[string]any{"a": []any{int64(1), nil, true}, "b": map[string]any{}},
		" [ ] ":                      []any{},
	} {
		got, err := Parse([]byte(text))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, %v", text, got, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, word := range map[string]string{
		``:                                  "empty",
		`{"a":1`:                            "early",
		`{"a":1,"a":2}`:                     `"a" is there twice`,
		`{"a":{"b":1,"b":1}}`:               "twice",
		`1 2`:                               "more",
		`{} x`:                              "more",
		`9223372036854775808`:               "64 bits",
		`1e999`:                             "too large",
		`"\u0000"`:                          `\u0000`,
		`"\ud800"`:                          "high surrogate",
		`"\ud800\u0041"`:                    "high surrogate",
		`"\udc00"`:                          "low surrogate",
		"\"\xff\"":                          "UTF-8",
		`nul`:                               "",
		`{'a':1}`:                           "",
		`{"a" 1}`:                           "",
		`[1,]`:                              "",
		strings.Repeat("[", MaxDepth+1):     "deeper",
		strings.Repeat(`{"a":`, MaxDepth+1): "deeper",
	} {
		value, err := Parse([]byte(text))
		var fault *Error
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), word) {
			t.Errorf("%.40q: %v, %v", text, value, err)
		}
	}
}

func TestErrorsSayWhere(t *testing.T) {
	_, err := Parse([]byte("{\n  \"list\": [1, {\"x/y\": 1, \"x/y\": 2}]\n}"))
	var fault *Error
	if !errors.As(err, &fault) || fault.Pointer != "/list/1/x~1y" || fault.Line != 2 {
		t.Errorf("%+v", fault)
	}
}

type target struct {
	Name  string            `json:"name"`
	Count int               `json:"count"`
	Flag  *bool             `json:"flag"`
	When  *time.Time        `json:"when"`
	ID    uuid.UUID         `json:"id"`
	Tags  map[string]string `json:"tags"`
	Any   any               `json:"any"`
	List  []target          `json:"list"`
	Share float64           `json:"share"`
	Other float64           `json:"other"`
	Own   string            `json:"-"`
}

func TestAssign(t *testing.T) {
	value, err := Parse([]byte(`{"name":"n","count":3,"flag":false,"when":"2026-03-29T00:30:00.000Z","id":"6ba7b810-9dad-11d1-80b4-00c04fd430c8",
		"tags":{"a":"b"},"any":{"n":9007199254740993},"list":[{"name":"inner"}],"share":0.5,"other":2}`))
	if err != nil {
		t.Fatal(err)
	}
	var got target
	if err := Assign(value, &got); err != nil {
		t.Fatal(err)
	}
	exact := got.Any.(map[string]any)["n"]
	if got.Name != "n" || got.Count != 3 || got.Flag == nil || *got.Flag || got.When.Minute() != 30 ||
		got.ID == uuid.Nil || got.Tags["a"] != "b" || exact != int64(9007199254740993) || got.List[0].Name != "inner" || got.Share != 0.5 || got.Other != 2 {
		t.Errorf("%+v", got)
	}
}

func TestAssignRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"nmae":"x"}`:            `/nmae: the field "nmae" is not known`,
		`{"Name":"x"}`:            `"Name" is not known`,
		`{"Own":"x"}`:             `"Own" is not known`,
		`{"name":1}`:              "/name: expected a string, got a whole number",
		`{"share":"1"}`:           "/share: expected a number, got a string",
		`{"count":1.5}`:           "/count: expected a whole number, got a number",
		`{"list":[{"count":""}]}`: "/list/0/count",
		`{"list":{}}`:             "/list: expected a list",
		`{"tags":{"a":1}}`:        "/tags/a",
		`{"when":"tomorrow"}`:     "/when: a time",
		`{"id":"7"}`:              "/id: an id",
		`[]`:                      "expected an object, got a list",
	} {
		value, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := Assign(value, &target{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"a":[1,"\ud83d\ude00",null]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := Parse(data); err != nil && err.Error() == "" {
			t.Error("an error without a message")
		}
	})
}
