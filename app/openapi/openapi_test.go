package openapi

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
)

type inner struct {
	Deep string `json:"deep"`
}

type thing struct {
	inner
	ID    uuid.UUID         `json:"id"`
	When  *time.Time        `json:"when"`
	Tags  map[string]string `json:"tags,omitempty"`
	Kids  []thing           `json:"kids"`
	Free  any               `json:"free"`
	Own   string            `json:"-"`
	Share float64           `json:"share"`
}

type page[T any] struct {
	Items []T `json:"items"`
}

func TestSchemasSayWhatTheTypesSay(t *testing.T) {
	document := Document([]Operation{{Method: "GET", Path: "/a/:x/b", ID: "a", Right: "read", Query: []string{"q"}, Answers: page[thing]{}}}, inner{})
	text, err := json.Marshal(document["components"].(object)["schemas"])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"inner":{"properties":{"deep":{"type":"string"}},"required":["deep"],"type":"object"},` +
		`"thing":{"properties":{"deep":{"type":"string"},"free":{},"id":{"format":"uuid","type":"string"},` +
		`"kids":{"items":{"$ref":"#/components/schemas/thing"},"type":"array"},"share":{"type":"number"},` +
		`"tags":{"additionalProperties":{"type":"string"},"type":"object"},` +
		`"when":{"anyOf":[{"format":"date-time","type":"string"},{"type":"null"}]}},` +
		`"required":["deep","id","when","kids","free","share"],"type":"object"},` +
		`"thingpage":{"properties":{"items":{"items":{"$ref":"#/components/schemas/thing"},"type":"array"}},"required":["items"],"type":"object"}}`
	if string(text) != want {
		t.Errorf("%s", text)
	}
	operation := document["paths"].(object)["/a/{x}/b"].(object)["get"].(object)
	if len(operation["parameters"].([]any)) != 2 || operation["security"] == nil {
		t.Errorf("%v", operation)
	}
}
