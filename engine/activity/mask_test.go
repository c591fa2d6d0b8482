package activity_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"weftline/engine/activity"
	"weftline/engine/execution"
)

// outcomeOf is a kind that always comes to the same.
type outcomeOf activity.Outcome

func (o outcomeOf) Run(context.Context, activity.Call) activity.Outcome { return activity.Outcome(o) }

func TestSecretsAreMaskedInOutcomes(t *testing.T) {
	const secret = "p@ss/w0rd+1"
	outcome := activity.Outcome{
		Value: map[string]any{
			"plain":  "Bearer " + secret,
			"basic":  []any{"cEBzcy93MHJkKzE="},
			"query":  "?key=p%40ss%2Fw0rd%2B1&x=1",
			secret:   int64(7),
			"number": 1.5,
		},
		Err: &execution.Error{Type: "http.400", Message: "refused " + secret, Detail: map[string]any{"echo": secret}},
	}
	registry := activity.NewRegistry()
	registry.Register("http", outcomeOf(outcome))
	got := registry.Run(t.Context(), activity.Call{Type: "http", Secrets: []string{secret, ""}})
	content, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{secret, "p%40ss", "cEBzcy93MHJkKzE"} {
		if strings.Contains(string(content), form) {
			t.Errorf("%s shows in %s", form, content)
		}
	}
	for _, kept := range []string{"Bearer ***", `"number":1.5`, `"***":7`, `?key=***\u0026x=1`, "refused ***"} {
		if !strings.Contains(string(content), kept) {
			t.Errorf("%s is missing in %s", kept, content)
		}
	}
	if outcome.Err.Message != "refused "+secret {
		t.Error("the error of the kind itself was changed")
	}
}
