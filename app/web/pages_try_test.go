package web

import (
	"net/url"
	"strings"
	"testing"
)

// The form of the designer belongs to a workflow of the team, and its text has the bound of every definition.
func TestTheTriedFormIsThatOfAWorkflow(t *testing.T) {
	_, base := newRealServer(t)
	c := caller{t, base, adminToken}
	publishHello(c)
	long := hello + "\n# " + strings.Repeat("x", definitionMax)
	for name, try := range map[string]struct {
		path, definition string
		status           int
	}{
		"a workflow":         {"/workflows/hello/try-form", hello, 200},
		"an unknown one":     {"/workflows/nobody/try-form", hello, 404},
		"a text too long":    {"/workflows/hello/try-form", long, 413},
		"a text of no sense": {"/workflows/hello/try-form", "a: [", 422},
	} {
		if status, page := c.post(try.path, url.Values{tryDefinition: {try.definition}}); status != try.status {
			t.Errorf("%s: %d %.300s", name, status, page)
		}
	}
}
