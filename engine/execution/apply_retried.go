package execution

import (
	"slices"

	"weftline/engine/flow"
)

// retried makes an ended execution run again: what failed, what was skipped because of that, what was
// undone, and what the caller names with all after it.
func (f *fold) retried(d *Retried) {
	st := f.st
	st.Result, st.Finished, st.Paused = nil, 0, false
	st.Floor = st.Top
	if d.Compensate {
		st.Ending = &Ending{Status: StatusFailed, By: d.By, Compensate: true}
		st.Undo.State = ""
		return
	}
	st.OnError, st.OnExit, st.Ending, st.Errors = nil, nil, nil, nil
	f.forgetUndo()
	if d.Input != nil {
		st.Created.Input, st.inputs, st.HasVariables = d.Input, nil, false
	}
	f.drive()
	if len(st.Main.Runs) == 0 {
		st.Main = *newScope(len(f.wf.Graph.Activities))
	}
	f.resetGraph(place{graph: f.wf.Graph, scope: &st.Main}, d)
}

// forgetUndo: what could not be undone still stands, so it is completed again.
func (f *fold) forgetUndo() {
	for _, k := range f.st.Undo.Failed {
		if p, ok := (finder{wf: f.wf, st: f.st}).plain(k); ok {
			p.run.Phase, p.run.Undo = completed, nil
		}
	}
	f.st.Undo = undo{Done: f.st.Undo.Done}
}

// resetGraph makes pending what has to run again and settles the edges into it anew.
func (f *fold) resetGraph(at place, d *Retried) {
	f.resetRuns(at, d)
	for i := range at.scope.Runs {
		f.ask(at.sibling(i))
	}
}

func (f *fold) resetRuns(at place, d *Retried) {
	s := at.scope
	s.Stop, s.Failed, s.Closed = false, nil, false
	after := descendants(at.graph, d.From)
	for i := range s.Runs {
		if p := at.sibling(i); after[i] || runsAgain(p.run) {
			f.reset(p, after[i], d)
		}
	}
	for i := range s.Runs {
		if p := at.sibling(i); p.run.Phase == pending {
			f.resettle(p)
		}
	}
}

func (f *fold) resettle(p place) {
	for i := range p.act.In {
		src := p.sibling(p.act.In[i].From)
		if !src.run.Phase.over() {
			continue
		}
		p.run.Settled++
		switch settle(&p.act.In[i], src.act, src.run) {
		case fires:
			p.run.Fired++
		case deadFail:
			p.run.Dead++
		}
	}
}

// runsAgain: a failure that was handled has had its consequences and stays.
func runsAgain(r *run) bool {
	switch r.Phase {
	case pending, cancelled, compensated:
		return true
	case failed, timedOut:
		return !r.Taken
	case skipped:
		return r.Reason == reasonUpstream || r.Reason == reasonFailFast || r.Reason == reasonJoinLost
	}
	return false
}

// reset makes one activity pending. A loop keeps its completed items, unless all of it runs again.
func (f *fold) reset(p place, named bool, d *Retried) {
	r := p.run
	oneItem := p.Activity == d.From && d.Item != ""
	kept := r.Loop
	if kept == nil || len(kept.Items) == 0 || named && !oneItem {
		kept = nil
	}
	f.forget(p, kept)
	if r.Phase.over() {
		p.scope.Open++
	}
	f.st.hold(f.wf, r.Output, -1)
	*r = run{Attempt: r.Attempt, Base: r.Attempt, Since: f.at}
	if kept != nil {
		r.Loop = kept
		f.again(p, d.Item, oneItem)
	}
}

// again has the items that did not complete begin once more, or one of them. What completed in an item with
// a graph as body stays.
func (f *fold) again(p place, item string, only bool) {
	l := p.run.Loop
	l.Stop, l.Halted, l.Queued, l.Open, l.Redo = false, false, false, 0, nil
	for i := 0; i < l.Next; i++ {
		if only && l.key(i) != item || !only && l.Fates[i] == itemCompleted {
			continue
		}
		if !f.keepBody(p, i) {
			delete(l.Bodies, i)
		}
		if l.Fates[i] == itemFailed {
			l.Failed--
		}
		if l.Fates[i] == itemCompleted {
			l.Completed--
		}
		l.Fates[i], l.Results[i] = itemPending, nil
		delete(l.ShownResults, i)
		l.Redo = append(l.Redo, i)
		delete(l.Errors, i)
	}
}

// resumes reports whether an item that begins once more keeps what completed in it.
func (l *loop) resumes(def *flow.ForEach, i int) bool {
	return def.Body != nil && l.Bodies[i] != nil && l.Fates[i] != itemCompleted
}

// keepBody resets what has to run again in an item that keeps the rest.
func (f *fold) keepBody(p place, i int) bool {
	if !p.run.Loop.resumes(p.act.ForEach, i) {
		return false
	}
	up := p
	f.resetRuns(place{key: key{Item: p.itemKey(i)}, hook: p.hook, graph: p.act.ForEach.Body,
		scope: p.run.Loop.Bodies[i], loop: &up, item: i}, &Retried{})
	return true
}

// forget removes what an activity, and the items of a loop that will run again, registered for undoing.
func (f *fold) forget(p place, kept *loop) {
	f.st.Undo.Done = slices.DeleteFunc(f.st.Undo.Done, func(k key) bool {
		if k == p.key {
			return true
		}
		in, ok := finder{wf: f.wf, st: f.st}.plain(k)
		for up := in.loop; ok && up != nil; in, up = *up, up.loop {
			if up.key == p.key {
				return kept == nil || kept.Fates[in.item] != itemCompleted && !kept.resumes(p.act.ForEach, in.item)
			}
		}
		return false
	})
}

// descendants are the activity and all that come after it, by index.
func descendants(g *flow.Graph, from string) map[int]bool {
	first := g.ByID[from]
	if first == nil {
		return nil
	}
	found := map[int]bool{first.Index: true}
	for list := []int{first.Index}; len(list) > 0; list = list[1:] {
		for _, to := range g.Activities[list[0]].Out {
			if !found[to] {
				found[to] = true
				list = append(list, to)
			}
		}
	}
	return found
}
