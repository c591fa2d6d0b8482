package execution

// workflow checks an event about the whole execution against the table and carries it out.
func (f *fold) workflow() error {
	r, known := workflowRules[f.ev.Type]
	if !known {
		return illegal(*f.ev, "it needs an activity")
	}
	if !r.allows(f.st.Status) {
		return illegal(*f.ev, "the execution is %s", orNew(f.st.Status))
	}
	if err := f.checkWorkflow(); err != nil {
		return err
	}
	f.carryOutWorkflow()
	if f.ev.Type.Terminal() {
		f.terminal(r.status)
	} else if r.status != "" {
		f.status(r.status)
	}
	return nil
}

func orNew(status string) string {
	if status == "" {
		return "not created"
	}
	return status
}

func (f *fold) checkWorkflow() error {
	st, ev := f.st, f.ev
	busy := st.Active > 0 || st.Undo.State == undoRunning
	switch {
	case ev.Type == WorkflowCreated && ev.Data == nil:
		return illegal(*ev, "it has to say what was started")
	case ev.Type == WorkflowEnding && (st.Ending != nil || !endings[payload[Ending](ev).Status]):
		return illegal(*ev, "the end is decided, or unknown")
	case ev.Type == CompensationStarted && (st.Ending == nil || busy || st.Undo.State == undoComplete):
		return illegal(*ev, "there is nothing to compensate now")
	case (ev.Type == CompensationCompleted || ev.Type == CompensationFailed) && st.Undo.Open > 0:
		return illegal(*ev, "something is still being undone")
	case ev.Type.Terminal() && busy:
		return illegal(*ev, "%d activities have not ended", st.Active)
	case ev.Type == WorkflowRetried && payload[Retried](ev).Compensate && st.Undo.State != undoIncomplete:
		return illegal(*ev, "its compensation is not incomplete")
	}
	return nil
}

var endings = map[string]bool{StatusCompleted: true, StatusFailed: true, StatusCancelled: true, StatusTimedOut: true}

func (f *fold) carryOutWorkflow() {
	st := f.st
	switch d := f.ev.Data.(type) {
	case *Created:
		st.Created = *d
		st.Hiding = d.Sensitive || len(d.Hidden) > 0
	case *Scheduled:
		f.removeKind(timerStart)
		if d.Until != nil {
			f.addTimer(timer{At: millis(*d.Until), Kind: timerStart})
		}
	case *Variables:
		st.Variables, st.ShownVariables, st.HasVariables = d.Variables, d.Shown, true
	case *Ending:
		f.ending(d)
	case *Received:
		f.received(d)
	case *PermitNamed:
		st.Granted = f.ev.Type == PermitAcquired
	}
	switch f.ev.Type {
	case WorkflowStarted:
		f.startedWorkflow()
	case WorkflowRetried:
		f.retried(payload[Retried](f.ev))
	case WorkflowPaused:
		st.Paused = true
	case WorkflowResumed:
		st.Paused = false
	case CompensationStarted:
		f.compensate()
	case CompensationCompleted:
		st.Undo.State = undoComplete
	case CompensationFailed:
		st.Undo.State = undoIncomplete
	case LeaseAcquired:
		st.Worker = f.ev.Worker
	}
}

func (f *fold) startedWorkflow() {
	st := f.st
	st.Started = f.at
	f.removeKind(timerStart)
	st.Main = *newScope(len(f.wf.Graph.Activities))
	f.drive()
	f.open(place{graph: f.wf.Graph, scope: &st.Main}, -1)
}

// drive starts the clock of the execution's own time-out.
func (f *fold) drive() {
	st := f.st
	st.Driven = f.at
	st.Drives++
	due := int64(0)
	if f.wf.Limits.Timeout > 0 {
		due = f.at + ceilMillis(f.wf.Limits.Timeout)
	}
	if st.Created.Deadline != nil && st.Drives == 1 {
		// 0 says that there is none; what is before 1970 is as much over as 1970 is.
		if d := max(millis(*st.Created.Deadline), 1); due == 0 || d < due {
			due = d
		}
	}
	if due > 0 {
		f.addTimer(timer{At: due, Kind: timerDeadline})
	}
}

// ending has everything end that still runs. Work that will have to be undone is let finish.
func (f *fold) ending(d *Ending) {
	st := f.st
	st.Ending, st.Paused = d, false
	f.removeKind(timerDeadline)
	f.removeKind(timerStart)
	if d.Error != nil && d.Status != StatusCancelled {
		st.Errors = append(st.Errors, *d.Error)
	}
	st.Todo = nil
	if len(st.Main.Runs) == 0 {
		return
	}
	reason := d.Status
	if d.Status == StatusCompleted {
		reason = "end"
	}
	for i := range f.wf.Graph.Activities {
		p := place{graph: f.wf.Graph, scope: &st.Main}.sibling(i)
		if p.run.Phase.active() {
			f.endOne(p, reason)
		}
	}
}

func (f *fold) endOne(p place, reason string) {
	if p.run.Loop != nil {
		p.run.Loop.Stop = true
		f.eachOpen(p, func(in place) {
			if in.run.Phase.active() {
				f.endOne(in, reason)
			}
		})
	}
	if !f.letFinish(p) {
		f.push(task{Kind: toCancel, Key: p.key, Reason: reason})
	}
}

func (f *fold) terminal(status string) {
	st := f.st
	st.Result = payload[Ended](f.ev)
	f.removeKind(timerDeadline)
	f.removeKind(timerStart)
	st.Finished, st.Todo, st.Queue, st.Paused = f.at, nil, nil, false
	f.status(status)
}

func (f *fold) received(d *Received) {
	if d.ID != "" {
		if f.st.Seen == nil {
			f.st.Seen = map[string]bool{}
		}
		f.st.Seen[d.ID] = true
	}
	if !d.Late {
		f.st.Kept = append(f.st.Kept, keptSignal{Seq: f.ev.Seq, ID: d.ID, Name: d.Name, Payload: d.Payload, Shown: d.Shown, At: f.at})
	}
	f.st.Hiding = f.st.Hiding || d.Shown != nil
}

// status sets the status of the execution and remembers when it changed.
func (f *fold) status(status string) {
	if f.st.Status != status {
		f.st.Status, f.st.Changed = status, f.ev.Seq
	}
}

// settleStatus derives running, waiting and paused from what there is.
func (f *fold) settleStatus() {
	st := f.st
	switch st.Status {
	case StatusRunning, StatusWaiting, StatusPaused:
	default:
		return
	}
	switch {
	case st.Paused:
		f.status(StatusPaused)
	case st.Drives == 0 && st.Ending == nil:
		f.status(StatusScheduled)
	case st.Parked > 0 && len(st.Queue) == 0 && len(st.Flight) == 0 && len(st.Todo) == 0:
		f.status(StatusWaiting)
	default:
		f.status(StatusRunning)
	}
}
