package timer

import (
	"context"
	"sync"
	"time"
)

// alarm is the instant at which a loop looks next. It may be moved earlier at any time; what is asked for
// while the loop looks counts too, since the look may have been too early to see it.
type alarm struct {
	mu      sync.Mutex
	at      time.Time // zero = none yet
	changed chan struct{}
}

func newAlarm() *alarm { return &alarm{changed: make(chan struct{}, 1)} }

// clear forgets the instant: a look begins.
func (a *alarm) clear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = time.Time{}
}

// within moves the instant to at most wait from now.
func (a *alarm) within(wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at := time.Now().Add(wait); a.at.IsZero() || at.Before(a.at) {
		a.at = at
		select {
		case a.changed <- struct{}{}:
		default:
		}
	}
}

// sleep returns when the instant has come or ctx ends.
func (a *alarm) sleep(ctx context.Context) {
	for ctx.Err() == nil {
		a.mu.Lock()
		wait := time.Until(a.at)
		a.mu.Unlock()
		if wait <= 0 {
			return
		}
		select {
		case <-ctx.Done():
		case <-a.changed:
		case <-time.After(wait):
		}
	}
}
