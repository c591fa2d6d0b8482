package rehearse

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"weftline/engine/execution"
	"weftline/engine/flow"
	"weftline/engine/human"
)

// follow sees to what events change outside their execution.
func (r *running) follow(c execution.Consequences) {
	w := r.world
	for _, row := range c.Tasks {
		r.task(row)
	}
	for _, key := range c.WaitsEnded {
		delete(r.waits, key)
		r.order = slices.DeleteFunc(r.order, func(k execution.WaitKey) bool { return k == key })
	}
	for _, row := range c.Waits {
		r.waits[row.WaitKey] = row
		r.order = append(r.order, row.WaitKey)
		w.later(func() { r.opened(row) })
	}
	for _, child := range c.Children {
		w.later(func() { r.startChild(child) })
	}
	for _, id := range c.CancelChildren {
		w.later(func() { w.cancelChild(id) })
	}
	for _, permit := range c.Permits {
		w.ask(r, permit)
	}
	for _, permit := range c.Released {
		w.release(permit.Name)
	}
	if c.Ended {
		r.ended()
	}
}

func (r *running) startChild(row execution.ChildRow) {
	w, created := r.world, &r.st.Created
	prefix := r.prefix + row.Activity + "/"
	w.begin(w.childOf(row.Workflow), prefix, r.mocks, execution.Start{ID: row.Execution, Input: row.Input,
		CorrelationID: created.CorrelationID, StartedBy: created.StartedBy, Depth: row.Depth,
		Parent:  &execution.ParentRef{Execution: r.id, Activity: row.Activity, Item: row.Item},
		Trigger: map[string]any{"type": "workflow", "id": r.id.String()}})
}

func (w *world) cancelChild(id uuid.UUID) {
	if child := w.byID[id]; child != nil {
		_ = child.receive(execution.Message{Cancel: &execution.Cancel{By: w.startedBy, Reason: "its parent execution ended"}}) // or it had ended
	}
}

// ended tells the parent, and lets go of what the execution still holds.
func (r *running) ended() {
	clear(r.waits)
	r.order = nil
	parent := r.st.Created.Parent
	if parent == nil {
		return
	}
	over := &execution.ChildEnded{Execution: r.id, Activity: parent.Activity, Item: parent.Item, Status: r.st.Status}
	if r.st.Result != nil {
		over.Output, over.Error = r.st.Result.Output, r.st.Result.Error
	}
	r.world.later(func() {
		if up := r.world.byID[parent.Execution]; up != nil {
			_ = up.receive(execution.Message{ChildEnded: over}) // the parent may wait for it no longer
		}
	})
}

// posted is an event by business key.
type posted struct {
	id, name, key string
	payload       any
	until         time.Time // kept so long when nobody waits
}

// post brings an event to every wait that matches; one that reaches none is kept.
func (w *world) post(event posted) {
	reached := false
	for _, r := range w.all {
		for _, key := range slices.Clone(r.order) {
			reached = r.hear(r.waits[key], event) || reached
		}
	}
	if !reached {
		w.kept = append(w.kept, event)
	}
}

// hear offers an event to one wait.
func (r *running) hear(wait execution.WaitRow, event posted) bool {
	if wait.Name != event.name || wait.Correlation != event.key {
		return false
	}
	fits, err := execution.Matches(r.wf, r.st, wait.WaitKey, map[string]any{"id": event.id, "name": event.name, "payload": event.payload})
	if err != nil || !fits {
		return false
	}
	return r.receive(execution.Message{Signal: &execution.Signal{ID: event.id, Name: event.name, Payload: event.payload,
		Activity: wait.Activity, Item: wait.Item, At: r.world.now}}) == nil
}

// opened offers a new wait its mock, else what was kept for it.
func (r *running) opened(wait execution.WaitRow) {
	at := spot{wait.Activity, wait.Item}
	name := r.prefix + wait.Activity
	if a, mocked := r.mocks.find(name, wait.Item, 1); mocked {
		r.mocked[at] = true
		r.mockEvent(wait, name, a)
		return
	}
	w := r.world
	for i := 0; i < len(w.kept); i++ {
		if event := w.kept[i]; w.now.Before(event.until) && r.hear(wait, event) {
			w.kept = slices.Delete(w.kept, i, i+1)
			i--
			if _, still := r.waits[wait.WaitKey]; !still {
				return
			}
		}
	}
	if w.assume && len(w.script) == 0 {
		r.assumeEvent(wait, at)
	}
}

func (r *running) mockEvent(wait execution.WaitRow, name string, a answer) {
	object, _ := a.value.(map[string]any)
	payload, given := object["payload"]
	if a.failure != nil || !given {
		r.world.fault("mocks."+name, name, wait.Item, "the mock of an event gives its payload: {payload: …}; without a mock it waits for the script, or for its timeout")
		r.needs(spot{wait.Activity, wait.Item})
		return
	}
	for range max(activities(r.wf)[wait.Activity].Event.Count, 1) {
		if !r.hear(wait, posted{name: wait.Name, key: wait.Correlation, payload: payload}) {
			r.world.fault("mocks."+name, name, wait.Item, "the payload does not meet where or schema of %s", name)
			r.needs(spot{wait.Activity, wait.Item})
			return
		}
	}
}

// assumeEvent takes an event of a plan as received if nobody reads it.
func (r *running) assumeEvent(wait execution.WaitRow, at spot) {
	if r.reads(wait.Activity) || wait.HasWhere || !r.hear(wait, posted{name: wait.Name, key: wait.Correlation}) {
		name := r.prefix + wait.Activity
		r.needs(at)
		r.world.fault("mocks."+name, name, wait.Item, "%s needs a mock: the payload of the event %s", name, wait.Name)
		return
	}
	r.assumed[at] = true
}

// pool is a limit: a semaphore that all executions of the rehearsal share.
type pool struct {
	held  int
	queue []waiting
}

type waiting struct {
	of     *running
	permit execution.Permit
}

func (w *world) ask(r *running, permit execution.Permit) {
	p := w.permits[permit.Name]
	if p == nil {
		p = &pool{}
		w.permits[permit.Name] = p
	}
	p.queue = append(p.queue, waiting{r, permit})
	w.later(func() { w.grant(permit.Name) })
}

func (w *world) release(name string) {
	w.later(func() {
		if p := w.permits[name]; p != nil {
			p.held = max(p.held-1, 0)
			w.grant(name)
		}
	})
}

// grant gives free permits to those who came first; one who waits no longer is passed over.
func (w *world) grant(name string) {
	p := w.permits[name]
	for len(p.queue) > 0 && p.held < max(p.queue[0].permit.Capacity, 1) {
		next := p.queue[0]
		p.queue = p.queue[1:]
		if next.of.receive(execution.Message{PermitGranted: &next.permit}) == nil {
			p.held++
		}
	}
}

// task is a human task of the rehearsal.
type task struct {
	of    *running
	row   execution.TaskRow
	votes []human.Vote
}

func (r *running) task(row execution.TaskRow) {
	w := r.world
	if !row.Create {
		if t := w.tasks[row.ID]; t != nil {
			t.row.Status = keep(t.row.Status, row.Status)
			t.row.Users, t.row.Groups = append(t.row.Users, row.AddUsers...), append(t.row.Groups, row.AddGroups...)
		}
		return
	}
	t := &task{of: r, row: row}
	w.tasks[row.ID] = t
	at := spot{row.Activity, row.Item}
	name := r.prefix + row.Activity
	if a, mocked := r.mocks.find(name, row.Item, 1); mocked {
		r.mocked[at] = true
		w.later(func() { t.mock(name, a) })
	} else if w.assume && len(w.script) == 0 {
		w.later(func() { t.assume(name, at) })
	}
}

func keep(old, new string) string {
	if new == "" {
		return old
	}
	return new
}

// mock decides the task as its mock says, whoever may.
func (t *task) mock(name string, a answer) {
	object, _ := a.value.(map[string]any)
	outcome, _ := object["outcome"].(string)
	by, _ := object["by"].(string)
	comment, _ := object["comment"].(string)
	if a.failure != nil || !slices.Contains(t.row.Outcomes, outcome) {
		t.of.world.fault("mocks."+name, name, t.row.Item, "the mock of a task gives its decision: {outcome: %s, by: ann, form: …}", t.row.Outcomes[0])
		t.of.needs(spot{t.row.Activity, t.row.Item})
		return
	}
	if by == "" {
		by = somebody(t.row)
	}
	t.vote(by, outcome, comment, object["form"], true)
}

// assume takes the good decision in a plan if nobody reads more of it.
func (t *task) assume(name string, at spot) {
	r := t.of
	if r.reads(at.activity) || len(t.row.Form) > 0 {
		r.needs(at)
		r.world.fault("mocks."+name, name, at.item, "%s needs a mock: the decision, as {outcome: %s, by: …, form: …}", name, t.row.Outcomes[0])
		return
	}
	r.assumed[at] = true
	t.vote(somebody(t.row), t.row.Outcomes[0], "", nil, true)
}

func somebody(row execution.TaskRow) string {
	switch {
	case row.Assignee != "":
		return row.Assignee
	case len(row.Users) > 0:
		return row.Users[0]
	}
	return "somebody"
}

func (t *task) vote(by, outcome, comment string, form any, decides bool) {
	t.votes = append(t.votes, human.Vote{By: by, Outcome: outcome})
	_ = t.of.receive(execution.Message{Vote: &execution.Vote{Task: t.row.ID, Activity: t.row.Activity, Item: t.row.Item,
		By: by, Outcome: outcome, Form: form, Comment: comment, At: t.of.world.now, Decides: decides}}) // open: the world serves one after the other
}

// rules are what the rules of human tasks must know.
func (t *task) rules() human.Task {
	rules := human.Task{Status: t.row.Status, Assignee: t.row.Assignee, Users: t.row.Users, Groups: t.row.Groups,
		Barred: t.row.Barred, Requester: t.of.st.Created.StartedBy, Quorum: t.row.Quorum, Outcomes: t.row.Outcomes,
		Due: t.row.Due, Votes: t.votes, AllowComment: t.row.Comment}
	if len(t.row.Form) > 0 {
		if schema, err := flow.NewSchema(t.row.Form); err == nil {
			rules.CheckForm = func(form any) []flow.Problem {
				_, problems := schema.Check(form)
				return problems
			}
		}
	}
	return rules
}
