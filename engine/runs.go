package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine/execution"
	"weftline/engine/flow"
	"weftline/engine/queue"
	"weftline/engine/store"
	"weftline/engine/worker"
	"weftline/queries"
)

// runs implements Runs.
type runs struct {
	db           queries.Pool
	q            *queries.Queries
	store        *store.Store
	pool         *worker.Pool
	works        *queue.Works
	watch        func(team uuid.UUID, f func(Change)) (stop func())
	policies     *policies
	gauge        *gauge
	payloadLimit int // bytes
	outputLimit  int // bytes
	log          *slog.Logger
}

// noExecution is the answer for an id that the team does not have.
func noExecution(id uuid.UUID) error {
	return Refuse("not_found", fmt.Sprintf("there is no execution %s", id))
}

// row finds an execution of the asker's team.
func (r *runs) row(ctx context.Context, who Who, id uuid.UUID) (queries.ExecutionByIDRow, error) {
	row, err := r.store.Execution(ctx, who.Team, id)
	if errors.Is(err, store.ErrNotFound) {
		return row, noExecution(id)
	}
	return row, err
}

type executionCursor struct {
	At time.Time
	ID uuid.UUID
}

// Executions lists executions, newest first.
func (r *runs) Executions(ctx context.Context, who Who, filter ExecutionFilter) (Page[ExecutionSummary], error) {
	none := Page[ExecutionSummary]{}
	before, err := decodeCursor[executionCursor](filter.Cursor)
	if err != nil {
		return none, err
	}
	if err := checkSort(filter.Sort); err != nil {
		return none, err
	}
	f := store.Filter{Team: who.Team, Workflow: filter.Workflow, Status: filter.Status, Version: filter.Version,
		CorrelationID: filter.CorrelationID, Labels: filter.Labels, StartedAfter: filter.StartedAfter,
		StartedBefore: filter.StartedBefore, UpdatedAfter: filter.UpdatedAfter, Search: filter.Query, Limit: int(filter.size()) + 1}
	if filter.Cursor != "" {
		f.Before, f.BeforeID = &before.At, before.ID
	}
	rows, err := r.store.Executions(ctx, f)
	if err != nil {
		return none, fmt.Errorf("list executions: %w", err)
	}
	page, err := paginate(rows, filter.PageRequest, summary, func(last store.Row) any { return executionCursor{At: last.CreatedAt, ID: last.ID} })
	if err != nil {
		return none, err
	}
	if err := r.sayWaits(ctx, who, page.Items); err != nil {
		return none, err
	}
	r.sayNames(ctx, who, page.Items)
	return page, r.sayUnserved(ctx, page.Items)
}

// sayUnserved adds to those that nobody alive would drive that this is what they wait for.
func (r *runs) sayUnserved(ctx context.Context, list []ExecutionSummary) error {
	var open []uuid.UUID
	for _, one := range list {
		if one.FinishedAt == nil {
			open = append(open, one.ID)
		}
	}
	if len(open) == 0 {
		return nil
	}
	unserved, err := r.q.UnservedAmong(ctx, open, queue.Lease.Seconds())
	if err != nil {
		return fmt.Errorf("list which executions no worker serves: %w", err)
	}
	for i := range list {
		if slices.Contains(unserved, list[i].ID) {
			list[i].WaitsFor = append([]WaitSummary{{Kind: waitUnserved}}, list[i].WaitsFor...)
		}
	}
	return nil
}

// sayWaits adds to those that wait what they wait for.
func (r *runs) sayWaits(ctx context.Context, who Who, list []ExecutionSummary) error {
	waiting := map[uuid.UUID]*ExecutionSummary{}
	for i := range list {
		if list[i].Status == execution.StatusWaiting {
			waiting[list[i].ID] = &list[i]
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	waits, err := r.store.WaitsOf(ctx, who.Team, slices.Collect(maps.Keys(waiting)))
	if err != nil {
		return fmt.Errorf("list what executions wait for: %w", err)
	}
	byTables := map[uuid.UUID][]WaitSummary{}
	for _, wait := range waits {
		byTables[wait.ExecutionID] = append(byTables[wait.ExecutionID], WaitSummary{Kind: wait.Kind, Activity: wait.Activity})
	}
	for id, first := range byTables {
		waiting[id].WaitsFor = append(first, waiting[id].WaitsFor...)
	}
	return nil
}

// sayNames adds the names of the activities at which executions wait. A version that this release cannot read has none.
func (r *runs) sayNames(ctx context.Context, who Who, list []ExecutionSummary) {
	for _, one := range list {
		if len(one.WaitsFor) == 0 {
			continue
		}
		definition, err := r.store.Library.Version(ctx, who.Team, one.Workflow, one.Version)
		if err != nil {
			continue
		}
		for i := range one.WaitsFor {
			one.WaitsFor[i].Name = definition.Workflow.NameOf(one.WaitsFor[i].Activity)
		}
	}
}

func checkSort(sort string) error {
	if sort == "" || sort == "-startedAt" {
		return nil
	}
	return Refuse("bad_request", "executions are sorted by -startedAt, newest first; "+sort+" is not offered")
}

func summary(row store.Row) ExecutionSummary {
	s := ExecutionSummary{ID: row.ID, Workflow: row.Workflow, Version: int(row.Version), Status: row.Status,
		CorrelationID: row.CorrelationID, Labels: map[string]string{}, Priority: row.Priority, StartedBy: row.StartedBy,
		StartedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, FinishedAt: row.FinishedAt}
	switch {
	case row.QuarantinedAt != nil:
		s.WaitsFor = []WaitSummary{{Kind: waitQuarantine}}
	case row.Status == execution.StatusWaiting || row.Status == execution.StatusScheduled:
		_ = json.Unmarshal(row.Waits, &s.WaitsFor) // written by the store; nothing is nothing to say
	}
	_ = json.Unmarshal(row.Labels, &s.Labels) // written by us as a map of texts
	if len(row.Error) > 0 {
		s.Error = storedError(row.Error)
	}
	return s
}

// storedError reads an error as the store wrote it, the numbers of its detail exactly.
func storedError(encoded []byte) *execution.Error {
	var stored struct {
		execution.Error
		Detail json.RawMessage `json:"detail"`
	}
	err := json.Unmarshal(encoded, &stored)
	if err == nil && len(stored.Detail) > 0 {
		stored.Error.Detail, err = store.DecodeValue(stored.Detail)
	}
	if err != nil {
		stored.Message = "the error cannot be read: " + err.Error()
	}
	return &stored.Error
}

// Execution is the snapshot of one execution: a query without side effects.
func (r *runs) Execution(ctx context.Context, who Who, id uuid.UUID) (ExecutionDetail, error) {
	row, err := r.row(ctx, who, id)
	if err != nil {
		return ExecutionDetail{}, err
	}
	loaded, err := r.store.LoadOne(ctx, id)
	if err != nil {
		return ExecutionDetail{}, fmt.Errorf("read execution %s: %w", id, err)
	}
	detail := snapshot(loaded, row)
	if err := r.addPlaceInLine(ctx, &detail); err != nil {
		return ExecutionDetail{}, err
	}
	if err := r.addUnservedWork(ctx, &detail); err != nil {
		return ExecutionDetail{}, err
	}
	if err := r.addOwner(ctx, &detail); err != nil {
		return ExecutionDetail{}, err
	}
	switch {
	case row.QuarantinedAt != nil:
		detail.Quarantine = &Quarantine{Since: *row.QuarantinedAt, Reason: textOf(row.Incident)}
		detail.Waits = append(detail.Waits, execution.WaitDetail{Kind: waitQuarantine, Since: *row.QuarantinedAt,
			Reason: "quarantined until a person releases it: " + textOf(row.Incident)})
	case row.Incident != nil:
		detail.Waits = append(detail.Waits, execution.WaitDetail{Kind: "retry", Since: row.UpdatedAt,
			Reason: "an internal fault keeps it from going on, it is tried again: " + *row.Incident})
	}
	return detail, nil
}

// stateOf is an execution as it stands, with the definition it runs on.
func (r *runs) stateOf(ctx context.Context, who Who, id uuid.UUID) (*flow.Workflow, *execution.State, error) {
	if _, err := r.row(ctx, who, id); err != nil {
		return nil, nil, err
	}
	loaded, err := r.store.LoadOne(ctx, id)
	if err != nil {
		return nil, nil, fmt.Errorf("read execution %s: %w", id, err)
	}
	return loaded.Definition.Workflow, loaded.State, nil
}

// Kinds of wait of an execution that could go on, but is in line for a worker, has nobody alive who would take it, or is
// set aside.
const (
	waitQueue      = "queue"
	waitUnserved   = "unserved"
	waitQuarantine = "quarantine"
)

func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// addOwner says who drives an execution and how fresh what is stored is.
func (r *runs) addOwner(ctx context.Context, detail *ExecutionDetail) error {
	if detail.OwnerWorker == nil || execution.IsTerminal(detail.Status) {
		return nil
	}
	owner, err := r.q.OwnerOf(ctx, detail.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // it has just let go
	}
	if err != nil {
		return fmt.Errorf("read the owner of execution %s: %w", detail.ID, err)
	}
	detail.OwnerHost, detail.SavedAt = owner.Hostname, &owner.SavedAt
	return nil
}

// StateAt is the snapshot as of an event.
func (r *runs) StateAt(ctx context.Context, who Who, id uuid.UUID, seq int64) (ExecutionDetail, error) {
	row, err := r.row(ctx, who, id)
	if err != nil {
		return ExecutionDetail{}, err
	}
	if seq < 1 {
		return ExecutionDetail{}, Refuse("bad_request", "the first event has the number 1")
	}
	loaded, err := r.store.StateAt(ctx, id, seq)
	if err != nil {
		return ExecutionDetail{}, fmt.Errorf("read execution %s at event %d: %w", id, seq, err)
	}
	return snapshot(loaded, row), nil
}

func snapshot(loaded *store.Loaded, row queries.ExecutionByIDRow) ExecutionDetail {
	detail := ExecutionDetail{ID: loaded.ID, Workflow: loaded.Definition.Name, Version: loaded.Definition.Number,
		Team: row.TeamName, Parent: loaded.Parent, ContentHash: loaded.Definition.Hash,
		Detail: execution.Describe(loaded.Definition.Workflow, loaded.State)}
	if row.Owner != nil && row.QuarantinedAt == nil {
		owner := row.Owner.String()
		detail.OwnerWorker = &owner
	}
	return detail
}

// Events is a part of a history.
func (r *runs) Events(ctx context.Context, who Who, id uuid.UUID, after int64, limit int) (EventPage, error) {
	row, err := r.row(ctx, who, id)
	if err != nil {
		return EventPage{}, err
	}
	if limit <= 0 {
		limit = largestPage
	}
	events, err := r.store.Events(ctx, id, after, limit)
	if err != nil {
		return EventPage{}, fmt.Errorf("read the history of execution %s: %w", id, err)
	}
	definition, err := r.store.Library.Version(ctx, who.Team, row.Workflow, int(row.Version))
	if err != nil {
		return EventPage{}, err
	}
	for i, event := range events {
		events[i] = execution.Masked(definition.Workflow, event)
	}
	page := EventPage{Events: events, Terminal: execution.IsTerminal(row.Status)}
	if page.LastSeq, err = r.store.LastSeq(ctx, id); err != nil {
		return EventPage{}, err
	}
	if n := len(events); n > 0 && events[n-1].Seq > page.LastSeq {
		page.LastSeq = events[n-1].Seq
	}
	return page, nil
}

// Definition is the text of the version that the execution runs on.
func (r *runs) Definition(ctx context.Context, who Who, id uuid.UUID) (Version, error) {
	v, err := r.store.VersionOf(ctx, who.Team, id)
	if errors.Is(err, store.ErrNotFound) {
		return Version{}, noExecution(id)
	}
	if err != nil {
		return Version{}, err
	}
	return Version{Workflow: v.Workflow, Version: int(v.Version), ContentHash: v.ContentHash, Label: v.Label,
		Message: v.Message, By: v.PublishedBy, At: v.PublishedAt, Text: string(v.Text)}, nil
}

// Queue is the depth of the team's queue by partition, queue, team, workflow or priority.
func (r *runs) Queue(ctx context.Context, who Who, by string) ([]QueueRow, error) {
	depths, ok, err := queue.Depths(ctx, r.db, who.Team, by)
	if err != nil {
		return nil, fmt.Errorf("read the queue: %w", err)
	}
	if !ok {
		return nil, Refuse("bad_request", "by is one of partition, queue, team, workflow, priority")
	}
	rows := make([]QueueRow, len(depths))
	for i, d := range depths {
		rows[i] = QueueRow{Key: d.Key, Depth: d.Ready, Leased: d.Leased, Unserved: d.Unserved, OldestAge: d.OldestAge}
	}
	return rows, nil
}

// Backlog is what waits for a worker over all teams; OldestAge is in seconds.
func (r *runs) Backlog(ctx context.Context) (QueueRow, error) { return backlogOf(r.q)(ctx) }

// Unserved is what waits, over all teams, for workers that nobody alive is; who waits longest comes first.
func (r *runs) Unserved(ctx context.Context) ([]queue.Unserved, error) {
	return queue.FindUnserved(ctx, r.db, nil)
}

// ServedBacklog is the backlog without what no worker that is alive takes; that is looked for only when somebody has
// waited for longer than most.
func (r *runs) ServedBacklog(ctx context.Context, most time.Duration) (QueueRow, error) {
	backlog, err := r.Backlog(ctx)
	if err != nil || backlog.OldestAge <= most.Seconds() {
		return backlog, err
	}
	row, err := r.q.OldestServed(ctx, queue.Lease.Seconds())
	return QueueRow{Key: "served", Depth: int(row.Depth), OldestAge: row.OldestAge}, err
}

func backlogOf(q *queries.Queries) func(context.Context) (QueueRow, error) {
	return func(ctx context.Context) (QueueRow, error) {
		row, err := q.OldestReady(ctx)
		return QueueRow{Key: "all", Depth: int(row.Depth), OldestAge: row.OldestAge}, err
	}
}

// WorkersByState counts the workers of all teams; lost ones are offline for an hour.
func (r *runs) WorkersByState(ctx context.Context) (map[string]int, error) {
	rows, err := r.q.WorkersByState(ctx, queue.Lease.Seconds())
	count := map[string]int{}
	for _, row := range rows {
		count[row.State] = int(row.Workers)
	}
	return count, err
}

// Workers lists the workers of the last day.
func (r *runs) Workers(ctx context.Context, who Who) ([]Worker, error) {
	registered, err := queue.Workers(ctx, r.q, who.Team)
	if err != nil {
		return nil, fmt.Errorf("list workers: %w", err)
	}
	workers := make([]Worker, len(registered))
	for i, w := range registered {
		workers[i] = Worker{ID: w.ID, Kind: w.Kind, Hostname: w.Hostname, Version: w.Version, State: w.State, Region: w.Region,
			Zone: w.Zone, Architecture: w.Architecture, CPU: int(w.Cpu), Memory: w.Memory, Labels: w.Labels,
			Activities: slices.Clone(w.Activities), Teams: slices.Clone(w.Teams), Workflows: slices.Clone(w.Workflows), Queues: slices.Clone(w.Queues), Concurrency: int(w.Concurrency), Active: int(w.Active),
			Leases: w.Leases, QueueLength: int(w.QueueLength), CPUUsage: w.CpuUsage, MemoryUsage: w.MemoryUsage,
			LastActivity: w.LastActivity, RegisteredBy: w.RegisteredBy, StartedAt: w.StartedAt, LastHeartbeat: w.HeartbeatAt}
	}
	return workers, nil
}
