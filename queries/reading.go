package queries

import (
	"bytes"
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Reading gathers statements that are asked in one round trip, in the order in which they were added. Each sees what
// was committed before it began, as if it were asked alone.
type Reading struct{ batch pgx.Batch }

// Batcher sends several statements at once.
type Batcher interface {
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
}

// Read asks everything and fills in the answers.
func (r *Reading) Read(ctx context.Context, db Batcher) error {
	return db.SendBatch(ctx, &r.batch).Close()
}

// AwayWork adds what AwayWork of Queries asks, and so do the others.
func (r *Reading) AwayWork(ids []uuid.UUID, rows *[]AwayWorkRow) { add(r, rows, awayWork, ids) }

func (r *Reading) OwnedWithAway(ids []uuid.UUID, owner *uuid.UUID, rows *[]OwnedWithAwayRow) {
	add(r, rows, ownedWithAway, ids, owner)
}

func (r *Reading) ExecutionRows(ids []uuid.UUID, rows *[]Execution) { add(r, rows, executionRows, ids) }

func (r *Reading) Checkpoints(ids []uuid.UUID, rows *[]Checkpoint) { add(r, rows, checkpoints, ids) }

func (r *Reading) HistoriesFrom(ids []uuid.UUID, known []int64, rows *[]HistoriesFromRow) {
	least, most := bounds(ids)
	add(r, rows, historiesFrom, ids, known, least, most)
}

func (r *Reading) Inboxes(ids []uuid.UUID, rows *[]InboxesRow) { add(r, rows, inboxes, ids) }

// add relies on sqlc: the fields of its rows are in the order of the columns that it asks for.
func add[Row any](r *Reading, rows *[]Row, statement string, arguments ...any) {
	r.batch.Queue(statement, arguments...).Query(func(answer pgx.Rows) (err error) {
		*rows, err = pgx.CollectRows(answer, pgx.RowToStructByPos[Row])
		return err
	})
}

// bounds are the least and the greatest id, in the order of PostgreSQL.
func bounds(ids []uuid.UUID) (least, most uuid.UUID) {
	if len(ids) == 0 {
		return least, most
	}
	byBytes := func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }
	return slices.MinFunc(ids, byBytes), slices.MaxFunc(ids, byBytes)
}
