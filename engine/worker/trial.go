package worker

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"weftline/engine/execution"
	"weftline/engine/flow"
	"weftline/engine/store"
)

// Trial is one attempt outside any execution: the state it is decided on was rehearsed and is stored nowhere.
type Trial struct {
	Execution uuid.UUID
	Workflow  *flow.Workflow
	State     *execution.State
	Work      execution.Work
}

// Try makes the attempt as one of an execution is made: by the policy of the team, in a slot, with secrets, within
// its time-out or the end of ctx, masked. It answers the result and what the attempt printed.
func (p *Pool) Try(ctx context.Context, team uuid.UUID, t Trial) (execution.Result, []store.LogLine) {
	w := t.Work
	result := execution.Result{Activity: w.Activity, Item: w.Item, Hook: w.Hook, Attempt: w.Attempt, Worker: p.name, StartedAt: p.Store.Clock.Now()}
	notes := &notes{now: p.Store.Clock.Now}
	if result.Error = p.permitted(ctx, team, t.Execution, w); result.Error == nil {
		p.try(ctx, team, t, &result, notes)
	}
	result.EndedAt = p.Store.Clock.Now()
	p.Figures.Attempt(w.Type, result.EndedAt.Sub(result.StartedAt))
	return result, notes.all()
}

func (p *Pool) try(ctx context.Context, team uuid.UUID, t Trial, result *execution.Result, notes *notes) {
	if !p.takeSlot(ctx, t.Work.Priority) {
		result.Error = &execution.Error{Type: "timeout.queue", Class: "infrastructure", Message: "no slot was free in time; try again when the server has less to do"}
		return
	}
	defer p.freeSlot()
	result.StartedAt = p.Store.Clock.Now()
	exec := &store.Loaded{ID: t.Execution, Team: team, State: t.State, Definition: &store.Definition{Workflow: t.Workflow}}
	call, err := p.call(ctx, exec, t.Work)
	if err != nil {
		result.Error = Unprepared(err)
		return
	}
	call.Log = notes.add
	outcome := p.runBounded(ctx, t.Work.Timeout, call)
	result.Value, result.Error, result.RetryAfter = outcome.Value, outcome.Err, outcome.RetryAfter
}

// notes keeps what a trial prints, within the bounds of a log.
type notes struct {
	now   func() time.Time
	mu    sync.Mutex
	lines []store.LogLine
	size  int
	full  bool
}

// add takes one line; it may be called by many goroutines.
func (n *notes) add(stream, line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.full {
		return
	}
	if n.size+len(line) > logBytes || len(n.lines) >= logLines {
		n.full, stream, line = true, ownStream, "further lines are not kept"
	}
	n.size += len(line)
	n.lines = append(n.lines, store.LogLine{N: len(n.lines) + 1, At: n.now(), Stream: stream, Line: line})
}

func (n *notes) all() []store.LogLine {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]store.LogLine{}, n.lines...)
}
