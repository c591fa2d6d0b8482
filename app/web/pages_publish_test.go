package web

import (
	"net/url"
	"strings"
	"testing"
)

// Publishing ends with what came of it and what can be done next; the notice is only there as long as it is true.
func TestPublishingSaysWhatItCameToAndWhatComesNext(t *testing.T) {
	_, base := newRealServer(t)
	c := caller{t, base, adminToken}
	c.must(200, "PUT", "/workflows/hello/draft", hello, "If-None-Match", "*", "Content-Type", "application/yaml")
	status, _ := c.post("/workflows/hello/publish", url.Values{"message": {"first"}})
	if status != 303 {
		t.Fatalf("publishing answers %d", status)
	}
	holds(t, c.page("/workflows/hello?published=1"), "Version 1 is published.", `href="/workflows/hello/run"`, `href="/schedules/new?workflow=hello"`, `href="/workflows/hello/versions"`)
	for _, other := range []string{"/workflows/hello", "/workflows/hello?published=2", "/workflows/hello?published=x"} {
		if strings.Contains(c.page(other), "is published.") {
			t.Errorf("%s says that something was published", other)
		}
	}
	c.must(200, "PUT", "/workflows/hello/draft", "# why\n"+hello, "If-Match", "*", "Content-Type", "application/yaml")
	if status, page := c.post("/workflows/hello/publish", nil); status != 303 {
		t.Fatalf("publishing again answers %d %s", status, page)
	}
	holds(t, c.page("/workflows/hello?published=1&again=1"), "It does what version 1 does")
}

// One version alone is not compared with itself.
func TestTheOnlyVersionHasNothingToBeComparedWith(t *testing.T) {
	_, base := newRealServer(t)
	c := caller{t, base, adminToken}
	publishHello(c)
	page := c.page("/workflows/hello/versions")
	holds(t, page, "Nothing to compare yet")
	if strings.Contains(page, `class="compare"`) {
		t.Error("a comparison is offered")
	}
	holds(t, c.page("/workflows/hello/diff?from=1&to=1"), "Both sides are version 1")
	changed := strings.Replace(hello, `"Hello "`, `"Good day "`, 1)
	c.must(200, "PUT", "/workflows/hello/draft", changed, "If-Match", "*", "Content-Type", "application/yaml")
	holds(t, c.page("/workflows/hello/versions"), `class="compare"`, `<option value="draft" selected>`, `<option value="1" selected>`)
}

// Words that are no name are answered with the name that they make, and stay as the description.
func TestWordsForANameAreAnsweredWithAName(t *testing.T) {
	_, base := newRealServer(t)
	c := caller{t, base, adminToken}
	status, page := c.post("/new", url.Values{"name": {"My First Flow"}})
	if status != 422 {
		t.Errorf("the words are answered with %d", status)
	}
	holds(t, page, "my-first-flow can, and stands there now", `value="my-first-flow"`, `name="words" value="My First Flow"`)
	if status, page = c.post("/new", url.Values{"name": {"my-first-flow"}, "words": {"My First Flow"}}); status != 303 {
		t.Fatalf("the name is answered with %d %s", status, page)
	}
	if draft := c.text("/workflows/my-first-flow/draft"); !strings.Contains(draft, `description: "My First Flow"`) {
		t.Errorf("%s", draft)
	}
}

// The review lists tests that come with a change.
func TestTheReviewListsTests(t *testing.T) {
	_, base := newRealServer(t)
	c := caller{t, base, adminToken}
	publishHello(c)
	c.must(200, "PUT", "/workflows/hello/draft", hello+helloTests, "If-Match", "*", "Content-Type", "application/yaml")
	holds(t, c.page("/workflows/hello/review"), "Tests only: 2 added", `<span class="change-title">welcome</span>`)
}
