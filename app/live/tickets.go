package live

import (
	"crypto/rand"
	"encoding/base64"
	"sync"
	"time"

	"weftline/app/auth"
)

const (
	ticketLife = 60 * time.Second
	ticketsMax = 10_000
)

// tickets let a client that cannot send headers open one socket. They live in this process only: a ticket
// is good at the replica that gave it.
type tickets struct {
	mu   sync.Mutex
	open map[string]ticket
}

type ticket struct {
	asking auth.Asking
	until  time.Time
}

// give makes a ticket, or answers "" when too many are open.
func (t *tickets) give(asking auth.Asking, now time.Time) (value string, until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for value, old := range t.open {
		if now.After(old.until) {
			delete(t.open, value)
		}
	}
	if len(t.open) >= ticketsMax {
		return "", time.Time{}
	}
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails, says crypto/rand
	value, until = base64.RawURLEncoding.EncodeToString(raw[:]), now.Add(ticketLife)
	t.open[value] = ticket{asking: asking, until: until}
	return value, until
}

// take uses a ticket up.
func (t *tickets) take(value string, now time.Time) (auth.Asking, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	found, ok := t.open[value]
	delete(t.open, value)
	return found.asking, ok && now.Before(found.until)
}
