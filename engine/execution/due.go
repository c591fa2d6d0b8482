package execution

import (
	"weftline/engine/expr"
	"weftline/engine/retry"
)

// due carries out the first timer that fell due.
func (d *decider) due() bool {
	if len(d.st.Timers) == 0 || d.st.Timers[0].At > d.now {
		return false
	}
	t := d.st.Timers[0]
	if t.Kind == timerDeadline {
		return d.deadline()
	}
	p, ok := d.find(t.Key)
	if !ok {
		panic("a timer has no activity: " + t.Key.Activity)
	}
	switch t.Kind {
	case timerTotal:
		d.failed(p, failure(timeoutTotal, classActivity, "all attempts together took longer than %s", expr.FormatDuration(p.act.TotalTimeout)))
	case timerQueue:
		d.failed(p, failure(timeoutQueue, classInfrastructure, "it was not started within %s%s", expr.FormatDuration(p.act.QueueTimeout), missing(p)))
	case timerRemind:
		d.about(HumanTaskReminded, p, &TaskNotice{Task: *p.run.Wait.Task, N: t.N})
	case timerEscalate:
		e := p.act.Human.Escalate[t.N]
		d.about(HumanTaskEscalated, p, &TaskNotice{Task: *p.run.Wait.Task, N: t.N, Users: e.Users, Groups: e.Groups})
	default:
		d.waitOver(p)
	}
	return true
}

// missing says what a ready activity lacks.
func missing(p place) string {
	if p.run.Permit != "" && !p.run.Held {
		return ": a permit of " + p.run.Permit + " is missing"
	}
	if p.act.Affinity != nil && len(p.act.Affinity.Labels) > 0 {
		return ": no worker with its labels had a free slot"
	}
	return ": no worker had a free slot"
}

// waitOver goes on with an activity whose pause, wait or term is over.
func (d *decider) waitOver(p place) {
	switch {
	case p.run.Phase == retrying:
		d.emitAt(ActivityReady, p, p.run.Attempt+1, d.now, nil)
	case p.run.Wait.Paced:
		d.about(PermitAcquired, p, &PermitNamed{Name: p.run.Wait.Name})
	case p.run.Wait.Kind == waitEvent:
		d.outcome(p, portTimeout, twin{value: map[string]any{"payload": nil, "id": nil, "receivedAt": nil, "events": nil}},
			failure("event.timeout", classExternal, "no event %s came in time", p.run.Wait.Name))
	case p.run.Wait.Kind == waitHuman:
		d.expire(p)
	case p.run.Wait.Name != waitRepeat:
		at := instant(p.run.Wait.Until)
		d.about(TimerFired, p, &Timer{Until: at})
		d.finishTurn(p, twin{value: map[string]any{"at": text(p.run.Wait.Until)}}, "")
	default:
		d.ready(p, p.run.Turn)
	}
}

// waitRepeat is the name of the wait between two turns.
const waitRepeat = "repeat"

// expire ends a task that nobody decided in time.
func (d *decider) expire(p place) {
	outcome := p.act.Human.OnDue
	if outcome == "" {
		outcome = "expired"
	}
	d.about(HumanTaskExpired, p, &TaskNotice{Task: *p.run.Wait.Task, Outcome: outcome})
	result := taskResult(TaskVoted{Outcome: outcome}, d.now, p.run.Wait.Votes)
	p.run = ended(p.run)
	d.outcome(p, outcome, result, failure("human."+outcome, classExternal, "nobody decided in time"))
}

// taskResult is the result of a task and its twin.
func taskResult(last TaskVoted, at int64, votes []TaskVoted) twin {
	value := taskView(last, at, votes, func(v TaskVoted) any { return v.Form })
	shown := taskView(last, at, votes, func(v TaskVoted) any { return seen(v.Form, v.Shown) })
	return twin{value, difference(value, shown)}
}

func taskView(last TaskVoted, at int64, votes []TaskVoted, form func(TaskVoted) any) map[string]any {
	list := make([]any, len(votes))
	for i, v := range votes {
		list[i] = map[string]any{"by": v.By, "outcome": v.Outcome, "form": form(v), "comment": orNull(v.Comment), "at": text(millis(v.At))}
	}
	return map[string]any{"outcome": last.Outcome, "form": form(last), "by": orNull(last.By), "at": text(at), "comment": orNull(last.Comment), "votes": list}
}

// finishTurn ends a turn that went well: the activity is completed, unless it is to be repeated.
func (d *decider) finishTurn(p place, result twin, outcome string) {
	rep := p.act.Repeat
	if rep == nil {
		d.complete(p, result, outcome)
		return
	}
	r := d.read(p)
	r.extra = map[string]any{"self": result.value, "iteration": int64(p.run.Turn)}
	over, err := r.condition(rep.Until)
	switch {
	case err != nil:
		d.failed(p, asFailure(err))
	case over:
		d.complete(p, result, outcome)
	case p.run.Turn+1 >= rep.Max:
		d.failed(p, failure("repeat.exhausted", classActivity, "its condition did not hold in %d turns", rep.Max))
	default:
		d.repeat(p, r)
	}
}

func (d *decider) repeat(p place, r reader) {
	v, err := r.value(p.act.Repeat.Every)
	if err != nil {
		d.failed(p, asFailure(err))
		return
	}
	every, err := durationOf(v)
	if err != nil {
		d.failed(p, asFailure(err))
		return
	}
	pause := retry.Backoff(p.act.Repeat.Backoff, every, p.run.Turn+1)
	until := instant(min(d.now+ceilMillis(pause), d.now+LongestWait.Milliseconds()))
	d.about(ActivityRepeatScheduled, p, &RepeatScheduled{Iteration: p.run.Turn + 1, Until: until})
}
