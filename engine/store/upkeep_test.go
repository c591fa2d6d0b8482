package store_test

import (
	"testing"
)

func TestNoTimerIsNotATimerThatIsDue(t *testing.T) {
	s := newStore(t)
	if _, ok, err := s.NextTimer(t.Context()); ok || err != nil {
		t.Errorf("a database without timers has one, %v", err)
	}
}
