package web

import (
	"net/http"
	"strings"
	"testing"
)

const hooked = `apiVersion: weftline/v1
kind: Workflow
metadata: {name: hooked}
spec:
  input: {type: object, properties: {order: {type: string}}, additionalProperties: false}
  schedule:
    - {cron: "0 3 * * *", timezone: Europe/Berlin}
  webhooks:
    - {path: /orders/new, auth: {type: bearer, secret: HOOK}, respond: result}
  activities:
    - id: note
      type: set
      outputs: {order: inputs.order}
  output: {order: activities.note.outputs.order}
`

func TestSchedulesOverTheAPI(t *testing.T) {
	_, base := newRealServer(t)
	admin := caller{t, base, adminToken}
	publishHello(admin)
	made := admin.must(201, "POST", "/schedules", `{"workflow":"hello","cron":"0 3 * * *","timezone":"Europe/Berlin","input":{"name":"Ann"},"overlap":"allow"}`)
	path := "/schedules/" + made["id"].(string)
	if made["source"] != "api" || made["catchUp"] != "none" || made["startDeadline"] != "1h" || made["nextAt"] == nil {
		t.Errorf("made %v", made)
	}
	changed := admin.must(200, "PATCH", path, `{"every":"30m","overlap":"skip"}`)
	if changed["cron"] != nil || changed["every"] != "30m" || changed["overlap"] != "skip" || changed["input"].(map[string]any)["name"] != "Ann" {
		t.Errorf("changed %v", changed)
	}
	admin.must(422, "PATCH", path, `{"colour":"red"}`)
	tick := admin.must(202, "POST", path+"/trigger", "")
	if tick["outcome"] != "started" || tick["execution"] == nil {
		t.Errorf("tick %v", tick)
	}
	if ticks := admin.must(200, "GET", path+"/ticks", "")["items"].([]any); len(ticks) != 1 {
		t.Errorf("ticks %v", ticks)
	}
	if paused := admin.must(200, "POST", path+"/pause", ""); paused["paused"] != true || paused["nextAt"] != nil {
		t.Errorf("paused %v", paused)
	}
	if resumed := admin.must(200, "POST", path+"/resume", ""); resumed["paused"] != false || resumed["nextAt"] == nil {
		t.Errorf("resumed %v", resumed)
	}
	backfill := admin.must(202, "POST", path+"/backfill", `{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"}`)
	if backfill["ticks"] != 49.0 {
		t.Errorf("backfill %v", backfill)
	}
	admin.must(202, "POST", path+"/backfills/"+backfill["id"].(string)+"/cancel", "")
	preview := admin.must(200, "POST", "/schedules/preview", `{"cron":"30 2 * * *","timezone":"Europe/Berlin","from":"2026-03-28T12:00:00Z","count":2}`)
	if fires := preview["fires"].([]any); len(fires) != 2 || fires[0] != "2026-03-29T01:30:00.000Z" {
		t.Errorf("preview %v", preview)
	}
	admin.must(204, "DELETE", path, "")
	admin.must(404, "GET", path, "")
}

func TestAWebhookIsProvedByItsOwnSecret(t *testing.T) {
	_, base := newRealServer(t)
	admin := caller{t, base, adminToken}
	admin.must(204, "PUT", "/secrets/HOOK", `{"value":"s3cret"}`)
	admin.must(200, "PUT", "/workflows/hooked/draft", hooked, "If-None-Match", "*", "Content-Type", "application/yaml")
	admin.must(201, "POST", "/workflows/hooked/publish", `{}`)
	hook := func(token, path string) int {
		r, err := http.NewRequest("POST", base+"/hooks/default/"+path, strings.NewReader(`{"order":"o1"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		return answer.StatusCode
	}
	for _, c := range []struct {
		token, path string
		want        int
	}{{"s3cret", "orders/new", 200}, {adminToken, "orders/new", 401}, {"s3cret", "orders", 404}} {
		if got := hook(c.token, c.path); got != c.want {
			t.Errorf("%s with %s: %d", c.path, c.token, got)
		}
	}
	listed := admin.must(200, "GET", "/schedules?workflow=hooked", "")["items"].([]any)
	if len(listed) != 1 || listed[0].(map[string]any)["source"] != "definition" {
		t.Fatalf("schedules %v", listed)
	}
	admin.must(409, "DELETE", "/schedules/"+listed[0].(map[string]any)["id"].(string), "")
}
