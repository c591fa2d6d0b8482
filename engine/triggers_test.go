package engine_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"weftline/engine"
)

const alarm = `
  input: {type: object, required: [site], properties: {site: {type: string}, level: {type: integer}}, additionalProperties: false}
  events:
    - {name: too_warm, when: trigger.payload.level > 10, dedupeKey: trigger.payload.site}
  activities:
    - id: note
      type: set
      outputs: {site: inputs.site, kind: trigger.type}
  output: {site: activities.note.outputs.site, kind: activities.note.outputs.kind}
`

func (w *world) latest(workflow string) []engine.ExecutionSummary {
	w.t.Helper()
	page, err := w.Executions(w.t.Context(), w.who, engine.ExecutionFilter{Workflow: workflow})
	if err != nil {
		w.t.Fatal(err)
	}
	return page.Items
}

func warm(site string, level int64) engine.PostedEvent {
	return engine.PostedEvent{Name: "too_warm", Payload: map[string]any{"site": site, "level": level}}
}

func TestAnEventStartsAWorkflow(t *testing.T) {
	w := newWorld(t)
	w.publish("alarm", alarm)
	if result := w.post(warm("north", 5)); result.Matched != 0 || result.KeptUntil == nil {
		t.Errorf("when does not hold: %+v", result)
	}
	if result := w.post(warm("north", 20)); result.Matched != 1 || result.KeptUntil != nil {
		t.Errorf("it holds: %+v", result)
	}
	if result := w.post(warm("north", 30)); result.Matched != 1 {
		t.Errorf("the same key: %+v", result)
	}
	begun := w.latest("alarm")
	if len(begun) != 1 {
		t.Fatalf("%d executions", len(begun))
	}
	if output := w.ends(begun[0].ID, "completed").Output.(map[string]any); output["site"] != "north" || output["kind"] != "event" {
		t.Errorf("output %v", output)
	}
	_, err := w.PostEvent(t.Context(), w.who, engine.PostedEvent{Name: "too_warm", Payload: map[string]any{"level": int64(20), "site": int64(1)}})
	if code(err) != "invalid_input" {
		t.Errorf("a payload that does not fit: %v", err)
	}
	if result := w.post(engine.PostedEvent{Name: "too_warm", Payload: map[string]any{}}); result.Matched != 0 {
		t.Errorf("a when that fails: %+v", result)
	}
	if err := w.Unpublish(t.Context(), w.who, "alarm"); err != nil {
		t.Fatal(err)
	}
	if result := w.post(warm("south", 20)); result.Matched != 0 {
		t.Errorf("after unpublishing: %+v", result)
	}
}

// The same event id starts nothing twice; emit starts workflows too, and their limits hold.
func TestEventsStartOnceAndWithinLimits(t *testing.T) {
	w := newWorld(t)
	w.publish("alarm", `
  limits: {maxConcurrent: 1, onLimit: reject}
  events: [{name: rung, input: '{}'}]
  activities:
    - id: hear
      type: event
      timeout: 1h
      event: {name: go_on, correlation: execution.id}
`)
	ring := engine.PostedEvent{Name: "rung", EventID: "e1"}
	for range 2 {
		if result := w.post(ring); result.Matched != 1 {
			t.Errorf("%+v", result)
		}
	}
	if result := w.post(engine.PostedEvent{Name: "rung"}); result.Matched != 0 {
		t.Errorf("over the limit: %+v", result)
	}
	w.publish("ringer", `
  activities:
    - id: ring
      type: emit
      emit: {name: rung}
`)
	first := w.latest("alarm")
	if len(first) != 1 {
		t.Fatalf("%d executions", len(first))
	}
	w.waiting(first[0].ID, "hear")
	w.post(engine.PostedEvent{Name: "go_on", Correlation: first[0].ID.String()})
	w.ends(first[0].ID, "completed")
	w.ends(w.start("ringer", nil), "completed")
	if all := w.latest("alarm"); len(all) != 2 {
		t.Errorf("%d executions after emit", len(all))
	}
}

const orders = `
  input: {type: object, required: [order], properties: {order: {type: string}}, additionalProperties: false}
  webhooks:
    - path: /orders/new
      auth: {type: %s}
      input: '{"order": trigger.body.order}'
      when: trigger.body.order != "ignored"
%s
  activities:
    - id: note
      type: set
      outputs: {order: inputs.order, seen: keys(trigger.headers)}
  output: {order: activities.note.outputs.order, seen: activities.note.outputs.seen}
`

func newHooks(t *testing.T) *world {
	w := newWorld(t, func(o *engine.Options) { o.SecretKeys = [][]byte{make([]byte, 32)} })
	if err := w.Vault().PutSecret(t.Context(), w.who, engine.SecretChange{Name: "HOOK", Value: "s3cret"}); err != nil {
		t.Fatal(err)
	}
	return w
}

func request(order string) engine.HookRequest {
	return engine.HookRequest{Team: engine.DefaultTeam, Path: "orders/new", Method: "POST", Headers: map[string]string{},
		Raw:  []byte(fmt.Sprintf(`{"order":%q}`, order)),
		Body: func() (any, error) { return map[string]any{"order": order}, nil }}
}

func signed(order string, at time.Time) engine.HookRequest {
	r := request(order)
	stamp := fmt.Sprint(at.Unix())
	mac := hmac.New(sha256.New, []byte("s3cret"))
	mac.Write([]byte(stamp + "." + string(r.Raw)))
	r.Headers["x-weftline-signature"] = "t=" + stamp + ",v1=" + hex.EncodeToString(mac.Sum(nil))
	return r
}

func TestSignedWebhooks(t *testing.T) {
	w := newHooks(t)
	w.publish("orders", fmt.Sprintf(orders, "hmac_sha256, secret: HOOK", "      respond: result"))
	first, err := w.Hook(t.Context(), signed("o1", time.Now()))
	if err != nil || first.Status != "completed" {
		t.Fatalf("%+v, %v", first, err)
	}
	output := first.Output.(map[string]any)
	if output["order"] != "o1" || len(output["seen"].([]any)) != 0 {
		t.Errorf("output %v: the signature must not be seen", output)
	}
	at := time.Now().Add(-time.Minute)
	original, err := w.Hook(t.Context(), signed("o2", at))
	if err != nil {
		t.Fatal(err)
	}
	if replayed, err := w.Hook(t.Context(), signed("o2", at)); err != nil || *replayed.ID != *original.ID {
		t.Errorf("a replay: %+v, %v", replayed, err)
	}
	forged := signed("o3", time.Now())
	forged.Raw = []byte(`{"order":"o4"}`)
	for name, r := range map[string]engine.HookRequest{
		"unsigned": request("o3"), "forged": forged,
		"old": signed("o3", time.Now().Add(-6*time.Minute)), "early": signed("o3", time.Now().Add(6*time.Minute)),
	} {
		if _, err := w.Hook(t.Context(), r); code(err) != "unauthenticated" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if answer, err := w.Hook(t.Context(), signed("ignored", time.Now())); err != nil || !answer.Skipped || answer.ID != nil {
		t.Errorf("when does not hold: %+v, %v", answer, err)
	}
	if begun := w.latest("orders"); len(begun) != 2 {
		t.Errorf("%d executions", len(begun))
	}
}

func TestWebhooksByTokenAndPassword(t *testing.T) {
	w := newHooks(t)
	for kind, proof := range map[string]string{"bearer": "Bearer s3cret", "basic": "Basic " + base64.StdEncoding.EncodeToString([]byte("s3cret"))} {
		name := kind + "-orders"
		w.publish(name, fmt.Sprintf(orders, kind+", secret: HOOK", "      dedupeKey: trigger.body.order"))
		r := request("o1")
		if _, err := w.Hook(t.Context(), r); code(err) != "unauthenticated" {
			t.Errorf("%s without proof: %v", kind, err)
		}
		r.Headers["authorization"] = proof
		first, err := w.Hook(t.Context(), r)
		if err != nil || first.ID == nil {
			t.Fatalf("%s: %+v, %v", kind, first, err)
		}
		if second, err := w.Hook(t.Context(), r); err != nil || *second.ID != *first.ID {
			t.Errorf("%s, the same key: %+v, %v", kind, second, err)
		}
		r.Method = "PUT"
		if _, err := w.Hook(t.Context(), r); code(err) != "not_found" {
			t.Errorf("%s by PUT: %v", kind, err)
		}
		if err := w.Unpublish(t.Context(), w.who, name); err != nil {
			t.Fatal(err)
		}
		r.Method = "POST"
		if _, err := w.Hook(t.Context(), r); code(err) != "not_found" {
			t.Errorf("%s after unpublishing: %v", kind, err)
		}
	}
}

func (w *world) publishError(name, spec string) error {
	w.t.Helper()
	if _, err := w.SaveDraft(w.t.Context(), w.who, name, []byte(fmt.Sprintf(textHead, name)+spec), "", true); err != nil {
		w.t.Fatal(err)
	}
	_, _, err := w.Publish(w.t.Context(), w.who, name, "")
	return err
}

func TestWhatPublishingRefusesOfWebhooks(t *testing.T) {
	w := newHooks(t)
	open := fmt.Sprintf(orders, "none", "")
	if err := w.publishError("open", open); code(err) != "invalid_definition" {
		t.Errorf("unsigned: %v", err)
	}
	w.exec(`update teams set policy = '{"allowUnsignedWebhooks": true}'`)
	w.republish("open", open)
	if answer, err := w.Hook(t.Context(), request("o1")); err != nil || answer.ID == nil {
		t.Errorf("allowed: %+v, %v", answer, err)
	}
	if err := w.publishError("second", open); code(err) != "conflict" {
		t.Errorf("a path that is taken: %v", err)
	}
	w.exec(`update teams set policy = '{}'`)
	if _, err := w.Hook(t.Context(), request("o1")); code(err) != "forbidden" {
		t.Errorf("allowed no more: %v", err)
	}
}
