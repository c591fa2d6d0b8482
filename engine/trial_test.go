package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/activity"
	"weftline/engine/execution"
)

const trialSpec = `
  input: {type: object, properties: {card: {type: string, x-sensitive: true, default: 4111-1111}}}
  activities:
    - {id: load, type: http, inputs: {url: "http://h/orders"}}
    - id: charge
      type: http
      needs: [load]
      retry: 3
      inputs: {url: "http://h/pay/${{ activities.load.outputs.body.order }}", body: {card: "${{ inputs.card }}"}, headers: {key: "${{ secrets.PAY }}"}}
      outputs: {receipt: result.body.receipt, card: inputs.card}
    - {id: last, type: set, needs: [charge], outputs: {x: activities.charge.outputs.receipt}}
`

func trialOf(id string) engine.TryRequest {
	return engine.TryRequest{Activity: id, Effects: true, Mocks: map[string]any{"load": map[string]any{"body": map[string]any{"order": "A7"}}}}
}

func withKeys(o *engine.Options) { o.SecretKeys = [][]byte{make([]byte, 32)} }

// One attempt is made as in an execution, with pinned data before it, and nothing else: no retry, no execution.
func TestTryMakesOneAttemptForReal(t *testing.T) {
	w := newWorld(t, withKeys)
	if err := w.Vault().PutSecret(t.Context(), w.who, engine.SecretChange{Name: "PAY", Value: "the-key-of-the-shop"}); err != nil {
		t.Fatal(err)
	}
	w.draft("pay", trialSpec)
	w.http.answers(func(_ context.Context, call activity.Call) activity.Outcome {
		call.Log("stdout", "paid with the-key-of-the-shop by 4111-1111")
		return activity.Outcome{Value: map[string]any{"body": map[string]any{"receipt": "R1"}}}
	})
	tried, err := w.Try(t.Context(), w.who, "pay", trialOf("charge"))
	if err != nil {
		t.Fatal(err)
	}
	calls := w.http.made()
	if len(calls) != 1 || calls[0].Activity != "charge" {
		t.Fatalf("%+v", calls)
	}
	given, _ := json.Marshal(calls[0].Input)
	for _, part := range []string{"http://h/pay/A7", "4111-1111", "the-key-of-the-shop"} {
		if !strings.Contains(string(given), part) {
			t.Errorf("the attempt was not given %s: %s", part, given)
		}
	}
	if output, _ := tried.Outputs.(map[string]any); tried.Status != "completed" || output["receipt"] != "R1" {
		t.Errorf("%+v", tried)
	}
	shown, _ := json.Marshal(tried)
	for _, hidden := range []string{"4111-1111", "the-key-of-the-shop"} {
		if strings.Contains(string(shown), hidden) {
			t.Errorf("the answer shows %s: %s", hidden, shown)
		}
	}
	if len(tried.Log) != 1 {
		t.Errorf("the log is %+v", tried.Log)
	}
	if w.audited("activity.tried") != 1 {
		t.Error("it is not audited")
	}
	if list, err := w.Executions(t.Context(), w.who, engine.ExecutionFilter{}); err != nil || len(list.Items) != 0 {
		t.Errorf("there are executions: %+v %v", list, err)
	}

	// Each trial is another one to whoever is called; a failure is not tried again.
	w.http.answers(func(context.Context, activity.Call) activity.Outcome {
		return activity.Outcome{Err: &execution.Error{Type: "http.503", Class: "external", Message: "not now, 4111-1111"}}
	})
	tried, err = w.Try(t.Context(), w.who, "pay", trialOf("charge"))
	calls = w.http.made()
	if err != nil || tried.Status != "failed" || tried.Error == nil || tried.Error.Type != "http.503" || strings.Contains(tried.Error.Message, "4111") {
		t.Errorf("%+v %v", tried, err)
	}
	if len(calls) != 2 || calls[0].IdempotencyKey == calls[1].IdempotencyKey || calls[0].Execution == uuid.Nil.String() {
		t.Errorf("%+v", calls)
	}
}

func TestTryIsRefusedWithAReason(t *testing.T) {
	w := newWorld(t, withKeys)
	w.draft("pay", trialSpec)
	for name, c := range map[string]struct {
		change func(*engine.TryRequest)
		code   string
		words  string
	}{
		"nobody said that it has effects": {func(r *engine.TryRequest) { r.Effects = false }, "invalid_input", "effects"},
		"unknown":                         {func(r *engine.TryRequest) { r.Activity = "chrage" }, "invalid_input", "no activity"},
		"pins what is not there":          {func(r *engine.TryRequest) { r.Mocks["laod"] = map[string]any{} }, "invalid_input", `did you mean "load"`},
		"needs a pin":                     {func(r *engine.TryRequest) { r.Mocks = nil }, "invalid_input", "load needs a mock"},
		"the engine's own":                {func(r *engine.TryRequest) { r.Activity = "last" }, "invalid_input", "the plan shows"},
		"of another workflow": {func(r *engine.TryRequest) {
			r.Definition = strings.Replace(textHead, "%s", "other", 1) + trialSpec
		}, "invalid_definition", "other"},
		"input does not fit": {func(r *engine.TryRequest) { r.Input = map[string]any{"card": 5} }, "invalid_input", "schema"},
		"input too large":    {func(r *engine.TryRequest) { r.Input = map[string]any{"card": strings.Repeat("4", 1<<20)} }, "too_large", "limit"},
	} {
		request := trialOf("charge")
		c.change(&request)
		_, err := w.Try(t.Context(), w.who, "pay", request)
		wantCode(t, err, c.code)
		if err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.policy(engine.PolicyChange{RequireReview: new(true)})
	_, err := w.Try(t.Context(), w.who, "pay", trialOf("charge"))
	wantCode(t, err, "review_required")
	w.policy(engine.PolicyChange{RequireReview: new(false), AllowedActivityTypes: &[]string{"set"}})
	tried, err := w.Try(t.Context(), w.who, "pay", trialOf("charge"))
	if err != nil || tried.Error == nil || tried.Error.Type != "policy.activity_type" {
		t.Errorf("%+v %v", tried, err)
	}
	if calls := w.http.made(); len(calls) != 0 {
		t.Errorf("something was called: %+v", calls)
	}
}

// A trial of a loop's activity is one of its items.
func TestTryOneItemOfALoop(t *testing.T) {
	w := newWorld(t)
	w.draft("each", `
  activities:
    - id: loop
      type: for_each
      for_each:
        items: '["a", "b"]'
        key: item
        activities:
          - {id: send, type: http, inputs: {url: "http://h/${{ item }}"}}
`)
	tried, err := w.Try(t.Context(), w.who, "each", engine.TryRequest{Activity: "send", Item: "b", Effects: true})
	if err != nil || tried.Status != "completed" || tried.Item != "b" {
		t.Fatalf("%+v %v", tried, err)
	}
	if given := w.http.made()[0].Input.(map[string]any); given["url"] != "http://h/b" {
		t.Errorf("%v", given)
	}
}

const chainSpec = `
  input: {type: object, properties: {card: {type: string, x-sensitive: true, default: 4111-1111}}}
  activities:
    - {id: load, type: http, inputs: {url: "http://h/orders", body: "${{ inputs.card }}"}, outputs: {order: result.body.order, card: inputs.card}}
    - {id: pause, type: wait, needs: [load], wait: {timer: {after: 2h}}}
    - {id: notify, type: http, needs: [load], inputs: {url: "http://h/notify"}}
    - {id: charge, type: http, needs: [pause], retry: 3, inputs: {url: "http://h/pay/${{ activities.load.outputs.order }}/${{ activities.load.outputs.card }}"}}
    - {id: total, type: set, needs: [charge], outputs: {order: activities.load.outputs.order, status: activities.charge.outputs.status}}
    - {id: caught, type: set, needs: [charge.failure], outputs: {why: error.type}}
    - {id: later, type: http, needs: [total], inputs: {url: "http://h/later"}}
`

func urls(calls []activity.Call) []string {
	var all []string
	for _, call := range calls {
		all = append(all, call.Input.(map[string]any)["url"].(string))
	}
	return all
}

// What is named before an activity is done for real too, once each and in order; its real outputs lead on, sensitive
// ones as well, and what is not named stays planned.
func TestTryUpToAnActivity(t *testing.T) {
	w := newWorld(t, withKeys)
	w.draft("pay", chainSpec)
	w.http.answers(func(_ context.Context, call activity.Call) activity.Outcome {
		return activity.Outcome{Value: map[string]any{"status": int64(200), "body": map[string]any{"order": "A7"}}}
	})
	tried, err := w.Try(t.Context(), w.who, "pay", engine.TryRequest{Activity: "charge", Before: []string{"load"}, Effects: true})
	if err != nil || tried.Status != "completed" || len(tried.Before) != 1 || tried.Before[0].Activity != "load" || tried.Before[0].Status != "completed" {
		t.Fatalf("%+v %v", tried, err)
	}
	if got := strings.Join(urls(w.http.made()), " "); got != "http://h/orders http://h/pay/A7/4111-1111" {
		t.Errorf("called %s", got)
	}
	if shown, _ := json.Marshal(tried); strings.Contains(string(shown), "4111-1111") {
		t.Errorf("the answer shows the card: %s", shown)
	}
	if w.audited("activity.tried") != 2 {
		t.Error("each attempt is to be audited")
	}

	// The engine's own activities can be where it leads.
	tried, err = w.Try(t.Context(), w.who, "pay", engine.TryRequest{Activity: "total", Before: []string{"load", "charge"}, Effects: true})
	if output, _ := tried.Outputs.(map[string]any); err != nil || tried.Status != "completed" || output["order"] != "A7" || output["status"] != int64(200) || len(tried.Before) != 2 {
		t.Errorf("%+v %v", tried, err)
	}
}

// A failure is not tried again, and is led on to whoever takes it; what is not reached after effects is an answer.
func TestTryUpToAFailure(t *testing.T) {
	w := newWorld(t, withKeys)
	w.draft("pay", chainSpec)
	w.http.answers(func(_ context.Context, call activity.Call) activity.Outcome {
		if call.Activity == "charge" {
			return activity.Outcome{Err: &execution.Error{Type: "http.503", Class: "external", Message: "not now"}}
		}
		return activity.Outcome{Value: map[string]any{"body": map[string]any{"order": "A7"}}}
	})
	request := engine.TryRequest{Activity: "caught", Before: []string{"charge"}, Mocks: map[string]any{"load": map[string]any{"order": "B8", "card": "x"}}, Effects: true}
	tried, err := w.Try(t.Context(), w.who, "pay", request)
	if output, _ := tried.Outputs.(map[string]any); err != nil || output["why"] != "http.503" {
		t.Errorf("%+v %v", tried, err)
	}
	request.Activity = "total"
	tried, err = w.Try(t.Context(), w.who, "pay", request)
	if err != nil || tried.Status != "skipped" || len(tried.Before) != 1 || len(tried.Problems) == 0 {
		t.Errorf("%+v %v", tried, err)
	}
	if got := strings.Join(urls(w.http.made()), " "); got != "http://h/pay/B8/x http://h/pay/B8/x" {
		t.Errorf("called %s", got)
	}

	// Where nothing was tried yet, it is a refusal as with one activity.
	request.Mocks = nil
	_, err = w.Try(t.Context(), w.who, "pay", request)
	wantCode(t, err, "invalid_input")
	request.Before = []string{"pause"}
	_, err = w.Try(t.Context(), w.who, "pay", request)
	wantCode(t, err, "invalid_input")
}
