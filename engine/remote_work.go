package engine

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine/execution"
	"weftline/engine/flow"
	"weftline/engine/logs"
	"weftline/engine/queue"
	"weftline/queries"
)

// chainedWithin is how long an answer waits for what follows.
const chainedWithin = 300 * time.Millisecond

// WorkResult completes an attempt. Activity, Item and Attempt, where given, must be those of the lease.
type WorkResult struct {
	Activity string `json:"activity"`
	Item     string `json:"item"`
	Attempt  int    `json:"attempt"`
	Output   any    `json:"output"`
	Log      any    `json:"log"` // text, or a list of lines
}

// WorkFailure fails an attempt. RetryAfterSeconds is what the worker asks for before the next one.
type WorkFailure struct {
	Activity          string    `json:"activity"`
	Item              string    `json:"item"`
	Attempt           int       `json:"attempt"`
	Error             WorkError `json:"error"`
	RetryAfterSeconds float64   `json:"retryAfterSeconds"`
	Log               any       `json:"log"` // text, or a list of lines
}

// ownErrorType is the form of a type of error.
var ownErrorType = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$`)

// failedRemotely is the type of a failure that says none.
const failedRemotely = "worker.failed"

// WorkError says why. Type is an own type with a dot, such as payment.declined; absent = worker.failed.
type WorkError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Detail  any    `json:"detail"`
}

// WorkAnswer says what became of the execution, and what follows under the same lease.
type WorkAnswer struct {
	ExecutionStatus string     `json:"executionStatus"`
	LeaseExpiresAt  *time.Time `json:"leaseExpiresAt"`
	Next            *WorkItem  `json:"next,omitempty"`
}

// finish stores a result under a lease and wakes the execution.
func (r *runs) finish(ctx context.Context, worker, lease uuid.UUID, result execution.Result) (queue.Accepted, error) {
	message, err := r.store.EncodeResult(result)
	if err != nil {
		return queue.Accepted{}, Refuse("invalid_input", "the output cannot be stored: "+err.Error())
	}
	accepted, err := r.works.Finish(ctx, worker, queue.Finished{Lease: lease, Message: message})
	if err != nil {
		return queue.Accepted{}, err
	}
	if len(accepted) == 0 {
		return queue.Accepted{}, leaseLost(lease)
	}
	r.pool.Wake(accepted[0].Execution)
	return accepted[0], nil
}

func leaseLost(lease uuid.UUID) error {
	return Refuse("lease_lost", fmt.Sprintf("the lease %s is not held any more; the result is dropped", lease))
}

// leased finds what a lease is of, if it is held by a worker of the asker.
func (r *runs) leased(ctx context.Context, who Who, lease uuid.UUID) (queries.LeasedWorkRow, remote, error) {
	row, err := r.q.LeasedWork(ctx, &lease)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && row.TeamID != who.Team {
		return row, remote{}, leaseLost(lease)
	}
	if err != nil {
		return row, remote{}, err
	}
	w, err := r.remoteWorker(ctx, who, row.WorkerID)
	if refusal := (*Error)(nil); errors.As(err, &refusal) {
		return row, w, leaseLost(lease)
	}
	return row, w, err
}

func onPath(row queries.LeasedWorkRow, activity, item string, attempt int) error {
	if activity != "" && activity != row.Activity || item != "" && item != row.Item || attempt != 0 && attempt != int(row.Attempt) {
		return Refuse("wrong_path", fmt.Sprintf("the lease is of attempt %d of %s, not of this one", row.Attempt, named(row.Activity, row.Item)))
	}
	return nil
}

func named(activity, item string) string {
	if item == "" {
		return activity
	}
	return activity + " item " + item
}

// CompleteWork ends an attempt well.
func (r *runs) CompleteWork(ctx context.Context, who Who, lease uuid.UUID, result WorkResult) (WorkAnswer, error) {
	if err := checkSize("the output", result.Output, r.outputLimit); err != nil {
		return WorkAnswer{}, err
	}
	log, err := logText(result.Log)
	if err != nil {
		return WorkAnswer{}, err
	}
	row, w, err := r.leased(ctx, who, lease)
	if err == nil {
		err = onPath(row, result.Activity, result.Item, result.Attempt)
	}
	if err != nil {
		return WorkAnswer{}, err
	}
	r.keepLog(ctx, lease, row, log)
	return r.endWork(ctx, who, lease, row, w, func(end *execution.Result) {
		end.Value = map[string]any{"output": result.Output}
	})
}

// FailWork ends an attempt with a failure; the activity's retry decides what follows.
func (r *runs) FailWork(ctx context.Context, who Who, lease uuid.UUID, failure WorkFailure) (WorkAnswer, error) {
	if err := failure.check(r.outputLimit); err != nil {
		return WorkAnswer{}, err
	}
	log, err := logText(failure.Log)
	if err != nil {
		return WorkAnswer{}, err
	}
	row, w, err := r.leased(ctx, who, lease)
	if err == nil {
		err = onPath(row, failure.Activity, failure.Item, failure.Attempt)
	}
	if err != nil {
		return WorkAnswer{}, err
	}
	r.keepLog(ctx, lease, row, log)
	return r.endWork(ctx, who, lease, row, w, func(end *execution.Result) {
		end.Error = &execution.Error{Type: failure.Error.Type, Class: "external", Message: failure.Error.Message, Detail: failure.Error.Detail}
		end.RetryAfter = time.Duration(failure.RetryAfterSeconds * float64(time.Second))
	})
}

// check refuses failures that could be taken for the engine's own.
func (f *WorkFailure) check(limit int) error {
	if f.Error.Type == "" {
		f.Error.Type = failedRemotely
	}
	if !ownErrorType.MatchString(f.Error.Type) || flow.IsReservedError(f.Error.Type) && f.Error.Type != failedRemotely {
		return Refuse("invalid_input", fmt.Sprintf("%q is no type of an error: write an own word, a dot and another, such as payment.declined", f.Error.Type))
	}
	if f.RetryAfterSeconds < 0 || f.RetryAfterSeconds > 86400 {
		return Refuse("invalid_input", "retryAfterSeconds is from 0 to 86400")
	}
	return checkSize("the error", f.Error, min(limit, 1<<20))
}

// endWork stores what an attempt came to and looks whether the worker can go on with the execution.
func (r *runs) endWork(ctx context.Context, who Who, lease uuid.UUID, row queries.LeasedWorkRow, w remote, what func(*execution.Result)) (WorkAnswer, error) {
	result := execution.Result{Activity: row.Activity, Item: row.Item, Hook: row.Hook, Compensating: row.Compensating, Attempt: int(row.Attempt),
		Worker: row.WorkerID.String(), StartedAt: row.LeasedAt, EndedAt: r.store.Clock.Now()}
	what(&result)
	if err := r.withoutSecrets(ctx, lease, row, &result); err != nil {
		return WorkAnswer{}, err
	}
	accepted, err := r.finish(ctx, w.ID, lease, result)
	if err != nil {
		return WorkAnswer{}, err
	}
	completed := r.q.CompletedBy(ctx, row.Activity, w.ID) // while the execution moves: what follows waits for that
	answer, err := r.following(ctx, who, lease, accepted, w)
	if err != nil { // the result is durable: what follows can be polled for
		r.log.Warn("what follows a result could not be read", logs.About{Worker: w.ID.String(), Execution: accepted.Execution, Lease: lease.String(), Event: "NextMissed"}.Args("error", err)...)
		return answer, nil
	}
	held := int(w.Held) - 1
	if answer.Next != nil {
		held++
	}
	if completed != nil {
		return answer, nil
	}
	_, _ = r.settleWorker(ctx, w, held) // the next heartbeat does it again
	return answer, nil
}

// withoutSecrets takes the secrets that the worker was given out of what it answers.
func (r *runs) withoutSecrets(ctx context.Context, lease uuid.UUID, row queries.LeasedWorkRow, result *execution.Result) error {
	leased, err := r.leasedAttempt(ctx, lease, row)
	if errors.Is(err, pgx.ErrNoRows) {
		return leaseLost(lease)
	}
	if err != nil {
		return err
	}
	return r.pool.Mask(ctx, leased, result)
}

// following waits a moment for the result to become history and leases the next attempt of the execution, if
// the worker can make it.
func (r *runs) following(ctx context.Context, who Who, lease uuid.UUID, accepted queue.Accepted, w remote) (WorkAnswer, error) {
	bounded, cancel := context.WithTimeout(ctx, chainedWithin)
	defer cancel()
	applied := r.awaitApplied(bounded, who.Team, accepted.Execution, accepted.Note)
	row, err := r.row(ctx, who, accepted.Execution)
	if err != nil {
		return WorkAnswer{}, err
	}
	answer := WorkAnswer{ExecutionStatus: row.Status}
	if applied != nil || w.draining() || execution.IsTerminal(row.Status) {
		return answer, nil
	}
	fit := w.fit(who.Team)
	fit.Execution, fit.Lease = &accepted.Execution, &lease
	leased, err := r.works.Claim(ctx, fit, 1)
	if err != nil {
		return answer, err
	}
	for _, l := range leased {
		r.pool.Wake(l.Execution)
	}
	items, err := r.handOut(ctx, w.ID, leased)
	if err != nil || len(items) == 0 {
		return answer, err
	}
	answer.Next, answer.LeaseExpiresAt = &items[0], &items[0].ExpiresAt
	return answer, nil
}
