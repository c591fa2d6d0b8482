package web

import (
	"net/url"
	"regexp"
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
	holds(t, page, "Change the schedule of hello", `value="0 8 * * 1"`, `value="Europe/Berlin"`, `<option value="last" selected>`, "It stays as it is", "Ann", "***")
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

	typed := url.Values{"when": {"cron"}, "time": {"0 9 * * 1"}, "timezone": {"Europe/Berlin"}, "overlap": {"allow"}, "catchUp": {"last"}, "_as": {hidden(t, page, "_as")}, "_when": {"every"}}
	status, page := c.post(at+"/edit", typed)
	if status != 200 {
		t.Errorf("another way answers %d", status)
	}
	holds(t, page, `name="time.cron" value="0 9 * * 1"`, "It stays as it is", `<option value="allow" selected>`)
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
	if now["every"] != "2h" || now["cron"] != nil && now["cron"] != "" || now["overlap"] != "allow" || now["calendar"] != "weekends" || inJSON(now["input"]) != `{"id":"***","name":"Ann"}` {
		t.Errorf("changed to %v", now)
	}
	c.must(202, "POST", at+"/trigger", "")
	var started string
	for _, item := range c.must(200, "GET", "/executions?workflow=hello", "")["items"].([]any) {
		started = item.(map[string]any)["id"].(string)
	}
	c.until("/executions/"+started, "status", "waiting")

	// Who opened the page before that is told; sent again it counts, and the input can be given anew.
	if status, page = c.post(at+"/edit", typed); status != 422 || !strings.Contains(page, "somebody changed this schedule") {
		t.Errorf("a page from before answers %d", status)
	}
	typed.Set("_as", hidden(t, page, "_as"))
	typed.Set("_input", "1")
	if _, page = c.post(at+"/edit", typed); strings.Contains(page, "4711") || !strings.Contains(page, `name="_anew"`) || !strings.Contains(page, "has to be given again") {
		t.Error("the input cannot be given anew")
	}
	typed.Del("_input")
	typed.Set("_anew", "1")
	typed.Set("/name", "Ben")
	typed.Set("/id", "4712")
	if status, page = c.post(at+"/edit", typed); status != 303 {
		t.Fatalf("an input given anew answers %d: %s", status, page)
	}
	if now = c.must(200, "GET", at, ""); inJSON(now["input"]) != `{"id":"***","name":"Ben"}` {
		t.Errorf("the input is %v", now["input"])
	}
	c.must(422, "PATCH", at, `{"input": {"id": "***", "name": "Ben"}}`)
	c.must(200, "PATCH", at, `{"input": {"id": 1, "name": "Ben", "big": 9007199254740993}}`)
	if _, text := c.read("/api/v1" + at); !strings.Contains(text, "9007199254740993") {
		t.Errorf("a number beside a sensitive value is not exact: %s", text)
	}

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

// hidden is the value of a hidden field of a page.
func hidden(t *testing.T, page, name string) string {
	t.Helper()
	found := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("the page has no field %s", name)
	}
	return found[1]
}
