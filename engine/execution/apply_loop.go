package execution

import (
	"slices"

	"weftline/engine/flow"
)

// begin makes the scope of a hook list or of an item part of the state, with the first event in it.
func (f *fold) begin(p place) {
	if p.loop == nil {
		if p.hook == hookError {
			f.st.OnError = p.scope
		} else {
			f.st.OnExit = p.scope
		}
	} else {
		f.beginItem(*p.loop, p.item, p.scope)
	}
	f.open(p, p.index)
}

// open asks the joins of the activities without needs, and of those whose needs are settled already, except
// one.
func (f *fold) open(p place, except int) {
	if p.graph == nil {
		return
	}
	for i, act := range p.graph.Activities {
		if i != except && (len(act.In) == 0 || p.scope.Runs[i].Settled > 0) {
			f.ask(p.sibling(i))
		}
	}
}

func (f *fold) loopStarted(p place) {
	if p.run.Loop != nil { // driven again: its items stay
		f.loopMoved(p)
		return
	}
	d := payload[LoopStarted](f.ev)
	p.run.Loop = &loop{
		Items: d.Items, ShownItems: d.Shown, Keys: d.Keys, Width: max(d.MaxConcurrent, 1),
		Results: make([]any, len(d.Items)),
		Fates:   make([]byte, len(d.Items)),
		Bodies:  map[int]*scope{},
	}
	f.loopMoved(p)
}

// loopMoved has a loop looked at again if it may begin an item or end.
func (f *fold) loopMoved(p place) {
	l := p.run.Loop
	if l.Queued || p.run.Phase.over() || !(l.mayBegin() || l.mustEnd()) {
		return
	}
	l.Queued = true
	f.push(task{Kind: toLoop, Key: p.key})
}

func (f *fold) beginItem(p place, i int, s *scope) {
	l := p.run.Loop
	if len(l.Redo) > 0 {
		l.Redo = l.Redo[1:]
	} else {
		l.Next++
	}
	if l.Bodies == nil {
		l.Bodies = map[int]*scope{}
	}
	l.Bodies[i] = s
	l.Fates[i] = itemOpen
	l.Open++
	l.Queued = false
	f.dropLoopTask(p.key)
	f.loopMoved(p)
}

// scopeOver: all activities of an item are over. A single activity without collect is its own result;
// everything else has its result computed first.
func (f *fold) scopeOver(p place) {
	up := *p.loop
	if up.run.Phase.over() { // it was cancelled while this finished
		return
	}
	if p.graph == nil && (up.act.ForEach.Collect == nil || p.run.Phase != completed) {
		f.closeItem(up, p.item, p.scope, twin{p.run.Output, p.run.Shown}, f.failureOf(p), p.run.Phase == cancelled)
		return
	}
	f.push(task{Kind: toItem, Key: key{up.Activity, up.itemKey(p.item)}})
}

func (f *fold) failureOf(p place) *Error {
	if p.run.Phase == failed || p.run.Phase == timedOut {
		return p.scope.Failed // nil when the failure is handled
	}
	return nil
}

func (f *fold) itemEnded(p place) {
	d := payload[ItemEnded](f.ev)
	up := *p.loop
	f.dropTask(key{up.Activity, up.itemKey(p.item)})
	if up.run.Phase.over() {
		return
	}
	f.closeItem(up, p.item, p.scope, twin{d.Result, d.Shown}, d.Error, f.ev.Type == ItemCancelled)
}

// closeItem counts an item. Its scope is kept only while somebody may ask for it: to show a failure, or to
// undo it.
func (f *fold) closeItem(p place, i int, s *scope, result twin, err *Error, lost bool) {
	l, def := p.run.Loop, p.act.ForEach
	l.Open--
	s.Closed = true
	switch {
	case lost:
		l.Fates[i] = itemLost
		l.Halted = true
	case err != nil:
		l.Fates[i] = itemFailed
		l.Failed++
		if l.Errors == nil {
			l.Errors = map[int]*Error{}
		}
		l.Errors[i] = err
		if def.Stop && l.tooMany(def) {
			l.Stop = true
		}
	default:
		l.Fates[i] = itemCompleted
		l.Completed++
		l.Results[i] = result.value
		if result.shown != nil {
			if l.ShownResults == nil {
				l.ShownResults = map[int]any{}
			}
			l.ShownResults[i] = result.shown
		}
		f.drop(p, i)
	}
	f.loopMoved(p)
}

// drop forgets the scope of a completed item that nobody will ask for again: nothing in it can be undone,
// and it has no permit to give back.
func (f *fold) drop(p place, i int) {
	l := p.run.Loop
	s := l.Bodies[i]
	holds := s != nil && slices.ContainsFunc(s.Runs, func(r run) bool { return r.Permit != "" })
	if l.Fates[i] == itemCompleted && !holds && !undoable(p.act.ForEach) {
		delete(l.Bodies, i)
	}
}

// tooMany reports whether more items failed than the loop tolerates.
func (l *loop) tooMany(def *flow.ForEach) bool {
	if !def.TolerateIsShare {
		return l.Failed > def.TolerateCount
	}
	const rounding = 1e-9
	return float64(l.Failed) > def.TolerateShare*float64(len(l.Items))+rounding
}

// undoable reports whether something in the body can be undone.
func undoable(def *flow.ForEach) bool {
	if def.Activity != nil {
		return def.Activity.Compensate != nil || def.Activity.ForEach != nil && undoable(def.Activity.ForEach)
	}
	for _, act := range def.Body.Activities {
		if act.Compensate != nil || act.ForEach != nil && undoable(act.ForEach) {
			return true
		}
	}
	return false
}

// finish drops what a loop that is over does not need any more.
func (l *loop) finish(to phase) {
	if l != nil && to == completed && len(l.Bodies) == 0 {
		l.Items, l.ShownItems, l.Bodies, l.index = nil, nil, nil, nil
	}
}

// known are the items whose activities can still be looked at, in order.
func (l *loop) known() []int {
	list := make([]int, 0, len(l.Bodies))
	for i := range l.Bodies {
		list = append(list, i)
	}
	slices.Sort(list)
	return list
}
