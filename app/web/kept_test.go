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
	if report["passed"] != 2.0 || report["failed"] != 0.0 {
		t.Errorf("%v", report)
	}
}
