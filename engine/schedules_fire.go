package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine/expr"
	"weftline/engine/instants"
	"weftline/engine/schedule"
	"weftline/engine/store"
	"weftline/queries"
)

// Final outcomes of ticks.
const (
	tickStarted     = "started"
	skippedOverlap  = "skipped_overlap"
	skippedLate     = "skipped_late"
	skippedCalendar = "skipped_calendar"
	skippedLimit    = "skipped_limit"
	tickFailed      = "failed"
)

// skips are the outcomes of verdicts that start nothing, with the reason.
var skips = map[schedule.Verdict][2]string{
	schedule.Late:    {skippedLate, "it was missed, or due for longer than startDeadline"},
	schedule.Limit:   {skippedLimit, "more ticks were missed than catchUpLimit makes up for"},
	schedule.Holiday: {skippedCalendar, "the calendar has no starts on this day"},
}

// mostStarts of one schedule in one transaction; the rest follow in the next.
const mostStarts = 25

// ticking is a transaction that holds the lock of one schedule, and so decides about its ticks alone.
type ticking struct {
	*scheduler
	tx   pgx.Tx
	q    *queries.Queries
	row  queries.Schedule
	spec ScheduleSpec
	plan schedule.Plan
	now  time.Time
	gone bool // deleted by what is being done

	running  []uuid.UUID // executions it started that have not ended
	buffered *time.Time  // the tick that waits for them
	openings []*opening  // told after the commit
}

// one runs f in a transaction, one at a time in this process, and tells the executions it began.
func (s *scheduler) one(ctx context.Context, f func(tx pgx.Tx, q *queries.Queries) (*ticking, error)) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	var t *ticking
	err := s.store.Tx(ctx, func(tx pgx.Tx, q *queries.Queries) (err error) {
		t, err = f(tx, q)
		return err
	})
	if err != nil || t == nil {
		return err
	}
	for _, o := range t.openings {
		s.runs.opened(o)
	}
	return nil
}

// ticking reads what decisions about a locked row need.
func (s *scheduler) ticking(ctx context.Context, tx pgx.Tx, q *queries.Queries, row queries.Schedule) (*ticking, error) {
	t := &ticking{scheduler: s, tx: tx, q: q, row: row, spec: storedSpec(row), now: s.store.Clock.Now()}
	var err error
	if t.plan, err = t.spec.plan(row.ID.String()); err != nil {
		return nil, err
	}
	if t.running, err = q.OpenExecutions(ctx, row.Running); err != nil {
		return nil, err
	}
	at, err := q.BufferedTick(ctx, row.ID)
	if err == nil {
		t.buffered = &at
	}
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return t, err
}

// locked runs f with the lock of a schedule of the asker's team, audits it and answers the schedule.
func (s *scheduler) locked(ctx context.Context, who Who, id uuid.UUID, action string, f func(*ticking) error) (Schedule, error) {
	var after queries.Schedule
	err := s.one(ctx, func(tx pgx.Tx, q *queries.Queries) (*ticking, error) {
		row, err := q.LockSchedule(ctx, id, who.Team)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil, noSchedule(id)
		}
		if err != nil {
			return nil, err
		}
		t, err := s.ticking(ctx, tx, q, row)
		if err != nil {
			return nil, err
		}
		if err := f(t); err != nil {
			return nil, err
		}
		after = t.row
		done := act{action: action, target: id.String(), name: row.Workflow, before: shownSchedule(row), after: shownSchedule(after)}
		if t.gone {
			done.before, done.after = wholeSchedule(row), nil
		}
		return t, record(ctx, q, who, done)
	})
	s.nudge()
	return scheduleOf(after), err
}

// wholeSchedule is what the audit keeps of a schedule that is deleted: enough to make it again, sensitive values masked.
func wholeSchedule(row queries.Schedule) map[string]any {
	whole := shownSchedule(row)
	whole["workflow"], whole["input"] = row.Workflow, shownInput(row)
	return whole
}

// shownSchedule is what the audit compares; the input may be long, so it is none of it.
func shownSchedule(row queries.Schedule) map[string]any {
	return map[string]any{"spec": json.RawMessage(row.Spec), "paused": row.Paused}
}

// look does what is due once and answers when to look again. Mostly there is nothing, which takes one statement
// and no transaction.
func (s *scheduler) look(ctx context.Context) (time.Duration, error) {
	todo, err := s.q.SchedulesToDo(ctx)
	if err != nil {
		return 0, err
	}
	busy := false
	for _, step := range []struct {
		wanted bool
		do     func(context.Context) (bool, error)
	}{{todo.Due, s.fireDue}, {todo.Buffered, s.fireBuffered}, {todo.Backfilling, s.fireBackfill}} {
		if !step.wanted {
			continue
		}
		did, err := step.do(ctx)
		if err != nil {
			return 0, err
		}
		busy = busy || did
	}
	switch {
	case busy:
		return 0, nil
	case todo.Due: // another replica is at it
		return time.Second, nil
	}
	return time.Duration(max(0, todo.Seconds) * float64(time.Second)), nil
}

func (s *scheduler) fireDue(ctx context.Context) (bool, error) {
	return s.fire(ctx, (*queries.Queries).TakeDueSchedule, (*ticking).settleDue)
}

func (s *scheduler) fireBuffered(ctx context.Context) (bool, error) {
	return s.fire(ctx, (*queries.Queries).TakeBufferedSchedule, func(t *ticking, ctx context.Context) error {
		if err := t.release(ctx); err != nil {
			return err
		}
		return t.progress(ctx, t.row.PlannedAt)
	})
}

// fire takes one schedule and decides. A schedule at fault is put off, so that it stops no other; that the database
// broke off meanwhile is no fault of it.
func (s *scheduler) fire(ctx context.Context, take func(*queries.Queries, context.Context) (queries.Schedule, error), decide func(*ticking, context.Context) error) (did bool, err error) {
	var taken uuid.UUID
	err = s.one(ctx, func(tx pgx.Tx, q *queries.Queries) (*ticking, error) {
		row, err := take(q, ctx)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		taken = row.ID
		t, err := s.ticking(ctx, tx, q, row)
		if err != nil {
			return nil, err
		}
		return t, decide(t, ctx)
	})
	if err == nil || taken == uuid.Nil || ctx.Err() != nil || IsOutage(err) {
		return taken != uuid.Nil, err
	}
	return true, errors.Join(fmt.Errorf("decide about schedule %s: %w", taken, err), s.q.PostponeSchedule(ctx, taken))
}

// settleDue decides about every tick that is due, oldest first.
func (t *ticking) settleDue(ctx context.Context) error {
	if err := t.release(ctx); err != nil {
		return err
	}
	if t.row.PlannedAt == nil {
		return t.progress(ctx, nil)
	}
	ticks, next := t.plan.Overdue(*t.row.PlannedAt, t.now, t.spec.catchUp())
	missed := map[schedule.Verdict][]time.Time{}
	starts := 0
	for _, tick := range ticks {
		if _, skipped := skips[tick.Verdict]; skipped {
			missed[tick.Verdict] = append(missed[tick.Verdict], tick.At)
			continue
		}
		if starts++; starts > mostStarts {
			next = tick.At
			break
		}
		if err := t.clockTick(ctx, tick.At); err != nil {
			return err
		}
	}
	for verdict, instants := range missed {
		if _, err := t.q.RecordTicks(ctx, t.row.ID, instants, skips[verdict][0], skips[verdict][1]); err != nil {
			return err
		}
	}
	if next.IsZero() {
		return t.progress(ctx, nil)
	}
	return t.progress(ctx, &next)
}

// progress stores what is planned next and what runs.
func (t *ticking) progress(ctx context.Context, next *time.Time) error {
	var due *time.Time
	if next != nil {
		at := t.plan.Due(*next)
		due = &at
	}
	t.row.PlannedAt, t.row.DueAt, t.row.Running = next, due, t.running
	return t.q.SetScheduleProgress(ctx, next, due, t.running, t.row.ID)
}

func (t *ticking) update(ctx context.Context, change queries.UpdateScheduleParams) (err error) {
	t.row, err = t.q.UpdateSchedule(ctx, change)
	return err
}

// clockTick decides about a planned instant, unless a person triggered a tick at just that one.
func (t *ticking) clockTick(ctx context.Context, at time.Time) error {
	known, err := t.q.TickExists(ctx, t.row.ID, at)
	if err != nil || known {
		return err
	}
	_, err = t.tick(ctx, at)
	return err
}

// tick makes one tick by the overlap rule: it starts, is skipped, or is buffered.
func (t *ticking) tick(ctx context.Context, at time.Time) (Tick, error) {
	tick := Tick{ScheduledAt: at, At: t.now}
	var err error
	switch busy := t.spec.Overlap != overlapAllow && len(t.running) > 0; {
	case !busy:
		err = t.begin(ctx, &tick)
	case t.spec.Overlap == overlapBuffer && t.buffered == nil:
		tick.Outcome, t.buffered = "buffered", &at
	default:
		tick.Outcome, tick.Reason = skippedOverlap, fmt.Sprintf("execution %s had not ended", t.running[0])
	}
	if err != nil {
		return tick, err
	}
	return tick, t.record(ctx, tick)
}

// record stores a tick; a buffered one has no outcome yet.
func (t *ticking) record(ctx context.Context, tick Tick) error {
	row := queries.RecordTickParams{ScheduleID: t.row.ID, ScheduledAt: tick.ScheduledAt, BackfillID: tick.Backfill,
		ExecutionID: tick.Execution, Reason: cleanText(tick.Reason), Outcome: &tick.Outcome}
	if tick.Outcome == "buffered" {
		row.Outcome = nil
	}
	return t.q.RecordTick(ctx, row)
}

// release gives the buffered tick its outcome once nothing runs any more.
func (t *ticking) release(ctx context.Context) error {
	if t.buffered == nil || len(t.running) > 0 {
		return nil
	}
	tick := Tick{ScheduledAt: *t.buffered}
	if t.now.Sub(t.plan.Due(*t.buffered)) > t.spec.deadline() {
		tick.Outcome, tick.Reason = skippedLate, "it was buffered for longer than startDeadline"
	} else if err := t.begin(ctx, &tick); err != nil {
		return err
	}
	t.buffered = nil
	return t.q.SettleBufferedTick(ctx, tick.Outcome, tick.Execution, cleanText(tick.Reason), t.row.ID)
}

// begin starts the execution of a tick in this transaction and notes in the tick what became of it.
func (t *ticking) begin(ctx context.Context, tick *Tick) error {
	o, err := t.open(ctx, tick.ScheduledAt)
	if text, refused := refusal(err); refused {
		tick.Outcome, tick.Reason = tickFailed, text
		if isRefusal(err, "limit_reached") {
			tick.Outcome = skippedLimit
		}
		return nil
	}
	if err != nil {
		return err
	}
	if err := t.store.Open(ctx, t.tx, &o.Opening); err != nil {
		return err
	}
	if o.Admission != store.Admitted {
		tick.Outcome, tick.Reason = skippedLimit, "the workflow runs as often as its limit allows"
		return nil
	}
	id := o.Flush.Execution
	tick.Outcome, tick.Execution = tickStarted, &id
	t.running = append(t.running, id)
	t.openings = append(t.openings, o)
	return nil
}

// open prepares the execution of a planned instant.
func (t *ticking) open(ctx context.Context, scheduledAt time.Time) (*opening, error) {
	who := Who{Team: t.row.TeamID, User: "trigger:schedule"}
	trigger := map[string]any{"type": "schedule", "id": t.row.ID.String(), "scheduledAt": instants.Text(scheduledAt)}
	request := StartRequest{Workflow: t.row.Workflow, Trigger: trigger}
	if t.row.Version == nil {
		definition, err := t.runs.startable(ctx, who, t.row.Workflow, 0)
		if err != nil {
			return nil, err
		}
		if request.Input, err = t.storedInput(t.row); err != nil {
			return nil, err
		}
		return t.runs.open(ctx, who, definition, request, nil)
	}
	definition, err := t.store.Library.Version(ctx, who.Team, t.row.Workflow, int(*t.row.Version))
	if err != nil {
		return nil, err
	}
	if input := definition.Schedules[*t.row.Place].Input; input != nil {
		if request.Input, err = input.Eval(expr.Roots{"trigger": trigger}); err != nil {
			return nil, inExpression("input", err)
		}
	}
	return t.runs.open(ctx, who, definition, request, nil)
}

// TriggerSchedule makes a tick now, also of a paused schedule.
func (s *scheduler) TriggerSchedule(ctx context.Context, who Who, id uuid.UUID) (Tick, error) {
	var tick Tick
	_, err := s.locked(ctx, who, id, "schedule.triggered", func(t *ticking) error {
		if err := t.settleDue(ctx); err != nil {
			return err
		}
		at, err := t.freeInstant(ctx)
		if err != nil {
			return err
		}
		if tick, err = t.tick(ctx, at); err != nil {
			return err
		}
		return t.progress(ctx, t.row.PlannedAt)
	})
	return tick, err
}

// freeInstant is now, or the first millisecond after it without a tick.
func (t *ticking) freeInstant(ctx context.Context) (time.Time, error) {
	for at := t.now; ; at = at.Add(time.Millisecond) {
		taken, err := t.q.TickExists(ctx, t.row.ID, at)
		if err != nil || !taken {
			return at, err
		}
	}
}
