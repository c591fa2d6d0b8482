package engine

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// behindPooler reports whether a pooler such as PgBouncer stands before the database: then a session is somebody
// else's after each transaction. What needs one (LISTEN, the worker's session lock, row security) goes elsewhere or
// does without.
func behindPooler(ctx context.Context, config *pgx.ConnConfig) (bool, error) {
	config = config.Copy()
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false, fmt.Errorf("connect to the database: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var backend uint32
	if err := conn.QueryRow(ctx, "select pg_backend_pid()").Scan(&backend); err != nil {
		return false, fmt.Errorf("ask the database who it is: %w", err)
	}
	return backend != conn.PgConn().PID(), nil
}

// listening is how to reach the database for LISTEN; nil when that cannot be: replicas then poll, and find a lost
// worker by its heartbeat.
func (o Options) listening(db *pgxpool.Pool) *pgx.ConnConfig {
	own := db.Config().ConnConfig.Copy()
	if o.ListenURL != "" {
		direct, err := pgx.ParseConfig(o.ListenURL)
		if err != nil {
			o.Log.Error("the address for LISTEN cannot be read; replicas tell each other by polling", "error", err)
			return nil
		}
		direct.RuntimeParams["application_name"] = "weftline"
		return direct
	}
	if own.DefaultQueryExecMode == pgx.QueryExecModeCacheDescribe {
		o.Log.Warn("there is a connection pooler before the database and no address past it: replicas tell each other by polling")
		return nil
	}
	return own
}
