package web

import (
	"strings"
	"testing"
)

const keepable = `apiVersion: weftline/v1
kind: Workflow
metadata: {name: keepable}
spec:
  input:
    type: object
    properties:
      bad: {type: boolean, default: false}
      pin: {type: integer, x-sensitive: true}
  activities:
    - {id: broken, type: fail, when: inputs.bad, onSkip: pass, fail: {error: order.bad, message: the order is bad}}
    - {id: ask, type: human, needs: [broken], human: {title: Go on?, candidates: {users: [admin]}}}
`

// A kept test passes: that of an execution that a person retried with another input, and that of one that a person
// cancelled. What a test cannot show is refused with the reason, and the draft stays as it was.
func TestWhatAHandDidIsKeptAsATestThatPasses(t *testing.T) {
	_, base := newRealServer(t)
	c := caller{t, base, adminToken}
	c.must(200, "PUT", "/workflows/keepable/draft", keepable, "If-None-Match", "*", "Content-Type", "application/yaml")
	c.must(201, "POST", "/workflows/keepable/publish", `{}`)
	start := func(body string) string {
		return "/executions/" + c.must(202, "POST", "/workflows/keepable/executions", body)["id"].(string)
	}
	keep := func(execution, status string) {
		t.Helper()
		result := c.must(201, "POST", execution+"/keep-test", `{}`)["result"].(map[string]any)
		if result["passed"] != true || result["status"] != status {
			t.Errorf("%v", result)
		}
	}

	retried := start(`{"input": {"bad": true}}`)
	c.until(retried, "status", "failed")
	c.must(202, "POST", retried+"/retry", `{"input": {"bad": false}}`)
	c.until(retried, "status", "waiting")
	c.must(202, "POST", retried+"/cancel", `{"reason": "no longer wanted"}`)
	c.until(retried, "status", "cancelled")
	keep(retried, "cancelled")

	failed := start(`{"input": {"bad": true}}`)
	c.until(failed, "status", "failed")
	keep(failed, "failed")
	again := c.must(201, "POST", failed+"/keep-test", `{"name": "bad order"}`)["name"]
	twice := c.must(201, "POST", failed+"/keep-test", `{"name": "bad order"}`)["name"]
	if again != "bad order" || twice != "bad order 2" {
		t.Errorf("kept twice it is called %v and %v", again, twice)
	}

	before := c.text("/workflows/keepable/draft")
	masked := start(`{"input": {"bad": true, "pin": 4711}}`)
	c.until(masked, "status", "failed")
	refused := c.must(409, "POST", masked+"/keep-test", `{}`)
	if detail, _ := refused["detail"].(string); !strings.Contains(detail, "input/pin: got string, want integer (sensitive values are masked in a test)") {
		t.Errorf("%v", refused)
	}
	if after := c.text("/workflows/keepable/draft"); after != before {
		t.Errorf("the draft was changed:\n%s", after)
	}
	report := c.must(200, "POST", "/workflows/keepable/tests/run", `{"replay": true}`)
	if report["passed"] != 4.0 || report["failed"] != 0.0 {
		t.Errorf("%v", report)
	}
}

// Run again fills the form of the latest version with the input of an execution, without what nobody may see.
func TestRunAgainFillsTheFormWithTheInput(t *testing.T) {
	_, base := newRealServer(t)
	c := caller{t, base, adminToken}
	text := strings.Replace(keepable, "pin: {type: integer", "note: {type: string}\n      pin: {type: integer", 1)
	c.must(200, "PUT", "/workflows/keepable/draft", text, "If-None-Match", "*", "Content-Type", "application/yaml")
	c.must(201, "POST", "/workflows/keepable/publish", `{}`)
	id := c.must(202, "POST", "/workflows/keepable/executions", `{"input": {"bad": true, "pin": 4711, "note": "for Ann"}}`)["id"].(string)
	c.until("/executions/"+id, "status", "failed")
	holds(t, c.page("/executions/"+id), `href="/workflows/keepable/run?from=`+id+`">Run again</a>`)
	page := c.page("/workflows/keepable/run?from=" + id)
	holds(t, page, `value="for Ann"`, "The input is that of", "Its sensitive values are left out", "Run version 1")
	if strings.Contains(page, "4711") || strings.Contains(page, "***") {
		t.Error("a sensitive value, or its mask, stands in the form")
	}
	publishHello(c)
	for _, wrong := range []string{"/workflows/hello/run?from=" + id, "/workflows/hello/run?from=x"} {
		if status, _ := c.read(wrong); status != 404 {
			t.Errorf("%s answers %d", wrong, status)
		}
	}
}
