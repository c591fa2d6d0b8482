package web

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// account makes a caller of a service account with scopes.
func (c caller) account(name, scopes string) caller {
	c.t.Helper()
	made := c.must(201, "POST", "/tokens", `{"name": "`+name+`", "scopes": ["read", `+scopes+`], "serviceAccount": {"name": "`+name+`"}}`)
	return caller{c.t, c.base, made["token"].(string)}
}

func (c caller) draft(name, spec string) {
	c.t.Helper()
	text := "apiVersion: weftline/v1\nkind: Workflow\nmetadata: {name: " + name + "}\nspec:\n" + spec
	status, answer := c.call("PUT", "/workflows/"+name+"/draft", text, "If-None-Match", "*", "Content-Type", "application/yaml")
	if status == 412 {
		status, answer = c.call("PUT", "/workflows/"+name+"/draft", text, "If-Match", "*", "Content-Type", "application/yaml")
	}
	if status != 200 {
		c.t.Fatalf("saving the draft answers %d: %v", status, answer)
	}
}

// text reads an answer that is no JSON object.
func (c caller) text(path string) string {
	c.t.Helper()
	request, err := http.NewRequest("GET", c.base+"/api/v1"+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != 200 {
		c.t.Fatalf("%s: %d, %v", path, response.StatusCode, err)
	}
	return string(body)
}

// wants asks and expects a refusal with that code.
func (c caller) wants(status int, code, method, path, body string) {
	c.t.Helper()
	if answer := c.must(status, method, path, body); answer["code"] != code {
		c.t.Errorf("%s %s: %v, expected %s", method, path, answer["code"], code)
	}
}

// A review over the API, by people with different rights; the policy is the same rule on every path.
func TestReviewOverTheAPI(t *testing.T) {
	_, base := newRealServer(t)
	admin := caller{t, base, adminToken}
	ann, ben := admin.account("ann", `"author", "review"`), admin.account("ben", `"review"`)
	author, viewer := admin.account("writes", `"author"`), admin.account("reads", `"run"`)
	const one, two = "  activities:\n    - {id: a, type: set, outputs: {x: \"1\"}}\n", "  activities:\n    - {id: a, type: set, outputs: {x: \"2\"}}\n"
	ann.draft("pay", one)
	ann.must(201, "POST", "/workflows/pay/publish", `{}`)
	ben.must(403, "PATCH", "/team/policy", `{"requireReview": true}`)
	admin.wants(422, "invalid_input", "PATCH", "/team/policy", `{"requireReviews": true}`)
	admin.wants(422, "invalid_input", "PATCH", "/team/policy", `{"allowedActivityTypes": ["teleport"]}`)
	if policy := admin.must(200, "PATCH", "/team/policy", `{"requireReview": true}`); policy["requireReview"] != true || policy["requiredApprovals"] != 0.0 {
		t.Errorf("policy %v", policy)
	}
	if team := viewer.must(200, "GET", "/team", ""); team["policy"].(map[string]any)["requireReview"] != true {
		t.Errorf("team %v", team)
	}
	ann.draft("pay", two)
	ann.wants(409, "review_required", "POST", "/workflows/pay/publish", `{}`)
	ben.must(403, "POST", "/workflows/pay/proposals", `{"title": "Two"}`)
	ann.wants(422, "invalid_input", "POST", "/workflows/pay/proposals", `{}`)
	made := ann.must(201, "POST", "/workflows/pay/proposals", `{"title": "Two", "reviewers": ["ben"]}`)
	const path = "/workflows/pay/proposals/1"
	if made["number"] != 1.0 || made["state"] != "open" {
		t.Errorf("made %v", made)
	}
	author.must(403, "POST", path+"/reviews", `{"verdict": "approve"}`)
	viewer.must(403, "POST", path+"/comments", `{"body": "hm"}`)
	ann.wants(403, "self_approval", "POST", path+"/reviews", `{"verdict": "approve"}`)
	comment := author.must(201, "POST", path+"/comments", `{"activity": "a", "body": "why?"}`)
	ben.must(200, "POST", path+"/comments/"+fmt.Sprint(comment["id"])+"/resolve", "")
	ben.must(404, "POST", path+"/comments/99999/resolve", "")
	ann.wants(409, "review_required", "POST", path+"/publish", `{}`)
	ben.must(201, "POST", path+"/reviews", `{"verdict": "approve", "revision": 1}`)
	detail := ann.must(200, "GET", path, "")
	if detail["state"] != "approved" || len(detail["checks"].([]any)) != 4 || len(detail["conflicts"].([]any)) != 0 || detail["diff"].(map[string]any)["text"] == "" {
		t.Errorf("detail %v", detail)
	}
	if workflow := ann.must(200, "GET", "/workflows/pay", ""); workflow["openProposals"] != 1.0 {
		t.Errorf("workflow %v", workflow)
	}
	ann.must(201, "POST", path+"/publish", `{}`)
	ann.wants(409, "conflict", "POST", path+"/close", "")
	ann.must(404, "GET", "/workflows/pay/proposals/2", "")
	if items := ben.must(200, "GET", "/proposals?state=published", "")["items"].([]any); len(items) != 1 {
		t.Errorf("list %v", items)
	}
	ben.wants(400, "bad_request", "GET", "/proposals?state=maybe", "")
}

// The files of the audit hold what the filter lets through, and no formula for a spreadsheet.
func TestTheAuditIsExported(t *testing.T) {
	_, base := newRealServer(t)
	admin := caller{t, base, adminToken}
	account := admin.account("=cmd", `"author"`)
	account.draft("pay", "  activities:\n    - {id: a, type: set, outputs: {x: \"1\"}}\n")
	account.must(201, "POST", "/workflows/pay/publish", `{}`)
	csv := admin.text("/audit.csv?action=workflow.published")
	if lines := strings.Split(strings.TrimSpace(csv), "\n"); len(lines) != 2 || !strings.HasPrefix(lines[0], "id,at,actor") || !strings.Contains(lines[1], ",'=cmd,workflow.published,pay,") {
		t.Errorf("csv\n%s", csv)
	}
	if all := admin.text("/audit.ndjson?since=2020-01-01T00:00:00Z"); strings.Count(all, "\n") < 2 || !strings.Contains(all, `"action":"token.created"`) {
		t.Errorf("ndjson\n%s", all)
	}
	if none := admin.text("/audit.ndjson?until=2020-01-01T00:00:00Z"); none != "" {
		t.Errorf("before it began: %s", none)
	}
	admin.wants(400, "bad_request", "GET", "/audit.csv?since=yesterday", "")
	account.must(403, "GET", "/audit.csv", "")
}
