package worker

import "testing"

// With the last crash before it would be quarantined each suspect is alone; before that groups are four times as large
// for each crash that is left.
func TestSuspectsAreDividedUntilEachIsAlone(t *testing.T) {
	for _, c := range []struct{ crashes, after, size int }{
		{2, 3, 1}, {4, 5, 1}, {3, 5, 4}, {2, 5, 16}, {2, 6, 64}, {2, 100, claimBatch}, {2, 1, 1}, {7, 5, 1},
	} {
		if got := groupSize(c.crashes, c.after); got != c.size {
			t.Errorf("after %d crashes of %d a group has %d, expected %d", c.crashes, c.after, got, c.size)
		}
	}
}
