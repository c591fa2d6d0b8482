package worker

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"weftline/engine/queue"
	"weftline/engine/store"
)

// An execution that brings down the process that drives it would bring down one after the other. Each take-over
// from a dead owner counts a crash of the execution, until an event brings it on (execution.EventType.Progress).
// Since whatever the process drove beside it counts one too, those that were lost twice in a row are driven one
// at a time: the culprit then dies alone, and the others get on. The culprit is quarantined.

// suspectedPause is how long a suspected execution waits while another one is driven.
const suspectedPause = 2 * time.Second

// quarantine sets aside those of the claims that were lost too often in a row, unread, and answers the others.
func (p *Pool) quarantine(claims []queue.Claim) []queue.Claim {
	return slices.DeleteFunc(claims, func(claim queue.Claim) bool {
		if claim.Crashes < p.QuarantineAfter {
			return false
		}
		reason := fmt.Sprintf("the process that drove it died %d times in a row, the last one was %s", claim.Crashes, claim.LostBy)
		p.Log.Error("an execution is quarantined until a person releases it", "execution", claim.Execution, "reason", reason)
		if err := p.Store.Quarantine(p.alive, claim.Execution, p.id, reason); err != nil {
			p.Log.Error("an execution could not be quarantined and is given back", "execution", claim.Execution, "error", err)
			p.giveBack(p.alive, claim.Execution)
		}
		return true
	})
}

// drivesSuspected reports whether one of its executions may be what brings it down.
func (p *Pool) drivesSuspected() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.drivers {
		if d.suspected.Load() {
			return true
		}
	}
	return false
}

// clear ends the suspicion of a driver that got on or is gone; the next suspected execution may be driven.
func (d *driver) clear() {
	if d.suspected.Swap(false) {
		signal(d.pool.lostNow)
	}
}

// oneSuspected leaves of what is about to be driven at most one that is suspected, and none beside one that is
// driven already. The others are postponed before anything begins.
func (p *Pool) oneSuspected(loaded []*store.Loaded, claims map[uuid.UUID]queue.Claim) []*store.Loaded {
	taken := p.drivesSuspected()
	return slices.DeleteFunc(loaded, func(l *store.Loaded) bool {
		l.Crashes = max(l.Crashes, claims[l.ID].Crashes) // the count of a state that was kept here may be older
		if l.Crashes < queue.Suspected || claims[l.ID].Attends {
			return false
		}
		if !taken {
			taken = true
			return false
		}
		p.postponeSuspected(l.ID)
		return true
	})
}

func (p *Pool) postponeSuspected(id uuid.UUID) {
	if err := p.Store.Postpone(p.alive, id, p.id, suspectedPause); err != nil {
		p.Log.Error("a suspected execution could not be postponed and is given back", "execution", id, "error", err)
		p.giveBack(p.alive, id)
		return
	}
	p.TimerSet(suspectedPause)
}
