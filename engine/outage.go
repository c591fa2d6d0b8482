package engine

import (
	"context"
	"time"

	"weftline/engine/store"
)

// IsOutage reports that an error is of the database's reach or load, not of what was asked: asking again
// later may succeed. What was asked may have been done when the answer was lost.
func IsOutage(err error) bool { return store.IsOutage(err) }

// pauses lie between the tries of what broke off. The last one gives a database that restarts the time to do so.
var pauses = []time.Duration{0, 20 * time.Millisecond, 200 * time.Millisecond, time.Second}

// Again asks again when the database or the way to it broke off meanwhile. It is for what changes nothing, or
// changes the same when it is done twice.
func Again[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	answer, err := ask()
	for _, pause := range pauses {
		if err == nil || !IsOutage(err) {
			break
		}
		select {
		case <-ctx.Done():
			return answer, err
		case <-time.After(pause):
		}
		answer, err = ask()
	}
	return answer, err
}

// again is Again for what answers nothing.
func again(ctx context.Context, do func() error) error {
	_, err := Again(ctx, func() (struct{}, error) { return struct{}{}, do() })
	return err
}
