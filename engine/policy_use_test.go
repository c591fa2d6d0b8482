package engine_test

import (
	"strings"
	"testing"

	"weftline/engine"
	"weftline/engine/activity"
)

// A connection that is for other workflows is refused at publish; one whose use was narrowed later is not opened
// any more, and the error does not tell its secret.
func TestUsableByOfConnectionsIsCheckedAtPublishAndAtUse(t *testing.T) {
	w := newWorld(t, func(o *engine.Options) {
		o.SecretKeys = [][]byte{make([]byte, 32)}
		o.Activities.Register("ai", activity.NewAI(activity.NewHTTP(activity.HTTPOptions{})))
	})
	if err := w.Vault().PutSecret(t.Context(), w.who, engine.SecretChange{Name: "AI_KEY", Value: "s3cr3t-1"}); err != nil {
		t.Fatal(err)
	}
	usable := func(patterns ...string) {
		t.Helper()
		_, err := w.Services().PutConnection(t.Context(), w.who, engine.Connection{Name: "assistant", Kind: "ai", UsableBy: patterns,
			Settings: map[string]any{"baseUrl": "http://127.0.0.1:1", "model": "m"}, Secrets: map[string]string{"apiKey": "AI_KEY"}})
		if err != nil {
			t.Fatal(err)
		}
	}
	const spec = "  activities:\n    - {id: a, type: ai, retry: 1, inputs: {connection: assistant, prompt: hello}}\n"
	usable("billing-*")
	w.draft("shop", spec)
	wantProblem(t, w.publishing("shop"), "E610", "spec.activities[0].inputs.connection")
	w.publish("billing-month", spec)
	if detail := w.ends(w.start("billing-month", nil), "failed"); detail.Error == nil || strings.HasPrefix(detail.Error.Type, "policy.") {
		t.Errorf("who may use it does not reach the service: %+v", detail.Error)
	}
	usable("payroll")
	detail := w.ends(w.start("billing-month", nil), "failed")
	if detail.Error == nil || detail.Error.Type != "policy.connection" || strings.Contains(detail.Error.Message, "s3cr3t") {
		t.Errorf("ended with %+v", detail.Error)
	}
}

// The policy is asked again before an attempt is leased: a remote worker does not get what the team has forbidden
// since it was offered.
func TestThePolicyIsAskedBeforeARemoteLease(t *testing.T) {
	w := newWorld(t)
	w.publish("far", renders)
	id := w.start("far", nil)
	w.until(id, "offered", func(engine.ExecutionDetail) bool { return w.rows("work", id) == 1 })
	only := []string{"set"}
	w.policy(engine.PolicyChange{AllowedActivityTypes: &only})
	worker := w.register(1, "render")
	w.none(worker)
	if detail := w.ends(id, "failed"); detail.Error == nil || detail.Error.Type != "policy.activity_type" || detail.Error.Activity != "render" {
		t.Errorf("ended with %+v", detail.Error)
	}
	if n := w.audited("activity.refused"); n != 1 {
		t.Errorf("%d refusals audited", n)
	}
}
