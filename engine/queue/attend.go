package queue

import (
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"weftline/queries"
)

// An execution that no living worker serves has nobody who would drive it. What needs no worker is applied to it all
// the same: messages (cancel, pause, a vote, a signal) and what is due (time-outs, deadlines). Any replica does so: it
// attends the execution, which is to own it for a moment and to give it back without starting anything.

// stretchOfQueue is how many rows of the queue one look for unattended executions reads, whatever they are.
const stretchOfQueue = 5000

// Attend takes executions that no living worker serves and that something happened to since they were attended last.
// Each look goes over the next stretch of the queue, so a long line costs each look the same.
func (q *Queue) Attend(ctx context.Context) ([]Claim, error) {
	if q.serving.All() {
		return nil, nil
	}
	if served, err := q.q.AllServed(ctx, Lease.Seconds()); err != nil || served {
		return nil, err
	}
	dead, err := q.deadOwners(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := q.q.Unattended(ctx, append([]uuid.UUID{}, dead...), q.attended, stretchOfQueue, Lease.Seconds())
	if err != nil {
		return nil, err
	}
	q.attended = uuid.Nil
	var free, lost []uuid.UUID
	for _, row := range rows {
		switch {
		case row.Last:
			q.attended = row.ExecutionID
		case row.Lost:
			lost = append(lost, row.ExecutionID)
		default:
			free = append(free, row.ExecutionID)
		}
	}
	claims, err := q.AttendTo(ctx, free...)
	if err != nil || len(lost) == 0 {
		return claims, err
	}
	taken, err := q.takeOver(ctx, queries.TakeOverReadyParams{Dead: dead, Ids: lost, Batch: int32(len(lost)), Most: math.MaxInt32})
	for _, claim := range taken {
		claim.Attends = true
		claims = append(claims, claim)
	}
	return claims, err
}

// AttendTo takes those of the executions that nobody owns, to apply to them what needs no worker.
func (q *Queue) AttendTo(ctx context.Context, ids ...uuid.UUID) ([]Claim, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := q.q.TakeReady(ctx, &q.worker, ids)
	claims := make([]Claim, len(rows))
	for i, row := range rows {
		claims[i] = Claim{Execution: row.ExecutionID, Wakes: row.Wakes, Attends: true}
	}
	return claims, err
}

// Unserved is what waits, of one kind, for a worker that nobody alive is. Oldest is in seconds.
type Unserved struct {
	Team      string  `json:"team"`
	Workflow  string  `json:"workflow"`
	Queue     string  `json:"queue"`
	Partition int     `json:"partition"`
	Priority  string  `json:"priority"`
	Depth     int     `json:"depth"`
	Oldest    float64 `json:"oldestReadySeconds"`
	Attempts  int     `json:"attempts,omitempty"` // instead of executions: offered in a queue that nobody serves
}

// FindUnserved lists what nobody alive serves, of a team or, for nil, of all; who waits longest comes first.
func FindUnserved(ctx context.Context, db queries.DBTX, team *uuid.UUID) ([]Unserved, error) {
	rows, err := queries.New(db).Unserved(ctx, Lease.Seconds(), team)
	unserved := make([]Unserved, len(rows))
	for i, row := range rows {
		unserved[i] = Unserved{Team: row.Team, Workflow: row.Workflow, Queue: row.Queue, Partition: int(row.Partition),
			Priority: row.Priority, Depth: int(row.Depth), Oldest: row.Oldest}
	}
	if err != nil {
		return nil, err
	}
	offered, err := queries.New(db).UnservedWork(ctx, Lease.Seconds(), team)
	for _, row := range offered {
		unserved = append(unserved, Unserved{Team: row.Team, Workflow: row.Workflow, Queue: row.Queue, Attempts: int(row.Depth), Oldest: row.Oldest})
	}
	return unserved, err
}

// SumUnserved is how many executions that are, and how long the first of them has waited, in seconds. Attempts of
// executions that others drive are not among them.
func SumUnserved(unserved []Unserved) (depth int, oldest float64) {
	for _, u := range unserved {
		if u.Depth == 0 {
			continue
		}
		depth, oldest = depth+u.Depth, max(oldest, u.Oldest)
	}
	return depth, oldest
}

// key is what a line of the queue's depth is called, by a word of Depths.
func (u Unserved) key(by string) string {
	switch by {
	case "workflow":
		return u.Workflow
	case "priority":
		return u.Priority
	case "queue":
		return u.Queue
	case "team":
		return u.Team
	}
	return strconv.Itoa(u.Partition)
}

// addUnserved says of each line how much of it nobody alive serves.
func addUnserved(depths []Depth, by string, unserved []Unserved) {
	for _, u := range unserved {
		if i := slices.IndexFunc(depths, func(d Depth) bool { return d.Key == u.key(by) }); i >= 0 {
			depths[i].Unserved += u.Depth
		}
	}
}
