package queue

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/queries"
)

// Works is the table of attempts that somebody else than the owner of their execution makes.
type Works struct {
	pool queries.Pool
	q    *queries.Queries
}

// NewWorks makes a view of it.
func NewWorks(pool queries.Pool) *Works { return &Works{pool: pool, q: queries.New(pool)} }

// Fit is what a worker may be given. Team is that of a remote worker; Teams, Workflows and Queues empty are all. Execution and Lease are
// set to chain the next attempt of an execution under the lease that a worker holds.
type Fit struct {
	Worker    uuid.UUID
	Team      *uuid.UUID
	Needs     []string // as activity.Need says them
	Labels    map[string]string
	Teams     []string // by their names
	Workflows []string
	Queues    []string
	Execution *uuid.UUID
	Lease     *uuid.UUID
}

// Leased is an attempt that a worker holds until ExpiresAt. Note is the message that tells its execution so.
type Leased struct {
	Lease, Execution, Team uuid.UUID
	Activity, Item         string
	Compensating           bool
	Attempt                int
	Workflow               string
	Body                   []byte
	ExpiresAt              time.Time
	Note                   int64
}

// Claim leases at most n attempts, oldest turn first, and tells their executions that they start, all in one
// statement.
func (w *Works) Claim(ctx context.Context, fit Fit, n int) ([]Leased, error) {
	labels, err := json.Marshal(fit.Labels)
	if err != nil {
		return nil, err
	}
	if fit.Labels == nil {
		labels = []byte("{}")
	}
	rows, err := queries.ClaimOffered(ctx, w.pool, queries.ClaimWorkParams{Needs: list(fit.Needs), Team: fit.Team, Execution: fit.Execution,
		Queues: list(fit.Queues), Workflows: list(fit.Workflows), OfTeams: list(fit.Teams), Labels: labels, Batch: int32(n), Worker: fit.Worker, Lease: fit.Lease, LeaseSeconds: Lease.Seconds()})
	leased := make([]Leased, len(rows))
	for i, row := range rows {
		leased[i] = Leased{Lease: row.Lease, Execution: row.ExecutionID, Team: row.TeamID, Activity: row.Activity, Item: row.Item,
			Compensating: row.Compensating, Attempt: int(row.Attempt), Workflow: row.Workflow, Body: row.Body, ExpiresAt: row.ExpiresAt, Note: row.Message}
	}
	return leased, err
}

// Offered reports whether there may be something to claim. It takes no transaction.
func (w *Works) Offered(ctx context.Context, needs []string) (bool, error) {
	return w.q.OpenWork(ctx, needs)
}

// Finished is the end of a leased attempt: the message for its execution.
type Finished struct {
	Lease   uuid.UUID
	Message []byte
}

// Accepted is a result that was stored. Note is its message in the inbox of the execution.
type Accepted struct {
	Lease, Execution uuid.UUID
	Note             int64
}

// Finish stores the results of leases that the worker still holds, and wakes their executions. What is not
// among the accepted was lost: its result changes nothing.
func (w *Works) Finish(ctx context.Context, worker uuid.UUID, finished ...Finished) ([]Accepted, error) {
	leases, messages := make([]uuid.UUID, len(finished)), make([][]byte, len(finished))
	for i, f := range finished {
		leases[i], messages[i] = f.Lease, f.Message
	}
	rows, err := w.q.FinishWork(ctx, leases, messages, &worker)
	accepted := make([]Accepted, len(rows))
	for i, row := range rows {
		accepted[i] = Accepted{Lease: row.Lease, Execution: row.ExecutionID, Note: row.Message}
	}
	return accepted, err
}

// Renew extends leases of a worker and answers those that it still holds, with their new ends.
func (w *Works) Renew(ctx context.Context, worker uuid.UUID, leases []uuid.UUID) (map[uuid.UUID]time.Time, error) {
	held := map[uuid.UUID]time.Time{}
	if len(leases) == 0 {
		return held, nil
	}
	rows, err := w.q.RenewWork(ctx, Lease.Seconds(), &worker, leases)
	for _, row := range rows {
		held[row.Lease] = row.ExpiresAt
	}
	return held, err
}

// Expire ends the leases that nobody renewed and the attempts that took too long, and wakes their executions,
// which it answers.
func (w *Works) Expire(ctx context.Context) ([]uuid.UUID, error) {
	overdue, err := w.q.OverdueWork(ctx) // mostly there is nothing, which takes no transaction
	if err != nil || !overdue {
		return nil, err
	}
	var woken []uuid.UUID
	err = pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) (err error) {
		q := w.q.WithTx(tx)
		if woken, err = q.ExpireWork(ctx); err != nil || len(woken) == 0 {
			return err
		}
		return q.Wake(ctx, woken)
	})
	return woken, err
}

// Applied reports whether everything up to a note has become history.
func (w *Works) Applied(ctx context.Context, execution uuid.UUID, note int64) (bool, error) {
	applied, err := w.q.Applied(ctx, execution, note)
	return applied != nil && *applied, err
}

// StillLeased answers which leases exist.
func (w *Works) StillLeased(ctx context.Context, leases []uuid.UUID) (map[uuid.UUID]bool, error) {
	rows, err := w.q.StillLeased(ctx, leases)
	still := map[uuid.UUID]bool{}
	for _, lease := range rows {
		still[lease] = true
	}
	return still, err
}
