package queue

import (
	"bytes"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"weftline/engine/queue/order"
)

// model is what the statements of the queue decide, as plain functions over memory: who is given what (ClaimReady,
// TakeReady), who is dead and what they leave
// (GoneOwners), who gets that (TakeOverReady). TestTheModelIsWhatTheDatabaseDoes
// holds it against the database; TestAFleetOfTenThousand runs it at a size that no database of a test has.
type model struct {
	lines   map[uuid.UUID]*line // of teams: what nobody owns
	teams   []uuid.UUID
	owned   map[uuid.UUID][]modelEntry
	left    []modelEntry // by dead workers, by execution
	workers map[uuid.UUID]modelWorker
}

type modelEntry struct {
	order.Entry
	partition int16
	turn      time.Time
	owner     uuid.UUID
	crashes   int // how often it was taken over without getting on
}

type modelWorker struct {
	stopped bool
	beat    time.Time
}

// line is what of one team waits, by turn; what was taken from its front is cut off.
type line struct{ entries []modelEntry }

func newModel() *model {
	return &model{lines: map[uuid.UUID]*line{}, owned: map[uuid.UUID][]modelEntry{}, workers: map[uuid.UUID]modelWorker{}}
}

// wait puts entries in line that are ordered by their turns.
func (m *model) wait(entries ...modelEntry) {
	for _, e := range entries {
		l := m.lines[e.Team]
		if l == nil {
			l = &line{}
			m.lines[e.Team], m.teams = l, append(m.teams, e.Team)
		}
		l.entries = append(l.entries, e)
	}
}

// claim gives a worker at most n of what waits in its partitions; nil partitions are all. running is what it drives
// already, by team.
func (m *model) claim(worker uuid.UUID, n int, partitions []int16, running map[uuid.UUID]int, policy order.Policy, now time.Time) []modelEntry {
	found := map[uuid.UUID]modelEntry{}
	var entries []order.Entry
	for _, team := range m.teams {
		for _, e := range m.lines[team].first(n, partitions) {
			found[e.Execution] = e
			entries = append(entries, e.Entry)
		}
	}
	chosen := policy(entries, running, now)
	chosen = chosen[:min(n, len(chosen))]
	taken := make([]modelEntry, len(chosen))
	for i, e := range chosen {
		taken[i] = found[e.Execution]
		taken[i].owner = worker
		m.lines[e.Team].remove(taken[i])
	}
	m.owned[worker] = append(m.owned[worker], taken...)
	return taken
}

func (l *line) first(n int, partitions []int16) []modelEntry {
	if partitions == nil {
		return l.entries[:min(n, len(l.entries))]
	}
	var found []modelEntry
	for _, e := range l.entries {
		if len(found) == n {
			break
		}
		if slices.Contains(partitions, e.partition) {
			found = append(found, e)
		}
	}
	return found
}

func (l *line) remove(taken modelEntry) {
	i := slices.IndexFunc(l.entries, func(e modelEntry) bool { return e.Execution == taken.Execution })
	copy(l.entries[1:i+1], l.entries[:i])
	l.entries = l.entries[1:]
}

// bury notes what the dead leave: workers that own something and hold no valid lease.
func (m *model) bury(now time.Time) {
	before := len(m.left)
	for owner, entries := range m.owned {
		w, known := m.workers[owner]
		if !known || w.stopped || !w.beat.After(now.Add(-Lease)) {
			m.left = append(m.left, entries...)
			delete(m.owned, owner)
		}
	}
	if len(m.left) > before {
		slices.SortFunc(m.left, func(a, b modelEntry) int { return bytes.Compare(a.Execution[:], b.Execution[:]) })
	}
}

// takeOver gives a worker at most n of what the dead left, by execution: first what is not suspected, then what is to be
// set aside, then of the first group that there is any of. A crash is counted unless the dead one was stopped.
func (m *model) takeOver(worker uuid.UUID, n int, groups []Group, aside int) []modelEntry {
	lost := func(least, most int) func(modelEntry) bool {
		return func(e modelEntry) bool { return e.crashes+1 >= least && e.crashes+1 <= most }
	}
	taken := m.takeLeft(worker, n, lost(0, min(Suspected, aside)-1))
	taken = append(taken, m.takeLeft(worker, n-len(taken), lost(aside, math.MaxInt))...)
	for _, g := range groups {
		group := m.takeLeft(worker, min(g.Most, n-len(taken)), lost(g.Crashes, g.Crashes))
		taken = append(taken, group...)
		if len(group) > 0 {
			break
		}
	}
	for _, e := range taken {
		if !m.workers[e.owner].stopped {
			e.crashes++
		}
		e.owner = worker
		m.owned[worker] = append(m.owned[worker], e)
	}
	return taken
}

func (m *model) takeLeft(worker uuid.UUID, n int, fits func(modelEntry) bool) (taken []modelEntry) {
	for i := 0; i < len(m.left) && len(taken) < n; {
		if m.left[i].owner == worker || !fits(m.left[i]) {
			i++
			continue
		}
		taken = append(taken, m.left[i])
		copy(m.left[1:i+1], m.left[:i])
		m.left = m.left[1:]
	}
	return taken
}
