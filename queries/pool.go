package queries

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Pool is what statements are asked of, one by one, several at once or in a transaction.
type Pool interface {
	DBTX
	Batcher
	Begin(ctx context.Context) (pgx.Tx, error)
}
