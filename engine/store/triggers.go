package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"weftline/queries"
)

// Opening is an execution that begins in the transaction of what triggered it. Its flush is made before
// that transaction, which therefore needs no second connection.
type Opening struct {
	Flush *Flush // asks for the slot of Limit, if there is one
	Limit *Limit // nil = none

	Admission Admission // what Open decided
}

// Known says that the key of an opening started an execution before: nothing was begun.
const Known Admission = "known"

// Open begins an execution within a transaction and notes in o what became of it. It does nothing else
// when the limit of the workflow or the key of the opening says no.
func (s *Store) Open(ctx context.Context, tx pgx.Tx, o *Opening) error {
	q := s.q.WithTx(tx)
	o.Admission = Admitted
	if key := o.Flush.Begin.Key; key != nil {
		_, err := q.StartKey(ctx, o.Flush.Team, o.Flush.Workflow, key.Key)
		if err == nil {
			o.Admission = Known
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
	}
	if o.Limit != nil {
		if err := s.admit(ctx, q, o); err != nil || o.Admission != Admitted {
			return err
		}
	}
	return s.writeIn(ctx, tx, o.Flush)
}

// admit asks the limit of the workflow.
func (s *Store) admit(ctx context.Context, q *queries.Queries, o *Opening) error {
	if err := q.LockPermit(ctx, o.Flush.Team, o.Limit.Name); err != nil {
		return err
	}
	line, err := q.PermitLine(ctx, o.Flush.Team, o.Limit.Name)
	if err != nil {
		return err
	}
	if int(line.Held) < o.Limit.Capacity && line.Waiting == 0 {
		return nil
	}
	o.Admission = o.Limit.whenFull(int(line.Waiting))
	return nil
}

// DecodeValue reads stored JSON; whole numbers that fit are int64, as everywhere.
func DecodeValue(encoded []byte) (any, error) {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return plain(value), nil
}

// lostRace reports whether a transaction failed because of another one: made again, it sees what that did.
func lostRace(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == pgerrcode.UniqueViolation || pgerrcode.IsTransactionRollback(pg.Code))
}
