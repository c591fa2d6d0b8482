package ui

import "testing"

func TestJSONForPeopleKeepsComparisonsReadable(t *testing.T) {
	text, err := JSONText(map[string]any{"when": "inputs.amount <= 100 && inputs.to > 1"})
	want := "{\n  \"when\": \"inputs.amount <= 100 && inputs.to > 1\"\n}"
	if err != nil || text != want {
		t.Fatalf("got %q, %v", text, err)
	}
}
