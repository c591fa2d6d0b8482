package execution

import (
	"weftline/engine/flow"
	"weftline/engine/instants"
)

// verdict decides how the execution ends and whether it is undone first.
func (d *decider) verdict(e Ending) {
	policy := d.wf.Compensation
	switch e.Status {
	case StatusFailed:
		e.Compensate = policy.OnFailure
	case StatusTimedOut:
		e.Compensate = policy.OnTimeout
	}
	d.emit(WorkflowEnding, &e)
}

// deadline ends an execution whose own time is over.
func (d *decider) deadline() bool {
	for _, t := range d.st.Timers {
		if t.At > d.now {
			return false
		}
		if t.Kind == timerDeadline {
			d.verdict(Ending{Status: StatusTimedOut, Error: failure(timeoutExecution, classWorkflow,
				"the execution did not end by %s", instants.Text(instant(t.At)))})
			return true
		}
	}
	return false
}

// conclude moves an execution on in which nothing is left to do: to its verdict, compensation, hooks, end.
func (d *decider) conclude() {
	st := d.st
	switch {
	case st.Ending == nil && st.Main.Open == 0:
		d.judge()
	case st.Ending == nil || st.Active > 0:
	case st.Undo.State == undoRunning:
		d.compensate()
	case st.undoDue():
		d.emit(CompensationStarted, &Undone{Activities: st.Undo.count(), By: st.Ending.By})
	case nextHook(d.wf, st) != "":
		d.hook(nextHook(d.wf, st))
	default:
		d.end(Ended{Output: st.Ending.Output, Shown: st.Ending.Shown, By: st.Ending.By, Reason: st.Ending.Reason})
	}
}

// judge says how a graph that is all over ends. Without anything to clean up, that is the end.
func (d *decider) judge() {
	verdict := Ending{Status: StatusFailed}
	if len(d.st.Errors) == 0 {
		output, err := d.read(place{graph: d.wf.Graph, scope: &d.st.Main}).twinNamed(d.wf.Output)
		if err != nil {
			verdict.Error = asFailure(err)
		} else {
			verdict.Status, verdict.Output, verdict.Shown = StatusCompleted, output.value, output.shown
		}
	}
	undoes := verdict.Status == StatusFailed && d.wf.Compensation.OnFailure && len(d.st.Undo.Done) > 0
	hooks := d.wf.OnExit != nil || d.wf.OnError != nil && verdict.Status == StatusFailed
	if verdict.Error != nil || undoes || hooks {
		d.verdict(verdict)
		return
	}
	d.endAs(verdict.Status, Ended{Output: verdict.Output, Shown: verdict.Shown})
}

// end is the terminal event after clean-up.
func (d *decider) end(e Ended) { d.endAs(endStatus(d.st), e) }

func (d *decider) endAs(status string, e Ended) {
	st := d.st
	e.Compensation = st.Undo.State
	if !st.Ran && status == StatusCompleted && st.Ending == nil {
		e.Note = "nothing ran"
	}
	t := WorkflowCompleted
	switch status {
	case StatusFailed:
		t = WorkflowFailed
	case StatusTimedOut:
		t = WorkflowTimedOut
	case StatusCompensated:
		t = WorkflowCompensated
	case StatusCancelled:
		t = WorkflowCancelled
		e.Error = failure("cancelled", classWorkflow, "%s", cancelWords(e))
	}
	if t != WorkflowCompleted && t != WorkflowCancelled {
		e.Output, e.Shown = nil, nil
		if len(st.Errors) > 0 {
			e.Error = &st.Errors[0]
		}
	}
	d.emit(t, &e)
}

func cancelWords(e Ended) string {
	words := "it was cancelled"
	if e.By != "" {
		words += " by " + e.By
	}
	if e.Reason != "" {
		words += ": " + e.Reason
	}
	return words
}

// endStatus is the status an execution with a verdict will end in, as far as is known now.
func endStatus(st *State) string {
	if st.Ending == nil {
		return st.Status
	}
	if st.Ending.Status == StatusFailed && st.Undo.State == undoComplete {
		return StatusCompensated
	}
	return st.Ending.Status
}

// nextHook is the hook list that runs or is to run now: first onError, then onExit.
func nextHook(wf *flow.Workflow, st *State) string {
	if st.Ending == nil || st.Active > 0 || st.Undo.State == undoRunning || st.undoDue() {
		return ""
	}
	failing := st.Ending.Status == StatusFailed || st.Ending.Status == StatusTimedOut
	if wf.OnError != nil && failing && !st.OnError.over() {
		return hookError
	}
	if wf.OnExit != nil && !st.OnExit.over() {
		return hookExit
	}
	return ""
}

func (s *scope) over() bool { return s != nil && s.Open == 0 }

// hook begins a hook list with its first activity that starts at once.
func (d *decider) hook(name string) {
	if d.st.hookScope(name) != nil {
		return // it is on its way
	}
	graph := finder{wf: d.wf, st: d.st}.hookGraph(name)
	for _, act := range graph.Activities {
		if len(act.In) > 0 {
			continue
		}
		if p, ok := d.find(key{Activity: act.ID}); ok {
			d.begin(p)
		}
		return
	}
}

// undoDue reports whether the verdict says to undo and that was not done yet.
func (st *State) undoDue() bool {
	return st.Ending != nil && st.Ending.Compensate && st.Undo.State == "" && st.Undo.count() > 0
}

func (u *undo) count() int {
	if again := len(u.Failed) + len(u.Todo); again > 0 {
		return again
	}
	return len(u.Done)
}

// compensate begins what is to be undone next, or ends the compensation.
func (d *decider) compensate() {
	u, policy := &d.st.Undo, d.wf.Compensation
	given := policy.Stop && len(u.Failed) > 0
	switch {
	case len(u.Todo) > 0 && !given && (policy.Parallel || u.Open == 0):
		k := u.Todo[0]
		p, ok := finder{wf: d.wf, st: d.st}.plain(k)
		if !ok {
			panic("what is to be undone is gone: " + k.Activity)
		}
		d.emitAt(CompensationStarted, p, 0, d.now, nil)
	case u.Open > 0:
	case len(u.Todo)+len(u.Failed) > 0:
		d.emit(CompensationFailed, &Failed{Error: failure("compensation.incomplete", classWorkflow,
			"%d activities were not undone", len(u.Todo)+len(u.Failed))})
	default:
		d.emit(CompensationCompleted, nil)
	}
}

// undone tells the activity how its undoing ended.
func (d *decider) undone(p place) {
	plain, _ := finder{wf: d.wf, st: d.st}.plain(p.key)
	if p.run.Phase == completed {
		d.emitAt(CompensationCompleted, plain, 0, d.now, nil)
		return
	}
	err := p.run.Error
	if err == nil {
		err = placed(failure("compensation.incomplete", classWorkflow, "it was %s", p.run.Phase), p)
	}
	d.emitAt(CompensationFailed, plain, 0, d.now, &Failed{Error: err})
}
