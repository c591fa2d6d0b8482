package worker

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"weftline/engine/queue/order"
)

// slots bounds the attempts that run at one time. Whoever waits for one is served by aged priority, then by who
// came first, so a long chain delays something urgent by the step it is at.
type slots struct {
	mu      sync.Mutex
	free    int
	waiting []*waiter // in the order they came
}

type waiter struct {
	priority string
	since    time.Time
	served   chan struct{} // closed with mu held when it has its slot
}

func newSlots(n int) *slots { return &slots{free: n} }

// take waits for a slot; false when ctx ended first.
func (s *slots) take(ctx context.Context, priority string) bool {
	if ctx.Err() != nil {
		return false
	}
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return true
	}
	w := &waiter{priority: priority, since: time.Now(), served: make(chan struct{})}
	s.waiting = append(s.waiting, w)
	s.mu.Unlock()
	select {
	case <-w.served:
		return true
	case <-ctx.Done():
		return s.leaveLine(w)
	}
}

// leaveLine gives up waiting; a slot that came at the same moment goes to the next.
func (s *slots) leaveLine(w *waiter) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.waiting, w); i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	} else {
		s.release()
	}
	return false
}

// takeFree takes all slots that nobody waits for.
func (s *slots) takeFree() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.free
	s.free = 0
	return n
}

// unused is how many slots are free.
func (s *slots) unused() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.free
}

// give returns n slots.
func (s *slots) give(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		s.release()
	}
}

// release serves the most urgent, if anybody waits. The caller holds mu.
func (s *slots) release() {
	if len(s.waiting) == 0 {
		s.free++
		return
	}
	now := time.Now()
	next := slices.MaxFunc(s.waiting, func(a, b *waiter) int {
		return cmp.Or(cmp.Compare(order.Level(a.priority, a.since, now), order.Level(b.priority, b.since, now)), b.since.Compare(a.since))
	})
	s.waiting = slices.DeleteFunc(s.waiting, func(w *waiter) bool { return w == next })
	close(next.served)
}
