package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine/seal"
	"weftline/queries"
)

// sealedTable is a table whose column may hold boxes; key are an id and a number. update takes (id, number, new
// value, the value as it was read), so that a row that was written meanwhile is left to the next round.
type sealedTable struct {
	name, key, column, update string
	page                      int // rows of one transaction
	place                     func(id uuid.UUID, n int64) string
}

const (
	resealPage = 200 // rows of one transaction
	filesPage  = 8   // of them when each has up to a megabyte
)

var sealedTables = []sealedTable{
	{"history", "execution_id, first_seq", "events", "update history set events = $3 where execution_id = $1 and first_seq = $2 and events = $4", resealPage, historyPlace},
	{"checkpoints", "execution_id, seq", "state", "update checkpoints set state = $3 where execution_id = $1 and seq = $2 and state = $4", resealPage,
		func(id uuid.UUID, _ int64) string { return statePlace(id) }},
	{"inbox", "execution_id, id", "message", "update inbox set message = $3 where execution_id = $1 and id = $2 and message = $4", resealPage,
		func(uuid.UUID, int64) string { return messagePlace }},
	{"file_parts", "file_id, part::bigint", "content", "update file_parts set content = $3 where file_id = $1 and part = $2 and content = $4", filesPage, FilePlace},
}

// Reseal seals with the first key of the ring what others of its keys have sealed, and answers how many rows
// that were. It may run beside servers that know all keys of the ring.
func Reseal(ctx context.Context, pool queries.Pool, keys *seal.Ring) (changed int, err error) {
	for _, table := range sealedTables {
		for {
			n, err := table.reseal(ctx, pool, keys)
			if err != nil {
				return changed, fmt.Errorf("seal the table %s again: %w", table.name, err)
			}
			changed += n
			if n < table.page {
				break
			}
		}
	}
	n, err := resealKept(ctx, pool, keys)
	return changed + n, err
}

type sealedRow struct {
	ID    uuid.UUID
	N     int64
	Value []byte
}

func (t sealedTable) reseal(ctx context.Context, pool queries.Pool, keys *seal.Ring) (int, error) {
	rows, err := stale(ctx, pool, t.name, t.key, t.column, t.page, keys)
	if err != nil {
		return 0, err
	}
	var batch pgx.Batch
	for _, row := range rows {
		fresh, err := resealed(keys, t.place(row.ID, row.N), row.Value)
		if err != nil {
			return 0, err
		}
		batch.Queue(t.update, row.ID, row.N, fresh, row.Value)
	}
	return len(rows), pool.SendBatch(ctx, &batch).Close()
}

// stale reads a page of rows that are sealed with another key than the current one.
func stale(ctx context.Context, pool queries.Pool, table, key, column string, page int, keys *seal.Ring) ([]sealedRow, error) {
	mark := seal.Mark()
	rows, err := pool.Query(ctx, fmt.Sprintf(`select %s, %s from %s where substr(%s, 1, %d) = $1 and encode(substr(%s, %d, 4), 'hex') <> $2 limit %d`,
		key, column, table, column, len(mark), column, len(mark)+1, page), mark, keys.Current())
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[sealedRow])
}

func resealed(keys *seal.Ring, place string, stored []byte) ([]byte, error) {
	plain, err := keys.Unbox(place, stored)
	if err != nil {
		return nil, err
	}
	return keys.Box(place, plain)
}

// resealKept does so with kept events, which are bound to their team.
func resealKept(ctx context.Context, pool queries.Pool, keys *seal.Ring) (changed int, err error) {
	for {
		rows, err := stale(ctx, pool, "kept_events", "team_id, 0::bigint", "signal", resealPage, keys)
		if err != nil || len(rows) == 0 {
			return changed, err
		}
		for _, row := range rows {
			fresh, err := resealed(keys, keptPlace(row.ID), row.Value)
			if err != nil {
				return changed, fmt.Errorf("seal a kept event again: %w", err)
			}
			if _, err := pool.Exec(ctx, `update kept_events set signal = $2 where team_id = $1 and signal = $3`, row.ID, fresh, row.Value); err != nil {
				return changed, err
			}
			changed++
		}
	}
}
