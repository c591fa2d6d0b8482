package engine

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

// What is done with starts while more waits than the workers get through.
const (
	PressureSlow   = "slow"   // each start waits a little
	PressureQueue  = "queue"  // starts are kept, but run when it is their turn, not at once
	PressureReject = "reject" // starts are refused
)

// PressureLimits say how much may wait before starts are held back; zero means that it does not count.
type PressureLimits struct {
	QueueAge   time.Duration // of whoever has waited longest for a worker
	QueueDepth int           // executions that wait for a worker
	Action     string        // slow, queue or reject (queue)
}

func (l PressureLimits) none() bool { return l.QueueAge == 0 && l.QueueDepth == 0 }

// Pressure is what is known about a queue that is too long; Since is zero while it is not.
type Pressure struct {
	Since     time.Time
	Action    string
	Depth     int
	OldestAge time.Duration
}

// On reports whether starts are held back.
func (p Pressure) On() bool { return !p.Since.IsZero() }

// Notice says in one sentence what is going on and what it means; "" while nothing is.
func (p Pressure) Notice() string {
	if !p.On() {
		return ""
	}
	means := map[string]string{
		PressureSlow:   "new executions are started with a delay",
		PressureQueue:  "new executions begin when it is their turn",
		PressureReject: "new executions are refused until the queue is shorter",
	}[p.Action]
	return fmt.Sprintf("More work is waiting than the workers get through (%d executions, the oldest for %.0f s): %s.", p.Depth, p.OldestAge.Seconds(), means)
}

const (
	pressureLook = time.Second
	// calmShare is the share of a limit below which an episode is over: one that swings about its limit is one
	// episode.
	calmShare = 0.75
	// slowedBy is how long a start waits under PressureSlow.
	slowedBy = 500 * time.Millisecond
	// comeBackIn is after how many seconds a refused start may be tried again.
	comeBackIn = 5
)

// gauge looks at the queue and remembers whether it is too long.
type gauge struct {
	limits  PressureLimits
	backlog func(context.Context) (QueueRow, error)
	log     *slog.Logger
	state   atomic.Pointer[Pressure]
}

func newGauge(limits PressureLimits, backlog func(context.Context) (QueueRow, error), log *slog.Logger) *gauge {
	if limits.Action == "" {
		limits.Action = PressureQueue
	}
	g := &gauge{limits: limits, backlog: backlog, log: log}
	g.state.Store(&Pressure{})
	return g
}

func (g *gauge) now() Pressure { return *g.state.Load() }

// run looks until ctx ends. What cannot be read leaves everything as it is.
func (g *gauge) run(ctx context.Context) {
	if g.limits.none() {
		return
	}
	for {
		if row, err := g.backlog(ctx); err == nil {
			g.seen(row, time.Now())
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pressureLook):
		}
	}
}

// seen judges one look. An episode is told once when it begins and once when it is over.
func (g *gauge) seen(row QueueRow, at time.Time) {
	before := g.now()
	next := Pressure{Action: g.limits.Action, Depth: row.Depth, OldestAge: time.Duration(row.OldestAge * float64(time.Second))}
	switch {
	case g.limits.exceeded(next, 1), before.On() && g.limits.exceeded(next, calmShare):
		next.Since = before.Since
		if !before.On() {
			next.Since = at
			g.log.Warn("more work is waiting than the workers get through", "depth", next.Depth, "oldest_seconds", row.OldestAge, "action", next.Action)
		}
	case before.On():
		g.log.Info("the queue is short again", "depth", next.Depth, "seconds", at.Sub(before.Since).Seconds())
	}
	g.state.Store(&next)
}

func (l PressureLimits) exceeded(p Pressure, share float64) bool {
	return l.QueueAge > 0 && float64(p.OldestAge) > share*float64(l.QueueAge) ||
		l.QueueDepth > 0 && float64(p.Depth) > share*float64(l.QueueDepth)
}

// admit holds a start back as the limits say.
func (g *gauge) admit(ctx context.Context) error {
	p := g.now()
	if !p.On() {
		return nil
	}
	switch p.Action {
	case PressureReject:
		return &Error{Code: "not_ready", Message: p.Notice(), RetryAfterSeconds: comeBackIn}
	case PressureSlow:
		select {
		case <-time.After(slowedBy):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Pressure says whether starts are held back at the moment, and why.
func (r *runs) Pressure() Pressure { return r.gauge.now() }
