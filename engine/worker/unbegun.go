package worker

import (
	"slices"

	"weftline/engine/execution"
	"weftline/engine/store"
)

// An attempt that was dispatched waits for whoever begins it: for a slot here, or for a worker elsewhere. When its
// execution is paused or comes to its end meanwhile, it must not begin any more: it is taken back before that is
// durable. What has begun is let finish where it has to be known what to undo.

// stage is how far an execution is stopped; it only begins less as it grows.
type stage int

const (
	goesOn stage = iota
	isPaused
	isEnding
)

func stageOf(st *execution.State) stage {
	switch {
	case st.Ending != nil:
		return isEnding
	case st.Paused:
		return isPaused
	}
	return goesOn
}

// takeBack keeps attempts from beginning when the execution has just been stopped, and cancels them when it ends. It
// reports whether there is something to decide by that.
func (d *driver) takeBack() (more bool, err error) {
	before, now := d.stage, stageOf(d.exec.State)
	d.stage = now
	if now <= before {
		return false, nil
	}
	wf, st := d.exec.Definition.Workflow, d.exec.State
	unbegun, err := d.unbegun(execution.Pending(wf, st), now)
	if err != nil || now != isEnding || len(unbegun) == 0 {
		return false, err
	}
	return true, d.record(execution.TakenBack(wf, st, unbegun, d.now()))
}

// unbegun takes the attempts that have not begun from those who were to begin them, and answers them.
func (d *driver) unbegun(pending []execution.Work, now stage) (list []execution.Work, err error) {
	var offered []execution.Work
	for _, w := range pending {
		a := d.attempts[keyOf(w)]
		switch {
		case w.Hook != "", w.Compensating: // the end itself wants them
		case a != nil && a.recorded && now == isPaused: // its start is history: it may happen once only
		case a != nil:
			if a.state.CompareAndSwap(waits, lent) {
				a.cancel()
				delete(d.attempts, keyOf(w))
				list = append(list, w)
			}
		case d.away[workKey(w)]:
			offered = append(offered, w)
		case !w.Started:
			list = append(list, w)
		}
	}
	back, err := d.takeOffersBack(offered)
	return append(list, back...), err
}

// takeOffersBack answers those of the offered attempts that nobody has leased; from now on nobody can.
func (d *driver) takeOffersBack(offered []execution.Work) ([]execution.Work, error) {
	if len(offered) == 0 {
		return nil, nil
	}
	keys := make([]store.WorkKey, len(offered))
	for i, w := range offered {
		keys[i] = workKey(w)
	}
	back, err := d.pool.Store.TakeBack(d.ctx, d.exec.ID, d.pool.id, keys)
	if err != nil {
		return nil, err
	}
	d.unsaved.offers = slices.DeleteFunc(d.unsaved.offers, func(o store.Offer) bool {
		unheard := slices.Contains(keys, o.WorkKey)
		if unheard {
			back = append(back, o.WorkKey)
		}
		return unheard
	})
	for _, key := range back {
		delete(d.away, key)
		delete(d.lent, key)
	}
	return slices.DeleteFunc(offered, func(w execution.Work) bool { return !slices.Contains(back, workKey(w)) }), nil
}

// toBegin leaves out what a paused execution does not begin.
func (d *driver) toBegin(pending []execution.Work) []execution.Work {
	if stageOf(d.exec.State) != isPaused {
		return pending
	}
	return slices.DeleteFunc(pending, func(w execution.Work) bool {
		return !w.Started && d.attempts[keyOf(w)] == nil && !d.away[workKey(w)]
	})
}
