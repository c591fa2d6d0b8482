package worker

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"weftline/engine/activity"
	"weftline/engine/execution"
	"weftline/engine/flow"
	"weftline/engine/store"
)

// attemptKey names one attempt within its execution.
type attemptKey struct {
	activity, item, hook string
	compensating         bool
	number               int
}

func keyOf(w execution.Work) attemptKey {
	return attemptKey{w.Activity, w.Item, w.Hook, w.Compensating, w.Attempt}
}

// attempt is one that runs, or waits for a slot, in this process.
type attempt struct {
	work     execution.Work
	cancel   context.CancelFunc
	began    atomic.Int64 // database time in milliseconds since 1970; 0 = it waits for a slot
	recorded bool         // its start is in the history
	state    atomic.Int32
}

// States of an attempt: it waits for a slot, has one, or was left to another worker.
const (
	waits int32 = iota
	runs
	lent
)

// finished is the end of an attempt on its way to the driver.
type finished struct {
	key    attemptKey
	result execution.Result
}

// stopOthers cancels attempts that are not wanted any more; their results will be dropped.
func (d *driver) stopOthers(pending []execution.Work) {
	if len(d.attempts)+len(d.away) == 0 {
		return
	}
	wanted := make(map[attemptKey]bool, len(pending))
	for _, w := range pending {
		wanted[keyOf(w)] = true
	}
	for key, a := range d.attempts {
		if !wanted[key] {
			a.cancel()
			delete(d.attempts, key)
		}
	}
	d.withdraw(wanted)
}

// start begins the attempts that do not run yet. Those that need no worker are evaluated here and now;
// more reports that there were any, so that what follows from them is decided first.
func (d *driver) start(pending []execution.Work) (more bool, err error) {
	if d.pool.suspended() || d.pool.isClosing() {
		return false, nil
	}
	for _, w := range pending {
		if d.attempts[keyOf(w)] != nil {
			continue
		}
		result, here := d.pool.forbidden(d.ctx, d.exec.Team, d.exec.ID, w, d.now())
		if !here {
			result, here = d.evaluate(w)
		}
		if !here {
			if err := d.launch(w); err != nil {
				return more, err
			}
			d.lendLater()
			continue
		}
		more = true
		if err := d.accept(w, result); err != nil {
			return more, err
		}
	}
	return more, nil
}

// forbidden is the result of work that the policy of the team does not allow (any more).
func (p *Pool) forbidden(ctx context.Context, team, id uuid.UUID, w execution.Work, now time.Time) (execution.Result, bool) {
	err := p.permitted(ctx, team, id, w)
	if err == nil {
		return execution.Result{}, false
	}
	return execution.Result{Activity: w.Activity, Item: w.Item, Hook: w.Hook, Compensating: w.Compensating, Attempt: w.Attempt,
		StartedAt: now, EndedAt: now, Error: err}, true
}

// evaluate does what needs no slot: pure types, and starting a child.
func (d *driver) evaluate(w execution.Work) (execution.Result, bool) {
	if w.Type == flow.TypeWorkflow {
		return d.child(w), true
	}
	return execution.Evaluate(d.exec.Definition.Workflow, d.exec.State, w, d.now())
}

// accept applies the result of an attempt.
func (d *driver) accept(w execution.Work, result execution.Result) error {
	result.Worker = d.pool.name
	d.unsaved.steps++
	d.steps++
	d.pool.Figures.Attempt(w.Type, result.EndedAt.Sub(result.StartedAt))
	if w.Once || w.Checkpoint {
		d.unsaved.must = true
	}
	return d.receive(execution.Message{Result: &result})
}

// launch runs an attempt in a goroutine of its own as soon as a slot is free. The start of one that may
// happen once only is durable before its effect.
func (d *driver) launch(w execution.Work) error {
	a := &attempt{work: w}
	if w.Once {
		if err := d.recordStart(a, d.now()); err != nil {
			return err
		}
		if err := d.save(nil); err != nil {
			return err
		}
	}
	d.launched = true
	call, err := d.pool.call(d.ctx, d.exec, w)
	ctx, cancel := context.WithCancel(d.ctx)
	a.cancel = cancel
	d.attempts[keyOf(w)] = a
	go func() {
		outcome := d.attempt(ctx, a, call, err)
		select {
		case d.results <- finished{keyOf(w), outcome}:
		case <-ctx.Done():
		}
	}()
	return nil
}

// call makes what the activity is given. It reads the state, so it is made by the goroutine that owns it.
func (p *Pool) call(ctx context.Context, exec *store.Loaded, w execution.Work) (activity.Call, error) {
	created := &exec.State.Created
	call := activity.Call{Type: w.Type, Input: w.Input, Attempt: w.Attempt, IdempotencyKey: w.IdempotencyKey, MaxMemory: w.MaxMemory,
		Execution: exec.ID.String(), Workflow: created.Workflow, Activity: w.Activity, Item: w.Item,
		CorrelationID: correlation(created), Team: exec.Team.String(), Shown: w.Input}
	if execution.Hides(exec.Definition.Workflow, exec.State) {
		call.Sensitive = execution.Hidden(exec.Definition.Workflow, exec.State)
	}
	var err error
	var secrets map[string]string
	if len(w.Secrets) > 0 && p.Secrets != nil {
		if secrets, err = p.Secrets(ctx, exec.Team, created.Workflow, w.Secrets); err != nil {
			return call, err
		}
		call.Secrets = slices.Collect(maps.Values(secrets))
	}
	call.Input, err = execution.InputWithSecrets(exec.Definition.Workflow, exec.State, w, secrets)
	return call, err
}

// attempt waits for a slot and runs. ctx ends when the result is not wanted any more.
func (d *driver) attempt(ctx context.Context, a *attempt, call activity.Call, unprepared error) execution.Result {
	result := execution.Result{Activity: a.work.Activity, Item: a.work.Item, Hook: a.work.Hook,
		Compensating: a.work.Compensating, Attempt: a.work.Attempt}
	if !d.pool.takeSlot(ctx, a.work.Priority) {
		return result
	}
	defer d.pool.freeSlot()
	if !a.state.CompareAndSwap(waits, runs) {
		return result
	}
	result.StartedAt = d.now()
	a.began.Store(result.StartedAt.UnixMilli())
	defer time.AfterFunc(startedAfter, func() { signal(d.startDue) }).Stop()
	if unprepared != nil {
		result.Error = Unprepared(unprepared)
	} else {
		book := d.pool.logbook(d.exec.Team, d.exec.Definition.Name, d.exec.ID, a.work)
		call.Log = book.add
		outcome := d.pool.runBounded(ctx, a.work.Timeout, call)
		book.flush()
		result.Value, result.Error, result.RetryAfter = outcome.Value, outcome.Err, outcome.RetryAfter
	}
	result.EndedAt = d.now()
	return result
}

// runBounded runs a call within the time-out of its activity (0 = none) and the limit of its output.
func (p *Pool) runBounded(ctx context.Context, timeout time.Duration, call activity.Call) activity.Outcome {
	if timeout > 0 {
		bounded, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		ctx = bounded
	}
	outcome := p.Activities.Run(ctx, call)
	if err := tooLarge(outcome.Value, p.OutputLimit); err != nil {
		return activity.Outcome{Err: err}
	}
	return outcome
}

// recordStarts records the starts of attempts: of those that have been running for a while, so that everybody
// sees them and a takeover knows of them.
func (d *driver) recordStarts(which func(*attempt) bool) error {
	for _, w := range execution.Pending(d.exec.Definition.Workflow, d.exec.State) {
		a := d.attempts[keyOf(w)]
		if a == nil || a.recorded || !which(a) {
			continue
		}
		if err := d.recordStart(a, time.UnixMilli(a.began.Load()).UTC()); err != nil {
			return err
		}
	}
	return nil
}

func (d *driver) recordStart(a *attempt, at time.Time) error {
	a.recorded = true
	started := execution.Started(d.exec.Definition.Workflow, d.exec.State, a.work, d.pool.name, at)
	if started.Type == "" {
		return nil
	}
	d.unsaved.must = true
	return d.record([]execution.Event{started})
}

func (a *attempt) runsLong(now time.Time) bool {
	began := a.began.Load()
	return began != 0 && now.UnixMilli()-began >= startedAfter.Milliseconds()
}

// finish takes the end of an attempt, and of all others that ended meanwhile.
func (d *driver) finish(f finished) error {
	for {
		if a := d.attempts[f.key]; a != nil {
			delete(d.attempts, f.key)
			a.cancel()
			if err := d.accept(a.work, f.result); err != nil {
				return err
			}
		}
		select {
		case f = <-d.results:
		default:
			return nil
		}
	}
}
