package queue

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"weftline/engine/queue/balance"
	"weftline/engine/queue/order"
	"weftline/queries"
)

const (
	// tableAge is how old a table of workers may be that entries are dealt by.
	tableAge = 50 * time.Millisecond
	// ownShareAge is the same for the question whether a start may stay where it came.
	ownShareAge = 250 * time.Millisecond
	// patience: what has waited longer is for whoever takes it, so that a worker that does not come for its
	// part delays nothing by more.
	patience = time.Second
)

// shares deals what waits among the workers of the pool.
type shares struct {
	policy balance.Policy

	mu      sync.Mutex
	table   []balance.Worker // as of the last look, with what was taken here since
	looked  time.Time
	looking bool
	gives   bool // starts that this worker has no slot for are left to the others
}

// mine keeps of a line what is dealt to this worker, at most n, and what has waited so long that anybody may
// take it.
func (q *Queue) mine(ctx context.Context, line []order.Entry, n int, now time.Time) ([]order.Entry, error) {
	table, err := q.workers(ctx, tableAge)
	if err != nil {
		return nil, err
	}
	kept := deal(q.shares.policy, table, q.worker, line, now)
	kept = kept[:min(n, len(kept))]
	q.shares.took(q.worker, len(kept))
	return kept, nil
}

// deal answers what of a line a worker may take. One that is not in the table, because it has only just begun
// or is about to end, takes what is old.
func deal(policy balance.Policy, table []balance.Worker, worker uuid.UUID, line []order.Entry, now time.Time) []order.Entry {
	regions := make([]string, len(line))
	for i, e := range line {
		regions[i] = e.Region
	}
	var kept []order.Entry
	for i, to := range balance.Deal(policy, table, regions) {
		if to != balance.Nobody && table[to].ID == worker || now.Sub(line[i].Since) >= patience {
			kept = append(kept, line[i])
		}
	}
	return kept
}

// workers is the table of the pool, at most so old.
func (q *Queue) workers(ctx context.Context, age time.Duration) ([]balance.Worker, error) {
	s := &q.shares
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.looked) < age {
		return slices.Clone(s.table), nil
	}
	rows, err := q.q.PoolTable(ctx, q.serving.pool(), Lease.Seconds())
	if err != nil {
		return nil, err
	}
	gone, err := q.q.Unlocked(ctx, idsOf(rows))
	if err != nil {
		return nil, err
	}
	s.table = s.table[:0]
	for _, row := range rows {
		if slices.Contains(gone, row.ID) && row.ID != q.worker {
			continue // dealt nothing, or the first seconds after its death would pass in waiting for it
		}
		s.table = append(s.table, balance.Worker{ID: row.ID, Region: row.Region, Slots: int(row.Concurrency), Active: int(row.Active),
			Room: order.Room(int(row.Concurrency), int(row.Active)), Urgent: int(row.Urgent), Queued: int(row.QueueLength), CPU: row.CpuUsage, Memory: row.MemoryUsage})
	}
	s.looked, s.gives = time.Now(), !keeps(s.policy, s.table, q.worker)
	return slices.Clone(s.table), nil
}

func idsOf(rows []queries.PoolTableRow) []uuid.UUID {
	ids := make([]uuid.UUID, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	return ids
}

// took notes in the table what was taken since it was read.
func (s *shares) took(worker uuid.UUID, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.table {
		if s.table[i].ID == worker {
			s.table[i].Active += n
			s.table[i].Room = max(0, s.table[i].Room-n)
		}
	}
}

// MayKeep reports whether a start may stay with this worker, although its slots are taken: not when the others
// would be dealt all that fills their slots once. It answers by what was seen last and looks again behind the
// back of the asker, whom it does not hold up.
func (q *Queue) MayKeep(ctx context.Context) bool {
	s := &q.shares
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.looked) >= ownShareAge && !s.looking {
		s.looking = true
		go func() {
			_, _ = q.workers(ctx, ownShareAge) // what cannot be read changes nothing
			s.mu.Lock()
			s.looking = false
			s.mu.Unlock()
		}()
	}
	return !s.gives
}

func keeps(policy balance.Policy, table []balance.Worker, worker uuid.UUID) bool {
	slots := 0
	for _, w := range table {
		slots += w.Slots
	}
	me := slices.IndexFunc(table, func(w balance.Worker) bool { return w.ID == worker })
	return me < 0 || policy(table, "", slots)[me] > 0
}
