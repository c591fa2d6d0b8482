package settings

import (
	"context"
	"strings"
	"testing"

	"weftline/views/ui"
)

func TestOnlyAdminsSeeTheWayToTheAudit(t *testing.T) {
	for _, admin := range []bool{false, true} {
		var html strings.Builder
		if err := Nav(ui.Page{Admin: admin}, "you").Render(context.Background(), &html); err != nil {
			t.Fatal(err)
		}
		if shown := strings.Contains(html.String(), "/settings/audit"); shown != admin {
			t.Errorf("admin %v: the audit is shown: %v", admin, shown)
		}
	}
}
