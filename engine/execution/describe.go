package execution

import (
	"slices"
	"time"

	"weftline/engine/flow"
)

// mostItems bounds the list of items in a Detail.
const mostItems = 100

// Describe is a query: what the API shows of an execution. It changes nothing; sensitive values are masked.
func Describe(wf *flow.Workflow, st *State) Detail {
	c := &st.Created
	d := Detail{
		Status: st.Status, Input: maskInput(wf, orEmpty(c.Input), c.Hidden), Errors: []Error{}, Compensation: "none",
		Variables: orEmpty(st.Variables), Usage: st.Usage, CorrelationID: correlationOf(c), Labels: c.Labels, Priority: c.Priority,
		Deadline: c.Deadline, Mode: c.Mode, StartedBy: c.StartedBy, Trigger: st.shownTrigger(wf),
		StartedAt: instantOrNil(st.Started), UpdatedAt: instant(st.Updated), FinishedAt: instantOrNil(st.Finished),
		LastSeq: st.Seq, Activities: map[string]ActivityDetail{}, Hooks: map[string]map[string]ActivityDetail{},
		Waits: []WaitDetail{},
	}
	if st.ShownVariables != nil {
		d.Variables = st.ShownVariables
	}
	if d.Labels == nil {
		d.Labels = map[string]string{}
	}
	if d.Priority == "" {
		d.Priority = "normal"
	}
	if st.Undo.State != "" {
		d.Compensation = st.Undo.State
	}
	d.Errors = append(d.Errors, st.Errors...)
	d.describeEnd(st)
	d.Activities = describeScope(place{graph: wf.Graph, scope: &st.Main})
	for name, s := range map[string]*scope{hookError: st.OnError, hookExit: st.OnExit} {
		if s != nil {
			d.Hooks[name] = describeScope(place{hook: name, graph: finder{wf: wf, st: st}.hookGraph(name), scope: s})
		}
	}
	if !st.Terminal() {
		d.Waits = waitsOf(wf, st)
	}
	return d
}

func (d *Detail) describeEnd(st *State) {
	if len(st.Errors) > 0 {
		d.Error = &st.Errors[0]
	}
	if st.Result != nil {
		d.Output, d.Note = seen(st.Result.Output, st.Result.Shown), st.Result.Note
		if st.Result.Error != nil {
			d.Error = st.Result.Error
		}
	}
}

// describeScope describes every activity of a graph; one that has not begun is pending.
func describeScope(at place) map[string]ActivityDetail {
	all := make(map[string]ActivityDetail, len(at.graph.Activities))
	for i, act := range at.graph.Activities {
		if i < len(at.scope.Runs) {
			all[act.ID] = describeRun(at.sibling(i))
		} else {
			all[act.ID] = ActivityDetail{Status: pending.String()}
		}
	}
	return all
}

func describeRun(p place) ActivityDetail {
	r := p.run
	a := ActivityDetail{
		Status: r.Phase.String(), Attempt: r.Attempt, StartedAt: instantOrNil(r.Begun), FinishedAt: instantOrNil(r.Ended),
		Output: shownOutputOf(p.act, r), Outcome: r.Outcome, Error: r.Error, Input: r.Input,
	}
	if r.Phase == skipped || r.Phase == cancelled {
		a.SkipReason = r.Reason
	}
	if r.Undo != nil {
		a.Compensation = &CompensationDetail{Status: r.Undo.Phase.String(), Attempt: r.Undo.Attempt, Error: r.Undo.Error,
			StartedAt: instantOrNil(r.Undo.Begun), FinishedAt: instantOrNil(r.Undo.Ended)}
	}
	if r.Loop != nil {
		a.Items = describeItems(p)
	}
	return a
}

// describeItems counts the items of a loop and lists those that are not simply completed.
func describeItems(p place) *ItemsDetail {
	l := p.run.Loop
	d := &ItemsDetail{Total: len(l.Fates), Completed: l.Completed, Failed: l.Failed, List: []ItemDetail{}}
	for _, i := range l.known() {
		s := l.Bodies[i]
		parked, active := false, false
		for n := range s.Runs {
			parked = parked || s.Runs[n].Phase.parked()
			active = active || s.Runs[n].Phase.active() && !s.Runs[n].Phase.parked()
		}
		status := fateName(l.Fates[i], parked && !active)
		if l.Fates[i] == itemOpen {
			d.Running += count(status == "running")
			d.Waiting += count(status == "waiting")
		}
		if l.Fates[i] == itemCompleted || len(d.List) >= mostItems {
			continue
		}
		d.List = append(d.List, describeItem(p, i, s, status))
	}
	return d
}

func describeItem(p place, i int, s *scope, status string) ItemDetail {
	item := ItemDetail{Key: p.run.Loop.key(i), Index: i, Status: status, Error: p.run.Loop.Errors[i]}
	up := p
	in := place{key: key{p.Activity, p.itemKey(i)}, hook: p.hook, graph: p.act.ForEach.Body, scope: s, loop: &up, item: i}
	if in.graph != nil {
		item.Activities = describeScope(in)
	} else {
		in.at(p.act.ForEach.Activity, 0)
		item.Activities = map[string]ActivityDetail{p.Activity: describeRun(in)}
	}
	return item
}

func fateName(fate byte, parked bool) string {
	switch fate {
	case itemOpen:
		if parked {
			return "waiting"
		}
		return "running"
	case itemCompleted:
		return "completed"
	case itemFailed:
		return "failed"
	case itemLost:
		return "cancelled"
	}
	return "pending"
}

// waitsOf lists what is parked, in the order of the definition.
func waitsOf(wf *flow.Workflow, st *State) []WaitDetail {
	waits := []WaitDetail{}
	if st.Drives == 0 && st.Status == StatusScheduled {
		waits = append(waits, startWait(st))
	}
	if len(st.Main.Runs) == 0 {
		return waits
	}
	eachRun(wf, st, func(p place) {
		if p.run.Phase.parked() && p.run.Wait != nil {
			waits = append(waits, describeWait(p))
		}
	})
	for _, k := range st.Queue {
		if p, ok := (finder{wf: wf, st: st}).find(k); ok {
			waits = append(waits, WaitDetail{Activity: k.Activity, Item: k.Item, Kind: waitQueue,
				Since: instant(p.run.Since), Reason: "ready" + missing(p)})
		}
	}
	return waits
}

// WaitBrief is a wait as a list of executions says it.
type WaitBrief struct {
	Kind      string     `json:"kind"`
	Activity  string     `json:"activity,omitempty"`
	Name      string     `json:"name,omitempty"` // of the activity, where it has one; never stored
	Until     *time.Time `json:"until,omitempty"`
	Execution string     `json:"execution,omitempty"` // the child
}

// briefWaits bounds what a list says of one execution.
const briefWaits = 20

// BriefWaits are the waits of a state that lists cannot learn elsewhere: for time, the next attempt, a child or a
// slot; those that end first come first.
func BriefWaits(wf *flow.Workflow, st *State) []WaitBrief {
	briefs := []WaitBrief{}
	for _, wait := range waitsOf(wf, st) {
		if len(briefs) < briefWaits && wait.Kind != waitHuman && wait.Kind != waitEvent && wait.Kind != waitQueue {
			briefs = append(briefs, WaitBrief{Kind: wait.Kind, Activity: wait.Activity, Until: wait.Until, Execution: wait.Execution})
		}
	}
	slices.SortStableFunc(briefs, func(a, b WaitBrief) int {
		return endOfWait(a).Compare(endOfWait(b))
	})
	return briefs
}

// endOfWait is when a wait ends at the latest; one without an end comes after all others.
func endOfWait(wait WaitBrief) time.Time {
	if wait.Until == nil {
		return time.Unix(1<<40, 0)
	}
	return *wait.Until
}

func startWait(st *State) WaitDetail {
	if st.Created.StartAt != nil && len(st.Timers) > 0 {
		return WaitDetail{Kind: waitTimer, Since: instant(st.Updated), Until: st.Created.StartAt, Reason: "starts at the given time"}
	}
	return WaitDetail{Kind: waitLimit, Since: instant(st.Updated), Reason: "waits for a slot of the workflow's maxConcurrent"}
}

func describeWait(p place) WaitDetail {
	w := p.run.Wait
	d := WaitDetail{Activity: p.Activity, Item: p.Item, Kind: w.Kind, Since: instant(p.run.Since),
		Until: instantOrNil(w.Until), Name: w.Name, Key: w.Key, Reason: reasonOf(p)}
	if w.Task != nil {
		d.Task = w.Task.String()
	}
	if w.Child != nil {
		d.Execution = w.Child.String()
	}
	return d
}

func reasonOf(p place) string {
	w := p.run.Wait
	switch w.Kind {
	case waitTimer:
		if w.Name == waitRepeat {
			return "waits for its next turn"
		}
		return "waits for its timer"
	case waitEvent:
		return "waits for the event " + w.Name
	case waitHuman:
		return "waits for a person"
	case waitRetry:
		return "waits for its next attempt after " + w.Reason
	}
	return w.Reason
}
