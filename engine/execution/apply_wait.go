package execution

// whileWaiting carries out what happens to a parked activity without ending it.
func (f *fold) whileWaiting(p place) {
	r := p.run
	if r.Wait == nil {
		r.Wait = &wait{}
	}
	switch d := f.ev.Data.(type) {
	case *Timer:
		switch {
		case f.ev.Type == TimerFired:
			f.unschedule(p, timerWait)
		case r.Wait.Paced:
			r.Wait.Until = millis(d.Until)
			f.add(p, timer{At: r.Wait.Until, Kind: timerWait, Key: p.key})
		}
	case *Consumed:
		f.consumed(p, d)
	case *TaskCreated:
		f.taskCreated(p, d)
	case *TaskVoted:
		r.Wait.Votes = append(r.Wait.Votes, *d)
		f.st.Hiding = f.st.Hiding || d.Shown != nil
	case *TaskNotice:
		f.noticed(p, d)
	case *ChildBegun:
		child := d.Execution
		r.Wait.Kind, r.Wait.Child, r.Wait.Joined = waitChild, &child, d.Joined
	}
}

// consumed takes a kept signal into the wait.
func (f *fold) consumed(p place, d *Consumed) {
	for i, s := range f.st.Kept {
		if s.Seq == d.Signal {
			p.run.Wait.Heard = append(p.run.Wait.Heard, s)
			f.st.Kept = append(f.st.Kept[:i:i], f.st.Kept[i+1:]...)
			return
		}
	}
}

func (f *fold) taskCreated(p place, d *TaskCreated) {
	task := d.Task
	w := p.run.Wait
	w.Task, w.Name = &task, d.Title
	if d.Due != nil {
		w.Until = millis(*d.Due)
		f.add(p, timer{At: w.Until, Kind: timerWait, Key: p.key})
	}
	if p.act.Human == nil {
		return
	}
	for i, after := range p.act.Human.Remind {
		f.add(p, timer{At: f.at + ceilMillis(after), Kind: timerRemind, Key: p.key, N: i})
	}
	for i, e := range p.act.Human.Escalate {
		f.add(p, timer{At: f.at + ceilMillis(e.After), Kind: timerEscalate, Key: p.key, N: i})
	}
}

func (f *fold) noticed(p place, d *TaskNotice) {
	switch f.ev.Type {
	case HumanTaskReminded:
		f.fired(p, timerRemind, d.N)
	case HumanTaskEscalated:
		f.fired(p, timerEscalate, d.N)
	case HumanTaskExpired:
		f.unschedule(p, timerWait)
	}
}
