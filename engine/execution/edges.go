package execution

import (
	"slices"

	"weftline/engine/flow"
	"weftline/engine/retry"
)

// Ports of an event besides the built-in ones.
const (
	portReceived = "received"
	portTimeout  = "timeout"
)

// edgeEnd is what became of an edge whose source is over.
type edgeEnd uint8

const (
	fires    edgeEnd = iota
	deadSkip         // the branch was not taken
	deadFail         // the source failed and nobody took it
)

// Skip reasons.
const (
	reasonWhen     = "when_false"
	reasonBranch   = "branch"
	reasonUpstream = "upstream_failed"
	reasonFailFast = "fail_fast"
	reasonJoinLost = "join_lost"
)

// settle says what an edge comes to now that its source is over.
func settle(e *flow.Edge, src *flow.Activity, r *run) edgeEnd {
	if e.Plain && plainFires(src, r) {
		return fires
	}
	for i := range e.Ports {
		if portFires(&e.Ports[i], src, r) {
			return fires
		}
	}
	return deadAs(r)
}

// plainFires: the good outcome, or one that counts as good.
func plainFires(src *flow.Activity, r *run) bool {
	switch r.Phase {
	case completed, compensated, compensationFailed:
		return goodOutcome(src, r.Outcome)
	case failed, timedOut:
		return src.Continues
	case skipped:
		return src.SkipPasses && r.Reason == reasonWhen
	}
	return false
}

func goodOutcome(src *flow.Activity, outcome string) bool {
	switch src.Type {
	case flow.TypeSwitch:
		return src.Switch != nil && src.Switch.Gate()
	case flow.TypeHuman:
		return src.Human != nil && len(src.Human.Outcomes) > 0 && outcome == src.Human.Outcomes[0]
	case flow.TypeEvent:
		return outcome != portTimeout
	}
	return true
}

func portFires(port *flow.Port, src *flow.Activity, r *run) bool {
	switch r.Phase {
	case completed, compensated, compensationFailed:
		switch port.Name {
		case flow.PortDone:
			return true
		case flow.PortSuccess:
			return src.Type == flow.TypeSwitch || goodOutcome(src, r.Outcome)
		}
		return port.Name == r.Outcome
	case failed, timedOut:
		return port.Name == flow.PortDone || port.Name == flow.PortFailure && takes(port, r.Error)
	case skipped:
		passes := src.SkipPasses && r.Reason == reasonWhen
		return port.Name == flow.PortDone || port.Name == flow.PortSkipped || port.Name == flow.PortSuccess && passes
	}
	return false
}

// deadAs says how the edges that do not fire are dead.
func deadAs(r *run) edgeEnd {
	switch r.Phase {
	case failed, timedOut:
		if r.Taken {
			return deadSkip
		}
		return deadFail
	case skipped:
		if r.Reason == reasonUpstream {
			return deadFail
		}
		return deadSkip
	case cancelled:
		return deadFail
	}
	return deadSkip
}

func takes(port *flow.Port, err *Error) bool {
	if len(port.Errors) == 0 {
		return true
	}
	return err != nil && retry.Matches(port.Errors, err.Type, err.Class)
}

// consumers calls f for each edge out of the activity at p until f says stop.
func consumers(p place, f func(target int, e *flow.Edge) (stop bool)) {
	if p.graph == nil || p.undo {
		return
	}
	for _, target := range p.act.Out {
		in := p.graph.Activities[target].In
		for i := range in {
			if in[i].From == p.index && f(target, &in[i]) {
				return
			}
		}
	}
}

// failureTaken: the definition names the failure of this activity, or says to go on.
func failureTaken(p place, err *Error) (taken bool) {
	if p.act.Continues {
		return true
	}
	consumers(p, func(_ int, e *flow.Edge) bool {
		for i := range e.Ports {
			taken = taken || e.Ports[i].Name == flow.PortFailure && takes(&e.Ports[i], err)
		}
		return taken
	})
	return taken
}

// outcomeTaken: the definition names this outcome.
func outcomeTaken(p place, outcome string) (taken bool) {
	consumers(p, func(_ int, e *flow.Edge) bool {
		taken = slices.ContainsFunc(e.Ports, func(port flow.Port) bool { return port.Name == outcome })
		return taken
	})
	return taken
}

// verdict of a join.
type verdict uint8

const (
	undecided verdict = iota
	runs
	isSkipped
)

// judge asks the join of an activity.
func judge(act *flow.Activity, r *run) (verdict, string) {
	total := len(act.In)
	dead := r.Settled - r.Fired
	all := r.Settled == total
	switch act.Join.Mode {
	case flow.JoinDone:
		return when(all, runs), ""
	case flow.JoinEvery:
		return either(r.Fired == total, dead > 0), deadReason(r)
	case flow.JoinAny:
		return either(r.Fired > 0, all), deadReason(r)
	case flow.JoinNOfM:
		return either(r.Fired >= act.Join.N, r.Fired+total-r.Settled < act.Join.N), deadReason(r)
	default:
		return either(all && r.Fired > 0 && r.Dead == 0, r.Dead > 0 || all), deadReason(r)
	}
}

func when(yes bool, v verdict) verdict {
	if yes {
		return v
	}
	return undecided
}

func either(run, skip bool) verdict {
	if run {
		return runs
	}
	return when(skip, isSkipped)
}

func deadReason(r *run) string {
	if r.Dead > 0 {
		return reasonUpstream
	}
	return reasonBranch
}

// startsAnyway: clean-up and error branches start although something failed.
func startsAnyway(act *flow.Activity) bool {
	if act.Join.Mode == flow.JoinDone && len(act.In) > 0 {
		return true
	}
	for i := range act.In {
		for _, port := range act.In[i].Ports {
			if port.Name == flow.PortFailure || port.Name == flow.PortDone {
				return true
			}
		}
	}
	return false
}
