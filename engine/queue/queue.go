// Package queue owns who drives what: claims of ready executions by partition, the registry of workers
// with their heartbeats, and the takeover of what dead workers left. It must not know histories or what an
// execution does.
package queue

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"weftline/engine/queue/balance"
	"weftline/engine/queue/order"
	"weftline/queries"
)

const (
	// Lease is how long a worker's claims outlive its last heartbeat.
	Lease = 10 * time.Second
	// Heartbeat is the pause between two heartbeats.
	Heartbeat = 5 * time.Second

	// turnMargin is how far below what is done a claim still looks: priorities move turns by
	// up to 30 s each way, and a transaction may commit after its turn was read.
	turnMargin = 90 * time.Second
	// fullScan is the pause between two claims that look at everything.
	fullScan = 30 * time.Second
)

// Queue is one worker's view of the ready executions.
type Queue struct {
	q       *queries.Queries
	worker  uuid.UUID
	serving Serving
	policy  order.Policy
	shares  shares

	mu       sync.Mutex
	done     map[uuid.UUID]time.Time // up to which turn the line of a team was claimed
	lastFull time.Time
	suspects map[uuid.UUID]time.Time // workers seen without their session lock, since when

	owners     []uuid.UUID // who owned something at the last look at all of them
	lastOwners time.Time

	attended uuid.UUID // up to which row the queue was looked through; of Attend alone
}

// New makes the view of a worker. It takes what it serves in the order of line, and shares it with other workers
// as share says.
func New(pool *pgxpool.Pool, worker uuid.UUID, serving Serving, line order.Policy, share balance.Policy) *Queue {
	return &Queue{q: queries.New(pool), worker: worker, serving: serving, policy: line, shares: shares{policy: share},
		done: map[uuid.UUID]time.Time{}, suspects: map[uuid.UUID]time.Time{}}
}

// Serving is what the worker claims.
func (q *Queue) Serving() Serving { return q.serving }

// Claim is an execution that this worker owns from now on. Wakes is how often it had been woken by then;
// LostBy is the dead owner it was taken from, or Nil; Waited is how long it had been ready.
type Claim struct {
	Execution uuid.UUID
	Wakes     int64
	LostBy    uuid.UUID
	LostSince time.Time // since when the dead owner had it
	Crashed   bool      // the dead owner was not being stopped
	Crashes   int       // how often its process crashed in a row, this time included; of those taken over
	Waited    time.Duration
	Attends   bool // it is owned for a moment, see Attend
}

// Claim takes at most n executions that nobody owns, in the order of the policy. running is what this worker
// drives already, by team. Alone: there is no other worker to share it with. More reports that others are waiting
// still, or may be, since as many were found as were asked for.
func (q *Queue) Claim(ctx context.Context, n int, running map[uuid.UUID]int, now time.Time, alone bool) (claims []Claim, more bool, err error) {
	teams, from := q.lowWatermarks(time.Now())
	atOnce := 0
	if alone {
		atOnce = n
	}
	rows, err := q.claimReady(ctx, teams, from, n, atOnce)
	if err != nil {
		return nil, false, err
	}
	found := make(map[uuid.UUID]queries.ClaimReadyRow, len(rows))
	entries := make([]order.Entry, len(rows))
	for i, row := range rows {
		found[row.ExecutionID] = row
		entries[i] = order.Entry{Execution: row.ExecutionID, Team: row.TeamID, Priority: row.Priority, Since: row.Since, Weight: int(row.Weight), Region: row.Region}
		if row.Deadline != nil {
			entries[i].Deadline = *row.Deadline
		}
	}
	line := q.policy(entries, running, now)
	if !alone && len(line) > 0 {
		if line, err = q.mine(ctx, line, n, now); err != nil {
			return nil, false, err
		}
	}
	line = line[:min(n, len(line))]
	more = len(line) < len(rows) || len(rows) >= n
	wakes := map[uuid.UUID]int64{}
	if len(line) > 0 && len(rows) > atOnce {
		if wakes, err = q.take(ctx, line); err != nil {
			return nil, false, err
		}
	}
	for _, e := range line {
		if w := max(found[e.Execution].Wakes, wakes[e.Execution]); w > 0 {
			claims = append(claims, Claim{Execution: e.Execution, Wakes: w, Waited: now.Sub(e.Since)})
		}
	}
	q.remember(rows, claims)
	return claims, more, nil
}

// claimReady reads the first n of each line and takes them if they are no more than atOnce.
func (q *Queue) claimReady(ctx context.Context, teams []uuid.UUID, from []time.Time, n, atOnce int) ([]queries.ClaimReadyRow, error) {
	return q.q.ClaimReady(ctx, queries.ClaimReadyParams{Teams: teams, FromTurns: from, Partitions: q.serving.Partitions, Queues: list(q.serving.Queues),
		Workflows: list(q.serving.Workflows), OfTeams: list(q.serving.Teams), Batch: int32(n), AtOnce: int32(atOnce), Owner: &q.worker})
}

// take claims what was chosen, unless others were faster.
func (q *Queue) take(ctx context.Context, line []order.Entry) (wakes map[uuid.UUID]int64, err error) {
	ids := make([]uuid.UUID, len(line))
	for i, e := range line {
		ids[i] = e.Execution
	}
	rows, err := q.q.TakeReady(ctx, &q.worker, ids)
	wakes = make(map[uuid.UUID]int64, len(rows))
	for _, row := range rows {
		wakes[row.ExecutionID] = row.Wakes
	}
	return wakes, err
}

// remember notes up to which turn the lines of teams are done: to the first that was left, else to the last.
func (q *Queue) remember(rows []queries.ClaimReadyRow, claims []Claim) {
	taken := make(map[uuid.UUID]bool, len(claims))
	for _, claim := range claims {
		taken[claim.Execution] = true
	}
	left, last := map[uuid.UUID]time.Time{}, map[uuid.UUID]time.Time{}
	for _, row := range rows {
		if first, any := left[row.TeamID]; !taken[row.ExecutionID] && (!any || row.Turn.Before(first)) {
			left[row.TeamID] = row.Turn
		}
		if row.Turn.After(last[row.TeamID]) {
			last[row.TeamID] = row.Turn
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for team, turn := range last {
		if first, any := left[team]; any {
			turn = first
		}
		if turn.After(q.done[team]) {
			q.done[team] = turn
		}
	}
}

// lowWatermarks is where a claim begins to look in the line of each team. Entries of rows that are gone stay in
// the index as long as any transaction may see them; walking over them at each claim would stop the queue.
func (q *Queue) lowWatermarks(now time.Time) (teams []uuid.UUID, from []time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if now.Sub(q.lastFull) >= fullScan {
		q.lastFull = now
		clear(q.done)
	}
	for team, turn := range q.done {
		teams, from = append(teams, team), append(from, turn.Add(-turnMargin))
	}
	return teams, from
}

// MostUrgent is the highest level of what has no owner; ok is false when nothing waits.
func (q *Queue) MostUrgent(ctx context.Context, now time.Time) (level int, ok bool, err error) {
	heads, err := q.claimReady(ctx, nil, nil, 1, 0)
	for _, head := range heads {
		level, ok = max(level, order.Level(head.Priority, head.Since, now)), true
	}
	return level, ok, err
}

// Suspected is from how many crashes in a row on an execution may be what brings its process down. It is counted
// when it is taken over.
const Suspected = 2

// Group is how many suspected executions that were lost so often in a row a worker may take over.
type Group struct{ Crashes, Most int }

// TakeOver takes at most n executions whose owners are dead: of those that are not suspected as many as there are, and of
// the suspected those of the first group that there are any of. What was lost aside times or more is taken whatever the
// groups say: it is not to be driven.
func (q *Queue) TakeOver(ctx context.Context, n int, groups []Group, aside int) ([]Claim, error) {
	dead, err := q.deadOwners(ctx)
	if err != nil || len(dead) == 0 {
		return nil, err
	}
	params := queries.TakeOverReadyParams{Dead: dead, Queues: q.serving.Queues, Workflows: q.serving.Workflows, OfTeams: q.serving.Teams}
	take := func(least, most, batch int) (taken []Claim, err error) {
		if batch <= 0 || most < least {
			return nil, nil
		}
		params.Least, params.Most, params.Batch = int32(least-1), int32(most-1), int32(batch)
		return q.takeOver(ctx, params)
	}
	claims, err := take(1, min(Suspected, aside)-1, n)
	if err != nil {
		return claims, err
	}
	guilty, err := take(aside, math.MaxInt32, n-len(claims))
	claims = append(claims, guilty...)
	for _, g := range groups {
		if err != nil {
			break
		}
		var suspected []Claim
		suspected, err = take(g.Crashes, g.Crashes, min(g.Most, n-len(claims)))
		claims = append(claims, suspected...)
		if len(suspected) > 0 {
			break
		}
	}
	return claims, err
}

// takeOver takes what the parameters say; lists that are nil are empty.
func (q *Queue) takeOver(ctx context.Context, params queries.TakeOverReadyParams) ([]Claim, error) {
	params.Owner, params.Ids = &q.worker, append([]uuid.UUID{}, params.Ids...)
	params.Queues, params.Workflows, params.OfTeams = list(params.Queues), list(params.Workflows), list(params.OfTeams)
	rows, err := q.q.TakeOverReady(ctx, params)
	claims := make([]Claim, len(rows))
	for i, row := range rows {
		claims[i] = Claim{Execution: row.ExecutionID, Wakes: row.Wakes, LostBy: row.LostBy, Crashed: row.Crashed, Crashes: int(row.Crashes)}
		if row.ClaimedAt != nil {
			claims[i].LostSince = *row.ClaimedAt
		}
	}
	return claims, err
}

// GiveBack releases claims that were never begun.
func (q *Queue) GiveBack(ctx context.Context, ids []uuid.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	return q.q.ReleaseReady(ctx, &q.worker, ids)
}

// Unread lists those of the executions that have messages.
func (q *Queue) Unread(ctx context.Context, ids []uuid.UUID) ([]uuid.UUID, error) {
	return q.q.UnreadAmong(ctx, ids)
}

// Owned lists the executions that this worker owns.
func (q *Queue) Owned(ctx context.Context) ([]uuid.UUID, error) { return q.q.OwnedBy(ctx, &q.worker) }

// Depth is a line of the queue's depth. Unserved are those of the ready that no living worker takes; OldestAge is in
// seconds.
type Depth struct {
	Key                     string
	Ready, Leased, Unserved int
	OldestAge               float64
}

// Depths lists the queue of a team by partition, queue, workflow, priority or team; ok is false for another word.
func Depths(ctx context.Context, db queries.DBTX, team uuid.UUID, by string) (depths []Depth, ok bool, err error) {
	if depths, ok, err = depthsBy(ctx, queries.New(db), team, by); err != nil || !ok {
		return nil, ok, err
	}
	unserved, err := FindUnserved(ctx, db, &team)
	addUnserved(depths, by, unserved)
	return depths, true, err
}

func depthsBy(ctx context.Context, q *queries.Queries, team uuid.UUID, by string) (depths []Depth, ok bool, err error) {
	switch by {
	case "", "partition":
		rows, err := q.QueueByPartition(ctx, team)
		return depthsOf(rows, func(r queries.QueueByPartitionRow) Depth {
			return Depth{Key: r.Key, Ready: int(r.Depth), Leased: int(r.Leased), OldestAge: r.OldestAge}
		}), true, err
	case "workflow":
		rows, err := q.QueueByWorkflow(ctx, team)
		return depthsOf(rows, func(r queries.QueueByWorkflowRow) Depth {
			return Depth{Key: r.Key, Ready: int(r.Depth), Leased: int(r.Leased), OldestAge: r.OldestAge}
		}), true, err
	case "priority":
		rows, err := q.QueueByPriority(ctx, team)
		return depthsOf(rows, func(r queries.QueueByPriorityRow) Depth {
			return Depth{Key: r.Key, Ready: int(r.Depth), Leased: int(r.Leased), OldestAge: r.OldestAge}
		}), true, err
	case "queue":
		rows, err := q.QueueByQueue(ctx, team)
		return depthsOf(rows, func(r queries.QueueByQueueRow) Depth {
			return Depth{Key: r.Key, Ready: int(r.Depth), Leased: int(r.Leased), OldestAge: r.OldestAge}
		}), true, err
	case "team":
		rows, err := q.QueueByTeam(ctx, team)
		return depthsOf(rows, func(r queries.QueueByTeamRow) Depth {
			return Depth{Key: r.Key, Ready: int(r.Depth), Leased: int(r.Leased), OldestAge: r.OldestAge}
		}), true, err
	}
	return nil, false, nil
}

func depthsOf[R any](rows []R, depth func(R) Depth) []Depth {
	depths := make([]Depth, len(rows))
	for i, row := range rows {
		depths[i] = depth(row)
	}
	return depths
}
