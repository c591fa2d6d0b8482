package store

import (
	"errors"
	"io"
	"net"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgconn"
)

// IsOutage reports that an error is of the database's reach or load, not of what was asked: asking again
// later may succeed. What was asked may have been done when the answer was lost.
func IsOutage(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pgerrcode.IsConnectionException(pg.Code) || pgerrcode.IsOperatorIntervention(pg.Code) ||
			pgerrcode.IsInsufficientResources(pg.Code) || pgerrcode.IsTransactionRollback(pg.Code) ||
			pg.Code == pgerrcode.ReadOnlySQLTransaction
	}
	var connect *pgconn.ConnectError
	var network *net.OpError
	return errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
}
