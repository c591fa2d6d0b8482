package execution

import (
	"cmp"

	"weftline/engine/flow"
)

// Reasons for which the driver of an execution lets go of it.
const (
	HandbackEnd      = "end"
	HandbackPaused   = "paused"
	HandbackSchedule = "scheduled"
	HandbackTimer    = "timer"
	HandbackRetry    = "retry"
	HandbackHuman    = "human"
	HandbackEvent    = "event"
	HandbackChild    = "child"
	HandbackLimit    = "limit"
	HandbackFork     = "fork"
	HandbackRemote   = "remote"
	HandbackLabels   = "labels"
	HandbackJoin     = "join"
)

// Handback classifies where an execution stands after Advance: ok when the driver has reached a boundary
// at which it has to commit and may let go. The server's and the local driver ask the same question.
func Handback(wf *flow.Workflow, st *State) (reason string, ok bool) {
	switch {
	case st.Terminal():
		return HandbackEnd, true
	case st.Paused:
		return HandbackPaused, true
	case st.Drives == 0:
		return HandbackSchedule, true
	case len(st.Flight) > 1:
		return HandbackFork, true
	case len(st.Flight) == 1:
		return handbackOf(wf, st, st.Flight[0])
	case len(st.Hearing) > 0:
		return HandbackEvent, true
	case st.Parked > 0:
		return parkedAt(wf, st), true
	}
	return "", false
}

// handbackOf: one attempt is next; it stays here unless it belongs elsewhere.
func handbackOf(wf *flow.Workflow, st *State, k key) (string, bool) {
	p, ok := finder{wf: wf, st: st}.find(k)
	switch {
	case !ok:
		return "", false
	case p.act.Type == flow.TypeWorker:
		return HandbackRemote, true
	case asksElsewhere(wf, p.act.Affinity):
		return HandbackLabels, true
	case st.Parked > 0:
		return HandbackJoin, true
	}
	return "", false
}

// asksElsewhere reports whether an affinity asks for more than the queue that the execution is in anyway.
func asksElsewhere(wf *flow.Workflow, a *flow.Affinity) bool {
	return a != nil && (len(a.Labels) > 0 || len(a.Prefer) > 0 || cmp.Or(a.Queue, flow.DefaultQueue) != wf.Queue())
}

// parkedAt names the first kind of wait there is, in a fixed order.
func parkedAt(wf *flow.Workflow, st *State) string {
	found := map[string]bool{}
	eachRun(wf, st, func(p place) {
		if p.run.Wait != nil && p.run.Phase.parked() {
			found[p.run.Wait.Kind] = true
		}
	})
	for _, kind := range []string{waitLimit, waitRetry, waitChild, waitHuman, waitEvent, waitTimer} {
		if found[kind] {
			return kind
		}
	}
	return HandbackTimer
}

// eachRun calls f for every activity that has a run, items and compensations included, in the order of the
// definition.
func eachRun(wf *flow.Workflow, st *State, f func(place)) {
	walk(place{graph: wf.Graph, scope: &st.Main}, f)
	if st.OnError != nil {
		walk(place{hook: hookError, graph: wf.OnError, scope: st.OnError}, f)
	}
	if st.OnExit != nil {
		walk(place{hook: hookExit, graph: wf.OnExit, scope: st.OnExit}, f)
	}
}

func walk(at place, f func(place)) {
	for i := range at.scope.Runs {
		visit(at.sibling(i), f)
	}
}

func visit(p place, f func(place)) {
	f(p)
	if p.run.Undo != nil {
		if undoing, ok := p.undoing(); ok {
			f(undoing)
		}
	}
	if p.run.Loop == nil {
		return
	}
	for _, i := range p.run.Loop.known() {
		up := p
		in := place{key: key{p.Activity, p.itemKey(i)}, hook: p.hook, graph: p.act.ForEach.Body,
			scope: p.run.Loop.Bodies[i], loop: &up, item: i}
		if in.graph == nil {
			in.at(p.act.ForEach.Activity, 0)
			visit(in, f)
			continue
		}
		walk(in, f)
	}
}
