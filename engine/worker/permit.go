package worker

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"weftline/engine/activity"
	"weftline/engine/execution"
)

// refused is an attempt that the policy of its team does not allow (any more).
type refused struct{ cause *execution.Error }

func (r refused) Error() string { return r.cause.Message }

// permitted asks the policy of the team before an attempt is dispatched or leased; nil when it may run.
func (p *Pool) permitted(ctx context.Context, team, id uuid.UUID, w execution.Work) *execution.Error {
	if p.Permit == nil {
		return nil
	}
	return p.Permit(ctx, team, id, w)
}

// Unprepared is the error of an attempt that could not be given what it needs.
func Unprepared(err error) *execution.Error {
	var byPolicy refused
	switch {
	case errors.As(err, &byPolicy):
		return byPolicy.cause
	case errors.Is(err, activity.ErrNotUsable):
		return activity.NotUsable("secret", err)
	}
	return &execution.Error{Type: "expr.eval", Class: "workflow", Message: err.Error()}
}
