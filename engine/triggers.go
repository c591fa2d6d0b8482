package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"weftline/engine/execution"
	"weftline/engine/expr"
	"weftline/engine/store"
	"weftline/engine/worker"
)

// Triggers start executions by themselves: by the clock, by requests from outside and by events.
type Triggers interface {
	Schedules(ctx context.Context, who Who, filter ScheduleFilter) (Page[Schedule], error)
	Schedule(ctx context.Context, who Who, id uuid.UUID) (Schedule, error)
	CreateSchedule(ctx context.Context, who Who, request ScheduleRequest) (Schedule, error)
	// ChangeSchedule lets change edit the request that would make the schedule as it is.
	ChangeSchedule(ctx context.Context, who Who, id uuid.UUID, change func(*ScheduleRequest) error) (Schedule, error)
	DeleteSchedule(ctx context.Context, who Who, id uuid.UUID) error
	PauseSchedule(ctx context.Context, who Who, id uuid.UUID, paused bool) (Schedule, error)
	// TriggerSchedule makes a tick now, which obeys overlap like any other.
	TriggerSchedule(ctx context.Context, who Who, id uuid.UUID) (Tick, error)
	Ticks(ctx context.Context, who Who, id uuid.UUID, page PageRequest) (Page[Tick], error)
	// PreviewSchedule lists the next fires of a schedule that need not exist.
	PreviewSchedule(ctx context.Context, request ScheduleRequest, from *time.Time, count int) ([]time.Time, error)
	BackfillSchedule(ctx context.Context, who Who, id uuid.UUID, request BackfillRequest) (Backfill, error)
	CancelBackfill(ctx context.Context, who Who, id, backfill uuid.UUID) error
	// Hook takes a request to a webhook: the team comes from the address, the proof from the request.
	Hook(ctx context.Context, request HookRequest) (HookAnswer, error)
}

// opening is an execution that begins in the transaction of what triggered it.
type opening struct {
	store.Opening
	begun *store.Loaded
}

// open prepares an execution without writing anything.
func (r *runs) open(ctx context.Context, who Who, definition *store.Definition, request StartRequest, key *store.StartKey) (*opening, error) {
	start, err := r.prepare(ctx, who, definition, request)
	if err != nil {
		return nil, err
	}
	if err := r.room(ctx, who.Team, 1); err != nil {
		return nil, err
	}
	start.NeedsPermit = definition.Limits.MaxConcurrent > 0
	limit, err := limitOf(definition, start)
	if err != nil {
		return nil, err
	}
	begun, flush, err := r.pool.Begin(ctx, who.Team, definition, start, false)
	if err != nil {
		return nil, err
	}
	flush.Begin.Key = key
	o := &opening{Opening: store.Opening{Flush: flush, Limit: limit}, begun: begun}
	return o, r.pool.AskForSlot(flush, definition, start)
}

// opened is told after the transaction of an opening was committed.
func (r *runs) opened(o *opening) {
	if o.Admission == store.Admitted {
		r.pool.Begun(o.begun, o.Flush)
	}
}

// limitOf is the concurrency pool that a requested execution belongs to; nil when there is none.
func limitOf(definition *store.Definition, start execution.Start) (*store.Limit, error) {
	limit, err := worker.LimitOf(definition, start)
	if err != nil {
		return nil, Refuse("invalid_input", "the concurrency key of the workflow: "+err.Error())
	}
	return limit, nil
}

// triggered is the outcome of a trigger's expressions.
type triggered struct {
	Input any
	Key   *store.StartKey // nil = not deduplicated
}

// expressions are what a trigger of a definition computes from what set it off.
type expressions struct {
	When, Input, DedupeKey *expr.Program
	Otherwise              any    // the input without an expression for it
	Key                    string // names the trigger in keys of starts
}

// holds reports whether the trigger applies.
func (e expressions) holds(env expr.Env) (bool, error) {
	if e.When == nil {
		return true, nil
	}
	holds, err := e.When.EvalBool(env)
	return holds, inExpression("when", err)
}

// evaluate computes the input and the key of a start.
func (e expressions) evaluate(env expr.Env) (triggered, error) {
	result := triggered{Input: e.Otherwise}
	if e.Input != nil {
		input, err := e.Input.Eval(env)
		if err != nil {
			return result, inExpression("input", err)
		}
		result.Input = input
	}
	if e.DedupeKey == nil {
		return result, nil
	}
	value, err := e.DedupeKey.Eval(env)
	if err != nil {
		return result, inExpression("dedupeKey", err)
	}
	result.Key = dedupeKey(e.Key, fmt.Sprint(value))
	return result, nil
}

func inExpression(field string, err error) error {
	if err == nil {
		return nil
	}
	return Refuse("invalid_input", fmt.Sprintf("the trigger's %s: %s", field, err))
}

// dedupeKey is the key of a start by a trigger. What else the request said does not matter: a repeated key
// answers the first execution.
func dedupeKey(trigger, value string) *store.StartKey {
	hash := digest(trigger + "\x00" + value)
	return &store.StartKey{Key: fmt.Sprintf("%s:%x", trigger, hash), Hash: hash}
}

// refusal gives the text of a refusal; ok is false for faults, which may pass.
func refusal(err error) (text string, ok bool) {
	var refused *Error
	if !errors.As(err, &refused) {
		return "", false
	}
	text = refused.Message
	if len(refused.Problems) > 0 {
		text += fmt.Sprintf(": %s %s", refused.Problems[0].Path, refused.Problems[0].Message)
	}
	return text, true
}
