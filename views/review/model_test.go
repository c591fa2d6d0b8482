package review

import (
	"slices"
	"testing"

	"weftline/engine/flow"
)

func TestWhatWaitsAtAChangedActivityIsSaidOnce(t *testing.T) {
	changes := []flow.Change{{Kind: "changed", What: "activity", ID: "ask"}, {Kind: "moved", What: "activity", ID: "ask"},
		{Kind: "added", What: "edge", ID: "pay → tell"}, {Kind: "removed", What: "activity", ID: "tell"}}
	got := AffectedAt(map[string]int{"ask": 2, "pay": 5}, changes)
	if want := []string{"2 waits open at ask, which is changed: they end as they began"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
