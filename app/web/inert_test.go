package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"weftline/engine"
	"weftline/engine/activity"
)

// breaking is what would get out of any place of a page that does not escape it: text, attributes, scripts, addresses.
const breaking = `'"></title></script></textarea><xss-mark onmouseover=x>`

// Every text that people, callers and other systems give is text on every page: nothing of it becomes markup, and
// no address of theirs becomes a script.
func TestTextsAreNeverMarkup(t *testing.T) {
	w := newTwins(t)
	admin := w.as(engine.DefaultTeam, "admin")
	quoted := inJSON(breaking)
	definition := `{"apiVersion": "weftline/v1", "kind": "Workflow", "metadata": {"name": "breaks", "description": ` + quoted + `, "labels": {"team": ` + quoted + `}},
		"spec": {"input": {"type": "object", "properties": {"mark": {"type": "string", "title": ` + quoted + `, "description": ` + quoted + `, "default": ` + quoted + `}}},
		"activities": [
			{"id": "ask", "name": ` + quoted + `, "description": ` + quoted + `, "type": "human", "human": {"title": "${{ inputs.mark }}", "description": "${{ inputs.mark }}", "candidates": {"groups": ["people"]},
				"form": {"type": "object", "properties": {"note": {"type": "string", "title": ` + quoted + `, "description": ` + quoted + `, "enum": [` + quoted + `]}}}}},
			{"id": "end", "needs": ["ask"], "type": "fail", "fail": {"error": "no.good", "message": "${{ inputs.mark }}"}}]}}`
	admin.must(200, "PUT", "/workflows/breaks/draft", definition, "If-None-Match", "*", "Content-Type", "application/yaml")
	proposal := admin.must(201, "POST", "/workflows/breaks/proposals", `{"title": `+quoted+`, "description": `+quoted+`}`)
	admin.must(201, "POST", "/workflows/breaks/proposals/1/comments", `{"body": `+quoted+`}`)
	if proposal["number"] != 1.0 {
		t.Fatal(proposal)
	}
	admin.must(201, "POST", "/workflows/breaks/publish", `{"message": `+quoted+`}`)
	ids := map[string]string{}
	for _, end := range []string{"waiting", "failed"} {
		ids["executions"] = admin.must(202, "POST", "/workflows/breaks/executions", `{"input": {"mark": `+quoted+`}, "correlationId": `+quoted+`, "labels": {"l": `+quoted+`}}`)["id"].(string)
		admin.until("/executions/"+ids["executions"], "status", "waiting")
		ids["tasks"] = admin.must(200, "GET", "/tasks?execution="+ids["executions"], "")["items"].([]any)[0].(map[string]any)["id"].(string)
		admin.must(200, "POST", "/tasks/"+ids["tasks"]+"/comment", `{"body": `+quoted+`}`)
		if end == "failed" {
			admin.must(200, "POST", "/tasks/"+ids["tasks"]+"/complete", `{"decision": "approved", "comment": `+quoted+`, "form": {"note": `+quoted+`}}`)
			admin.until("/executions/"+ids["executions"], "status", "failed")
		}
	}
	admin.must(201, "POST", "/schedules", `{"workflow": "breaks", "cron": "0 3 * * *", "input": {"mark": `+quoted+`}}`)
	admin.must(200, "PUT", "/connections/breaks", `{"kind": "http", "settings": {"baseUrl": "http://breaks.example", "username": `+quoted+`}}`)
	admin.must(201, "POST", "/tokens", `{"name": `+quoted+`, "scopes": ["read"], "serviceAccount": {"name": `+quoted+`, "groups": [`+quoted+`]}}`)
	admin.must(201, "POST", "/workers", `{"hostname": `+quoted+`, "activities": [`+quoted+`], "labels": {"l": `+quoted+`}}`)
	admin.must(202, "POST", "/events", `{"name": `+quoted+`}`)
	w.exec("update users set email = $1, name = name || $1 where name like 'default-%'", breaking)

	shown := 0
	for _, route := range w.routes() {
		if route.Kind != Page || route.Method != get {
			continue
		}
		for _, name := range []string{"breaks", "nothing"} {
			path := fill(route.Path, name, ids)
			for _, query := range []string{"", "?q=" + "%27%22%3E%3Cxss-mark%3E" + "&action=%3Cxss-mark%3E&from=1&to=draft&workflow=%3Cxss-mark%3E&return=%3Cxss-mark%3E"} {
				_, text := w.send(route, path+query, engine.DefaultTeam+":admin")
				if at := strings.Index(text, "<xss-mark"); at >= 0 {
					t.Errorf("%s%s: a text became markup: …%s", path, query, text[max(0, at-200):at+20])
				}
				shown += strings.Count(text, "&lt;xss-mark")
			}
		}
	}
	if shown < 20 {
		t.Errorf("the texts are shown %d times only: does the test look at what it means to?", shown)
	}
}

// Saving, judging, planning, comparing, proposing and publishing a definition runs nothing of it and asks no
// address in it; neither does a test of a connection reach what activities may not.
func TestLookingAtADefinitionReachesNothing(t *testing.T) {
	var reached atomic.Int32
	outside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	t.Cleanup(outside.Close)
	open := activity.Egress{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	w := newTwins(t, open)
	admin := w.as(engine.DefaultTeam, "admin")
	definition := fmt.Sprintf(`apiVersion: weftline/v1
kind: Workflow
metadata: {name: asks}
spec:
  input: {type: object, properties: {a: {"$id": %[1]q, type: string}}}
  activities:
    - {id: call, type: http, inputs: {url: %[1]q}}
    - {id: more, needs: [call], type: http, inputs: {url: "${{ activities.call.output.body }}"}}
---
apiVersion: weftline/v1
kind: WorkflowTest
metadata: {name: asks}
spec:
  workflow: asks
  cases: [{name: one, mocks: {call: {body: %[1]q}, more: {body: x}}, expect: {status: completed}}]
`, outside.URL)
	body := inJSON(definition)
	yaml := []string{"Content-Type", "application/yaml"}
	admin.call("POST", "/workflows/validate", definition, yaml...)
	admin.must(200, "PUT", "/workflows/asks/draft", definition, append(yaml, "If-None-Match", "*")...)
	admin.call("POST", "/workflows/asks/plan", `{"definition": `+body+`, "mocks": {"call": {"body": "x"}, "more": {"body": "x"}}}`)
	admin.call("POST", "/workflows/asks/evaluate", `{"definition": `+body+`, "expression": "activities.call.output", "activity": "more", "mocks": {"call": {"body": "x"}}}`)
	admin.call("POST", "/workflows/asks/tests/run", `{}`)
	admin.call("GET", "/workflows/asks/diff?from=published&to=draft", "")
	admin.must(201, "POST", "/workflows/asks/proposals", `{"title": "t"}`)
	admin.call("GET", "/workflows/asks/proposals/1", "")
	admin.must(201, "POST", "/workflows/asks/publish", `{}`)
	for _, path := range []string{"/workflows/asks", "/workflows/asks/edit", "/workflows/asks/review", "/workflows/asks/run", "/workflows/asks/proposals/1"} {
		w.send(Route{Method: get, Kind: Page}, path, engine.DefaultTeam+":admin")
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("looking at a definition reached its address %d times", n)
	}
	id := admin.must(202, "POST", "/workflows/asks/executions", `{}`)["id"].(string) // the address is one that can be reached
	admin.until("/executions/"+id, "status", "failed")
	if reached.Load() == 0 {
		t.Error("an execution does not reach the address either: the test shows nothing")
	}

	closed := newTwins(t)
	guarded := closed.as(engine.DefaultTeam, "admin")
	before := reached.Load()
	for _, address := range []string{outside.URL, strings.Replace(outside.URL, "127.0.0.1", "2130706433", 1), "http://169.254.169.254/latest", "http://[::ffff:127.0.0.1]:1/"} {
		guarded.must(200, "PUT", "/connections/inside", `{"kind": "http", "settings": {"baseUrl": `+inJSON(address)+`}}`)
		if tested := guarded.must(200, "POST", "/connections/inside/test", ""); tested["ok"] != false {
			t.Errorf("a test of the connection to %s: %v", address, tested)
		}
	}
	if reached.Load() != before {
		t.Error("the test of a connection reached this machine")
	}
}
