// Package timer wakes executions when they are due, and tidies up what has served its time. Every replica
// runs it: a due row is taken by exactly one of them. It must not know what a timer means.
package timer

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"weftline/engine/store"
)

const (
	look   = time.Second      // the longest sleep: other replicas set timers too
	upkeep = 10 * time.Minute // between two tidyings
)

// Loop fires timers until its context ends.
type Loop struct {
	Store *store.Store
	Log   *slog.Logger
	Woken func([]uuid.UUID) // told after the wake-up was committed

	next *alarm
	due  bool // the next timer is due when it looks next, as far as it knows
}

// New makes a loop.
func New(s *store.Store, log *slog.Logger, woken func([]uuid.UUID)) *Loop {
	return &Loop{Store: s, Log: log, Woken: woken, next: newAlarm()}
}

// Nudge says that a timer was set that is due after wait.
func (l *Loop) Nudge(wait time.Duration) { l.next.within(wait) }

// Run fires until ctx ends. A failure is logged and tried again.
func (l *Loop) Run(ctx context.Context) {
	for ctx.Err() == nil {
		l.next.clear()
		l.next.within(l.fire(ctx))
		l.next.sleep(ctx)
	}
}

// Tidy deletes what has served its time, now and then, until ctx ends. No timer waits for it.
func (l *Loop) Tidy(ctx context.Context) {
	if err := l.Store.AddPeriods(ctx); err != nil && ctx.Err() == nil {
		l.Log.Error("the history gets no tables for the weeks to come, it is tried again", "error", err)
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(upkeep):
		}
		if err := l.Store.Forget(ctx); err != nil && ctx.Err() == nil {
			l.Log.Error("tidying up failed, it is tried again", "error", err)
		}
	}
}

// fire wakes what is due and answers how long to sleep. When nothing is expected to be due it only looks when
// something will be.
func (l *Loop) fire(ctx context.Context) time.Duration {
	if l.due {
		woken, more, err := l.Store.FireTimers(ctx)
		if err != nil {
			l.complain(ctx, err)
			return look
		}
		if len(woken) > 0 {
			l.Woken(woken)
		}
		if more {
			return 0
		}
	}
	wait, ok, err := l.Store.NextTimer(ctx)
	if err != nil {
		l.complain(ctx, err)
		return look
	}
	l.due = ok && wait <= look
	if !l.due {
		return look
	}
	return max(wait, time.Millisecond)
}

func (l *Loop) complain(ctx context.Context, err error) {
	if ctx.Err() == nil {
		l.Log.Error("timers could not be read, they are tried again", "error", err)
	}
}
