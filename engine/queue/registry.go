package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/queries"
)

// lockGrace is how long a worker may be without its session lock before it counts as dead: a live one
// takes it again as soon as its connection is back.
const lockGrace = 500 * time.Millisecond

// Kinds of worker.
const (
	KindReplica = "replica" // a pool of this program, which works for all teams
	KindRemote  = "remote"  // a program that polls over HTTP, for the team of its credential
)

// Worker is what a worker says of itself when it registers. CPU counts cores, Memory bytes.
type Worker struct {
	ID                              uuid.UUID
	Kind                            string
	Team                            *uuid.UUID // of a remote worker
	RegisteredBy                    string     // whose credential it was
	Hostname, Version, Region, Zone string
	Architecture                    string
	CPU                             int
	Memory                          int64
	Labels                          map[string]string
	Activities                      []string
	Teams, Workflows, Queues        []string // that it works for, empty = all
	Partitions                      []int16  // that it claims executions from, empty = all
	Pool                            string   // of a replica, see Serving
	Concurrency                     int
}

// AllLabels are a worker's labels and where it is, which affinity may name as well.
func AllLabels(labels map[string]string, region, zone string) map[string]string {
	all := map[string]string{"region": region, "zone": zone}
	maps.Copy(all, labels)
	return all
}

// Register makes the worker known and alive. Its id is its own: it is never used by another process.
func (q *Queue) Register(ctx context.Context, w Worker) error {
	w.Pool = q.serving.pool()
	if !q.serving.Every {
		w.Partitions = q.serving.Partitions
	}
	return Register(ctx, q.q, w)
}

// Register makes a worker known and alive.
func Register(ctx context.Context, q *queries.Queries, w Worker) error {
	labels, err := json.Marshal(w.Labels)
	if err != nil {
		return err
	}
	if w.Labels == nil {
		labels = []byte("{}")
	}
	return q.RegisterWorker(ctx, queries.RegisterWorkerParams{ID: w.ID, Hostname: w.Hostname, Version: w.Version,
		Region: w.Region, Zone: w.Zone, Labels: labels, Activities: append([]string{}, w.Activities...), Concurrency: int32(w.Concurrency),
		Kind: cmp.Or(w.Kind, KindReplica), TeamID: w.Team, RegisteredBy: w.RegisteredBy, Architecture: w.Architecture,
		Cpu: int32(w.CPU), Memory: w.Memory, Queues: list(w.Queues),
		Teams: list(w.Teams), Workflows: list(w.Workflows), Partitions: append([]int16{}, w.Partitions...), Pool: w.Pool})
}

// Load is how busy a worker is. Active counts executions, Waiting the attempts that wait for a slot; CPU and
// Memory are shares from 0 to 1 of what the machine has.
type Load struct {
	Active, Waiting int
	CPU, Memory     float64
}

// Beat renews the worker's lease, and tells how many replicas are alive, this one included, and what the
// database's clock says.
func (q *Queue) Beat(ctx context.Context, state string, load Load) (alive int, now time.Time, err error) {
	row, err := q.q.Heartbeat(ctx, queries.HeartbeatParams{State: state, Active: int32(load.Active), CpuUsage: load.CPU, MemoryUsage: load.Memory,
		QueueLength: int32(load.Waiting), ID: q.worker, LeaseSeconds: Lease.Seconds()})
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

// ownersLook is the pause between two looks at who owns something.
const ownersLook = 10 * time.Second

// deadOwners finds the workers that may own executions and hold no valid lease: among those who owned something at the
// last look at all owners, and all who were alive since.
func (q *Queue) deadOwners(ctx context.Context) ([]uuid.UUID, error) {
	known, err := q.knownOwners(ctx, time.Now())
	if err != nil {
		return nil, err
	}
	gone, err := q.q.GoneOwners(ctx, Lease.Seconds(), append([]uuid.UUID{}, known...), q.worker, (2 * (Lease + ownersLook)).Seconds())
	if err != nil {
		return nil, err
	}
	var dead, unlocked []uuid.UUID
	for _, owner := range gone {
		if owner.Dead {
			dead = append(dead, owner.ID)
		} else {
			unlocked = append(unlocked, owner.ID)
		}
	}
	return append(dead, q.lockLost(unlocked, time.Now())...), nil
}

// knownOwners are those who owned something at the last look.
func (q *Queue) knownOwners(ctx context.Context, now time.Time) ([]uuid.UUID, error) {
	q.mu.Lock()
	known, due := q.owners, now.Sub(q.lastOwners) >= ownersLook
	q.mu.Unlock()
	if !due {
		return known, nil
	}
	owners, err := q.q.OtherOwners(ctx, &q.worker)
	if err != nil {
		return nil, err
	}
	q.mu.Lock()
	q.owners, q.lastOwners = owners, now
	q.mu.Unlock()
	return owners, nil
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

// Registered is a worker as the registry shows it. Leases counts what it holds: executions that it owns and
// attempts that it makes for others.
type Registered struct {
	queries.Worker
	Labels map[string]string
	State  string
	Leases int
}

// Workers lists the workers of the last day that a team may see, newest first.
func Workers(ctx context.Context, q *queries.Queries, team uuid.UUID) ([]Registered, error) {
	rows, err := q.ListWorkers(ctx, Lease.Seconds(), &team)
	if err != nil {
		return nil, err
	}
	workers := make([]Registered, len(rows))
	for i, row := range rows {
		workers[i] = Registered{State: row.State, Labels: map[string]string{}, Leases: int(row.Leases), Worker: queries.Worker{ID: row.ID,
			Hostname: row.Hostname, Version: row.Version, Region: row.Region, Zone: row.Zone, Activities: row.Activities,
			Concurrency: row.Concurrency, Active: row.Active, StartedAt: row.StartedAt, HeartbeatAt: row.HeartbeatAt,
			Kind: row.Kind, Architecture: row.Architecture, Cpu: row.Cpu, Memory: row.Memory, Queues: row.Queues, Teams: row.Teams, Workflows: row.Workflows, CpuUsage: row.CpuUsage,
			MemoryUsage: row.MemoryUsage, QueueLength: row.QueueLength, LastActivity: row.LastActivity, RegisteredBy: row.RegisteredBy}}
		if row.Silent {
			workers[i].State = StateOffline
		}
		if err := json.Unmarshal(row.Labels, &workers[i].Labels); err != nil {
			return nil, err
		}
	}
	return workers, nil
}
