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
		released, err := q.ReleaseQuarantined(ctx, id, who.Team)
		if err != nil {
			return fmt.Errorf("release execution %s: %w", id, err)
		}
		if released == 0 {
			return Refuse("conflict", "the execution is not quarantined")
		}
		if err := q.FreeQuarantined(ctx, id); err != nil {
			return fmt.Errorf("release execution %s: %w", id, err)
		}
		return audit(ctx, q, who, "execution.released", id.String(), map[string]any{"note": note})
	})
	if err == nil {
		r.pool.Wake(id)
	}
	return err
}
