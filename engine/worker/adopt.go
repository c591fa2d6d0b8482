package worker

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"weftline/engine/execution"
	"weftline/engine/logs"
	"weftline/engine/queue"
	"weftline/engine/store"
)

// A claim says that this worker owned an execution when the database answered. What happens to it until it is driven
// is settled here: of one execution there is one driver at most, and whoever begins to drive looks once more whether the
// execution is this worker's, at a time at which nobody else in this process could give it away.

// adopt folds claimed executions and begins to drive them. What cannot be folded becomes an incident.
func (p *Pool) adopt(claims []queue.Claim) {
	if claims = p.undriven(claims); len(claims) == 0 {
		return
	}
	ids := make([]uuid.UUID, len(claims))
	byID := make(map[uuid.UUID]queue.Claim, len(claims))
	for i, claim := range claims {
		ids[i], byID[claim.Execution] = claim.Execution, claim
	}
	defer p.adopted(ids)
	loaded, failures, err := p.Store.LoadOwned(p.alive, ids, p.id)
	if err != nil {
		p.Log.Error("claimed executions could not be read and are given back", "error", err)
		p.giveBack(claims...)
		return
	}
	for id, failure := range failures {
		p.incident(logs.About{Worker: p.name, Execution: id}, byID[id].LostBy, failure)
	}
	p.acquit(loaded, byID)
	for _, l := range p.inGroups(loaded, byID) {
		claim := byID[l.ID]
		if claim.LostBy != uuid.Nil {
			p.Figures.Recovered()
		}
		p.mu.Lock()
		d := p.add(l, claim)
		p.mu.Unlock()
		p.launch(d)
	}
}

// undriven answers those of the claims whose executions nobody drives or adopts here. A driver that is there is told: it
// looks, and what it leaves is adopted after it.
func (p *Pool) undriven(claims []queue.Claim) []queue.Claim {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(claims, func(claim queue.Claim) bool {
		if d := p.drivers[claim.Execution]; d != nil {
			if d.next != nil && claim.LostBy == uuid.Nil {
				claim.LostBy = d.next.LostBy
			}
			d.next = &claim
			d.wake()
			return true
		}
		if p.adopting[claim.Execution] {
			return true
		}
		p.adopting[claim.Execution] = true
		return false
	})
}

func (p *Pool) adopted(ids []uuid.UUID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range ids {
		delete(p.adopting, id)
	}
}

// add makes the driver of an execution. The caller holds mu, and nobody drives it.
func (p *Pool) add(l *store.Loaded, claim queue.Claim) *driver {
	d := newDriver(p, l, claim)
	p.drivers[l.ID] = d
	return d
}

// remove forgets a driver; true when the execution was claimed again meanwhile. What a driver that ends in disorder was
// running is lost to whoever comes after it.
func (p *Pool) remove(d *driver, inOrder bool) bool {
	p.mu.Lock()
	if p.drivers[d.exec.ID] == d {
		delete(p.drivers, d.exec.ID)
	}
	if d.next != nil {
		next := *d.next
		if !inOrder && next.LostBy == uuid.Nil {
			next.LostBy = p.id
		}
		p.returned = append(p.returned, next)
	}
	look := p.full || d.next != nil
	p.mu.Unlock()
	if look {
		p.look()
	}
	d.clear()
	return d.next != nil
}

// takeReturned answers the claims whose drivers are gone by now.
func (p *Pool) takeReturned() []queue.Claim {
	p.mu.Lock()
	defer p.mu.Unlock()
	claims := p.returned
	p.returned = nil
	return claims
}

// giveBack releases claims that were never begun. What a lost owner left stays as it is, since whoever claimed it would not
// know of that: it is found again among what this worker owns and does not drive.
func (p *Pool) giveBack(claims ...queue.Claim) {
	var ids []uuid.UUID
	for _, claim := range claims {
		if claim.LostBy == uuid.Nil {
			ids = append(ids, claim.Execution)
		}
	}
	ctx, cancel := p.lastWords()
	defer cancel()
	if err := p.Queue.GiveBack(ctx, ids); err != nil {
		p.Log.Error("claims could not be given back", "executions", len(ids), "error", err)
	}
}

// reclaim looks whether an execution whose driver failed is still ours, as long as it takes, and begins again from its
// history.
func (p *Pool) reclaim(id uuid.UUID, attends bool) {
	for p.alive.Err() == nil {
		wakes, _, owned, err := p.Store.Look(p.alive, id, p.id)
		switch {
		case err == nil && owned && !p.suspended():
			p.adopt([]queue.Claim{{Execution: id, Wakes: wakes, LostBy: p.id, Attends: attends}})
			return
		case err == nil, !store.IsOutage(err):
			return
		}
		select {
		case <-p.alive.Done():
		case <-time.After(outageLook):
		}
	}
}

// outageLook is the pause between two tries of a driver to reach a database that is out of reach.
const outageLook = 50 * time.Millisecond

// acquit takes back the crash that was counted on executions of which nothing ran in the process that died.
func (p *Pool) acquit(loaded []*store.Loaded, claims map[uuid.UUID]queue.Claim) {
	var innocent []uuid.UUID
	for _, l := range loaded {
		claim := claims[l.ID]
		l.Crashes = max(l.Crashes, claim.Crashes) // the count of a state that was kept here may be older
		if claim.Crashed && !mayHaveCaused(l, claim) {
			innocent = append(innocent, l.ID)
			l.Crashes--
		}
	}
	if len(innocent) == 0 {
		return
	}
	if err := p.Store.Acquit(p.alive, innocent); err != nil && p.alive.Err() == nil {
		p.Log.Error("a crash stays counted on executions that did not cause it", "executions", len(innocent), "error", err)
	}
}

// mayHaveCaused reports whether an execution may be why the process died that had it: an attempt of it was under way
// there, or the process did nothing for it since it had it, and may have died of the reading or deciding.
func mayHaveCaused(l *store.Loaded, claim queue.Claim) bool {
	if time.UnixMilli(l.State.Updated).Before(claim.LostSince) {
		return true
	}
	return slices.ContainsFunc(execution.Pending(l.Definition.Workflow, l.State), func(w execution.Work) bool {
		return !slices.Contains(l.Elsewhere, workKey(w))
	})
}
