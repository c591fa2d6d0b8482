package engine

import (
	"sync"

	"github.com/google/uuid"

	"weftline/engine/notify"
)

// watchers implements Watcher.
type watchers struct {
	mu     sync.RWMutex
	next   int
	byTeam map[uuid.UUID]map[int]func(Change)
}

func newWatchers() *watchers { return &watchers{byTeam: map[uuid.UUID]map[int]func(Change){}} }

// Watch calls f after each change of the team that was committed on any replica, until stop is called.
func (w *watchers) Watch(team uuid.UUID, f func(Change)) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byTeam[team] == nil {
		w.byTeam[team] = map[int]func(Change){}
	}
	w.next++
	number := w.next
	w.byTeam[team][number] = f
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.byTeam[team], number)
		if len(w.byTeam[team]) == 0 {
			delete(w.byTeam, team)
		}
	}
}

// tell passes changes on to those who watch their team.
func (w *watchers) tell(changes []notify.Change) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if len(w.byTeam) == 0 {
		return
	}
	for _, c := range changes {
		change := Change{Team: c.Team, Execution: c.Execution, Workflow: c.Workflow, LastSeq: c.LastSeq,
			Status: c.Status, Tasks: c.Tasks, Drafts: c.Drafts, Work: c.Work, Access: c.Access, Log: c.Log}
		for _, f := range w.byTeam[c.Team] {
			f(change)
		}
	}
}
