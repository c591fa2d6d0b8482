package bench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	boundFor         = 2 * time.Second
	boundConnections = 4   // as many as flush in parallel
	boundRows        = 100 // of one insert and commit
	boundBytes       = 300 // of one row
)

// bound is how many rows a second this PostgreSQL takes at all: inserts of 100 rows of 300 bytes, each its own
// commit, from a few connections. No engine that stores a row a step can do more steps.
func bound(ctx context.Context, url string) (rowsPerSecond float64, err error) {
	connections := make([]*pgx.Conn, boundConnections)
	for i := range connections {
		if connections[i], err = pgx.Connect(ctx, url); err != nil {
			return 0, err
		}
		defer func() { _ = connections[i].Close(ctx) }()
	}
	if _, err := connections[0].Exec(ctx, `create table bench_bound (id bigint generated always as identity primary key, body text not null)`); err != nil {
		return 0, err
	}
	insert := fmt.Sprintf(`insert into bench_bound (body) select repeat('x', %d) from generate_series(1, %d)`, boundBytes, boundRows)
	var inserts atomic.Int64
	var writers sync.WaitGroup
	failures := make(chan error, boundConnections)
	began := time.Now()
	for _, conn := range connections {
		writers.Go(func() {
			for time.Since(began) < boundFor {
				if _, err := conn.Exec(ctx, insert); err != nil {
					failures <- err
					return
				}
				inserts.Add(1)
			}
		})
	}
	writers.Wait()
	seconds := time.Since(began).Seconds()
	select {
	case err := <-failures:
		return 0, err
	default:
		return float64(inserts.Load()*boundRows) / seconds, nil
	}
}

const commitsMeasured = 200

// commitLatency is the median in milliseconds of committing one row, one after the other on one connection.
func commitLatency(ctx context.Context, url string) (milliseconds float64, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close(ctx) }()
	insert := fmt.Sprintf(`insert into bench_bound (body) values (repeat('x', %d))`, boundBytes)
	var took []float64
	for range commitsMeasured {
		if err := timed(&took, func() error { _, err := conn.Exec(ctx, insert); return err }); err != nil {
			return 0, err
		}
	}
	return percentile(sorted(took), 0.5), nil
}
