package web

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// entryOf is the newest entry of the audit that fits a query.
func entryOf(t *testing.T, admin caller, query string) map[string]any {
	t.Helper()
	items := admin.must(200, "GET", "/audit?"+query, "")["items"].([]any)
	if len(items) == 0 {
		t.Fatalf("nothing in the audit fits %s", query)
	}
	return items[0].(map[string]any)
}

// An entry says who did what to what, for whom, what was before and after, from where, by which token and in
// which request; each of them can be filtered by.
func TestTheAuditSaysWhoForWhomAndWhatChanged(t *testing.T) {
	_, base := newRealServer(t)
	admin := caller{t, base, adminToken}
	me := admin.must(200, "GET", "/me", "")["user"].(string)

	made := admin.must(201, "POST", "/tokens", `{"name":"ci","scopes":["read"],"serviceAccount":{"name":"robot"}}`, "X-Request-Id", "request-of-token")
	token := entryOf(t, admin, "requestId=request-of-token")
	if token["action"] != "token.created" || token["targetName"] != "ci" || token["target"] != made["id"] || token["forWhom"] != "robot" ||
		token["actor"] != me || token["via"] == nil || token["address"] == nil || inJSON(token["after"].(map[string]any)["scopes"]) != `["read"]` {
		t.Errorf("%v", token)
	}
	if byName := entryOf(t, admin, "target=ci"); byName["id"] != token["id"] {
		t.Errorf("by its name: %v", byName)
	}

	admin.must(200, "PATCH", "/team/policy", `{"limits": {"activities": 7}}`)
	policy := entryOf(t, admin, "action=policy.changed")
	before, after := policy["before"].(map[string]any), policy["after"].(map[string]any)
	if inJSON(before["limits"]) == inJSON(after["limits"]) {
		t.Errorf("%v", policy)
	}

	const connection = `{"kind": "http", "settings": {"baseUrl": "http://one.example"}}`
	admin.must(200, "PUT", "/connections/shop", connection)
	admin.must(200, "PUT", "/connections/shop", strings.Replace(connection, "one", "two", 1))
	changed := entryOf(t, admin, "action=connection&target=shop")
	if got := inJSON(changed["before"]) + inJSON(changed["after"]); !strings.Contains(got, "one.example") || !strings.Contains(got, "two.example") {
		t.Errorf("%v", changed)
	}
	admin.must(204, "DELETE", "/connections/shop", "")
	if gone := entryOf(t, admin, "action=connection.deleted"); gone["before"] == nil || gone["after"] != nil {
		t.Errorf("%v", gone)
	}

	publishHello(admin)
	execution := admin.must(202, "POST", "/workflows/hello/executions", `{"input":{"name":"Ann"}}`)["id"].(string)
	admin.until("/executions/"+execution, "status", "waiting")
	task := admin.must(200, "GET", "/tasks?execution="+execution, "")["items"].([]any)[0].(map[string]any)["id"].(string)
	admin.must(200, "POST", "/tasks/"+task+"/claim", `{}`)
	if claimed := entryOf(t, admin, "action=task.claimed&forWhom="+me); claimed["target"] != task || claimed["targetName"] != "hello/decide" {
		t.Errorf("%v", claimed)
	}
	admin.must(202, "POST", "/executions/"+execution+"/cancel", `{"reason":"enough"}`)
	if cancelled := entryOf(t, admin, "action=execution.cancelled&target="+execution); cancelled["targetName"] != "hello" {
		t.Errorf("%v", cancelled)
	}
	admin.must(204, "DELETE", "/tokens/"+made["id"].(string), "")
	if deleted := entryOf(t, admin, "action=token.deleted"); deleted["targetName"] != "ci" || deleted["forWhom"] != "robot" {
		t.Errorf("%v", deleted)
	}
	if none := admin.must(200, "GET", "/audit?address=192.0.2.1", "")["items"].([]any); len(none) != 0 {
		t.Errorf("from an address that nobody used: %v", none)
	}
	shownAudit(t, admin)
}

// shownAudit: the page and the files show the same.
func shownAudit(t *testing.T, admin caller) {
	t.Helper()
	fetch := func(path, accept string) string {
		request, _ := http.NewRequest("GET", admin.base+path, nil)
		request.Header.Set("Authorization", "Bearer "+admin.token)
		request.Header.Set("Accept", accept)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		return string(text)
	}
	page := fetch("/settings/audit?action=policy.changed", "text/html")
	if !strings.Contains(page, "limits.activities: <del>0</del> → <ins>7</ins>") {
		t.Errorf("the page does not show what changed: %s", page)
	}
	if page := fetch("/settings/audit?forWhom=robot", "text/html"); !strings.Contains(page, ">ci</span>") || strings.Contains(page, "policy.changed") {
		t.Errorf("the page for a service account: %s", page)
	}
	csv := fetch("/api/v1/audit.csv?forWhom=robot", "text/csv")
	if head, _, _ := strings.Cut(csv, "\n"); strings.TrimSpace(head) != "id,at,actor,via,action,target,targetName,forWhom,before,after,detail,address,requestId" || strings.Count(csv, "\n") != 3 {
		t.Errorf("%s", csv)
	}
}

// Rows of earlier versions have before, after and names in their detail.
func TestOldAuditRowsAreReadable(t *testing.T) {
	w := newTwins(t)
	w.exec("insert into audit (team_id, actor, action, target, detail) values ($1, 'ann', 'token.deleted', 'b1946ac9-0000-0000-0000-000000000000', '{\"name\": \"old\", \"scopes\": [\"read\"]}')", w.team["default"])
	w.exec("insert into audit (team_id, actor, action, target, detail) values ($1, 'ann', 'person.roles', 'bob', '{\"before\": {\"roles\": []}, \"after\": [\"admin\"], \"x\": 1}')", w.team["default"])
	admin := w.as("default", "admin")
	if old := entryOf(t, admin, "action=token.deleted"); old["targetName"] != "old" || inJSON(old["detail"]) != `{"scopes":["read"]}` {
		t.Errorf("%v", old)
	}
	old := entryOf(t, admin, "action=person.roles")
	if inJSON(old["before"]) != `{"roles":[]}` || inJSON(old["after"]) != `["admin"]` || inJSON(old["detail"]) != `{"x":1}` {
		t.Errorf("%v", old)
	}
}

func TestChangesAreReadFieldByField(t *testing.T) {
	got := changes(json.RawMessage(`{"a": {"b": 1, "c": [1, 2]}, "same": true, "gone": "x"}`), json.RawMessage(`{"a": {"b": 2, "c": [1, 2]}, "same": true, "new": ["p", "q"]}`))
	if text := inJSON(got); text != `[{"Field":"a.b","Before":"1","After":"2"},{"Field":"gone","Before":"x","After":"–"},{"Field":"new","Before":"–","After":"p, q"}]` {
		t.Error(text)
	}
	if got := changes(nil, nil); len(got) != 0 {
		t.Errorf("%v", got)
	}
}
