package executions

import "testing"

func TestFiltersLiveInTheAddress(t *testing.T) {
	f := Filter{Workflow: "refund", Status: []string{"timed_out", "failed"}, Query: "order 7"}
	if got, want := f.URL(), "/executions?q=order+7&status=timed_out&status=failed&workflow=refund"; got != want {
		t.Errorf("URL = %s, want %s", got, want)
	}
	var on []string
	for _, chip := range f.Chips() {
		if chip.On {
			on = append(on, chip.Label)
		}
	}
	if len(on) != 1 || on[0] != "Failed" {
		t.Errorf("chips that are on = %v", on)
	}
	if got, want := f.Chips()[0].URL, "/executions?q=order+7&workflow=refund"; got != want {
		t.Errorf("the first chip leads to %s, want %s", got, want)
	}
	if got := (Filter{}).URL(); got != "/executions" {
		t.Errorf("URL without filter = %s", got)
	}
}
