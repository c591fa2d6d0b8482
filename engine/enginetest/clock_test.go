package enginetest

import (
	"testing"
	"time"
)

func TestTheWallClockCanBeShiftedAlone(t *testing.T) {
	before := time.Now()
	if err := ShiftClock(-10 * time.Minute); err != nil {
		t.Skip(err)
	}
	after := time.Now()
	if err := ShiftClock(0); err != nil {
		t.Fatal(err)
	}
	if by := before.Round(0).Sub(after.Round(0)); by < 5*time.Minute {
		t.Errorf("the wall clock went back by %s", by)
	}
	if passed := after.Sub(before); passed < 0 || passed > 5*time.Minute {
		t.Errorf("by the monotonic clock %s passed", passed)
	}
}
