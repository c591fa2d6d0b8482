package execution

import (
	"slices"

	"weftline/engine/flow"
)

// end closes the life of an activity and settles what hangs on it.
func (f *fold) end(p place, to phase) {
	r := p.run
	f.leaveWait(p)
	f.unscheduleAll(p)
	f.move(p, to)
	r.Ended = f.at
	if r.Begun == 0 {
		r.Begun = f.at
	}
	switch d := f.ev.Data.(type) {
	case *Completed:
		r.Output, r.Shown, r.Outcome = d.Output, d.Shown, d.Outcome
		f.st.Hiding = f.st.Hiding || d.Shown != nil
		f.st.hold(f.wf, d.Output, 1)
		f.st.use(d.Usage)
	case *Failed:
		r.Error = d.Error
		f.st.useOfFailure(p.act, d.Error)
	case *Skipped:
		r.Reason = d.Reason
	case *Cancelled:
		r.Reason = d.Reason
	}
	if to == completed {
		r.Error = nil
	}
	if p.act.ForEach != nil {
		f.dropLoopTask(p.key)
		r.Loop.finish(to)
	}
	if p.undo {
		f.push(task{Kind: toUndone, Key: p.key})
		return
	}
	p.scope.Open--
	if to == completed {
		f.completed(p)
	}
	if to == failed || to == timedOut {
		f.failed(p)
	}
	if to == cancelled && r.Reason == reasonFailFast && p.loop != nil {
		p.scope.Stop = true
	}
	f.propagate(p)
	if p.loop != nil && p.scope.Open == 0 {
		f.scopeOver(p)
	}
}

// completed registers what may have to be undone.
func (f *fold) completed(p place) {
	if p.act.Compensate != nil && p.hook == "" {
		f.st.Undo.Done = append(f.st.Undo.Done, p.key)
	} else if p.loop != nil {
		p.run.Input = nil // items are many; nobody asks any more
	}
}

// failed notes an unhandled failure and stops what must not go on.
func (f *fold) failed(p place) {
	r := p.run
	r.Taken = failureTaken(p, r.Error)
	if r.Taken {
		return
	}
	if p.scope.Failed == nil {
		p.scope.Failed = r.Error
	}
	if p.loop == nil && p.hook == "" && r.Error != nil {
		f.st.Errors = append(f.st.Errors, *r.Error)
	}
	if f.wf.Limits.FailFast && !p.scope.Stop && f.st.Ending == nil {
		p.scope.Stop = true
		f.stop(p.scope, p.graph, p)
	}
}

// propagate settles the edges out of an activity that is over and asks the joins behind them.
func (f *fold) propagate(p place) {
	if f.st.Ending != nil && p.hook == "" {
		return // nothing new starts
	}
	consumers(p, func(target int, e *flow.Edge) bool {
		t := &p.scope.Runs[target]
		t.Settled++
		switch settle(e, p.act, p.run) {
		case fires:
			t.Fired++
		case deadFail:
			t.Dead++
		}
		f.ask(p.sibling(target))
		return false
	})
}

// ask lets the join of a pending activity decide, once.
func (f *fold) ask(p place) {
	if p.run.Decided || p.run.Phase != pending {
		return
	}
	v, reason := runs, ""
	if len(p.act.In) > 0 {
		v, reason = judge(p.act, p.run)
	}
	switch v {
	case runs:
		p.run.Decided = true
		f.push(task{Kind: toStart, Key: p.key})
		if p.act.Join.CancelRest {
			f.cancelRest(p)
		}
	case isSkipped:
		p.run.Decided = true
		f.push(task{Kind: toSkip, Key: p.key, Reason: reason})
	}
}

// cancelRest ends what now leads nowhere: sources of a join that has all it needs, and what leads only
// to them.
func (f *fold) cancelRest(join place) {
	lost := map[int]bool{join.index: true}
	for grown := true; grown; {
		grown = false
		for i, act := range join.graph.Activities {
			if lost[i] || len(act.Out) == 0 || join.scope.Runs[i].Phase.over() {
				continue
			}
			if !slices.ContainsFunc(act.Out, func(to int) bool { return !lost[to] }) {
				lost[i], grown = true, true
			}
		}
	}
	for i := range join.graph.Activities {
		if lost[i] && i != join.index {
			f.lose(join.sibling(i), reasonJoinLost)
		}
	}
}

// lose ends an activity that is not wanted any more.
func (f *fold) lose(p place, reason string) {
	switch {
	case p.run.Phase == pending:
		f.replaceTask(p.key)
		p.run.Decided = true
		f.push(task{Kind: toSkip, Key: p.key, Reason: reason})
	case p.run.Phase.active():
		f.cancel(p, reason)
	}
}

// cancel has an activity ended; of a loop, first the items.
func (f *fold) cancel(p place, reason string) {
	if l := p.run.Loop; l != nil {
		l.Stop = true
		f.dropLoopTask(p.key)
		f.eachOpen(p, func(in place) {
			if in.run.Phase.active() {
				f.cancel(in, reason)
			}
		})
	}
	f.replaceTask(p.key)
	f.push(task{Kind: toCancel, Key: p.key, Reason: reason})
}

// replaceTask removes whatever was to be done with an activity.
func (f *fold) replaceTask(k key) {
	f.st.Todo = slices.DeleteFunc(f.st.Todo, func(t task) bool { return t.Key == k && t.Kind != toLoop })
}

// eachOpen calls g for every activity of the open items of the loop at p, in order.
func (f *fold) eachOpen(p place, g func(place)) {
	l := p.run.Loop
	for _, i := range l.openItems() {
		for n := 0; n < bodySize(p.act.ForEach); n++ {
			if in, ok := f.find(p.bodyKey(i, n)); ok {
				g(in)
			}
		}
	}
}

func (l *loop) openItems() []int {
	var open []int
	for i, s := range l.Bodies {
		if s.Open > 0 {
			open = append(open, i)
		}
	}
	slices.Sort(open)
	return open
}

// stop is fail-fast in one scope: parked work ends at once, running work finishes or is cancelled, what is
// only ready does not start. why is the activity that failed.
func (f *fold) stop(s *scope, g *flow.Graph, why place) {
	if g == nil {
		return
	}
	for i := range s.Runs {
		in := why.sibling(i)
		if in.run.Phase.active() {
			f.stopOne(in)
		}
	}
}

func (f *fold) stopOne(p place) {
	switch {
	case p.run.Loop != nil:
		l := p.run.Loop
		l.Stop, l.Halted = true, true
		f.eachOpen(p, func(in place) {
			in.scope.Stop = true
			if in.run.Phase.active() {
				f.stopOne(in)
			}
		})
		f.loopMoved(p)
	case p.run.Phase.parked():
		f.cancel(p, reasonFailFast)
	case p.run.Phase == ready && !startsAnyway(p.act):
		f.cancel(p, reasonFailFast)
	case p.run.Phase.inFlight() && f.wf.Limits.OnFailFast == "cancel" && !f.letFinish(p):
		f.cancel(p, reasonFailFast)
	}
}

// letFinish: work that will have to be undone is let finish, so that it is known what to undo.
func (f *fold) letFinish(p place) bool {
	if p.act.Compensate == nil || !p.run.Phase.inFlight() {
		return false
	}
	if f.st.Ending != nil {
		return f.st.Ending.Compensate
	}
	return f.wf.Compensation.OnFailure
}
