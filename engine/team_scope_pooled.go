package engine

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// teamPool binds transactions to the team of their context, where a connection cannot be bound because a pooler
// hands it on after each of them. A statement that is asked alone is a transaction of its own: whoever asked it gets
// its answer after the commit. What no team asked goes to the pool as it is.
type teamPool struct{ *pgxpool.Pool }

func (p teamPool) Begin(ctx context.Context) (pgx.Tx, error) {
	team, bound := ctx.Value(teamKey{}).(uuid.UUID)
	if !bound {
		return p.Pool.Begin(ctx)
	}
	begin := "begin; set local weftline.team = '" + team.String() + "'; set local role weftline_team"
	return p.BeginTx(ctx, pgx.TxOptions{BeginQuery: begin})
}

func (p teamPool) Exec(ctx context.Context, statement string, arguments ...any) (tag pgconn.CommandTag, err error) {
	if !isBound(ctx) {
		return p.Pool.Exec(ctx, statement, arguments...)
	}
	err = pgx.BeginFunc(ctx, p, func(tx pgx.Tx) error {
		tag, err = tx.Exec(ctx, statement, arguments...)
		return err
	})
	return tag, err
}

func (p teamPool) Query(ctx context.Context, statement string, arguments ...any) (pgx.Rows, error) {
	if !isBound(ctx) {
		return p.Pool.Query(ctx, statement, arguments...)
	}
	tx, err := p.Begin(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, statement, arguments...)
	if err != nil {
		return nil, errors.Join(err, tx.Rollback(ctx))
	}
	return &boundRows{Rows: rows, tx: tx, ctx: ctx}, nil
}

func (p teamPool) QueryRow(ctx context.Context, statement string, arguments ...any) pgx.Row {
	if !isBound(ctx) {
		return p.Pool.QueryRow(ctx, statement, arguments...)
	}
	rows, err := p.Query(ctx, statement, arguments...)
	return boundRow{rows, err}
}

func isBound(ctx context.Context) bool {
	_, bound := ctx.Value(teamKey{}).(uuid.UUID)
	return bound
}

// boundRows are rows whose transaction ends with them: with a commit, or without one when they broke off.
type boundRows struct {
	pgx.Rows
	tx    pgx.Tx
	ctx   context.Context
	ended bool
	err   error // of the commit
}

func (r *boundRows) Next() bool {
	more := r.Rows.Next()
	if !more {
		r.Close()
	}
	return more
}

func (r *boundRows) Close() {
	r.Rows.Close()
	if r.ended {
		return
	}
	r.ended = true
	if r.Rows.Err() != nil {
		_ = r.tx.Rollback(r.ctx) // the rows say what is wrong
		return
	}
	r.err = r.tx.Commit(r.ctx)
}

func (r *boundRows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return err
	}
	return r.err
}

// boundRow is the first of them.
type boundRow struct {
	rows pgx.Rows
	err  error
}

func (r boundRow) Scan(into ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	if err := r.rows.Scan(into...); err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}
