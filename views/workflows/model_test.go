package workflows

import (
	"strings"
	"testing"

	"weftline/engine/flow"
)

func TestBlankIsValid(t *testing.T) {
	report := flow.Validate([]byte(Blank("order-fulfilment", "")))
	if !report.Valid || report.Name != "order-fulfilment" {
		t.Errorf("report: %+v", report)
	}
}

func TestRenamedChangesTheNameAlone(t *testing.T) {
	text := "kind: Workflow\nmetadata:\n  name: refund # the old one\nspec:\n  activities:\n    - id: refund\n      name: refund\n"
	got := Renamed(text, "refund", "refund-2")
	if want := strings.Replace(text, "name: refund #", "name: refund-2 #", 1); got != want {
		t.Errorf("got\n%s", got)
	}
}
