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
// from a process that crashed counts a crash of the execution, until an event brings it on (execution.EventType.Progress).
// Not counted is what cannot be the cause: a process that was being stopped was ended from outside, and of what only
// waited nothing ran. Whatever else the process drove counts one too, so those that were lost twice in a row are
// suspected, and are driven in groups of those that were lost equally often, each time smaller: the culprit takes fewer
// along each time and dies alone in the end, and the others get on. The culprit is quarantined.

// suspectedPause is how long a suspected execution waits while others are driven.
const suspectedPause = 2 * time.Second

// groupFactor is by how much a crash divides a group: one crash of a few minutes each is dear, innocent company is not.
const groupFactor = 4

// groupSize is how many executions that were lost so often in a row a worker drives at once. With the last crash before
// it would be quarantined each is alone.
func groupSize(crashes, quarantineAfter int) int {
	size := 1
	for left := quarantineAfter - 1 - crashes; left > 0 && size < claimBatch; left-- {
		size *= groupFactor
	}
	return size
}

// suspects are how many suspected executions it drives, and how often those were lost in a row. The caller holds mu.
func (p *Pool) suspects() (n, crashes int) {
	for _, d := range p.drivers {
		if c := int(d.suspected.Load()); c > 0 {
			n, crashes = n+1, max(crashes, c)
		}
	}
	return n, crashes
}

// groups is what it may take over of the suspected: of the group that it drives some of, else of any.
func (p *Pool) groups() (groups []queue.Group) {
	p.mu.Lock()
	n, crashes := p.suspects()
	p.mu.Unlock()
	if n > 0 {
		return []queue.Group{{Crashes: crashes, Most: groupSize(crashes, p.QuarantineAfter) - n}}
	}
	for c := queue.Suspected; c < p.QuarantineAfter; c++ {
		groups = append(groups, queue.Group{Crashes: c, Most: groupSize(c, p.QuarantineAfter)})
	}
	return groups
}

// quarantine sets aside those of the claims that were lost too often in a row, unread, and answers the others.
func (p *Pool) quarantine(claims []queue.Claim) []queue.Claim {
	return slices.DeleteFunc(claims, func(claim queue.Claim) bool {
		if claim.Crashes < p.QuarantineAfter {
			return false
		}
		reason := fmt.Sprintf("the process that drove it died %d times in a row, the last one was %s", claim.Crashes, claim.LostBy)
		p.Log.Error("an execution is quarantined until a person releases it", "execution", claim.Execution, "reason", reason)
		if err := p.Store.Quarantine(p.alive, claim.Execution, p.id, claim.LostBy, reason); err != nil {
			p.Log.Error("an execution could not be quarantined and is given back", "execution", claim.Execution, "error", err)
			p.giveBack(claim)
		}
		return true
	})
}

// clear ends the suspicion of a driver that got on or is gone; more of the suspected may be driven.
func (d *driver) clear() {
	if d.suspected.Swap(0) > 0 {
		signal(d.pool.lostNow)
	}
}

// inGroups leaves of what is about to be driven no more of the suspected than belong together and beside those that are
// driven already. The others are postponed before anything begins.
func (p *Pool) inGroups(loaded []*store.Loaded, claims map[uuid.UUID]queue.Claim) []*store.Loaded {
	p.mu.Lock()
	n, crashes := p.suspects()
	p.mu.Unlock()
	return slices.DeleteFunc(loaded, func(l *store.Loaded) bool {
		if l.Crashes < queue.Suspected || claims[l.ID].Attends {
			return false
		}
		if n == 0 {
			crashes = l.Crashes
		}
		if l.Crashes == crashes && n < groupSize(crashes, p.QuarantineAfter) {
			n++
			return false
		}
		p.postponeSuspected(claims[l.ID])
		return true
	})
}

func (p *Pool) postponeSuspected(claim queue.Claim) {
	if err := p.Store.Postpone(p.alive, claim.Execution, p.id, claim.LostBy, suspectedPause); err != nil {
		p.Log.Error("a suspected execution could not be postponed and is given back", "execution", claim.Execution, "error", err)
		p.giveBack(claim)
		return
	}
	p.TimerSet(suspectedPause)
}
