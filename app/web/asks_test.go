package web

import (
	"net/url"
	"strings"
	"testing"
)

const hasSecretFlow = `apiVersion: weftline/v1
kind: Workflow
metadata: {name: pays}
spec:
  webhooks:
    - { path: /pays, auth: { type: bearer, secret: PAY_KEY } }
  activities:
    - { id: done, type: set, outputs: { ok: "true" } }
`

// Who deletes a secret is told first who would miss it; a connection whose secret is gone says so.
func TestDeletingASecretAsksAndNamesWhoUsesIt(t *testing.T) {
	_, base := newRealServer(t)
	admin := caller{t, base, adminToken}
	admin.must(204, "PUT", "/secrets/PAY_KEY", `{"value": "hunter2-key"}`)
	admin.must(204, "PUT", "/secrets/PAY_KEY_OLD", `{"value": "hunter2-key"}`)
	admin.must(200, "PUT", "/connections/assistant", `{"kind": "ai", "settings": {"baseUrl": "http://127.0.0.1:1/v1", "model": "small"}, "secrets": {"apiKey": "PAY_KEY"}}`)
	admin.must(200, "PUT", "/workflows/pays/draft", hasSecretFlow, "If-None-Match", "*", "Content-Type", "application/yaml")
	if page := admin.page("/settings/secrets"); strings.Contains(page, "the workflow pays") {
		t.Error("a draft that is not published counts as a use")
	}
	admin.must(201, "POST", "/workflows/pays/publish", `{}`)
	page := admin.page("/settings/secrets")
	holds(t, page, "Used by the connection assistant, the workflow pays.", "No connection and no published workflow uses it.", "Delete the secret PAY_KEY_OLD", `<details class="popover">`)
	if strings.Count(page, "the workflow pays") != 1 {
		t.Error("a secret is said to be used where only a longer name stands")
	}
	if strings.Contains(admin.page("/settings/connections"), "is missing") {
		t.Error("a secret that is there is said to be missing")
	}
	if status, _ := admin.post("/settings/secrets/PAY_KEY/delete", nil); status != 303 {
		t.Errorf("deleting answers %d", status)
	}
	holds(t, admin.page("/settings/connections"), "The secret PAY_KEY is missing", `href="/settings/secrets?name=PAY_KEY#secret-form"`)
}

// A secret is overwritten by who means to: the form asks once, and never shows what was typed.
func TestSettingASecretThatExistsAsksOnce(t *testing.T) {
	_, base := newRealServer(t)
	admin := caller{t, base, adminToken}
	admin.must(204, "PUT", "/secrets/PAY_KEY", `{"value": "hunter2-key"}`)
	typed := url.Values{"name": {"PAY_KEY"}, "value": {"another-value"}, "replace": {""}}
	status, page := admin.post("/settings/secrets", typed)
	if status != 409 || strings.Contains(page, "another-value") {
		t.Errorf("an existing name answers %d", status)
	}
	holds(t, page, "There is a secret PAY_KEY already", "Replace the value", `name="replace" value="PAY_KEY"`)
	typed.Set("replace", "PAY_KEY")
	if status, _ := admin.post("/settings/secrets", typed); status != 303 {
		t.Errorf("having said yes it answers %d", status)
	}
	holds(t, admin.page("/settings/secrets?name=PAY_KEY"), "Change PAY_KEY", `name="replace" value="PAY_KEY"`)
	if status, _ := admin.post("/settings/secrets", url.Values{"name": {"NEW_KEY"}, "value": {"another-value"}}); status != 303 {
		t.Errorf("a new name answers %d", status)
	}
}

// Deleting a schedule asks, and the audit keeps what it was, sensitive values masked.
func TestDeletingAScheduleAsksAndTheAuditKeepsIt(t *testing.T) {
	_, base := newRealServer(t)
	admin := caller{t, base, adminToken}
	masked := strings.Replace(hello, "name: { type: string }", "name: { type: string }\n      pin: { type: string, x-sensitive: true }", 1)
	admin.must(200, "PUT", "/workflows/hello/draft", masked, "If-None-Match", "*", "Content-Type", "application/yaml")
	admin.must(201, "POST", "/workflows/hello/publish", `{}`)
	made := admin.must(201, "POST", "/schedules", `{"workflow": "hello", "cron": "0 8 * * 1", "timezone": "Europe/Berlin", "input": {"name": "Ann", "pin": "hunter2-pin"}}`)
	holds(t, admin.page("/schedules"), "hello is started no longer Mondays at 08:00 (Europe/Berlin).", "Delete the schedule")
	admin.must(204, "DELETE", "/schedules/"+made["id"].(string), "")
	entry := admin.must(200, "GET", "/audit?action=schedule.deleted", "")["items"].([]any)[0].(map[string]any)
	before := inJSON(entry["before"])
	holds(t, before, `"cron":"0 8 * * 1"`, `"timezone":"Europe/Berlin"`, `"workflow":"hello"`, `"name":"Ann"`)
	if entry["after"] != nil || strings.Contains(before, "hunter2") {
		t.Errorf("the audit keeps %s and %v", before, entry["after"])
	}
}

// An old version replaces a draft with unpublished changes only after a question.
func TestMakingAVersionTheDraftAsksWhenTheDraftHasChanges(t *testing.T) {
	_, base := newRealServer(t)
	c := caller{t, base, adminToken}
	publishHello(c)
	publish := func(text string) {
		c.must(200, "PUT", "/workflows/hello/draft", text, "If-Match", "*", "Content-Type", "application/yaml")
		c.must(201, "POST", "/workflows/hello/publish", `{}`)
	}
	second := strings.Replace(hello, `"Hello "`, `"Good day "`, 1)
	publish(second)
	page := c.page("/workflows/hello/versions")
	holds(t, page, "Make version 1 the draft")
	if strings.Contains(page, "Replace the draft") {
		t.Error("it asks where nothing is lost")
	}
	c.must(200, "PUT", "/workflows/hello/draft", second+"# more\n", "If-Match", "*", "Content-Type", "application/yaml")
	holds(t, c.page("/workflows/hello/versions"), "The draft has changes that are not published. They are replaced by the text of version 1", "Replace the draft", "from=1&amp;to=draft")
}
