package web

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// post sends a form as the caller's browser would; it answers the status and the page, redirects not followed.
func (c caller) post(path string, form url.Values) (int, string) {
	c.t.Helper()
	request, err := http.NewRequest("POST", c.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Accept", "text/html")
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// read reads a page whatever its status.
func (c caller) read(path string) (int, string) {
	c.t.Helper()
	request, err := http.NewRequest("GET", c.base+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Accept", "text/html")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// holds reports each text that a page should have and has not.
func holds(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("the page has no %s", text)
		}
	}
}

// The form of a connection asks for the fields of its kind; what was kept stands in it, secrets by name.
func TestTheFormOfAConnectionAsksForWhatItsKindHas(t *testing.T) {
	_, base := newRealServer(t)
	admin := caller{t, base, adminToken}
	admin.must(204, "PUT", "/secrets/DB_PASSWORD", `{"value": "hunter2"}`)
	fresh := admin.page("/settings/connections")
	holds(t, fresh, `name="setting.baseUrl"`, "Web service", "PostgreSQL")
	if strings.Contains(fresh, `name="setting.host"`) || strings.Contains(fresh, `name="secret.`) {
		t.Error("a web service without a credential is asked for a host or a secret")
	}
	holds(t, admin.page("/settings/connections?kind=http&auth=basic"), `name="setting.username"`, `name="secret.password"`)
	holds(t, admin.page("/settings/connections?kind=sql"), `name="setting.host"`, `name="setting.sslmode"`, `<option value="DB_PASSWORD">`)

	wrong := url.Values{"name": {"ledger"}, "kind": {"sql"}, "setting.host": {"two hosts"}, "setting.database": {"books"}, "setting.user": {"app"}, "secret.password": {"DB_PASSWORD"}}
	status, page := admin.post("/settings/connections", wrong)
	if status != 422 {
		t.Fatalf("a host with a space answers %d", status)
	}
	holds(t, page, `role="alert"`, `value="two hosts"`, `value="books"`, `<option value="DB_PASSWORD" selected>`)
	wrong.Set("setting.host", "db.example.com")
	wrong.Set("setting.port", "5433")
	if status, _ := admin.post("/settings/connections", wrong); status != 303 {
		t.Fatalf("saving answers %d", status)
	}
	kept := admin.must(200, "GET", "/connections", "")["items"].([]any)[0].(map[string]any)
	if got := inJSON(kept["settings"]) + inJSON(kept["secrets"]); got != `{"database":"books","host":"db.example.com","port":5433,"user":"app"}{"password":"DB_PASSWORD"}` {
		t.Errorf("kept %s", got)
	}
	holds(t, admin.page("/settings/connections?name=ledger"), "Change ledger", `value="db.example.com"`, `value="5433"`, `readonly`)
}

// The audit says what was done in words, links to where it is seen, and keeps long lists of fields behind their number.
func TestTheAuditReadsAsASentence(t *testing.T) {
	_, base := newRealServer(t)
	admin := caller{t, base, adminToken}
	admin.must(200, "PUT", "/connections/shop", `{"kind": "http", "settings": {"baseUrl": "http://one.example", "auth": "api_key", "name": "X-Key", "in": "header"}}`)
	publishHello(admin)
	page := admin.page("/settings/audit")
	holds(t, page, "saved the connection", `href="/settings/connections?name=shop"`, "published the workflow", `href="/workflows/hello"`, "<summary>5 fields</summary>",
		"<title>Audit · Settings · Weftline</title>")
	if strings.Contains(page, "updatedAt") {
		t.Error("a field repeats the time of the entry")
	}
	if rare := admin.page("/settings/audit?forWhom=nobody"); !strings.Contains(rare, `class="filters-more" open`) || !strings.Contains(rare, "Show the whole audit") {
		t.Error("a filter that is set is hidden, or cannot be cleared")
	}
}

// Of a workflow that was never published all is new: its inputs and outputs too.
func TestTheReviewOfAFirstVersionShowsItsInputs(t *testing.T) {
	_, base := newRealServer(t)
	admin := caller{t, base, adminToken}
	admin.draft("pay", "  input: {type: object, properties: {amount: {type: number}}}\n  activities:\n    - {id: a, type: set, outputs: {x: inputs.amount}}\n  output: {x: activities.a.outputs.x}\n")
	first := admin.page("/workflows/pay/review")
	holds(t, first, `data-activity="input"`, "&#34;amount&#34;", `data-activity="output"`, `data-activity="a"`)
	admin.must(201, "POST", "/workflows/pay/publish", `{}`)
	admin.draft("pay", "  input: {type: object, properties: {amount: {type: number}, note: {type: string}}}\n  activities:\n    - {id: a, type: set, outputs: {x: inputs.amount}}\n  output: {x: activities.a.outputs.x}\n")
	second := admin.page("/workflows/pay/review")
	holds(t, second, `data-activity="input"`, "properties.note")
	if strings.Contains(second, `data-activity="a"`) {
		t.Error("an activity that is as it was is shown as a change")
	}
}

// A schedule is made on its page: asked for by workflow, tried out, refused with what was typed, made, deleted.
func TestASchedulesFormMakesIt(t *testing.T) {
	_, base := newRealServer(t)
	admin := caller{t, base, adminToken}
	holds(t, admin.page("/schedules"), "Nothing starts by the clock", `href="/schedules/new"`)
	holds(t, admin.page("/schedules/new"), "No workflow is published")
	publishHello(admin)
	holds(t, admin.page("/schedules/new"), `<option value="hello">`)
	holds(t, admin.page("/schedules/new?workflow=hello"), "Cron line", "Time zone", `name="/name"`)

	typed := url.Values{"workflow": {"hello"}, "when": {"cron"}, "time": {"0 8 31 2 *"}, "timezone": {"Europe/Berlin"}, "overlap": {"buffer_one"}, "catchUp": {"last"}, "/name": {"Ann"}, "_preview": {"1"}}
	status, page := admin.post("/schedules/new", typed)
	if status != 200 || !strings.Contains(page, `role="alert"`) {
		t.Errorf("a day that never comes is not refused: %d", status)
	}
	past := url.Values{"workflow": {"hello"}, "when": {"at"}, "time": {"2001-01-01T00:00:00Z"}, "_preview": {"1"}}
	if _, page := admin.post("/schedules/new", past); !strings.Contains(page, "It would never start") {
		t.Error("a day that is over is not said to be")
	}
	typed.Set("time", " ")
	if _, page = admin.post("/schedules/new", typed); !strings.Contains(page, "Say when: a cron line, such as 30 2 * * *") || strings.Contains(page, "exactly one of") {
		t.Error("a form without a time does not ask for it")
	}
	typed.Set("time", "0 8 * * 1")
	if _, page = admin.post("/schedules/new", typed); strings.Count(page, "data-exact") != 5 {
		t.Errorf("%d next times are shown", strings.Count(page, "data-exact"))
	}
	typed.Del("_preview")
	typed.Set("time", "every monday")
	status, page = admin.post("/schedules/new", typed)
	if status != 422 {
		t.Errorf("no cron line answers %d", status)
	}
	holds(t, page, `role="alert"`, `value="every monday"`, `value="Ann"`, `<option value="buffer_one" selected>`)
	typed.Set("time", "0 8 * * 1")
	if status, page = admin.post("/schedules/new", typed); status != 303 {
		t.Fatalf("making answers %d: %s", status, page)
	}
	made := admin.must(200, "GET", "/schedules", "")["items"].([]any)[0].(map[string]any)
	if made["cron"] != "0 8 * * 1" || made["timezone"] != "Europe/Berlin" || made["overlap"] != "buffer_one" || made["catchUp"] != "last" || inJSON(made["input"]) != `{"name":"Ann"}` {
		t.Errorf("made %v", made)
	}
	holds(t, admin.page("/schedules"), "Mondays at 08:00", "Europe/Berlin")
	if status, _ := admin.post("/schedules/"+made["id"].(string)+"/delete", url.Values{}); status != 303 {
		t.Errorf("deleting answers %d", status)
	}
	holds(t, admin.page("/schedules"), "Nothing starts by the clock")
}

// An address that leads nowhere is a page in the application's own look, for nobody in particular.
func TestAnAddressThatLeadsNowhereIsAPage(t *testing.T) {
	_, base := newRealServer(t)
	status, page := caller{t: t, base: base}.read("/nothing/here")
	if status != 404 {
		t.Errorf("it answers %d", status)
	}
	holds(t, page, "there is nothing at /nothing/here", `rel="stylesheet"`, "It may have been renamed", "Request <code")
}

// Who runs with a changed draft is told that it is not what runs.
func TestTheRunPageSaysThatTheDraftDiffers(t *testing.T) {
	_, base := newRealServer(t)
	admin := caller{t, base, adminToken}
	publishHello(admin)
	if page := admin.page("/workflows/hello/run"); strings.Contains(page, "The draft differs") {
		t.Error("a draft as it was published is said to differ")
	}
	admin.must(200, "PUT", "/workflows/hello/draft", hello+"# more to come\n", "If-Match", "*", "Content-Type", "application/yaml")
	holds(t, admin.page("/workflows/hello/run"), "Version 1 runs. The draft differs", `href="/workflows/hello/review"`)
	holds(t, admin.page("/workflows/hello/edit"), "version 1</span></a>")
}
