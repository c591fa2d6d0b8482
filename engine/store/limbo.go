package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Limbo is an open execution that nothing will ever drive again: a fault of the engine.
type Limbo struct {
	Execution uuid.UUID `json:"execution"`
	Workflow  string    `json:"workflow"`
	Status    string    `json:"status"`
	UpdatedAt time.Time `json:"updatedAt"`
	Unread    bool      `json:"unread"` // it has a message that nobody was told of
}

// limboSQL: every execution that is not over has a live cause. It is in the queue (free, or owned: the claim
// of a dead worker is taken over), has a timer, or waits for an event, a person, a child, a permit or the
// end of a pause. A message wakes its execution through the queue, so one that is parked beside its
// message is lost whatever else it waits for.
const limboSQL = `select e.id, e.workflow, e.status, e.updated_at, u.unread
	from executions e
	cross join lateral (select exists (select from inbox i where i.execution_id = e.id) as unread) u
	where e.finished_at is null
		and not exists (select from ready r where r.execution_id = e.id)
		and not exists (select from timers t where t.execution_id = e.id and (e.incident is not null or e.crashes > 0 or not u.unread))
		and (u.unread or e.status <> 'paused'
			and not exists (select from event_waits w where w.execution_id = e.id)
			and not exists (select from tasks t where t.execution_id = e.id and t.status = 'open')
			and not exists (select from executions c where c.parent_id = e.id and c.finished_at is null)
			and not exists (select from permits p where p.execution_id = e.id and not p.held))
	order by e.created_at, e.id limit 1000`

// FindLimbo lists executions in limbo, oldest first, at most 1,000, and counts all that are open. One
// statement reads one moment, so it may be asked while a server works.
func FindLimbo(ctx context.Context, pool *pgxpool.Pool) (open int, limbo []Limbo, err error) {
	err = pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, `select count(*) from executions where finished_at is null`).Scan(&open); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, limboSQL)
		if err != nil {
			return err
		}
		limbo, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Limbo])
		return err
	})
	if err != nil {
		return 0, nil, fmt.Errorf("look for executions in limbo: %w", err)
	}
	return open, limbo, nil
}
