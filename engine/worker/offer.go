package worker

import (
	"slices"
	"time"

	"weftline/engine/activity"
	"weftline/engine/execution"
	"weftline/engine/flow"
	"weftline/engine/store"
)

func workKey(w execution.Work) store.WorkKey {
	return store.WorkKey{Activity: w.Activity, Item: w.Item, Compensating: w.Compensating, Attempt: w.Attempt}
}

// offerAfter is how long an attempt waits for a slot before it is offered: what runs sooner is not worth a row.
const offerAfter = 25 * time.Millisecond

// shares reports whether what waits for a slot here could run elsewhere.
func (p *Pool) shares() bool { return p.Shares && p.peers.Load() }

// keeps is how many waiting attempts of an execution a worker keeps for its own next free slots.
func (p *Pool) keeps() int { return max(1, p.Worker.Concurrency/4) }

// lendLater plans to offer what will still wait for a slot after a moment.
func (d *driver) lendLater() {
	if d.lendAt.IsZero() && d.pool.shares() && len(d.attempts) > d.pool.keeps() {
		d.lendAt = time.Now().Add(offerAfter)
	}
}

// lend offers the attempts that wait for a slot of this worker, except as many as its next free slots will take.
// The owner stays with the execution until they come back: they are short, or the worker that has them is lost.
func (d *driver) lend() error {
	if d.lendAt.IsZero() || time.Now().Before(d.lendAt) {
		return nil
	}
	d.lendAt = time.Time{}
	kept := d.pool.keeps()
	for _, w := range execution.Pending(d.exec.Definition.Workflow, d.exec.State) {
		a := d.attempts[keyOf(w)]
		if a == nil || a.recorded || a.state.Load() != waits {
			continue
		}
		if kept > 0 {
			kept--
			continue
		}
		if !a.state.CompareAndSwap(waits, lent) {
			continue
		}
		a.cancel()
		delete(d.attempts, keyOf(w))
		if err := d.offer(w); err != nil {
			return err
		}
		if d.lent == nil {
			d.lent = map[store.WorkKey]bool{}
		}
		d.lent[workKey(w)] = true
	}
	return nil
}

// expectElsewhere notes the attempts that others made when this process claimed the execution.
func (d *driver) expectElsewhere(keys []store.WorkKey) {
	for _, key := range keys {
		d.expect(key)
	}
}

func (d *driver) expect(key store.WorkKey) {
	if d.away == nil {
		d.away = map[store.WorkKey]bool{}
	}
	d.away[key] = true
}

// isAway reports whether the current attempt of an activity is made by somebody else.
func (d *driver) isAway(activity, item string) bool {
	for key := range d.away {
		if key.Activity == activity && key.Item == item {
			return true
		}
	}
	return false
}

// cameBack notes that an attempt that was away has a result.
func (d *driver) cameBack(r *execution.Result) {
	if r != nil && len(d.away) > 0 {
		key := store.WorkKey{Activity: r.Activity, Item: r.Item, Compensating: r.Compensating, Attempt: r.Attempt}
		delete(d.away, key)
		delete(d.lent, key)
	}
}

// withdraw takes back the offers whose attempts are not wanted any more.
func (d *driver) withdraw(wanted map[attemptKey]bool) {
	if len(d.away) == 0 {
		return
	}
	still := map[store.WorkKey]bool{}
	for key, yes := range wanted {
		if yes {
			still[store.WorkKey{Activity: key.activity, Item: key.item, Compensating: key.compensating, Attempt: key.number}] = true
		}
	}
	for key := range d.away {
		if !still[key] {
			delete(d.away, key)
			delete(d.lent, key)
			d.unsaved.withdraw = append(d.unsaved.withdraw, key)
			d.unsaved.must = true
		}
	}
}

// leaveToOthers offers what this worker cannot or should not run, in the flush that records its dispatch, and
// answers what it runs itself.
func (d *driver) leaveToOthers(pending []execution.Work) ([]execution.Work, error) {
	if len(d.away) == 0 && !slices.ContainsFunc(pending, d.pool.leaves) {
		return pending, nil
	}
	var own []execution.Work
	for _, w := range pending {
		switch {
		case d.away[workKey(w)]:
		case d.attends, d.attempts[keyOf(w)] != nil, !d.pool.leaves(w):
			own = append(own, w)
		default:
			if err := d.offer(w); err != nil {
				return nil, err
			}
		}
	}
	return own, nil
}

// leaves reports whether an attempt is for others: a remote task, a language that is not enabled here, or work
// that asks for labels, a place or a queue that this worker does not have.
func (p *Pool) leaves(w execution.Work) bool {
	switch w.Type {
	case flow.TypeWorker:
		return true
	case flow.TypeScript:
		if _, able := slices.BinarySearch(p.abilities, activity.Need(w.Type, w.Input)); !able && w.Input != execution.Mask {
			return true
		}
	case flow.TypeSet, flow.TypeSwitch, flow.TypeFail, flow.TypeEnd, flow.TypeWorkflow:
		return false
	}
	if a := w.Affinity; a != nil {
		return !hasAll(p.labels, a.Labels) || !hasAll(p.labels, a.Prefer) || !p.serves(a.Queue)
	}
	return !p.serves("")
}

func (p *Pool) serves(name string) bool {
	if name == "" {
		name = flow.DefaultQueue
	}
	return len(p.Worker.Queues) == 0 || slices.Contains(p.Worker.Queues, name)
}

func hasAll(labels, wanted map[string]string) bool {
	for name, value := range wanted {
		if labels[name] != value {
			return false
		}
	}
	return true
}

// offer leaves an attempt to whoever leases it first.
func (d *driver) offer(w execution.Work) error {
	offer, err := offerOf(d.exec, w)
	if err != nil {
		return err
	}
	d.unsaved.offers = append(d.unsaved.offers, offer)
	d.unsaved.must = true
	d.expect(offer.WorkKey)
	return nil
}

func offerOf(exec *store.Loaded, w execution.Work) (store.Offer, error) {
	body, err := errandOf(exec, w).encode()
	offer := store.Offer{WorkKey: workKey(w), Hook: w.Hook, Needs: activity.Need(w.Type, w.Input), Priority: w.Priority,
		Timeout: w.Timeout, Body: body}
	if a := w.Affinity; a != nil {
		offer.Queue, offer.Labels, offer.Prefer, offer.PreferFor = a.Queue, a.Labels, a.Prefer, a.WaitFor
	}
	return offer, err
}

// offerAtBirth offers all that a new execution has to do, if it is for others; false leaves everything to its owner.
func (p *Pool) offerAtBirth(flush *store.Flush, l *store.Loaded, pending []execution.Work) (bool, error) {
	ours := func(w execution.Work) bool { return !p.leaves(w) }
	if len(pending) == 0 || slices.ContainsFunc(pending, ours) || len(flush.WaitsOpen)+len(flush.Asked)+len(flush.Joins) > 0 {
		return false, nil
	}
	for _, w := range pending {
		offer, err := offerOf(l, w)
		if err != nil {
			return false, err
		}
		flush.Offers = append(flush.Offers, offer)
	}
	return true, nil
}
