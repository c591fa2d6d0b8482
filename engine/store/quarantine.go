package store

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// quarantine owns the queue rows of executions that nobody may drive until a person releases them. It is no
// worker: nobody claims from it and it is never found dead.
var quarantine = uuid.Max

// Quarantine sets an execution aside that its owner does not dare to drive. lost is whose attempts of it are over.
func (s *Store) Quarantine(ctx context.Context, id, owner, lost uuid.UUID, reason string) error {
	message, err := s.ownerLost(lost)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `with aside as (
				update ready set owner = $3 where execution_id = $1 and owner = $2 returning execution_id
			)
			insert into inbox (execution_id, message) select execution_id, $4 from aside`, id, owner, quarantine, message)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		_, err = tx.Exec(ctx, `update executions set quarantined_at = now(), incident = $2, updated_at = now() where id = $1`, id, clean(reason))
		return err
	})
}

// Postpone gives an execution up and wakes it again after a pause. lost is whose attempts of it are over, Nil nobody's.
func (s *Store) Postpone(ctx context.Context, id, owner, lost uuid.UUID, pause time.Duration) error {
	message, err := s.ownerLost(lost)
	if err != nil {
		return err
	}
	_, err = s.pool.Exec(ctx, `with gone as (
			delete from ready where execution_id = $1 and owner = $2 returning execution_id, partition
		), told as (
			insert into inbox (execution_id, message) select execution_id, $4 from gone where $4::bytea is not null
		)
		insert into timers (execution_id, partition, due_at)
		select execution_id, partition, now() + $3 * interval '1 second' from gone
		on conflict (execution_id) do update set due_at = excluded.due_at`, id, owner, pause.Seconds(), message)
	return err
}

// Acquit takes back one crash of executions that cannot have caused it.
func (s *Store) Acquit(ctx context.Context, ids []uuid.UUID) error {
	_, err := s.pool.Exec(ctx, `update executions set crashes = crashes - 1 where id = any($1) and crashes > 0`, ids)
	return err
}

// Quarantined is an execution that was set aside.
type Quarantined struct {
	Execution uuid.UUID `json:"execution"`
	Workflow  string    `json:"workflow"`
	Since     time.Time `json:"since"`
	Reason    string    `json:"reason"`
}

// FindQuarantined lists what is set aside, longest first, at most 1,000.
func FindQuarantined(ctx context.Context, pool *pgxpool.Pool) ([]Quarantined, error) {
	rows, err := pool.Query(ctx, `select id, workflow, quarantined_at, coalesce(incident, '') from executions
		where quarantined_at is not null order by quarantined_at limit 1000`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Quarantined])
}
