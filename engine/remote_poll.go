package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"weftline/engine/activity"
	"weftline/engine/execution"
	"weftline/engine/logs"
	"weftline/engine/queue"
	"weftline/engine/worker"
)

const (
	longestPoll = 30 * time.Second
	pollAgain   = 2 * time.Second        // the floor under the hints that there is work
	startWithin = 3 * time.Second        // a start that is not history by then is not handed out
	appliedLook = 100 * time.Millisecond // the floor under the hints that something became history
	heardLately = time.Second            // within it a poll is no news of the worker
)

// WorkPoll asks for at most Max attempts (1 when it says nothing) and waits for at most WaitSeconds.
type WorkPoll struct {
	Max         int  `json:"max"`
	WaitSeconds *int `json:"waitSeconds"` // 0 to 30; absent = 20
}

// WorkItems answer a poll; none when nothing came in time.
type WorkItems struct {
	Items []WorkItem `json:"items"`
	Drain bool       `json:"drain"`
}

// WorkItem is a leased attempt of a worker activity. It is lost at ExpiresAt unless a heartbeat renews it.
type WorkItem struct {
	LeaseID        uuid.UUID `json:"leaseId"`
	WorkerID       uuid.UUID `json:"workerId"`
	Execution      uuid.UUID `json:"execution"`
	Workflow       string    `json:"workflow"`
	Activity       string    `json:"activity"`
	Task           string    `json:"task"`
	Item           string    `json:"item,omitempty"`
	Attempt        int       `json:"attempt"`
	Input          any       `json:"input"`
	IdempotencyKey string    `json:"idempotencyKey"`
	ExpiresAt      time.Time `json:"expiresAt"`
	Renewable      bool      `json:"renewable"`
	ExecutionMode  string    `json:"executionMode"`
	CorrelationID  string    `json:"correlationId"`
}

// PollWork leases what fits the worker. The start of what it answers is history.
func (r *runs) PollWork(ctx context.Context, who Who, id uuid.UUID, poll WorkPoll) (WorkItems, error) {
	wait, err := poll.wait()
	if err != nil {
		return WorkItems{}, err
	}
	offered := make(chan struct{}, 1)
	stop := r.watch(who.Team, func(change Change) {
		if change.Work {
			nudge(offered)
		}
	})
	defer stop()
	bound := time.After(wait)
	for {
		w, err := r.remoteWorker(ctx, who, id)
		if err != nil {
			return WorkItems{}, err
		}
		items, err := r.leaseFor(ctx, who, w, max(1, poll.Max))
		if err != nil || len(items) > 0 || w.draining() || wait == 0 {
			return WorkItems{Items: items, Drain: w.draining()}, err
		}
		select {
		case <-offered:
		case <-time.After(pollAgain):
		case <-bound:
			return WorkItems{Items: items}, nil
		case <-ctx.Done():
			return WorkItems{}, ctx.Err()
		case <-r.pool.Draining():
			return WorkItems{Items: items}, nil // ask another replica
		}
	}
}

func (p WorkPoll) wait() (time.Duration, error) {
	if p.Max < 0 {
		return 0, Refuse("invalid_input", "max counts attempts, it cannot be negative")
	}
	if p.WaitSeconds == nil {
		return 20 * time.Second, nil
	}
	wait := time.Duration(*p.WaitSeconds) * time.Second
	if wait < 0 || wait > longestPoll {
		return 0, Refuse("invalid_input", fmt.Sprintf("waitSeconds is %d: from 0 to %.0f", *p.WaitSeconds, longestPoll.Seconds()))
	}
	return wait, nil
}

func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// leaseFor leases at most n attempts that the worker has room for. Their executions are told before the worker's own
// row is written: nobody waits for that one.
func (r *runs) leaseFor(ctx context.Context, who Who, w remote, n int) ([]WorkItem, error) {
	var leased []queue.Leased
	var err error
	if n = min(n, w.room()); n > 0 && !w.draining() {
		if leased, err = r.works.Claim(ctx, w.fit(who.Team), n); err != nil {
			return nil, err
		}
	}
	for _, l := range leased {
		r.pool.Wake(l.Execution)
	}
	if err := r.heardFrom(ctx, w, int(w.Held)+len(leased)); err != nil {
		return nil, err
	}
	return r.handOut(ctx, w.ID, leased)
}

// heardFrom notes that a worker lives and what it holds. One that has just said so is believed.
func (r *runs) heardFrom(ctx context.Context, w remote, held int) error {
	state, err := r.settleWorker(ctx, w, held)
	if err != nil || state != w.State || r.store.Clock.Now().Sub(w.HeartbeatAt) < heardLately {
		return err
	}
	return r.q.TouchWorker(ctx, w.ID)
}

// handOut answers those of the leased attempts whose start has become history; their executions were woken. The rest
// was withdrawn in the meantime, or its lease runs out.
func (r *runs) handOut(ctx context.Context, worker uuid.UUID, leased []queue.Leased) ([]WorkItem, error) {
	items := []WorkItem{}
	if len(leased) == 0 {
		return items, nil
	}
	bounded, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	started := map[uuid.UUID]bool{}
	leases := make([]uuid.UUID, len(leased))
	for i, l := range leased {
		leases[i] = l.Lease
	}
	for _, l := range leased {
		started[l.Lease] = r.awaitApplied(bounded, l.Team, l.Execution, l.Note) == nil
	}
	still, err := r.works.StillLeased(ctx, leases)
	if err != nil {
		return nil, err
	}
	for _, l := range leased {
		if !started[l.Lease] || !still[l.Lease] {
			continue
		}
		item, err := r.itemOf(ctx, worker, l)
		if err != nil {
			r.failUnprepared(ctx, worker, l, err)
			continue
		}
		items = append(items, item)
	}
	return items, nil
}

// inMillis is an instant as the API shows it.
func inMillis(at time.Time) time.Time { return at.UTC().Truncate(time.Millisecond) }

// awaitApplied waits until a message of an execution has become history, on whatever replica.
func (r *runs) awaitApplied(ctx context.Context, team, execution uuid.UUID, note int64) error {
	moved := make(chan struct{}, 1)
	stop := r.watch(team, func(change Change) {
		if change.Execution == execution {
			nudge(moved)
		}
	})
	defer stop()
	for {
		applied, err := r.works.Applied(ctx, execution, note)
		if applied || err != nil {
			return err
		}
		select {
		case <-moved:
		case <-time.After(appliedLook):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// itemOf is a leased attempt as the worker gets it, with the secrets that its input names.
func (r *runs) itemOf(ctx context.Context, worker uuid.UUID, l queue.Leased) (WorkItem, error) {
	errand, call, err := r.errandOf(ctx, l)
	if err != nil {
		return WorkItem{}, err
	}
	fields, _ := call.Input.(map[string]any)
	task, _ := fields["task"].(string)
	return WorkItem{LeaseID: l.Lease, WorkerID: worker, Execution: l.Execution, Workflow: l.Workflow, Activity: l.Activity, Task: task, Item: l.Item,
		Attempt: l.Attempt, Input: fields["input"], IdempotencyKey: errand.IdempotencyKey, ExpiresAt: inMillis(l.ExpiresAt), Renewable: true,
		ExecutionMode: errand.Mode, CorrelationID: errand.CorrelationID}, nil
}

// failUnprepared ends an attempt whose input cannot be made.
func (r *runs) failUnprepared(ctx context.Context, by uuid.UUID, l queue.Leased, cause error) {
	if errors.Is(cause, execution.ErrStale) {
		return // it is over; the offer is being withdrawn
	}
	now := r.store.Clock.Now()
	_, err := r.finish(ctx, by, l.Lease, execution.Result{Activity: l.Activity, Item: l.Item, Compensating: l.Compensating, Attempt: l.Attempt,
		Worker: by.String(), StartedAt: now, EndedAt: now, Error: worker.Unprepared(cause)})
	if err != nil {
		r.log.Error("the failure of an attempt could not be stored", logs.About{Worker: by.String(), Execution: l.Execution, Workflow: l.Workflow, Activity: l.Activity, Item: l.Item, Attempt: l.Attempt, Lease: l.Lease.String(), Event: "FailureLost"}.Args("error", err)...)
	}
}

// errandOf reads what a leased attempt is, and makes its input.
func (r *runs) errandOf(ctx context.Context, l queue.Leased) (worker.Errand, activity.Call, error) {
	errand, err := worker.ReadErrand(l.Body)
	if err != nil {
		return errand, activity.Call{}, err
	}
	call, err := r.pool.CallOf(ctx, l, errand)
	return errand, call, err
}
