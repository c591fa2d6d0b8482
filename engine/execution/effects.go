package execution

import (
	"github.com/google/uuid"

	"weftline/engine/flow"
)

// Effects says what the events change beside the history. It is derived from the events and the definition;
// st is the state after them.
func Effects(wf *flow.Workflow, st *State, events []Event) Consequences {
	e := effects{wf: wf, st: st}
	for i := range events {
		e.add(&events[i])
	}
	if len(events) > 0 && st.Changed >= events[0].Seq {
		e.Status = st.Status
	}
	e.Ended = st.Terminal()
	return e.Consequences
}

type effects struct {
	Consequences
	wf *flow.Workflow
	st *State
}

func (e *effects) add(ev *Event) {
	switch d := ev.Data.(type) {
	case *Waiting:
		e.waits(ev, d)
	case *Failed:
		e.left(ev, d.Task, d.Child)
	case *Cancelled:
		e.left(ev, d.Task, d.Child)
	case *ChildBegun:
		e.child(ev, d)
	case *PermitNamed:
		if ev.Type == PermitReleased {
			e.Released = append(e.Released, Permit{Name: d.Name, Activity: ev.Activity, Item: ev.Item})
		}
	case *TaskCreated, *TaskDecided, *TaskNotice:
		e.tasks(ev)
	}
	if e.endsEventWait(ev) {
		e.WaitsEnded = append(e.WaitsEnded, WaitKey{ev.Activity, ev.Item})
	}
}

func (e *effects) waits(ev *Event, d *Waiting) {
	switch d.Kind {
	case waitEvent:
		row := WaitRow{WaitKey: WaitKey{ev.Activity, ev.Item}, Name: d.Name, Correlation: d.Key, HasWhere: d.Where}
		if d.Until != nil {
			row.Until = *d.Until
		}
		e.Waits = append(e.Waits, row)
	case waitLimit:
		e.Permits = append(e.Permits, Permit{Name: d.Name, Capacity: d.Capacity, PerSecond: d.PerSecond, Activity: ev.Activity, Item: ev.Item})
	}
}

func (e *effects) child(ev *Event, d *ChildBegun) {
	row := ChildRow{ChildRef: ChildRef(*d), Activity: ev.Activity, Item: ev.Item, Depth: e.st.Created.Depth + 1}
	switch {
	case !d.Joined:
		e.Children = append(e.Children, row)
	case d.Wait:
		e.Joined = append(e.Joined, row)
	}
}

// left closes what an activity left open.
func (e *effects) left(ev *Event, task, child *uuid.UUID) {
	if task != nil {
		e.Tasks = append(e.Tasks, TaskRow{ID: *task, Activity: ev.Activity, Item: ev.Item, Status: "cancelled", At: ev.At})
	}
	if child != nil {
		e.CancelChildren = append(e.CancelChildren, *child)
	}
}

func (e *effects) tasks(ev *Event) {
	row := TaskRow{Activity: ev.Activity, Item: ev.Item, At: ev.At}
	switch d := ev.Data.(type) {
	case *TaskCreated:
		row.ID, row.Create, row.Status = d.Task, true, "open"
		row.Title, row.Description, row.Assignee = d.Title, d.Description, d.Assignee
		row.Users, row.Groups, row.Quorum = d.Users, d.Groups, d.Quorum
		row.NotActor, row.Barred, row.Data, row.Comment = d.NotActor, d.Barred, d.Data, d.AllowComment
		if d.Due != nil {
			row.Due = *d.Due
		}
		if act := e.definition(ev); act != nil && act.Human != nil {
			row.Outcomes, row.Form, row.OnDue = act.Human.Outcomes, act.Human.Form, act.Human.OnDue
		}
	case *TaskDecided:
		row.ID, row.Status, row.Outcome = d.Task, "done", d.Outcome
	case *TaskNotice:
		row.ID = d.Task
		switch ev.Type {
		case HumanTaskExpired:
			row.Status, row.Outcome = "expired", d.Outcome
		case HumanTaskEscalated:
			row.AddUsers, row.AddGroups = d.Users, d.Groups
		default:
			return
		}
	}
	e.Tasks = append(e.Tasks, row)
}

// endsEventWait: the event ends an activity that waits for events, or a turn of it.
func (e *effects) endsEventWait(ev *Event) bool {
	switch ev.Type {
	case ActivityCompleted, ActivityFailed, ActivityTimedOut, ActivityCancelled, ActivityRetryScheduled, ActivityRepeatScheduled:
		act := e.definition(ev)
		return act != nil && act.Type == flow.TypeEvent
	}
	return false
}

// definition is the activity an event is about.
func (e *effects) definition(ev *Event) *flow.Activity {
	act := definition(e.wf, key{ev.Activity, ev.Item})
	if act != nil && ev.Compensating {
		return act.Compensate
	}
	return act
}

// definition finds an activity by the key its events carry, without a state.
func definition(wf *flow.Workflow, k key) *flow.Activity {
	for _, g := range []*flow.Graph{wf.Graph, wf.OnError, wf.OnExit} {
		if g == nil {
			continue
		}
		if act, depth := search(g, k.Activity, 0); act != nil {
			return intoSingle(act, parts(k.Item)-depth)
		}
	}
	return nil
}

// search answers an activity and how many loops are around it.
func search(g *flow.Graph, id string, depth int) (*flow.Activity, int) {
	if act := g.ByID[id]; act != nil {
		return act, depth
	}
	for _, act := range g.Activities {
		if act.ForEach != nil && act.ForEach.Body != nil {
			if found, d := search(act.ForEach.Body, id, depth+1); found != nil {
				return found, d
			}
		}
	}
	return nil, 0
}

// intoSingle goes into single-activity bodies, as deep as the item key says.
func intoSingle(act *flow.Activity, levels int) *flow.Activity {
	for ; levels > 0 && act.ForEach != nil && act.ForEach.Activity != nil; levels-- {
		act = act.ForEach.Activity
	}
	return act
}

func parts(item string) int {
	if item == "" {
		return 0
	}
	n := 1
	for i := range item {
		if item[i] == '/' {
			n++
		}
	}
	return n
}
