package timer

import (
	"context"
	"log/slog"
	"time"
)

// Poll does work that is due until its context ends. Every replica runs it; the work sees to it that one
// thing is done by one of them.
type Poll struct {
	Name string                                                    // of the work, for the log
	Look func(ctx context.Context) (next time.Duration, err error) // does what is due; next is when to look again at the latest
	Log  *slog.Logger

	nudge chan struct{}
}

// NewPoll makes a poll.
func NewPoll(name string, log *slog.Logger, look func(ctx context.Context) (time.Duration, error)) *Poll {
	return &Poll{Name: name, Look: look, Log: log, nudge: make(chan struct{}, 1)}
}

// Nudge says that something may be due earlier than the last look knew.
func (p *Poll) Nudge() {
	select {
	case p.nudge <- struct{}{}:
	default:
	}
}

// Run looks until ctx ends, at least every second: other replicas plan things too. A failure is logged and
// tried again.
func (p *Poll) Run(ctx context.Context) {
	for ctx.Err() == nil {
		wait, err := p.Look(ctx)
		if err != nil && ctx.Err() == nil {
			p.Log.Error("work that is due could not be done, it is tried again", "work", p.Name, "error", err)
			wait = look
		}
		select {
		case <-ctx.Done():
		case <-p.nudge:
		case <-time.After(min(wait, look)):
		}
	}
}
