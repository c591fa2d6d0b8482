package queue

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/queries"
)

// States of a worker. Offline is not stored: it is a worker whose heartbeat is older than the lease.
const (
	StateIdle     = "idle"
	StateBusy     = "busy"
	StateDraining = "draining"
	StateStopped  = "stopped"
	StateOffline  = "offline"
)

// lockGrace is how long a worker may be without its session lock before it counts as dead: a live one
// takes it again as soon as its connection is back.
const lockGrace = 500 * time.Millisecond

// Worker is what a worker says of itself when it registers.
type Worker struct {
	ID                              uuid.UUID
	Hostname, Version, Region, Zone string
	Labels                          map[string]string
	Activities                      []string
	Concurrency                     int
}

// Register makes the worker known and alive. Its id is its own: it is never used by another process.
func (q *Queue) Register(ctx context.Context, w Worker) error {
	labels, err := json.Marshal(w.Labels)
	if err != nil {
		return err
	}
	if w.Labels == nil {
		labels = []byte("{}")
	}
	return q.q.RegisterWorker(ctx, queries.RegisterWorkerParams{ID: w.ID, Hostname: w.Hostname, Version: w.Version,
		Region: w.Region, Zone: w.Zone, Labels: labels, Activities: append([]string{}, w.Activities...), Concurrency: int32(w.Concurrency)})
}

// Beat renews the worker's lease, and tells how many workers are alive, this one included, and what the
// database's clock says.
func (q *Queue) Beat(ctx context.Context, state string, active int) (alive int, now time.Time, err error) {
	row, err := q.q.Heartbeat(ctx, state, int32(active), q.worker, Lease.Seconds())
	return int(row.Alive), row.Now, err
}

// HoldLock takes the worker's session lock on a connection that stays open as long as the worker lives, so
// that others see at once when it is gone.
func (q *Queue) HoldLock(ctx context.Context, session *pgx.Conn) error {
	if _, err := session.Exec(ctx, `select pg_advisory_lock(worker_lock($1))`, q.worker); err != nil {
		return err
	}
	return q.q.DeclareSessionLock(ctx, q.worker)
}

// deadOwners finds the workers that own executions and hold no valid lease.
func (q *Queue) deadOwners(ctx context.Context) ([]uuid.UUID, error) {
	owners, err := q.q.OtherOwners(ctx, &q.worker)
	if err != nil || len(owners) == 0 {
		return nil, err
	}
	dead, err := q.q.AmongDead(ctx, owners, Lease.Seconds())
	if err != nil {
		return nil, err
	}
	unlocked, err := q.q.Unlocked(ctx, owners)
	if err != nil {
		return nil, err
	}
	return append(dead, q.lockLost(unlocked, time.Now())...), nil
}

// lockLost keeps those of the unlocked that have been so for longer than the grace.
func (q *Queue) lockLost(unlocked []uuid.UUID, now time.Time) []uuid.UUID {
	q.mu.Lock()
	defer q.mu.Unlock()
	since := map[uuid.UUID]time.Time{}
	var lost []uuid.UUID
	for _, id := range unlocked {
		first, known := q.suspects[id]
		if !known {
			first = now
		}
		since[id] = first
		if now.Sub(first) >= lockGrace {
			lost = append(lost, id)
		}
	}
	q.suspects = since
	return lost
}

// Registered is a worker as the registry shows it.
type Registered struct {
	queries.Worker
	Labels map[string]string
	State  string
}

// Workers lists the workers of the last day, newest first.
func Workers(ctx context.Context, q *queries.Queries) ([]Registered, error) {
	rows, err := q.ListWorkers(ctx, Lease.Seconds())
	if err != nil {
		return nil, err
	}
	workers := make([]Registered, len(rows))
	for i, row := range rows {
		workers[i] = Registered{State: row.State, Labels: map[string]string{}, Worker: queries.Worker{ID: row.ID,
			Hostname: row.Hostname, Version: row.Version, Region: row.Region, Zone: row.Zone, Activities: row.Activities,
			Concurrency: row.Concurrency, Active: row.Active, StartedAt: row.StartedAt, HeartbeatAt: row.HeartbeatAt}}
		if row.Silent {
			workers[i].State = StateOffline
		}
		if err := json.Unmarshal(row.Labels, &workers[i].Labels); err != nil {
			return nil, err
		}
	}
	return workers, nil
}
