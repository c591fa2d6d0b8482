package store

import (
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	recentBytes = 32 << 20    // of history behind the states that are kept
	recentAge   = time.Minute // an execution that did not come back by then went elsewhere
)

// recent keeps the states of executions that this process left a moment ago, so that coming back to one
// costs the events written since and not its whole history. A state is handed out once and then has one
// owner again. What is full stays as it is: whoever waits in a long line still finds its place.
type recent struct {
	mu    sync.Mutex
	known map[uuid.UUID]*kept
	line  []*kept // in the order kept
	bytes int
	limit int // of bytes
}

type kept struct {
	loaded *Loaded // nil once it was taken
	id     uuid.UUID
	at     time.Time
	bytes  int
}

func newRecent(limit int) *recent { return &recent{known: map[uuid.UUID]*kept{}, limit: limit} }

// keep remembers a state that is exactly what the history says up to its last event.
func (r *recent) keep(l *Loaded, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(now.Add(-recentAge))
	size := l.Tail + l.Base
	if older := r.known[l.ID]; older != nil {
		r.drop(older)
	}
	if r.bytes+size > r.limit {
		return
	}
	l.Inbox = nil
	k := &kept{loaded: l, id: l.ID, at: now, bytes: size}
	r.known[l.ID] = k
	r.line = append(r.line, k)
	r.bytes += size
}

// take hands out the states that are kept of these executions.
func (r *recent) take(ids []uuid.UUID) map[uuid.UUID]*Loaded {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := map[uuid.UUID]*Loaded{}
	for _, id := range ids {
		if k := r.known[id]; k != nil {
			found[id] = k.loaded
			r.drop(k)
		}
	}
	return found
}

// forget drops what was kept before an instant, and what was taken from the head of the line.
func (r *recent) forget(before time.Time) {
	for len(r.line) > 0 && (r.line[0].loaded == nil || r.line[0].at.Before(before)) {
		if r.line[0].loaded != nil {
			r.drop(r.line[0])
		}
		r.line[0] = nil
		r.line = r.line[1:]
	}
}

func (r *recent) drop(k *kept) {
	delete(r.known, k.id)
	r.bytes -= k.bytes
	k.loaded = nil
}

// Keep remembers the state of an execution whose owner has just left it with everything written. The caller
// must not touch it again.
func (s *Store) Keep(l *Loaded) { s.recent.keep(l, time.Now()) }
