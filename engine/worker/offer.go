package worker

import (
	"slices"

	"weftline/engine/activity"
	"weftline/engine/execution"
	"weftline/engine/flow"
	"weftline/engine/store"
)

func workKey(w execution.Work) store.WorkKey {
	return store.WorkKey{Activity: w.Activity, Item: w.Item, Compensating: w.Compensating, Attempt: w.Attempt}
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
		delete(d.away, store.WorkKey{Activity: r.Activity, Item: r.Item, Compensating: r.Compensating, Attempt: r.Attempt})
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
		case d.attempts[keyOf(w)] != nil || !d.pool.leaves(w):
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
		name = store.DefaultQueue
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
	body, err := d.errand(w).encode()
	if err != nil {
		return err
	}
	offer := store.Offer{WorkKey: workKey(w), Hook: w.Hook, Needs: activity.Need(w.Type, w.Input), Priority: w.Priority,
		Timeout: w.Timeout, Body: body}
	if a := w.Affinity; a != nil {
		offer.Queue, offer.Labels, offer.Prefer, offer.PreferFor = a.Queue, a.Labels, a.Prefer, a.WaitFor
	}
	d.unsaved.offers = append(d.unsaved.offers, offer)
	d.unsaved.must = true
	d.expect(offer.WorkKey)
	return nil
}
