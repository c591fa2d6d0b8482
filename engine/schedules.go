package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine/instants"
	"weftline/engine/store"
	"weftline/queries"
)

// Sources of schedules.
const (
	SourceAPI        = "api"
	SourceDefinition = "definition"
)

// Schedule starts a workflow by the clock.
type Schedule struct {
	ID       uuid.UUID `json:"id"`
	Workflow string    `json:"workflow"`
	Source   string    `json:"source"` // api, definition
	ScheduleSpec
	Input     any        `json:"input"` // null for one of a definition, whose input is computed for each tick
	Paused    bool       `json:"paused"`
	NextAt    *time.Time `json:"nextAt"` // the next planned instant; null when paused or over
	CreatedBy string     `json:"createdBy"`
	CreatedAt time.Time  `json:"createdAt"`
	UpdatedAt time.Time  `json:"updatedAt"`
	LastTicks []Tick     `json:"lastTicks,omitempty"` // newest first, in lists
}

// Tick is one due instant of a schedule and its final outcome; buffered is on the way to one.
type Tick struct {
	ScheduledAt time.Time  `json:"scheduledAt"`
	Outcome     string     `json:"outcome"` // started, skipped_overlap, skipped_late, skipped_calendar, skipped_limit, failed; buffered
	At          time.Time  `json:"at"`      // when it was decided
	Execution   *uuid.UUID `json:"execution,omitempty"`
	Backfill    *uuid.UUID `json:"backfill,omitempty"`
	Reason      string     `json:"reason,omitempty"`
}

// ScheduleFilter narrows the list of schedules.
type ScheduleFilter struct {
	PageRequest
	Workflow string
	Ticks    int // so many of the last ticks with each schedule
}

// scheduler decides about ticks and keeps schedules.
type scheduler struct {
	q     *queries.Queries
	store *store.Store
	runs  *runs
	turn  chan struct{} // of one: deciding holds a connection while it asks for others
	nudge func()        // a schedule may be due earlier than known
}

func newScheduler(q *queries.Queries, st *store.Store, r *runs, nudge func()) *scheduler {
	return &scheduler{q: q, store: st, runs: r, turn: make(chan struct{}, 1), nudge: nudge}
}

func noSchedule(id uuid.UUID) error {
	return Refuse("not_found", fmt.Sprintf("there is no schedule %s", id))
}

// Schedules lists the team's schedules.
func (s *scheduler) Schedules(ctx context.Context, who Who, filter ScheduleFilter) (Page[Schedule], error) {
	after, err := decodeCursor[uuid.UUID](filter.Cursor)
	if err != nil {
		return Page[Schedule]{}, err
	}
	var workflow *string
	if filter.Workflow != "" {
		workflow = &filter.Workflow
	}
	rows, err := s.q.ListSchedules(ctx, who.Team, after, workflow, filter.size()+1)
	if err != nil {
		return Page[Schedule]{}, fmt.Errorf("list schedules: %w", err)
	}
	page, err := paginate(rows, filter.PageRequest, scheduleOf, func(last queries.Schedule) any { return last.ID })
	if err != nil || filter.Ticks == 0 {
		return page, err
	}
	return page, s.addTicks(ctx, page.Items, filter.Ticks)
}

func (s *scheduler) addTicks(ctx context.Context, schedules []Schedule, each int) error {
	ids := make([]uuid.UUID, len(schedules))
	place := map[uuid.UUID]*Schedule{}
	for i := range schedules {
		ids[i] = schedules[i].ID
		place[ids[i]] = &schedules[i]
	}
	ticks, err := s.q.LastTicks(ctx, ids, int32(each))
	if err != nil {
		return fmt.Errorf("read the last ticks: %w", err)
	}
	for _, row := range ticks {
		schedule := place[row.ScheduleID]
		schedule.LastTicks = append(schedule.LastTicks, tickOf(row))
	}
	return nil
}

// Schedule is one schedule.
func (s *scheduler) Schedule(ctx context.Context, who Who, id uuid.UUID) (Schedule, error) {
	row, err := s.find(ctx, who, id)
	if err != nil {
		return Schedule{}, err
	}
	return scheduleOf(row), nil
}

func (s *scheduler) find(ctx context.Context, who Who, id uuid.UUID) (queries.Schedule, error) {
	row, err := s.q.ScheduleByID(ctx, id, who.Team)
	if errors.Is(err, pgx.ErrNoRows) {
		return row, noSchedule(id)
	}
	return row, err
}

func scheduleOf(row queries.Schedule) Schedule {
	schedule := Schedule{ID: row.ID, Workflow: row.Workflow, Source: SourceAPI, ScheduleSpec: storedSpec(row), Paused: row.Paused,
		NextAt: row.PlannedAt, CreatedBy: row.CreatedBy, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt}
	if row.Place != nil {
		schedule.Source = SourceDefinition
	} else {
		schedule.Input = shownInput(row)
	}
	return schedule
}

// storedSpec reads what was checked when it was stored.
func storedSpec(row queries.Schedule) (spec ScheduleSpec) {
	_ = json.Unmarshal(row.Spec, &spec)
	return spec
}

func tickOf(row queries.Tick) Tick {
	tick := Tick{ScheduledAt: row.ScheduledAt, Outcome: "buffered", At: row.At, Execution: row.ExecutionID, Backfill: row.BackfillID, Reason: row.Reason}
	if row.Outcome != nil {
		tick.Outcome = *row.Outcome
	}
	return tick
}

// CreateSchedule makes a schedule of a published workflow. Its first tick is after now.
func (s *scheduler) CreateSchedule(ctx context.Context, who Who, request ScheduleRequest) (Schedule, error) {
	id := uuid.Must(uuid.NewV7())
	if _, err := s.runs.startable(ctx, who, request.Workflow, 0); err != nil {
		return Schedule{}, err
	}
	if err := s.ahead(request); err != nil {
		return Schedule{}, err
	}
	planned, err := s.planned(ctx, who, id, request)
	if err != nil {
		return Schedule{}, err
	}
	var row queries.Schedule
	err = s.store.Tx(ctx, func(_ pgx.Tx, q *queries.Queries) (err error) {
		row, err = q.InsertSchedule(ctx, queries.InsertScheduleParams{ID: id, TeamID: who.Team, Workflow: request.Workflow, Spec: planned.spec,
			Input: planned.input, Paused: request.Paused, PlannedAt: planned.next, DueAt: planned.due, CreatedBy: cleanText(who.User)})
		if err != nil {
			return fmt.Errorf("store the schedule: %w", err)
		}
		return record(ctx, q, who, act{action: "schedule.created", target: id.String(), name: request.Workflow, after: shownSchedule(row)})
	})
	s.nudge()
	return scheduleOf(row), err
}

// plannedSchedule is a checked request in the form of its row.
type plannedSchedule struct {
	spec, input []byte
	next, due   *time.Time
}

// planned checks a request, its input against the schema of the workflow that is published now.
func (s *scheduler) planned(ctx context.Context, who Who, id uuid.UUID, request ScheduleRequest) (p plannedSchedule, err error) {
	if err := checkSize("the input", request.Input, s.runs.payloadLimit); err != nil {
		return p, err
	}
	definition, err := s.store.Library.Published(ctx, who.Team, request.Workflow)
	if err == nil {
		_, err = checkedInput(definition, request.Input)
	}
	if err != nil && !errors.Is(err, store.ErrNotPublished) {
		return p, err
	}
	if p.next, p.due, err = firstTick(id, request.spec(), request.Paused, s.store.Clock.Now()); err != nil {
		return p, err
	}
	if p.spec, err = json.Marshal(request.spec()); err != nil {
		return p, err
	}
	if request.Input == nil {
		request.Input = map[string]any{}
	}
	p.input, err = s.storable(id, definition, request.Input)
	return p, err
}

// ahead refuses an instant that is over: it would never start anything.
func (s *scheduler) ahead(request ScheduleRequest) error {
	if request.At == "" {
		return nil
	}
	plan, err := request.spec().plan("")
	if err == nil && !plan.At.After(s.store.Clock.Now()) {
		return Refuse("invalid_input", fmt.Sprintf("at: %s is over, a schedule starts what lies ahead", instants.Text(plan.At)))
	}
	return err
}

// firstTick plans the first tick after now; nil while paused, and when there is none.
func firstTick(id uuid.UUID, spec ScheduleSpec, paused bool, now time.Time) (next, due *time.Time, err error) {
	plan, err := spec.plan(id.String())
	if err != nil || paused {
		return nil, nil, err
	}
	at, more := plan.Next(now)
	if !more {
		return nil, nil, nil
	}
	taken := plan.Due(at)
	return &at, &taken, nil
}

// ChangeSchedule changes a schedule that was made through the API. Its next tick is after now.
func (s *scheduler) ChangeSchedule(ctx context.Context, who Who, id uuid.UUID, change func(*ScheduleRequest) error) (Schedule, error) {
	row, err := s.find(ctx, who, id)
	if err != nil {
		return Schedule{}, err
	}
	if err := ownedByAPI(row); err != nil {
		return Schedule{}, err
	}
	input, err := s.storedInput(row)
	if err != nil {
		return Schedule{}, err
	}
	request := storedSpec(row).request()
	request.Workflow, request.Input, request.Paused = row.Workflow, input, row.Paused
	if err := change(&request); err != nil {
		return Schedule{}, err
	}
	if request.Workflow != row.Workflow {
		return Schedule{}, Refuse("invalid_input", "a schedule keeps its workflow; make another one")
	}
	if before := storedSpec(row); request.At != before.At || request.Timezone != before.Timezone {
		if err := s.ahead(request); err != nil {
			return Schedule{}, err
		}
	}
	planned, err := s.planned(ctx, who, id, request)
	if err != nil {
		return Schedule{}, err
	}
	return s.locked(ctx, who, id, "schedule.changed", func(t *ticking) error {
		if err := t.settleDue(ctx); err != nil {
			return err
		}
		return t.update(ctx, queries.UpdateScheduleParams{ID: id, Spec: planned.spec, Input: planned.input, Paused: request.Paused,
			PlannedAt: planned.next, DueAt: planned.due})
	})
}

func ownedByAPI(row queries.Schedule) error {
	if row.Place == nil {
		return nil
	}
	return Refuse("conflict", fmt.Sprintf("this schedule belongs to the definition of %s: change it there and publish; here it can be paused, resumed, triggered and backfilled", row.Workflow))
}

// DeleteSchedule removes a schedule with its ticks; what it started goes on.
func (s *scheduler) DeleteSchedule(ctx context.Context, who Who, id uuid.UUID) error {
	_, err := s.locked(ctx, who, id, "schedule.deleted", func(t *ticking) error {
		if err := ownedByAPI(t.row); err != nil {
			return err
		}
		t.gone = true
		return t.q.DeleteSchedule(ctx, id)
	})
	return err
}

// PauseSchedule pauses or resumes: a paused schedule has no ticks, and none of them is made up for. What
// is due at this moment is decided first; a buffered tick gives up.
func (s *scheduler) PauseSchedule(ctx context.Context, who Who, id uuid.UUID, paused bool) (Schedule, error) {
	action := "schedule.resumed"
	if paused {
		action = "schedule.paused"
	}
	return s.locked(ctx, who, id, action, func(t *ticking) error {
		if t.row.Paused == paused {
			return nil
		}
		if err := t.settleDue(ctx); err != nil {
			return err
		}
		if paused {
			if err := t.q.SettleBufferedTick(ctx, skippedOverlap, nil, "the schedule was paused", id); err != nil {
				return err
			}
		}
		next, due, err := firstTick(id, t.spec, paused, t.now)
		if err != nil {
			return err
		}
		return t.update(ctx, queries.UpdateScheduleParams{ID: id, Spec: t.row.Spec, Input: t.row.Input, Paused: paused,
			Version: t.row.Version, PlannedAt: next, DueAt: due})
	})
}

// PreviewSchedule lists the next fires after from, or after now.
func (s *scheduler) PreviewSchedule(_ context.Context, request ScheduleRequest, from *time.Time, count int) ([]time.Time, error) {
	plan, err := request.spec().plan("")
	if err != nil {
		return nil, err
	}
	after := s.store.Clock.Now()
	if from != nil {
		after = *from
	}
	fires := []time.Time{}
	for at, more := plan.Next(after); more && len(fires) < count; at, more = plan.Next(at) {
		fires = append(fires, at.UTC())
	}
	return fires, nil
}

type tickCursor struct{ ScheduledAt, At time.Time }

// Ticks lists the ticks of a schedule, newest first.
func (s *scheduler) Ticks(ctx context.Context, who Who, id uuid.UUID, page PageRequest) (Page[Tick], error) {
	before, err := decodeCursor[tickCursor](page.Cursor)
	if err != nil {
		return Page[Tick]{}, err
	}
	if _, err := s.find(ctx, who, id); err != nil {
		return Page[Tick]{}, err
	}
	var scheduled, at *time.Time
	if page.Cursor != "" {
		scheduled, at = &before.ScheduledAt, &before.At
	}
	rows, err := s.q.ListTicks(ctx, id, scheduled, at, page.size()+1)
	if err != nil {
		return Page[Tick]{}, fmt.Errorf("list ticks: %w", err)
	}
	return paginate(rows, page, tickOf, func(last queries.Tick) any { return tickCursor{last.ScheduledAt, last.At} })
}
