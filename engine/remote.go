package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine/activity"
	"weftline/engine/queue"
	"weftline/queries"
)

// RemoteWorkers are programs that poll over HTTP for the tasks they registered for. A worker belongs to the
// team and the name of the credential that registered it; to anybody else it is unknown.
type RemoteWorkers interface {
	RegisterWorker(ctx context.Context, who Who, request WorkerRequest) (WorkerTicket, error)
	// WorkerHeartbeat renews the leases that the worker names and answers those it lost. An unknown, stopped
	// or replaced worker is a conflict, here and in the other calls.
	WorkerHeartbeat(ctx context.Context, who Who, id uuid.UUID, beat WorkerBeat) (WorkerOrders, error)
	// PollWork waits until there is work for the worker, at most as long as it asks for.
	PollWork(ctx context.Context, who Who, id uuid.UUID, poll WorkPoll) (WorkItems, error)
	// DrainWorker gives the worker nothing new; it is stopped when its last lease ends.
	DrainWorker(ctx context.Context, who Who, id uuid.UUID) (WorkerOrders, error)
	// CompleteWork and FailWork end a leased attempt. The answer may hold the next attempt of the same
	// execution, under the same lease.
	CompleteWork(ctx context.Context, who Who, lease uuid.UUID, result WorkResult) (WorkAnswer, error)
	FailWork(ctx context.Context, who Who, lease uuid.UUID, failure WorkFailure) (WorkAnswer, error)
	// RenewWork extends one lease.
	RenewWork(ctx context.Context, who Who, lease uuid.UUID, progress WorkProgress) (WorkRenewal, error)
}

// WorkerRequest is what a remote worker says of itself. Activities are names of tasks; CPU counts cores, Memory
// bytes; Workflows and Queues empty are all. Replaces names an earlier registration whose place this one takes.
type WorkerRequest struct {
	Hostname       string            `json:"hostname"`
	Version        string            `json:"version"`
	CPU            int               `json:"cpu"`
	Memory         int64             `json:"memory"`
	Architecture   string            `json:"architecture"`
	Region         string            `json:"region"`
	Zone           string            `json:"zone"`
	Activities     []string          `json:"activities"`
	Labels         map[string]string `json:"labels"`
	Workflows      []string          `json:"workflows"`
	Queues         []string          `json:"queues"`
	MaxConcurrency int               `json:"maxConcurrency"`
	Replaces       *uuid.UUID        `json:"replaces"`
}

// WorkerTicket answers a registration.
type WorkerTicket struct {
	WorkerID          uuid.UUID `json:"workerId"`
	HeartbeatInterval string    `json:"heartbeatInterval"`
	LeaseSeconds      int       `json:"leaseSeconds"`
}

// WorkerBeat is a heartbeat; CPUUsage and MemoryUsage are shares from 0 to 1.
type WorkerBeat struct {
	At                    *time.Time  `json:"at"`
	ActiveExecutions      int         `json:"activeExecutions"`
	CPUUsage              float64     `json:"cpuUsage"`
	MemoryUsage           float64     `json:"memoryUsage"`
	QueueLength           int         `json:"queueLength"`
	Leases                []uuid.UUID `json:"leases"`
	LastCompletedActivity string      `json:"lastCompletedActivity"`
}

// WorkerOrders answer a heartbeat: the leases that are lost, and whether the worker is to take nothing new.
type WorkerOrders struct {
	Lost  []uuid.UUID `json:"lost"`
	Drain bool        `json:"drain"`
	State string      `json:"state"`
}

const (
	mostNames       = 200  // activities, labels or queues of a worker
	longestName     = 200  // bytes of one
	mostConcurrency = 1000 // attempts that a remote worker may hold
)

// check refuses what cannot be a worker.
func (w *WorkerRequest) check() error {
	if w.MaxConcurrency == 0 {
		w.MaxConcurrency = 1
	}
	switch {
	case strings.TrimSpace(w.Hostname) == "":
		return Refuse("invalid_input", "hostname is required: it is how people find the worker")
	case len(w.Activities) == 0:
		return Refuse("invalid_input", "activities is required: name the tasks that the worker runs")
	case w.MaxConcurrency < 1 || w.MaxConcurrency > mostConcurrency:
		return Refuse("invalid_input", fmt.Sprintf("maxConcurrency is %d: from 1 to %d", w.MaxConcurrency, mostConcurrency))
	case w.CPU < 0 || w.CPU > 1<<20 || w.Memory < 0:
		return Refuse("invalid_input", "cpu counts cores and memory bytes; neither can be negative")
	case len(w.Activities) > mostNames || len(w.Labels) > mostNames || len(w.Workflows) > mostNames || len(w.Queues) > mostNames:
		return Refuse("invalid_input", fmt.Sprintf("a worker has at most %d activities, labels, workflows and queues", mostNames))
	}
	names := slices.Concat([]string{w.Hostname}, w.Activities, w.Workflows, w.Queues, slices.Collect(maps.Keys(w.Labels)))
	for _, name := range names {
		if name == "" || len(name) > longestName || strings.ContainsRune(name, 0) {
			return Refuse("invalid_input", fmt.Sprintf("%q is no name: 1 to %d bytes", name, longestName))
		}
	}
	for _, value := range slices.Concat([]string{w.Version, w.Architecture, w.Region, w.Zone}, slices.Collect(maps.Values(w.Labels))) {
		if len(value) > longestName || strings.ContainsRune(value, 0) {
			return Refuse("invalid_input", fmt.Sprintf("%q is too long: at most %d bytes", value, longestName))
		}
	}
	return nil
}

// RegisterWorker makes a remote worker known.
func (r *runs) RegisterWorker(ctx context.Context, who Who, request WorkerRequest) (WorkerTicket, error) {
	if err := request.check(); err != nil {
		return WorkerTicket{}, err
	}
	id := uuid.Must(uuid.NewV7())
	err := pgx.BeginFunc(ctx, r.db, func(tx pgx.Tx) error {
		q := r.q.WithTx(tx)
		if err := replace(ctx, q, who, request.Replaces, id); err != nil {
			return err
		}
		err := queue.Register(ctx, q, queue.Worker{ID: id, Kind: queue.KindRemote, Team: &who.Team, RegisteredBy: who.User,
			Hostname: request.Hostname, Version: request.Version, Region: request.Region, Zone: request.Zone, Architecture: request.Architecture,
			CPU: request.CPU, Memory: request.Memory, Labels: request.Labels, Activities: request.Activities, Workflows: request.Workflows, Queues: request.Queues,
			Concurrency: request.MaxConcurrency})
		if err != nil {
			return err
		}
		return record(ctx, q, who, act{action: "worker.registered", target: id.String(), name: request.Hostname,
			after: map[string]any{"activities": request.Activities, "workflows": request.Workflows, "queues": request.Queues, "labels": request.Labels}})
	})
	if err != nil {
		return WorkerTicket{}, err
	}
	r.log.Info("a remote worker registered", "worker", id, "hostname", request.Hostname, "user", who.User)
	return WorkerTicket{WorkerID: id, HeartbeatInterval: queue.Heartbeat.String(), LeaseSeconds: int(queue.Lease.Seconds())}, nil
}

// replace stops the worker whose place a new one takes; its leases end now.
func replace(ctx context.Context, q *queries.Queries, who Who, old *uuid.UUID, by uuid.UUID) error {
	if old == nil {
		return nil
	}
	n, err := q.ReplaceWorker(ctx, &by, *old, &who.Team, who.User)
	if err != nil {
		return err
	}
	if n == 0 {
		return Refuse("conflict", fmt.Sprintf("there is no worker %s of yours to replace", *old))
	}
	return q.AbandonWork(ctx, old)
}

// remote is a registered remote worker with what it holds.
type remote struct {
	queries.RemoteWorkerRow
	labels map[string]string
}

// remoteWorker finds a worker of the asker that may still speak.
func (r *runs) remoteWorker(ctx context.Context, who Who, id uuid.UUID) (remote, error) {
	row, err := r.q.RemoteWorker(ctx, id, &who.Team, who.User)
	if errors.Is(err, pgx.ErrNoRows) {
		return remote{}, Refuse("conflict", fmt.Sprintf("the worker %s is not known: register again", id))
	}
	if err != nil {
		return remote{}, err
	}
	if row.ReplacedBy != nil {
		return remote{}, Refuse("conflict", fmt.Sprintf("the worker %s was replaced by %s", id, *row.ReplacedBy))
	}
	if row.State == queue.StateStopped {
		return remote{}, Refuse("conflict", fmt.Sprintf("the worker %s is stopped: register again", id))
	}
	labels, err := labelsOf(row.Labels)
	return remote{row, queue.AllLabels(labels, row.Region, row.Zone)}, err
}

func (w remote) draining() bool { return w.State == queue.StateDraining }

// room is how many more attempts the worker may hold.
func (w remote) room() int { return max(0, int(w.Concurrency)-int(w.Held)) }

// fit is what the worker may be given.
func (w remote) fit(team uuid.UUID) queue.Fit {
	needs := make([]string, len(w.Activities))
	for i, task := range w.Activities {
		needs[i] = activity.RemoteTask(task)
	}
	return queue.Fit{Worker: w.ID, Team: &team, Needs: needs, Labels: w.labels, Workflows: w.Workflows, Queues: w.Queues}
}

// settleWorker moves a worker to the state that follows from what it holds.
func (r *runs) settleWorker(ctx context.Context, w remote, held int) (string, error) {
	to := queue.Working(held, w.draining())
	if w.draining() && held == 0 {
		to = queue.StateStopped
	}
	if to == w.State || !queue.MayMove(w.State, to) {
		return w.State, nil
	}
	_, err := r.q.MoveWorker(ctx, to, w.ID, w.State)
	return to, err
}

// WorkerHeartbeat says that a worker lives and renews its leases.
func (r *runs) WorkerHeartbeat(ctx context.Context, who Who, id uuid.UUID, beat WorkerBeat) (WorkerOrders, error) {
	w, err := r.remoteWorker(ctx, who, id)
	if err != nil {
		return WorkerOrders{}, err
	}
	err = r.q.RemoteHeartbeat(ctx, queries.RemoteHeartbeatParams{ID: id, Active: int32(min(max(beat.ActiveExecutions, 0), mostConcurrency)),
		CpuUsage: beat.CPUUsage, MemoryUsage: beat.MemoryUsage, QueueLength: int32(min(max(beat.QueueLength, 0), 1<<30)),
		LastActivity: strings.ReplaceAll(beat.LastCompletedActivity, "\x00", "")})
	if err != nil {
		return WorkerOrders{}, err
	}
	held, err := r.works.Renew(ctx, id, beat.Leases)
	if err != nil {
		return WorkerOrders{}, err
	}
	orders := WorkerOrders{Lost: []uuid.UUID{}, Drain: w.draining()}
	for _, lease := range beat.Leases {
		if _, still := held[lease]; !still {
			orders.Lost = append(orders.Lost, lease)
		}
	}
	orders.State, err = r.settleWorker(ctx, w, int(w.Held))
	return orders, err
}

// DrainWorker gives a worker nothing new.
func (r *runs) DrainWorker(ctx context.Context, who Who, id uuid.UUID) (WorkerOrders, error) {
	w, err := r.remoteWorker(ctx, who, id)
	if err != nil {
		return WorkerOrders{}, err
	}
	if !w.draining() {
		err := inTx(ctx, r.db, func(q *queries.Queries) error {
			if moved, err := q.MoveWorker(ctx, queue.StateDraining, id, w.State); err != nil || moved == 0 {
				return err
			}
			return record(ctx, q, who, act{action: "worker.drained", target: id.String(), name: w.Hostname})
		})
		if err != nil {
			return WorkerOrders{}, err
		}
		w.State = queue.StateDraining
	}
	state, err := r.settleWorker(ctx, w, int(w.Held))
	return WorkerOrders{Lost: []uuid.UUID{}, Drain: true, State: state}, err
}

func labelsOf(encoded json.RawMessage) (map[string]string, error) {
	labels := map[string]string{}
	return labels, json.Unmarshal(encoded, &labels)
}
