package engine

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"weftline/engine/logs"
	"weftline/engine/queue"
	"weftline/queries"
)

// WorkProgress is what a worker tells while it works.
type WorkProgress struct {
	Log any `json:"log"` // text, or a list of lines
}

// WorkRenewal answers how long a lease is held now.
type WorkRenewal struct {
	LeaseExpiresAt time.Time `json:"leaseExpiresAt"`
}

// RenewWork extends a lease and keeps lines of its attempt's log.
func (r *runs) RenewWork(ctx context.Context, who Who, lease uuid.UUID, progress WorkProgress) (WorkRenewal, error) {
	log, err := logText(progress.Log)
	if err != nil {
		return WorkRenewal{}, err
	}
	row, w, err := r.leased(ctx, who, lease)
	if err != nil {
		return WorkRenewal{}, err
	}
	held, err := r.works.Renew(ctx, w.ID, []uuid.UUID{lease})
	if err != nil {
		return WorkRenewal{}, err
	}
	until, still := held[lease]
	if !still {
		return WorkRenewal{}, leaseLost(lease)
	}
	r.keepLog(ctx, lease, row, log)
	return WorkRenewal{LeaseExpiresAt: inMillis(until)}, nil
}

// logText is the log of a request as one text: it may be that, or a list of lines.
func logText(log any) (string, error) {
	switch log := log.(type) {
	case nil:
		return "", nil
	case string:
		return log, nil
	case []any:
		lines := make([]string, len(log))
		for i, line := range log {
			text, isText := line.(string)
			if !isText {
				return "", Refuse("invalid_input", "log is a text or a list of lines; a line is a text")
			}
			lines[i] = text
		}
		return strings.Join(lines, "\n"), nil
	}
	return "", Refuse("invalid_input", "log is a text or a list of lines")
}

// keepLog stores lines of a leased attempt. Those that cannot be stored are lost: a log stops no attempt.
func (r *runs) keepLog(ctx context.Context, lease uuid.UUID, row queries.LeasedWorkRow, text string) {
	if text == "" {
		return
	}
	leased, err := r.leasedAttempt(ctx, lease, row)
	if err == nil {
		err = r.pool.KeepLog(ctx, leased, text)
	}
	if err != nil {
		r.log.Warn("lines of a log are lost", logs.About{Worker: row.WorkerID.String(), Execution: row.ExecutionID, Activity: row.Activity, Item: row.Item, Attempt: int(row.Attempt), Lease: lease.String(), Event: "LogLost"}.Args("error", err)...)
	}
}

// leasedAttempt is a leased attempt with what it works on.
func (r *runs) leasedAttempt(ctx context.Context, lease uuid.UUID, row queries.LeasedWorkRow) (queue.Leased, error) {
	errand, err := r.q.LeasedErrand(ctx, &lease)
	return queue.Leased{Lease: lease, Execution: row.ExecutionID, Team: row.TeamID, Activity: row.Activity, Item: row.Item,
		Compensating: row.Compensating, Attempt: int(row.Attempt), Workflow: errand.Workflow, Body: errand.Body}, err
}
