package flow_test

import (
	"errors"
	"fmt"
	"testing"

	"weftline/engine/flow"
)

const declared = `apiVersion: weftline/v1
kind: Workflow
metadata: {name: order}
spec:
  input:
    type: object
    required: [zone]
    properties:
      when: {type: string}
      address: {type: object, properties: {street: {type: string}, city: {type: string}, properties: {type: string}}}
      zone: {type: string, enum: [b, a]}
      lines: {type: array, items: {type: object, properties: {sku: {type: string}, qty: {type: integer}}}}
      choice: {type: object, default: {properties: {b: 1, a: 2}}}
  activities:
    - {id: go, type: set, outputs: {a: "1"}}
`

// What is written in an order is asked for in that order, in what is nested as well; what only looks like
// properties stays as it is.
func TestPropertiesKeepTheirOrder(t *testing.T) {
	source, err := flow.InputSchema([]byte(declared))
	if err != nil {
		t.Fatal(err)
	}
	workflow, err := flow.Load([]byte(declared))
	if err != nil {
		t.Fatal(err)
	}
	for _, schema := range []map[string]any{source, workflow.Input.Source} {
		properties := schema["properties"].(map[string]any)
		address, lines, choice := properties["address"].(map[string]any), properties["lines"].(map[string]any), properties["choice"].(map[string]any)
		got := fmt.Sprint(schema["x-order"], address["x-order"], lines["items"].(map[string]any)["x-order"], choice["default"])
		if want := "[when address zone lines choice] [street city properties] [sku qty] map[properties:map[a:2 b:1]]"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestTheInputOfATextNeedNotBeThereOrTheRestValid(t *testing.T) {
	if source, err := flow.InputSchema([]byte("apiVersion: weftline/v1\nkind: Workflow\nspec: {activities: nonsense}\n")); err != nil || source != nil {
		t.Errorf("%v %v", source, err)
	}
	var fault *flow.LoadError
	if _, err := flow.InputSchema([]byte("a: [")); !errors.As(err, &fault) {
		t.Errorf("%v", err)
	}
}
