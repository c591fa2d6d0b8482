package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"weftline/engine/activity"
	"weftline/engine/execution"
	"weftline/engine/queue"
	"weftline/engine/store"
)

// Errand is an attempt as somebody else than the owner of its execution is given it. It is stored without
// secrets: an input that may hold some is made anew where it runs.
type Errand struct {
	Type           string `json:"type"`
	Input          any    `json:"input,omitempty"`
	Hidden         bool   `json:"hidden,omitempty"` // Input is masked
	IdempotencyKey string `json:"idempotencyKey"`
	CorrelationID  string `json:"correlationId"`
	Mode           string `json:"mode"`
	Hook           string `json:"hook,omitempty"`
	Once           bool   `json:"once,omitempty"`
	TimeoutMillis  int64  `json:"timeoutMillis,omitempty"`
	MaxMemory      int64  `json:"maxMemory,omitempty"` // bytes
}

func errandOf(exec *store.Loaded, w execution.Work) Errand {
	created := &exec.State.Created
	return Errand{Type: w.Type, Input: w.Input, Hidden: execution.HidesInput(exec.Definition.Workflow, exec.State, w),
		IdempotencyKey: w.IdempotencyKey, CorrelationID: correlation(created), Mode: created.Mode, Hook: w.Hook, Once: w.Once,
		TimeoutMillis: w.Timeout.Milliseconds(), MaxMemory: w.MaxMemory}
}

func (e Errand) encode() ([]byte, error) { return json.Marshal(e) }

// ReadErrand reads the body of a leased attempt.
func ReadErrand(body []byte) (Errand, error) {
	var e Errand
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&e); err != nil {
		return e, fmt.Errorf("read offered work: %w", err)
	}
	e.Input = store.Plain(e.Input)
	return e, nil
}

// CallOf makes the call of a leased attempt. One whose attempt is over is the error ErrStale.
func (p *Pool) CallOf(ctx context.Context, l queue.Leased, e Errand) (activity.Call, error) {
	call := activity.Call{Type: e.Type, Input: e.Input, Attempt: l.Attempt, IdempotencyKey: e.IdempotencyKey, Execution: l.Execution.String(),
		Workflow: l.Workflow, Activity: l.Activity, Item: l.Item, CorrelationID: e.CorrelationID, Team: l.Team.String(), MaxMemory: e.MaxMemory, Shown: e.Input}
	if err := p.permitted(ctx, l.Team, l.Execution, execution.Work{Activity: l.Activity, Item: l.Item, Type: e.Type}); err != nil {
		return call, refused{err}
	}
	if !e.Hidden {
		return call, nil
	}
	exec, err := p.Store.LoadOne(ctx, l.Execution)
	if err != nil {
		return call, err
	}
	for _, w := range execution.Pending(exec.Definition.Workflow, exec.State) {
		if workKey(w) == keyOfLeased(l) {
			return p.call(ctx, exec, w)
		}
	}
	return call, execution.ErrStale
}

func keyOfLeased(l queue.Leased) store.WorkKey {
	return store.WorkKey{Activity: l.Activity, Item: l.Item, Compensating: l.Compensating, Attempt: l.Attempt}
}

// takeSlot waits for a free slot; false when ctx ended first.
func (p *Pool) takeSlot(ctx context.Context, priority string) bool {
	p.queued.Add(1)
	defer p.queued.Add(-1)
	return p.slots.take(ctx, priority)
}

// freeSlot gives a slot back; what others offered may have it.
func (p *Pool) freeSlot() {
	p.slots.give(1)
	if p.offered.Load() {
		signal(p.workNow)
	}
}

// workOffered makes the loop look that takes others' work.
func (p *Pool) workOffered() {
	p.offered.Store(true)
	signal(p.workNow)
}

// ableTo reports whether an offer is of something that this worker can run.
func (p *Pool) ableTo(o store.Offer) bool {
	_, able := slices.BinarySearch(p.abilities, o.Needs)
	return able
}

// takeWork leases as much of what others offer as there are free slots. Like a claim, it is not cut off.
func (p *Pool) takeWork(ctx context.Context) error {
	if p.suspended() {
		return nil
	}
	if !p.offered.Load() { // nobody said so: mostly there is nothing
		if offered, err := p.Works.Offered(p.alive, p.abilities); err != nil || !offered {
			return err
		}
	}
	if p.errands() > 0 {
		gather(ctx, p.workNow)
	}
	free := p.slots.takeFree()
	if free == 0 {
		return nil
	}
	leased, err := p.Works.Claim(p.alive, queue.Fit{Worker: p.id, Needs: p.abilities, Labels: p.labels, Teams: p.Worker.Teams, Workflows: p.Worker.Workflows, Queues: p.Worker.Queues}, free)
	p.slots.give(free - len(leased))
	p.offered.Store(len(leased) == free)
	if err != nil {
		return err
	}
	for _, l := range leased {
		p.Wake(l.Execution)
		ctx := p.hold(l.Lease)
		p.running.Go(func() { p.run(ctx, l) })
	}
	return nil
}

// hold notes a lease; the context ends when it is lost.
func (p *Pool) hold(lease uuid.UUID) context.Context {
	ctx, cancel := context.WithCancel(p.alive)
	p.mu.Lock()
	p.held[lease] = cancel
	p.mu.Unlock()
	return ctx
}

func (p *Pool) letGo(lease uuid.UUID) {
	p.mu.Lock()
	cancel := p.held[lease]
	delete(p.held, lease)
	p.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// errands is the number of attempts that it makes for other owners.
func (p *Pool) errands() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.held)
}

// run makes a leased attempt and hands its result to the finisher. It has a slot.
func (p *Pool) run(ctx context.Context, l queue.Leased) {
	defer p.letGo(l.Lease)
	result := p.makeAttempt(ctx, l)
	p.freeSlot()
	message, err := p.Store.EncodeResult(result)
	if err != nil {
		result.Value, result.Error = nil, &execution.Error{Type: "output.invalid", Class: "activity", Message: err.Error()}
		message, _ = p.Store.EncodeResult(result)
	}
	f := queue.Finished{Lease: l.Lease, Message: message}
	if p.isClosing() {
		p.finish(context.WithoutCancel(ctx), []queue.Finished{f})
		return
	}
	p.finished <- f
}

// makeAttempt makes a leased attempt. One that the end of this worker cut off is lost.
func (p *Pool) makeAttempt(ctx context.Context, l queue.Leased) execution.Result {
	result := execution.Result{Activity: l.Activity, Item: l.Item, Compensating: l.Compensating, Attempt: l.Attempt,
		Worker: p.name, StartedAt: p.Store.Clock.Now()}
	e, err := ReadErrand(l.Body)
	if err == nil {
		result.Hook = e.Hook
		err = p.awaitStart(ctx, l, e)
	}
	var call activity.Call
	if err == nil {
		call, err = p.CallOf(ctx, l, e)
	}
	about := p.aboutErrand(l, e)
	p.Log.Debug("an attempt for another owner begins", about.With("ErrandBegan").Args()...)
	if err != nil {
		result.Error = Unprepared(err)
	} else {
		book := p.logbook(l.Team, l.Workflow, l.Execution, execution.Work{Activity: l.Activity, Item: l.Item, Compensating: l.Compensating, Attempt: l.Attempt})
		call.Log = book.add
		outcome := p.runBounded(ctx, time.Duration(e.TimeoutMillis)*time.Millisecond, call)
		book.flush()
		result.Value, result.Error, result.RetryAfter = outcome.Value, outcome.Err, outcome.RetryAfter
	}
	if ctx.Err() != nil {
		result.Value, result.Error = nil, &execution.Error{Type: "engine.worker_lost", Class: "infrastructure",
			Message: fmt.Sprintf("the worker was stopped during attempt %d", l.Attempt)}
	}
	result.EndedAt = p.Store.Clock.Now()
	p.Log.Debug("an attempt for another owner has ended", about.With("ErrandEnded").Args("ms", result.EndedAt.Sub(result.StartedAt).Milliseconds())...)
	return result
}

// awaitStart waits until the start of an attempt that may happen once only is history.
func (p *Pool) awaitStart(ctx context.Context, l queue.Leased, e Errand) error {
	if !e.Once {
		return nil
	}
	for {
		applied, err := p.Works.Applied(ctx, l.Execution, l.Note)
		if applied || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(startLook):
		}
	}
}

// startLook is the pause between two looks whether a start is history.
const startLook = 10 * time.Millisecond

// finishAll stores results as they come, all that came meanwhile at once.
func (p *Pool) finishAll(ctx context.Context) {
	for {
		var batch []queue.Finished
		select {
		case first := <-p.finished:
			batch = append(batch, first)
		case <-ctx.Done():
			return
		}
		p.finish(context.WithoutCancel(ctx), p.withCompany(ctx, batch))
	}
}

// gatherFor is how long what came from or goes to other replicas waits for company, where there may be some: a
// few milliseconds for each of many attempts is less than a transaction for each.
const gatherFor = 3 * time.Millisecond

// gather waits for company, and takes the nudges that came meanwhile.
func gather(ctx context.Context, nudge <-chan struct{}) {
	select {
	case <-ctx.Done():
	case <-time.After(gatherFor):
	}
	select {
	case <-nudge:
	default:
	}
}

// withCompany adds to a result those that come within a moment. One that is alone does not wait.
func (p *Pool) withCompany(ctx context.Context, batch []queue.Finished) []queue.Finished {
	bound := time.NewTimer(gatherFor)
	defer bound.Stop()
	for len(batch) < claimBatch {
		select {
		case next := <-p.finished:
			batch = append(batch, next)
			continue
		default:
		}
		if p.errands() == 0 {
			return batch
		}
		select {
		case next := <-p.finished:
			batch = append(batch, next)
		case <-bound.C:
			return batch
		case <-ctx.Done():
			return batch
		}
	}
	return batch
}

// finish stores results; those whose lease was lost are dropped.
func (p *Pool) finish(ctx context.Context, batch []queue.Finished) {
	bound := time.Now().Add(queue.Lease) // after that the leases are lost
	for {
		accepted, err := p.Works.Finish(ctx, p.id, batch...)
		if err == nil {
			for _, a := range accepted {
				p.Wake(a.Execution)
			}
			if lost := len(batch) - len(accepted); lost > 0 {
				p.Log.Warn("results came after their leases were lost and are dropped", "count", lost)
			}
			return
		}
		if time.Now().After(bound) {
			p.Log.Error("results of work for others could not be stored", "count", len(batch), "error", err)
			return
		}
		time.Sleep(startLook)
	}
}

// finishLast stores what is left when nothing runs any more.
func (p *Pool) finishLast(ctx context.Context) {
	for {
		select {
		case f := <-p.finished:
			p.finish(ctx, []queue.Finished{f})
		default:
			return
		}
	}
}

// renewErrands extends the leases of attempts made for others, and stops those that were lost.
func (p *Pool) renewErrands(ctx context.Context) {
	p.mu.Lock()
	leases := make([]uuid.UUID, 0, len(p.held))
	for lease := range p.held {
		leases = append(leases, lease)
	}
	p.mu.Unlock()
	if len(leases) == 0 {
		return
	}
	still, err := p.Works.Renew(ctx, p.id, leases)
	if err != nil {
		p.Log.Warn("leases of work for others were not renewed", "count", len(leases), "error", err)
		return
	}
	for _, lease := range leases {
		if _, held := still[lease]; !held {
			p.letGo(lease)
		}
	}
}

// expireWork ends leases that nobody renewed, whoever held them.
func (p *Pool) expireWork(ctx context.Context) error {
	woken, err := p.Works.Expire(ctx)
	if len(woken) > 0 {
		p.Wake(woken...)
	}
	return err
}
