package web

import (
	"net/url"
	"strings"
	"testing"
)

// A schedule is changed on its page: what it does now stands there, what is typed stays when it is said in another
// way, what the form does not ask about is left alone, and a sensitive value is kept without being shown.
func TestASchedulesFormChangesIt(t *testing.T) {
	_, base := newRealServer(t)
	c := caller{t, base, adminToken}
	secret := strings.Replace(hello, "id: { type: integer }", "id: { type: integer, x-sensitive: true }", 1)
	c.must(200, "PUT", "/workflows/hello/draft", secret, "If-None-Match", "*", "Content-Type", "application/yaml")
	c.must(201, "POST", "/workflows/hello/publish", `{}`)
	made := c.must(201, "POST", "/schedules", `{"workflow": "hello", "cron": "0 8 * * 1", "timezone": "Europe/Berlin", "calendar": "weekends", "catchUp": "last", "input": {"name": "Ann", "id": 4711}}`)
	at := "/schedules/" + made["id"].(string)
	holds(t, c.page("/schedules"), `href="`+at+`/edit"`)
	page := c.page(at + "/edit")
	holds(t, page, "Change the schedule of hello", `value="0 8 * * 1"`, `value="Europe/Berlin"`, `<option value="last" selected>`, `value="Ann"`)
	if strings.Contains(page, "4711") || strings.Count(page, "data-exact") != 5 {
		t.Errorf("a sensitive value is shown, or not the next five times: %d", strings.Count(page, "data-exact"))
	}
	// While it is typed the page is asked with what stands there.
	typing := c.page(at + "/edit?when=cron&time=0+8+*+*&timezone=UTC")
	if strings.Contains(typing, "data-exact") || strings.Contains(typing, `role="alert"`) {
		t.Error("half a cron line has next times, or is taken for a fault")
	}
	if typing = c.page("/schedules/new?workflow=hello&when=every&time=1h"); strings.Count(typing, "data-exact") != 5 {
		t.Error("a new schedule does not show its next times while it is typed")
	}

	typed := url.Values{"when": {"cron"}, "time": {"0 9 * * 1"}, "timezone": {"Europe/Berlin"}, "overlap": {"allow"}, "catchUp": {"last"}, "/name": {"Ben"}, "/id": {"***"}, "_when": {"every"}}
	status, page := c.post(at+"/edit", typed)
	if status != 200 {
		t.Errorf("another way answers %d", status)
	}
	holds(t, page, `name="time.cron" value="0 9 * * 1"`, `value="Ben"`, `<option value="allow" selected>`)
	typed.Set("when", "every")
	typed.Set("time", "2h")
	typed.Set("time.cron", "0 9 * * 1")
	typed.Set("_when", "cron")
	_, page = c.post(at+"/edit", typed)
	holds(t, page, `value="0 9 * * 1"`, `name="time.every" value="2h"`)

	typed.Del("_when")
	typed.Set("time", "never")
	if status, page = c.post(at+"/edit", typed); status != 422 || !strings.Contains(page, `role="alert"`) {
		t.Errorf("no duration answers %d", status)
	}
	typed.Set("time", "2h")
	if status, page = c.post(at+"/edit", typed); status != 303 {
		t.Fatalf("changing answers %d: %s", status, page)
	}
	now := c.must(200, "GET", at, "")
	if now["every"] != "2h" || now["cron"] != nil && now["cron"] != "" || now["overlap"] != "allow" || now["calendar"] != "weekends" || inJSON(now["input"]) != `{"id":"***","name":"Ben"}` {
		t.Errorf("changed to %v", now)
	}
	c.must(202, "POST", at+"/trigger", "")
	var started string
	for _, item := range c.must(200, "GET", "/executions?workflow=hello", "")["items"].([]any) {
		started = item.(map[string]any)["id"].(string)
	}
	c.until("/executions/"+started, "status", "waiting")

	inText := strings.Replace(hello, "  activities:", "  schedule: [{cron: 0 1 * * *, input: {name: '\"Cid\"'}}]\n  activities:", 1)
	c.must(200, "PUT", "/workflows/hello/draft", inText, "If-Match", "*", "Content-Type", "application/yaml")
	c.must(201, "POST", "/workflows/hello/publish", `{}`)
	for _, item := range c.must(200, "GET", "/schedules", "")["items"].([]any) {
		if of := item.(map[string]any); of["source"] == "definition" {
			if status, page := c.read("/schedules/" + of["id"].(string) + "/edit"); status != 409 || !strings.Contains(page, "change it there and publish") {
				t.Errorf("a schedule of a definition answers %d", status)
			}
		}
	}
}
