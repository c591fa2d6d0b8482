package web

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"weftline/engine"
)

// unaudited are the routes that write and leave no line of the audit, each with the reason.
var unaudited = map[string]string{
	"POST /api/v1/workflows/validate":        "changes nothing",
	"POST /api/v1/workflows/:name/plan":      "changes nothing",
	"POST /api/v1/workflows/:name/evaluate":  "changes nothing",
	"POST /api/v1/workflows/:name/tests/run": "changes nothing",
	"POST /workflows/:name/tests":            "changes nothing",
	"POST /workflows/:name/try-form":         "changes nothing; a file that was chosen is kept as by POST /files",
	"POST /api/v1/executions/replay":         "changes nothing",
	"POST /api/v1/schedules/preview":         "changes nothing",
	"POST /api/v1/access/try":                "changes nothing",
	"POST /access/try":                       "changes nothing",
	"POST /api/v1/tasks/:id/draft":           "a half-filled form that only its writer sees, saved while they type",
	"POST /api/v1/live/ticket":               "a key to a socket for some seconds, for who holds the credential already",
	"POST /settings/appearance":              "the browser alone keeps it",
	"POST /api/v1/workers/:id/heartbeat":     "a worker lives; its registration is audited",
	"POST /api/v1/workers/:id/poll":          "a worker asks for work; what it gets is in the history of the execution",
	"POST /api/v1/work/:id/complete":         "in the history of the execution, with the worker",
	"POST /api/v1/work/:id/fail":             "in the history of the execution, with the worker",
	"POST /api/v1/work/:id/heartbeat":        "a lease is held on to",
	"PUT /hooks/:team/*":                     "as POST, which is audited: one handler",
}

// auditor does something over each route and looks at what the audit says of it.
type auditor struct {
	t    *testing.T
	scan func(into any, query string)
	done map[string]bool // routes
}

func (a auditor) last() (id int64) {
	a.t.Helper()
	a.scan(&id, "select coalesce(max(id), 0) from audit")
	return id
}

// since wants exactly the lines with these actions after an id.
func (a auditor) since(route string, id int64, want string) {
	a.t.Helper()
	a.done[route] = true
	var got, faults string
	a.scan(&got, fmt.Sprintf("select coalesce(string_agg(action, ' ' order by id), '') from audit where id > %d", id))
	if got != want {
		a.t.Errorf("%s leaves %q in the audit, want %q", route, got, want)
	}
	a.scan(&faults, fmt.Sprintf("select coalesce(string_agg(action, ' '), '') from audit where id > %d and (actor = '' or target = '' or request = '')", id))
	if faults != "" {
		a.t.Errorf("%s: without an actor, a target or a request: %s", route, faults)
	}
}

// auditedRoutes is the auditor of the routes that a token may use.
type auditedRoutes struct {
	auditor
	w *twins
}

// does sends one request as a person of a role and wants a good answer and the lines.
func (a auditedRoutes) does(role, route, path, body, want string, headers ...string) map[string]any {
	a.t.Helper()
	method, _, _ := strings.Cut(route, " ")
	before := a.last()
	request, err := http.NewRequestWithContext(a.t.Context(), method, a.w.base+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+engine.DefaultTeam+":"+role)
	request.Header.Set("Accept", "text/html")
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if strings.HasPrefix(path, "/api/") {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		a.t.Fatal(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	if response.StatusCode >= 400 {
		a.t.Fatalf("%s %s: %d %.600s", method, path, response.StatusCode, text)
	}
	a.since(route, before, want)
	var value map[string]any
	_ = json.Unmarshal(text, &value) // pages have none
	return value
}

func (a auditedRoutes) admin() caller { return a.w.as(engine.DefaultTeam, "admin") }

// starts an execution of a workflow and answers its id once it has the status.
func (a auditedRoutes) starts(workflow, status string) string {
	a.t.Helper()
	id := a.admin().must(202, "POST", "/workflows/"+workflow+"/executions", `{}`)["id"].(string)
	a.admin().until("/executions/"+id, "status", status)
	return id
}

func (a auditedRoutes) task(execution string) string {
	a.t.Helper()
	return a.admin().must(200, "GET", "/tasks?execution="+execution, "")["items"].([]any)[0].(map[string]any)["id"].(string)
}

const (
	auditedAsks = "apiVersion: weftline/v1\nkind: Workflow\nmetadata: {name: %s}\nspec:\n  activities:\n    - {id: ask, type: human, human: {title: Ask, candidates: {groups: [people]}}}\n"
	auditedCall = "apiVersion: weftline/v1\nkind: Workflow\nmetadata: {name: fails}\nspec:\n  activities: [{id: call, type: http, inputs: {url: \"http://127.0.0.1:1/\"}}]\n"
	auditedEdit = "    - {id: more%d, type: set, outputs: {x: 1}}\n"
	auditedFail = "apiVersion: weftline/v1\nkind: Workflow\nmetadata: {name: fails}\nspec:\n  compensation: {retry: 1}\n  activities:\n" +
		"    - {id: done, type: set, outputs: {x: 1}, compensate: {type: http, inputs: {method: DELETE, url: \"http://127.0.0.1:1/\"}}}\n" +
		"    - {id: end, type: fail, needs: [done], fail: {error: no.good, message: no}}\n"
)

// Whatever somebody does that changes something leaves exactly its lines in the audit, by every route that writes;
// those that leave none are listed with the reason.
func TestEveryWriteIsAudited(t *testing.T) {
	w := newTwins(t)
	done := map[string]bool{}
	a := auditedRoutes{auditor{t, w.scan, done}, w}
	a.definitions()
	a.reviews()
	a.executions()
	a.tasks()
	a.schedules()
	a.settings()
	a.people()
	a.machines()
	auditSessions(t, done)
	for name, line := range matrixLines(t) {
		switch {
		case strings.HasPrefix(name, "GET "):
		case done[name] && unaudited[name] != "":
			t.Errorf("%s is audited, and listed as if it were not", name)
		case !done[name] && unaudited[name] == "":
			t.Errorf("%s (%s): nobody says what it leaves in the audit; do it here, or list it with the reason", name, line.right)
		}
	}
}

func (a auditedRoutes) definitions() {
	const draft, publish = "/api/v1/workflows/asks/draft", "/api/v1/workflows/asks/publish"
	yaml := []string{"Content-Type", "application/yaml"}
	text := fmt.Sprintf(auditedAsks, "asks")
	a.does("author", "PUT /api/v1/workflows/:name/draft", draft, text, "workflow.drafted", append(yaml, "If-None-Match", "*")...)
	a.does("author", "PUT /api/v1/workflows/:name/draft", draft, text+"# again\n", "", append(yaml, "If-Match", "*")...) // their own draft goes on
	a.does("admin", "PUT /api/v1/workflows/:name/draft", draft, text, "workflow.drafted", append(yaml, "If-Match", "*")...)
	a.does("author", "POST /api/v1/workflows/:name/publish", publish, `{}`, "workflow.published")
	a.does("author", "POST /api/v1/workflows/:name/unpublish", "/api/v1/workflows/asks/unpublish", `{}`, "workflow.unpublished")
	a.does("author", "POST /api/v1/workflows/:name/versions/:version/restore", "/api/v1/workflows/asks/versions/1/restore", `{}`, "workflow.restored")
	a.does("author", "POST /workflows/:name/versions/:version/restore", "/workflows/asks/versions/1/restore", "", "workflow.restored")
	a.does("author", "POST /new", "/new", "name=drawn", "workflow.drafted")
	a.does("author", "POST /workflows/:name/publish", "/workflows/asks/publish", "message=again", "workflow.published")
	a.admin().must(200, "PUT", "/workflows/fails/draft", auditedFail, "If-None-Match", "*", "Content-Type", "application/yaml")
	a.admin().must(201, "POST", "/workflows/fails/publish", `{}`)
	a.does("author", "POST /api/v1/workflows/:name/try", "/api/v1/workflows/fails/try", `{"activity": "call", "effects": true, "definition": `+inJSON(auditedCall)+`}`, "activity.tried")
}

// proposes a change of the workflow asks and answers the address of the proposal.
func (a auditedRoutes) proposes(n int) string {
	a.t.Helper()
	a.edits(n)
	number := a.admin().must(201, "POST", "/workflows/asks/proposals", `{"title": "more"}`)["number"]
	return fmt.Sprint("/workflows/asks/proposals/", number)
}

func (a auditedRoutes) edits(n int) {
	a.t.Helper()
	text := fmt.Sprintf(auditedAsks, "asks") + fmt.Sprintf(auditedEdit, n)
	a.admin().must(200, "PUT", "/workflows/asks/draft", text, "If-Match", "*", "Content-Type", "application/yaml")
}

func (a auditedRoutes) reviews() {
	const one = "POST /api/v1/workflows/:name/proposals/:number/"
	const page = "POST /workflows/:name/proposals/:number/"
	a.edits(1)
	made := a.does("author", "POST /api/v1/workflows/:name/proposals", "/api/v1/workflows/asks/proposals", `{"title": "more"}`, "proposal.opened")
	at := fmt.Sprint("/workflows/asks/proposals/", made["number"])
	a.edits(2)
	a.does("author", one+"revise", "/api/v1"+at+"/revise", `{}`, "proposal.revised")
	a.does("reviewer", one+"reviews", "/api/v1"+at+"/reviews", `{"verdict": "comment", "body": "hm"}`, "proposal.reviewed")
	remark := a.does("reviewer", one+"comments", "/api/v1"+at+"/comments", `{"body": "why?"}`, "proposal.commented")
	a.does("author", one+"comments/:comment/resolve", fmt.Sprint("/api/v1", at, "/comments/", remark["id"], "/resolve"), `{}`, "proposal.comment_resolved")
	a.does("author", one+"publish", "/api/v1"+at+"/publish", `{}`, "workflow.published proposal.published")
	at = a.proposes(3)
	a.does("author", one+"close", "/api/v1"+at+"/close", `{}`, "proposal.closed")
	a.behind(4, func(at string) { a.does("author", one+"rebase", "/api/v1"+at+"/rebase", `{}`, "proposal.revised") })

	a.edits(6)
	a.does("author", "POST /workflows/:name/propose", "/workflows/asks/propose", "title=more", "proposal.opened")
	open := a.admin().must(200, "GET", "/workflows/asks/proposals", "")["items"].([]any)[0].(map[string]any)["number"]
	at = fmt.Sprint("/workflows/asks/proposals/", open)
	a.edits(7)
	a.does("author", page+"revise", at+"/revise", "", "proposal.revised")
	a.does("reviewer", page+"say", at+"/say", "verdict=remark&body=why", "proposal.commented")
	comments := a.admin().must(200, "GET", at, "")["comments"].([]any)
	a.does("author", page+"comments/:comment/resolve", fmt.Sprint(at, "/comments/", comments[0].(map[string]any)["id"], "/resolve"), "", "proposal.comment_resolved")
	a.does("author", page+"publish", at+"/publish", "", "workflow.published proposal.published")
	a.does("author", page+"close", a.proposes(8)+"/close", "", "proposal.closed")
	a.behind(9, func(at string) { a.does("author", page+"rebase", at+"/rebase", "", "proposal.revised") })
}

// behind makes a proposal that something else was published past.
func (a auditedRoutes) behind(n int, rebase func(at string)) {
	a.t.Helper()
	at := a.proposes(n)
	current := a.admin().must(200, "GET", "/workflows/asks", "")["publishedVersion"]
	a.admin().must(200, "POST", fmt.Sprint("/workflows/asks/versions/", current, "/restore"), `{}`)
	text := strings.Replace(fmt.Sprintf(auditedAsks, "asks"), "title: Ask", fmt.Sprint("title: Ask", n), 1)
	a.admin().must(200, "PUT", "/workflows/asks/draft", text, "If-Match", "*", "Content-Type", "application/yaml")
	a.admin().must(201, "POST", "/workflows/asks/publish", `{}`)
	rebase(at)
	a.admin().must(200, "POST", at+"/close", `{}`)
}

func (a auditedRoutes) executions() {
	const started = "execution.started"
	// What a token starts is told by its history alone; what a person starts, by TestStartsByPeopleAreAudited.
	first := a.does("operator", "POST /api/v1/workflows/:name/executions", "/api/v1/workflows/asks/executions", `{}`, "")
	a.does("operator", "POST /api/v1/executions/batch", "/api/v1/executions/batch", `{"workflow": "asks", "items": [{}, {}]}`, "")
	a.does("operator", "POST /workflows/:name/run", "/workflows/asks/run", "", "")
	a.does("operator", "POST /hooks/:team/*", "/hooks/"+engine.DefaultTeam+"/twin", `{}`, started, "Authorization", "Bearer mark-of-"+engine.DefaultTeam)
	a.does("operator", "POST /api/v1/executions/:id/signals", "/api/v1/executions/"+first["id"].(string)+"/signals", `{"name": "x"}`, "execution.signalled")
	a.does("operator", "POST /api/v1/events", "/api/v1/events", `{"name": "nobody_waits", "eventId": "e1"}`, "event.posted")
	a.does("operator", "POST /api/v1/events", "/api/v1/events", `{"name": "nobody_waits", "eventId": "e1"}`, "") // the same again
	a.does("operator", "POST /api/v1/files", "/api/v1/files?name=a.txt", "text", "file.saved", "Content-Type", "text/plain")
	bulk := a.starts("asks", "waiting")
	a.does("operator", "POST /api/v1/executions/bulk", "/api/v1/executions/bulk", `{"action": "cancel", "ids": ["`+bulk+`"]}`, "execution.cancelled")
	for _, prefix := range []string{"/api/v1", ""} {
		body, at := "", prefix+"/executions/"
		if prefix != "" {
			body = `{}`
		}
		waiting, failed := a.starts("asks", "waiting"), a.starts("fails", "failed")
		route := func(act string) string { return "POST " + prefix + "/executions/:id/" + act }
		a.does("operator", route("pause"), at+waiting+"/pause", body, "execution.paused")
		a.admin().until("/executions/"+waiting, "status", "paused")
		a.does("operator", route("resume"), at+waiting+"/resume", body, "execution.resumed")
		a.w.exec("update executions set quarantined_at = now() where id = $1", waiting)
		a.does("operator", route("release"), at+waiting+"/release", body, "execution.released")
		a.does("operator", route("cancel"), at+waiting+"/cancel", body, "execution.cancelled")
		a.does("operator", route("compensate"), at+failed+"/compensate", body, "execution.compensated")
		keeper := map[string]string{"/api/v1": "author", "": "admin"}[prefix] // one's own draft that goes on leaves no second line
		a.does(keeper, route("keep-test"), at+a.starts("fails", "failed")+"/keep-test", body, "workflow.drafted")
		failed = a.starts("fails", "failed")
		a.does("operator", route("retry"), at+failed+"/retry", body, "execution.retried")
	}
}

func (a auditedRoutes) tasks() {
	task := func() string { return a.task(a.starts("asks", "waiting")) }
	one := task()
	const route = "POST /api/v1/tasks/:id/"
	at := "/api/v1/tasks/" + one
	a.w.exec("update memberships set groups = '{people}'")
	a.does("operator", route+"claim", at+"/claim", `{}`, "task.claimed")
	a.does("operator", route+"comment", at+"/comment", `{"body": "hm"}`, "task.commented")
	a.does("operator", route+"unclaim", at+"/unclaim", `{}`, "task.unclaimed")
	a.does("admin", route+"assign", at+"/assign", `{"user": "`+engine.DefaultTeam+`-author"}`, "task.assigned")
	a.does("author", route+"complete", at+"/complete", `{"decision": "approved"}`, "task.decided")
	a.does("operator", "POST /api/v1/tasks/complete", "/api/v1/tasks/complete", `{"decision": "approved", "ids": ["`+task()+`"]}`, "task.decided")
	page := task()
	a.does("operator", "POST /tasks/:id/claim", "/tasks/"+page+"/claim", "", "task.claimed")
	a.does("operator", "POST /tasks/:id/unclaim", "/tasks/"+page+"/unclaim", "", "task.unclaimed")
	a.does("operator", "POST /tasks/:id", "/tasks/"+page, "decision=approved", "task.decided")
}

func (a auditedRoutes) schedules() {
	const route = "POST /api/v1/schedules/:id/"
	made := a.does("author", "POST /api/v1/schedules", "/api/v1/schedules", `{"workflow": "asks", "cron": "0 3 * * *"}`, "schedule.created")
	at := "/api/v1/schedules/" + made["id"].(string)
	a.does("author", "PATCH /api/v1/schedules/:id", at, `{"cron": "0 4 * * *"}`, "schedule.changed")
	for _, c := range []struct{ prefix, path, body string }{{"/api/v1", at, `{}`}, {"", strings.TrimPrefix(at, "/api/v1"), ""}} {
		of := "POST " + c.prefix + "/schedules/:id/"
		a.does("operator", of+"pause", c.path+"/pause", c.body, "schedule.paused")
		a.does("operator", of+"resume", c.path+"/resume", c.body, "schedule.resumed")
		a.does("operator", of+"trigger", c.path+"/trigger", c.body, "schedule.triggered")
	}
	backfill := a.does("operator", route+"backfill", at+"/backfill", `{"from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z"}`, "schedule.backfilled")
	a.does("operator", route+"backfills/:backfill/cancel", at+"/backfills/"+backfill["id"].(string)+"/cancel", `{}`, "schedule.backfill_cancelled")
	a.does("author", "DELETE /api/v1/schedules/:id", at, "", "schedule.deleted")
	a.does("author", "POST /schedules/new", "/schedules/new", "workflow=asks&when=cron&time=0+3+*+*+*", "schedule.created")
	var id string
	a.w.scan(&id, "select id::text from schedules where workflow = 'asks'")
	as := hidden(a.t, a.w.as(engine.DefaultTeam, "author").page("/schedules/"+id+"/edit"), "_as")
	a.does("author", "POST /schedules/:id/edit", "/schedules/"+id+"/edit", "when=cron&time=0+4+*+*+*&_as="+as, "schedule.changed")
	a.does("author", "POST /schedules/:id/delete", "/schedules/"+id+"/delete", "", "schedule.deleted")
}

func (a auditedRoutes) settings() {
	a.does("admin", "PATCH /api/v1/team/policy", "/api/v1/team/policy", `{"limits": {"activities": 9}}`, "policy.changed")
	a.does("admin", "POST /settings/policy", "/settings/policy", "activities=8&type=human&type=http&type=set&type=fail&type=event", "policy.changed")
	a.does("admin", "PUT /api/v1/secrets/:name", "/api/v1/secrets/ONE", `{"value": "one-value"}`, "secret.put")
	a.does("admin", "DELETE /api/v1/secrets/:name", "/api/v1/secrets/ONE", "", "secret.deleted")
	a.does("admin", "POST /settings/secrets", "/settings/secrets", "name=ONE&value=one-value", "secret.put")
	a.does("admin", "POST /settings/secrets/:secret/delete", "/settings/secrets/ONE/delete", "", "secret.deleted")
	const connection = `{"kind": "http", "settings": {"baseUrl": "http://127.0.0.1:1"}}`
	a.does("admin", "PUT /api/v1/connections/:name", "/api/v1/connections/one", connection, "connection.put")
	a.does("admin", "POST /api/v1/connections/:name/test", "/api/v1/connections/one/test", "", "connection.tested")
	a.does("admin", "POST /settings/connections/:connection/test", "/settings/connections/one/test", "", "connection.tested")
	a.does("admin", "DELETE /api/v1/connections/:name", "/api/v1/connections/one", "", "connection.deleted")
	a.does("admin", "POST /settings/connections", "/settings/connections", "name=one&kind=http&setting.baseUrl=http://one.example", "connection.put")
	a.does("admin", "POST /settings/connections/:connection/delete", "/settings/connections/one/delete", "", "connection.deleted")
	token := a.does("viewer", "POST /api/v1/tokens", "/api/v1/tokens", `{"name": "one", "scopes": ["read"]}`, "token.created")
	a.does("viewer", "DELETE /api/v1/tokens/:id", "/api/v1/tokens/"+token["id"].(string), "", "token.deleted")
	a.does("viewer", "POST /settings/tokens", "/settings/tokens", "name=two&scope=read&days=30", "token.created")
	var id string
	a.w.scan(&id, "select id::text from tokens where name = 'two'")
	a.does("viewer", "POST /settings/tokens/:id/revoke", "/settings/tokens/"+id+"/revoke", "", "token.deleted")
}

func (a auditedRoutes) people() {
	person := func() string { // known to a provider, else nothing can be linked anew
		id, name := uuid.New(), "person-"+uuid.NewString()
		a.w.exec("insert into users (id, name, issuer, subject, provider) values ($1, $2, 'i', $2, 'corp')", id, name)
		a.w.exec("insert into memberships (team_id, user_id, roles, manual_roles) values ($1, $2, '{viewer}', '{viewer}')", a.w.team[engine.DefaultTeam], id)
		return id.String()
	}
	for _, c := range []struct{ prefix, method, roles string }{{"/api/v1", "PUT", `{"roles": ["author"]}`}, {"", "POST", "role=author"}} {
		at, of := c.prefix+"/people/"+person(), c.prefix+"/people/:id/"
		a.does("admin", c.method+" "+of+"roles", at+"/roles", c.roles, "person.roles")
		a.does("admin", "POST "+of+"block", at+"/block", "", "person.blocked")
		a.does("admin", "POST "+of+"unblock", at+"/unblock", "", "person.unblocked")
		a.does("admin", "POST "+of+"sign-out", at+"/sign-out", "", "person.signed_out")
		a.does("admin", "POST "+of+"relink", at+"/relink", "", "person.relink_allowed")
	}
}

func (a auditedRoutes) machines() {
	worker := a.does("admin", "POST /api/v1/workers", "/api/v1/workers", `{"hostname": "far", "activities": ["pack"]}`, "worker.registered")
	a.does("admin", "POST /api/v1/workers/:id/drain", "/api/v1/workers/"+worker["workerId"].(string)+"/drain", `{}`, "worker.drained")
}

// auditSessions goes through what only a browser with a session does.
func auditSessions(t *testing.T, done map[string]bool) {
	w := newLoginWorld(t, nil)
	w.op.Claims = groups("staff", "others")
	a := auditor{t: t, done: done}
	a.scan = func(into any, query string) {
		t.Helper()
		text := w.text("select (" + query + ")::text")
		switch into := into.(type) {
		case *string:
			*into = text
		case *int64:
			if _, err := fmt.Sscan(text, into); err != nil {
				t.Fatal(err)
			}
		}
	}
	b := w.browser()
	b.mustSignIn()
	if request := w.text("select coalesce(string_agg(request, ' '), '') from audit where action = 'session.started'"); request == "" {
		t.Error("the start of a session does not name its request")
	}
	act := func(route, path, want string, fields map[string][]string) {
		t.Helper()
		before := a.last()
		if got := b.post(path, fields); got.status >= 400 {
			t.Fatalf("%s: %d %.300s", path, got.status, got.body)
		}
		a.since(route, before, want)
	}
	act("POST /account/team", "/account/team", "session.switched", map[string][]string{"team": {w.text("select id::text from teams where name = 'other'")}})
	second := w.browser()
	second.mustSignIn()
	session := func() string {
		return w.text("select id::text from sessions order by created_at desc limit 1")
	}
	act("POST /account/sessions/:id/revoke", "/account/sessions/"+session()+"/revoke", "session.revoked", nil)
	second.mustSignIn()
	before := a.last()
	if got := b.send("DELETE", "/api/v1/sessions/"+session(), "", "X-CSRF-Token", b.csrf()); got.status != 204 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	a.since("DELETE /api/v1/sessions/:id", before, "session.revoked")
	act("POST /logout", "/logout", "session.ended", nil)
	b.mustSignIn()
	before = a.last()
	if got := w.logout(map[string]any{"sid": "s1"}); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	a.done["POST /login/:provider/backchannel"] = true
	if got := w.text(fmt.Sprintf("select string_agg(action, ' ') from audit where id > %d", before)); got != "session.ended_by_provider" {
		t.Errorf("the provider's logout leaves %q", got)
	}
}
