package engine

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"weftline/queries"
)

// Release lets a quarantined execution be driven again, as if its processes had never died.
func (r *runs) Release(ctx context.Context, who Who, id uuid.UUID, note string) error {
	if _, err := r.row(ctx, who, id); err != nil {
		return err
	}
	err := inTx(ctx, r.db, func(q *queries.Queries) error {
		released, err := letGo(ctx, q, who.Team, id)
		if err != nil {
			return err
		}
		if !released {
			return Refuse("conflict", "the execution is not quarantined")
		}
		return audit(ctx, q, who, "execution.released", id.String(), map[string]any{"note": note})
	})
	if err == nil {
		r.pool.Wake(id)
	}
	return err
}

// letGo ends a quarantine; false when there was none.
func letGo(ctx context.Context, q *queries.Queries, team, id uuid.UUID) (bool, error) {
	released, err := q.ReleaseQuarantined(ctx, id, team)
	if err == nil && released > 0 {
		err = q.FreeQuarantined(ctx, id)
	}
	if err != nil {
		return false, fmt.Errorf("release execution %s: %w", id, err)
	}
	return released > 0, nil
}
