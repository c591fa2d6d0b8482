package execution

import "slices"

// compensate lines up what is to be undone, latest first. A second run has only what could not be undone.
func (f *fold) compensate() {
	u := &f.st.Undo
	u.State, u.Open = undoRunning, 0
	if len(u.Failed) > 0 || len(u.Todo) > 0 {
		u.Todo = append(u.Failed, u.Todo...)
		u.Failed = nil
		for _, k := range u.Todo {
			if p, ok := (finder{wf: f.wf, st: f.st}).plain(k); ok {
				p.run.Undo = nil
				p.run.Phase = completed
			}
		}
		return
	}
	u.Todo = slices.Clone(u.Done)
	slices.Reverse(u.Todo)
}

func (f *fold) undoStarted(p place) {
	u := &f.st.Undo
	u.Todo = without(u.Todo, p.key)
	u.Open++
	p.run.Undo = &run{Attempt: f.st.Floor, Base: f.st.Floor}
	f.push(task{Kind: toStart, Key: p.key})
}

func (f *fold) undoEnded(p place, to phase) {
	u := &f.st.Undo
	u.Open--
	p.run.Phase, p.run.Since = to, f.at
	if to == compensationFailed {
		u.Failed = append(u.Failed, p.key)
	} else {
		u.Done = without(u.Done, p.key)
	}
}
