package engine

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"weftline/queries"
)

// teamKey keeps the team that a context asks for.
type teamKey struct{}

// InTeam binds what is done with a context to a team: the database then shows and takes rows of that team only,
// whatever a statement says. Without it, as in the background, all teams are seen.
func InTeam(ctx context.Context, team uuid.UUID) context.Context {
	return context.WithValue(ctx, teamKey{}, team)
}

// teamScope makes connections see what their context is bound to. It is off where the database has no role for
// it.
type teamScope struct{ on atomic.Bool }

// sessionTeam is where a connection remembers its team.
const sessionTeam = "weftline.team"

// prepare is the pool's hook before a connection is used. Most often the connection is bound already as it
// should be, and nothing is sent.
func (s *teamScope) prepare(ctx context.Context, conn *pgx.Conn) (bool, error) {
	if !s.on.Load() {
		return true, nil
	}
	wanted, bound := ctx.Value(teamKey{}).(uuid.UUID)
	session := conn.PgConn().CustomData()
	now, wasBound := session[sessionTeam].(uuid.UUID)
	if bound == wasBound && wanted == now {
		return true, nil
	}
	statement := "reset role"
	if bound {
		statement = "set weftline.team = '" + wanted.String() + "'; set role weftline_team"
	}
	if err := conn.PgConn().Exec(ctx, statement).Close(); err != nil {
		if conn.IsClosed() {
			return false, nil // another connection is tried
		}
		return false, fmt.Errorf("bind the connection to a team: %w", err)
	}
	if bound {
		session[sessionTeam] = wanted
	} else {
		delete(session, sessionTeam)
	}
	return true, nil
}

// enable turns the scope on where the database has the role, and answers what is bound to teams: the pool itself,
// or its transactions one by one behind a pooler, which would hand a session, and its team, to somebody else.
func (s *teamScope) enable(ctx context.Context, db *pgxpool.Pool, log *slog.Logger) (queries.Pool, error) {
	conn, err := db.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	defer conn.Release()
	var able bool
	var backend uint32
	const ask = `select exists (select from pg_roles where rolname = 'weftline_team' and pg_has_role(current_user, oid, 'member')), pg_backend_pid()`
	if err := conn.QueryRow(ctx, ask).Scan(&able, &backend); err != nil {
		return nil, fmt.Errorf("look for the role weftline_team: %w", err)
	}
	switch {
	case !able:
		log.Warn("row security is off: the database has no role weftline_team, which migrations could not make")
	case backend != conn.Conn().PgConn().PID():
		return teamPool{db}, nil
	default:
		s.on.Store(true)
	}
	return db, nil
}
