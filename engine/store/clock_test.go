package store

import (
	"testing"
	"time"
)

// However long a question or its answer is under way, the clock is not ahead of the database's.
func TestTheClockIsNeverAheadOfTheDatabase(t *testing.T) {
	local := time.Now()
	database := local.Add(-time.Hour).Round(0) // whatever the machine's clock says
	c := newClock()
	for _, step := range []struct {
		asked, there, back time.Duration // when it is asked, and how long each way takes
		behind             time.Duration // at most, when it is answered
	}{
		{0, time.Millisecond, time.Millisecond, time.Millisecond},
		{time.Second, 2 * time.Second, 0, time.Millisecond},
		{5 * time.Second, 0, 2 * time.Second, time.Millisecond}, // what was known before is better
		{9 * time.Second, 10 * time.Millisecond, 30 * time.Millisecond, 30 * time.Millisecond},
	} {
		sent, seen := local.Add(step.asked), database.Add(step.asked+step.there)
		answered := sent.Add(step.there + step.back)
		c.Measured(seen, sent, answered)
		now, shown := seen.Add(step.back), c.at.Load().when(answered)
		if shown.After(now) || now.Sub(shown) > step.behind {
			t.Errorf("asked after %s: the database has %s, the clock shows %s", step.asked, now, shown)
		}
	}
}

// When the database's own clock is set back, the clock follows.
func TestTheClockFollowsTheDatabase(t *testing.T) {
	c, local := newClock(), time.Now()
	c.Measured(local.Add(time.Hour), local, local)
	c.Measured(local.Add(-time.Hour), local, local.Add(time.Millisecond))
	if shown := c.at.Load().when(local); shown.After(local.Add(-time.Hour)) {
		t.Errorf("it still shows %s", shown)
	}
}
