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
