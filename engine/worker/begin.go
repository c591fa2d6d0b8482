package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"weftline/engine/execution"
	"weftline/engine/store"
)

// Begin makes a new execution in memory and its first flush, which holds all that can be decided at once.
// The caller writes the flush; with own, and if there is work to do, this worker owns the execution from
// then on and the caller redeems a reserved place with Drive. Otherwise it is parked or left to anybody.
func (p *Pool) Begin(ctx context.Context, team uuid.UUID, definition *store.Definition, start execution.Start, own bool) (*store.Loaded, *store.Flush, error) {
	start.Workflow, start.Version, start.ContentHash = definition.Name, definition.Number, definition.Hash
	start.Team = team.String()
	start.Mode = p.resolveMode(definition.Mode.Mode)
	if start.Priority == "" {
		start.Priority = definition.Limits.Priority
	}
	if start.Priority == "" {
		start.Priority = "normal"
	}
	if p.ItemLimit != execution.DefaultItems {
		start.MaxItems = p.ItemLimit
	}
	var err error
	if start.Children, err = p.pin(ctx, team, definition); err != nil {
		return nil, nil, err
	}
	now := p.Store.Clock.Now()
	st, events, err := execution.New(definition.Workflow, start, now)
	if err != nil {
		return nil, nil, err
	}
	events = execution.Advance(events, definition.Workflow, st, now)
	if events, err = p.runAhead(ctx, events, team, definition, st, now); err != nil {
		return nil, nil, err
	}
	l := &store.Loaded{ID: start.ID, Team: team, Definition: definition, Mode: start.Mode, State: st, LastSeq: events[len(events)-1].Seq, First: events}
	flush, err := p.compose(ctx, l, events)
	if err != nil {
		return nil, nil, err
	}
	flush.Begin = beginning(st, flush)
	flush.Begin.Queue, flush.Begin.Region = definition.Queue(), definition.Region()
	return l, flush, p.settleOwner(flush, l, own)
}

// eventsOfStep is how many an activity that goes well leaves in the history: ready, dispatched, started, completed.
const eventsOfStep = 4

// runAhead evaluates what a new execution can do without a worker, as far as its mode lets it go before a commit, and
// appends what that comes to. It is written with the beginning.
func (p *Pool) runAhead(ctx context.Context, events []execution.Event, team uuid.UUID, definition *store.Definition, st *execution.State, now time.Time) ([]execution.Event, error) {
	most := aheadOf(st.Created.Mode, definition)
	events = slices.Grow(events, eventsOfStep*min(most, len(definition.Workflow.Graph.Activities)))
	for range most {
		pending := execution.Pending(definition.Workflow, st)
		if len(pending) != 1 || pending[0].Once || pending[0].Checkpoint {
			break
		}
		result, here := p.forbidden(ctx, team, st.Created.ID, pending[0], now)
		if !here {
			result, here = execution.Evaluate(definition.Workflow, st, pending[0], now)
		}
		if !here {
			break
		}
		result.Worker = p.name
		p.Figures.Attempt(pending[0].Type, result.EndedAt.Sub(result.StartedAt))
		step, err := execution.Receive(definition.Workflow, st, execution.Message{Result: &result}, now)
		if err != nil {
			return nil, err
		}
		if err := execution.ApplyAll(definition.Workflow, st, step); err != nil {
			return nil, err
		}
		events = execution.Advance(append(events, step...), definition.Workflow, st, now)
	}
	return events, nil
}

// aheadOf is how many activities may be over in the first flush: in local_sync the next begins only when the one
// before is durable, and in server each is handed over by the queue.
func aheadOf(mode string, definition *store.Definition) int {
	switch mode {
	case ModeLocalAsync:
		return maxActivities(definition)
	case ModeLocalSync:
		return 1
	}
	return 0
}

// beginning is the row of a new execution.
func beginning(st *execution.State, flush *store.Flush) *store.Begin {
	created := &st.Created
	begin := &store.Begin{Status: st.Status, Version: created.Version, ContentHash: created.ContentHash, Mode: created.Mode,
		CorrelationID: correlation(created), Priority: created.Priority, Deadline: created.Deadline, Labels: created.Labels, StartedBy: created.StartedBy}
	if created.Parent != nil {
		begin.Parent = &created.Parent.Execution
	}
	if flush.Ended {
		begin.Error, begin.Finished, begin.KeepUntil = flush.Status.Error, flush.Status.Finished, flush.Status.KeepUntil
	}
	flush.Status = nil
	return begin
}

// correlation is the key of an execution and its children: what the start gave, else the execution's id.
func correlation(created *execution.Created) string {
	if created.CorrelationID == "" {
		return created.ID.String()
	}
	return created.CorrelationID
}

// settleOwner says who goes on after the first flush. An execution that opened waits must be driven once
// more, to look for what came before them. One that this worker would only offer to others is offered at once and sleeps.
func (p *Pool) settleOwner(flush *store.Flush, l *store.Loaded, own bool) error {
	pending := execution.Pending(l.Definition.Workflow, l.State)
	idle := len(pending)+len(flush.WaitsOpen) == 0
	if own && !idle {
		offered, err := p.offerAtBirth(flush, l, pending)
		if err != nil {
			return err
		}
		idle = offered
	}
	switch {
	case idle:
		due, _ := execution.NextDue(l.State)
		flush.Leave = &store.Leave{Due: due}
	case own && l.Mode != ModeServer:
		flush.Begin.Owned = true
	}
	return nil
}

func (p *Pool) resolveMode(mode string) string {
	if mode == "" || mode == ModeDefault {
		return p.Mode
	}
	return mode
}

// Begun is told after the first flush of an execution was committed.
func (p *Pool) Begun(l *store.Loaded, flush *store.Flush) {
	p.count(l, l.First)
	l.First = nil
	p.committed(l, flush)
	if flush.Leave != nil {
		if len(flush.Offers) > 0 { // it comes back when the first of them is leased
			l.Tail = len(flush.Events)
			p.Store.Keep(l)
		}
		p.parked(flush)
	} else if !flush.Begin.Owned {
		p.Wake(l.ID)
	}
}

// pin chooses the versions of all child workflows. One that does not exist is left out: it is a failure
// only if the activity is reached.
func (p *Pool) pin(ctx context.Context, team uuid.UUID, definition *store.Definition) (map[string]execution.ChildVersion, error) {
	var pinned map[string]execution.ChildVersion
	for key, wanted := range definition.Children() {
		child, err := p.Store.Library.Resolve(ctx, team, wanted.Name, wanted.Version)
		if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrNotPublished) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if pinned == nil {
			pinned = map[string]execution.ChildVersion{}
		}
		pinned[key] = execution.ChildVersion{Workflow: child.Name, Version: child.Number}
	}
	return pinned, nil
}

// maxDepth is how deep children may nest.
const maxDepth = 10

// child is the attempt of a workflow activity: it says which execution to start, in the transaction that
// records it.
func (d *driver) child(w execution.Work) execution.Result {
	now := d.now()
	result := execution.Result{Activity: w.Activity, Item: w.Item, Hook: w.Hook, Compensating: w.Compensating,
		Attempt: w.Attempt, StartedAt: now, EndedAt: now}
	result.Child, result.Error = d.chooseChild(w)
	return result
}

func (d *driver) chooseChild(w execution.Work) (*execution.ChildRef, *execution.Error) {
	child := *w.Child
	if child.Version == 0 {
		return nil, childError("child.not_found", fmt.Sprintf("workflow %s had no fitting published version when this execution started", child.Workflow))
	}
	if d.exec.State.Created.Depth >= maxDepth {
		return nil, childError("child.too_deep", fmt.Sprintf("children may nest %d deep", maxDepth))
	}
	definition, err := d.pool.Store.Library.Version(d.ctx, d.exec.Team, child.Workflow, child.Version)
	if err != nil {
		return nil, childError("child.not_found", err.Error())
	}
	if child.Input == nil {
		child.Input = map[string]any{}
	}
	checked, problems := definition.Input.Check(child.Input)
	if len(problems) > 0 {
		return nil, childError("child.input.invalid", fmt.Sprintf("input of workflow %s: %s %s", child.Workflow, problems[0].Path, problems[0].Message))
	}
	child.Input, _ = checked.(map[string]any)
	return d.onceForKey(w, child)
}

// onceForKey joins the child that was started for the same key within a day, if there is one.
func (d *driver) onceForKey(w execution.Work, child execution.ChildRef) (*execution.ChildRef, *execution.Error) {
	key, err := execution.DedupeKey(d.exec.Definition.Workflow, d.exec.State, w)
	var own *execution.Error
	if errors.As(err, &own) && own.Type == execution.SensitiveRefused {
		return nil, own
	}
	if err != nil {
		return nil, childError("child.input.invalid", "dedupeKey: "+err.Error())
	}
	if key == "" {
		return &child, nil
	}
	child.Key = key
	started, _, err := d.pool.Store.StartedWith(d.ctx, d.exec.Team, child.Workflow, childStartKey(key))
	switch {
	case err == nil:
		child.Execution, child.Joined = started, true
	case !errors.Is(err, store.ErrNotFound):
		return nil, &execution.Error{Type: "engine.unavailable", Class: "infrastructure", Message: err.Error()}
	}
	return &child, nil
}

// childStartKey keeps keys of children apart from those that callers choose.
func childStartKey(key string) string { return "child\x1f" + key }

// lookJoined tells an execution of the children it joined that are over already.
func (d *driver) lookJoined() error {
	told := false
	for _, row := range execution.Joined(d.exec.Definition.Workflow, d.exec.State) {
		child, err := d.pool.Store.LoadOne(d.ctx, row.Execution)
		gone := errors.Is(err, store.ErrNotFound)
		if err != nil && !gone {
			return err
		}
		over := &execution.ChildEnded{Execution: row.Execution, Status: execution.StatusFailed,
			Error: &execution.Error{Type: "not_found", Class: "external", Message: "it is not kept any more"}}
		if !gone {
			if !child.State.Terminal() {
				continue
			}
			over = endOf(child)
		}
		over.Activity, over.Item = row.Activity, row.Item
		if _, err := d.pool.Store.Deliver(d.ctx, d.exec.ID, execution.Message{ChildEnded: over}); err != nil {
			return err
		}
		told = true
	}
	if !told {
		return nil
	}
	return d.look()
}

func childError(kind, message string) *execution.Error {
	return &execution.Error{Type: kind, Class: "workflow", Message: message}
}

// addChildren puts the beginnings of new children into the flush of their parent.
func (p *Pool) addChildren(ctx context.Context, flush *store.Flush, parent *store.Loaded, children []execution.ChildRow) error {
	for _, child := range children {
		definition, err := p.Store.Library.Version(ctx, parent.Team, child.Workflow, child.Version)
		if err != nil {
			return err
		}
		created := &parent.State.Created
		start := execution.Start{ID: child.Execution, Input: child.Input, CorrelationID: correlation(created),
			Priority: created.Priority, StartedBy: created.StartedBy, Depth: created.Depth + 1, Hidden: child.Hidden,
			Parent:      &execution.ParentRef{Execution: parent.ID, Activity: child.Activity, Item: child.Item},
			Trigger:     map[string]any{"type": "workflow", "id": parent.ID.String()},
			NeedsPermit: definition.Limits.MaxConcurrent > 0, DedupeKey: child.Key}
		_, first, err := p.Begin(ctx, parent.Team, definition, start, false)
		if err != nil {
			return fmt.Errorf("begin the child %s of activity %s: %w", child.Workflow, child.Activity, err)
		}
		if err := p.AskForSlot(first, definition, start); err != nil {
			return err
		}
		if child.Key != "" {
			first.Begin.Key = &store.StartKey{Key: childStartKey(child.Key), Hash: []byte{}}
		}
		flush.Children = append(flush.Children, first)
	}
	return nil
}

// AskForSlot puts a new execution in line for a slot of its workflow's concurrency pool, if there is one.
func (p *Pool) AskForSlot(flush *store.Flush, definition *store.Definition, start execution.Start) error {
	limit, err := LimitOf(definition, start)
	if err != nil {
		return fmt.Errorf("the concurrency key of workflow %s: %w", definition.Name, err)
	}
	if limit != nil {
		flush.Asked = append(flush.Asked, limit.Slot(false))
	}
	return nil
}

// LimitOf is the concurrency pool that a new execution belongs to; nil when there is none.
func LimitOf(definition *store.Definition, start execution.Start) (*store.Limit, error) {
	limits := definition.Limits
	if limits.MaxConcurrent == 0 {
		return nil, nil
	}
	name, err := execution.PoolName(definition.Workflow, start.Input, start.Hidden)
	if err != nil {
		return nil, err
	}
	return &store.Limit{Name: name, Capacity: limits.MaxConcurrent, OnLimit: limits.OnLimit, QueueMax: limits.QueueMax, By: start.StartedBy}, nil
}
