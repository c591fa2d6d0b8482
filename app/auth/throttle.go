package auth

import (
	"sync"
	"time"
)

// Throttle counts what happens per key in fixed windows. It holds at most throttleKeys keys: a flood of new
// keys empties it instead of filling the memory.
type Throttle struct {
	most   int
	window time.Duration

	mu   sync.Mutex
	ends time.Time
	seen map[string]int
}

const throttleKeys = 100_000

// NewThrottle allows most events a key and window.
func NewThrottle(most int, window time.Duration) *Throttle {
	return &Throttle{most: most, window: window, seen: map[string]int{}}
}

// Count counts one event and answers how long the key has to wait, 0 while it is within its allowance.
func (t *Throttle) Count(key string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if now.After(t.ends) || len(t.seen) >= throttleKeys {
		t.ends, t.seen = now.Add(t.window), map[string]int{}
	}
	t.seen[key]++
	if t.seen[key] <= t.most {
		return 0
	}
	return t.ends.Sub(now)
}
