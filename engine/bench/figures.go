package bench

import (
	"context"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// database is what PostgreSQL counted so far.
type database struct {
	version string
	commits int64
	wal     int64 // bytes
}

// statisticsDelay is how long PostgreSQL may keep counts of a session to itself.
const statisticsDelay = 1200 * time.Millisecond

// readDatabase reads the counts on a connection of its own, when the sessions have reported theirs.
func readDatabase(ctx context.Context, url string) (database, error) {
	var d database
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return d, err
	}
	defer func() { _ = conn.Close(ctx) }()
	select {
	case <-time.After(statisticsDelay):
	case <-ctx.Done():
		return d, ctx.Err()
	}
	const figures = `select current_setting('server_version'), xact_commit, pg_current_wal_lsn() - '0/0'::pg_lsn
		from pg_stat_database where datname = current_database()`
	err = conn.QueryRow(ctx, figures).Scan(&d.version, &d.commits, &d.wal)
	return d, err
}

// processSeconds is the processor time that this process used so far.
func processSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}
