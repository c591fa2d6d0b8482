package bench

import (
	"context"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"weftline/engine"
)

// Rest is what a replica does in ten seconds beside executions that sleep. Scans are sequential ones of large tables,
// Blocks what was read of them at all.
type Rest struct {
	Statements   float64          `json:"statementsPerSecond"`
	Scans        int64            `json:"sequentialScans"`
	Blocks       float64          `json:"blocksPerSecond"`
	CPUShare     float64          `json:"cpuShare"`      // of one core, this process
	ResidentSize int64            `json:"residentBytes"` // of this process, what the benchmark itself remembered given back
	Size         map[string]int64 `json:"tableBytes"`
}

const (
	restFor = 10 * time.Second
	settled = 3 * time.Second // until what the starts have left to do is done
	large   = 1000            // rows from which on a sequential scan counts
)

// statements counts what is sent to the database.
type statements struct{ sent atomic.Int64 }

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	s.sent.Add(1)
	return ctx
}

func (s *statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (s *statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (s *statements) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {
	s.sent.Add(1)
}

func (s *statements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// runSleepers puts executions to sleep for a year and looks what the replica does then.
func (m *measurement) runSleepers(ctx context.Context) (Result, error) {
	var rest Rest
	result, err := m.measure(ctx, func() (float64, error) {
		began := time.Now()
		err := m.startBatches(ctx, m.options.Instances, until(began.AddDate(1, 0, 0)), time.Time{})
		return time.Since(began).Seconds(), err
	})
	if err == nil {
		m.forget()
		debug.FreeOSMemory()
		rest, err = m.rest(ctx)
	}
	result.Rest = &rest
	return result, err
}

// rest measures ten seconds in which nothing is asked of the replica.
func (m *measurement) rest(ctx context.Context) (rest Rest, err error) {
	conn, err := pgx.Connect(ctx, m.options.DatabaseURL)
	if err != nil {
		return rest, err
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, `vacuum analyze`); err != nil { // autovacuum would do it in these ten seconds
		return rest, err
	}
	if err := pause(ctx, settled); err != nil {
		return rest, err
	}
	scans, blocks, err := tableReads(ctx, conn)
	if err != nil {
		return rest, err
	}
	sent, cpu := m.statements.sent.Load(), processSeconds()
	if err := pause(ctx, restFor); err != nil {
		return rest, err
	}
	rest.Statements = round(float64(m.statements.sent.Load()-sent) / restFor.Seconds())
	rest.CPUShare = round((processSeconds() - cpu) / restFor.Seconds())
	if err := pause(ctx, statisticsDelay); err != nil {
		return rest, err
	}
	rest.ResidentSize = residentSize()
	scansAfter, blocksAfter, err := tableReads(ctx, conn)
	if err != nil {
		return rest, err
	}
	rest.Scans, rest.Blocks = scansAfter-scans, round(float64(blocksAfter-blocks)/restFor.Seconds())
	_, rest.Size, err = readTables(ctx, m.options.DatabaseURL)
	return rest, err
}

// tableReads counts sequential scans of large tables so far, and blocks of them that were looked at.
func tableReads(ctx context.Context, conn *pgx.Conn) (scans, blocks int64, err error) {
	err = conn.QueryRow(ctx, `select coalesce(sum(t.seq_scan), 0)::bigint,
			coalesce(sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read + idx_blks_hit, 0)), 0)::bigint
		from pg_stat_user_tables t join pg_statio_user_tables using (relid) where t.n_live_tup >= $1`, large).Scan(&scans, &blocks)
	return scans, blocks, err
}

func pause(ctx context.Context, wait time.Duration) error {
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// startBatches starts executions by as few requests as a batch lets it. Latencies count from an instant, or from their
// request if that is zero.
func (m *measurement) startBatches(ctx context.Context, n int, input map[string]any, from time.Time) error {
	sizes := make(chan int, n/largestBatch+1)
	for ; n > 0; n -= largestBatch {
		sizes <- min(n, largestBatch)
	}
	return m.startAll(ctx, len(sizes), func(ctx context.Context) error {
		items := slices.Repeat([]engine.StartRequest{{Input: input}}, <-sizes)
		began := time.Now()
		if !from.IsZero() {
			began = from
		}
		ids, err := m.engine.StartBatch(ctx, m.who, workflowName, 0, items)
		for _, id := range ids {
			m.note(id, began)
		}
		return err
	})
}
