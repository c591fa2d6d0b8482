package live

import (
	"sync"

	"github.com/google/uuid"

	"weftline/engine"
)

// hints gathers what the engine says between two looks: any number of changes of one execution are one.
// The engine must never wait for the hub, nor while the hub holds its own lock.
type hints struct {
	mu     sync.Mutex
	closed bool
	latest map[hintKey]engine.Change
	wake   chan struct{} // capacity 1
}

type hintKey struct {
	team, execution uuid.UUID
	workflow        string
	tasks, drafts   bool
	access          bool
}

// add notes a change; it never blocks.
func (h *hints) add(change engine.Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	if h.latest == nil {
		h.latest = map[hintKey]engine.Change{}
	}
	key := hintKey{change.Team, change.Execution, change.Workflow, change.Tasks, change.Drafts, change.Access}
	if change.LastSeq >= h.latest[key].LastSeq {
		h.latest[key] = change
	}
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

func (h *hints) take() map[hintKey]engine.Change {
	h.mu.Lock()
	defer h.mu.Unlock()
	taken := h.latest
	h.latest = nil
	return taken
}

func (h *hints) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	close(h.wake)
}

// dispatch passes hints on to the topics that they may concern, until the hub closes.
func (h *Hub) dispatch() {
	for range h.hints.wake {
		for _, change := range h.hints.take() {
			h.touch(change)
		}
	}
}

func (h *Hub) touch(change engine.Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if change.Access {
		for c := range h.conns {
			c.suspect()
		}
	}
	if followed, ok := h.topics[topicKey{team: change.Team, name: executionName(change.Execution)}]; ok {
		followed.touch(change)
	}
	for key, state := range h.states {
		if key.team == change.Team {
			state.touch(change)
		}
	}
}
