package worker

import (
	"context"
	"testing"
)

// line makes waiters that report who was served, in the order they came.
func line(t *testing.T, s *slots, priorities ...string) <-chan int {
	served := make(chan int)
	for i, priority := range priorities {
		go func() {
			if s.take(t.Context(), priority) {
				served <- i
			}
		}()
		for waits := 0; waits <= i; {
			s.mu.Lock()
			waits = len(s.waiting)
			s.mu.Unlock()
		}
	}
	return served
}

func TestAFreeSlotGoesToTheMostUrgentThenToWhoCameFirst(t *testing.T) {
	s := newSlots(1)
	if !s.take(t.Context(), "low") {
		t.Fatal("no slot")
	}
	served := line(t, s, "low", "normal", "critical", "normal", "high")
	for _, expected := range []int{2, 4, 1, 3, 0} {
		s.give(1)
		if got := <-served; got != expected {
			t.Errorf("served %d, expected %d", got, expected)
		}
	}
	s.give(1)
	if n := s.takeFree(); n != 1 {
		t.Errorf("%d slots are free at the end", n)
	}
}

func TestWhoGivesUpWaitingLosesNoSlot(t *testing.T) {
	s := newSlots(1)
	s.take(t.Context(), "low")
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan bool)
	go func() { left <- s.take(ctx, "high") }()
	cancel()
	if <-left {
		t.Error("it has a slot")
	}
	s.give(1)
	if n := s.takeFree(); n != 1 {
		t.Errorf("%d slots are free", n)
	}
}
