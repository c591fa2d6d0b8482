package web

import (
	"strings"
	"testing"
)

// page reads a page as the caller sees it.
func (c caller) page(path string) string {
	c.t.Helper()
	status, text := c.read(path)
	if status != 200 {
		c.t.Fatalf("%s: %d", path, status)
	}
	return text
}

// A change waits in the inbox of whoever was asked to review it, and is counted there, until they have said what
// they think of it; a new content waits again.
func TestChangesToReviewWaitInTheInbox(t *testing.T) {
	_, base := newRealServer(t)
	admin := caller{t, base, adminToken}
	ann, ben, cid := admin.account("ann", `"author"`), admin.account("ben", `"review"`), admin.account("cid", `"review"`)
	ann.draft("pay", "  activities:\n    - {id: a, type: set, outputs: {x: \"1\"}}\n")
	ann.must(201, "POST", "/workflows/pay/proposals", `{"title": "Pay in a better way", "reviewers": ["ben", "ann"]}`)
	waits := func(who caller) bool {
		t.Helper()
		listed := len(who.must(200, "GET", "/proposals?awaiting=me", "")["items"].([]any)) > 0
		page := who.page("/tasks")
		shown, counted := strings.Contains(page, "Pay in a better way"), strings.Contains(page, `data-part>1<span class="visually-hidden">`)
		if shown != counted || listed != shown && who != ann {
			t.Errorf("listed %v, shown %v, counted %v", listed, shown, counted)
		}
		if home := strings.Contains(who.page("/"), "Pay in a better way"); home != shown {
			t.Errorf("in the inbox %v, at home %v", shown, home)
		}
		return shown
	}
	if !waits(ben) || waits(cid) || waits(ann) {
		t.Error("the change does not wait for the one who was asked alone")
	}
	ben.must(201, "POST", "/workflows/pay/proposals/1/reviews", `{"verdict": "comment", "body": "let me see", "revision": 1}`)
	if !waits(ben) {
		t.Error("a comment is taken for a verdict")
	}
	ben.must(201, "POST", "/workflows/pay/proposals/1/reviews", `{"verdict": "request_changes", "body": "no", "revision": 1}`)
	if waits(ben) {
		t.Error("it waits for somebody who has said what they think")
	}
	ann.draft("pay", "  activities:\n    - {id: a, type: set, outputs: {x: \"2\"}}\n")
	ann.must(200, "POST", "/workflows/pay/proposals/1/revise", "")
	if !waits(ben) {
		t.Error("a new content does not wait again")
	}
	ben.must(201, "POST", "/workflows/pay/proposals/1/reviews", `{"verdict": "approve", "revision": 2}`)
	if waits(ben) {
		t.Error("it waits for somebody who approved it")
	}
	ben.must(400, "GET", "/proposals?awaiting=ben", "")
}
