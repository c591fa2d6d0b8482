package worker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"weftline/engine/logs"
	"weftline/engine/queue"
	"weftline/engine/queue/order"
)

const (
	claimBatch   = 64                     // executions claimed and loaded together
	pollPause    = time.Second            // the floor under all hints
	takeoverLook = 500 * time.Millisecond // between two looks for dead owners
	attendLook   = 2 * time.Second        // between two looks for what nobody serves
	othersTurn   = 50 * time.Millisecond  // for other workers to take what is theirs
)

// Run registers the worker, tells registered, and drives executions until Close. ctx ending stops the loops
// but not the executions in progress: Close ends those.
func (p *Pool) Run(ctx context.Context, registered func()) error {
	if err := p.Queue.Register(ctx, p.Worker); err != nil {
		if p.isClosing() {
			return nil
		}
		return fmt.Errorf("register the worker: %w", err)
	}
	p.registered.Store(true)
	p.acknowledged(time.Now())
	if !p.serve() {
		return nil
	}
	defer p.bringing.Done()
	registered()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-p.draining:
			stop()
		case <-ctx.Done():
		}
	}()
	var loops sync.WaitGroup
	loops.Go(func() { p.every(ctx, pollPause, p.lookNow, p.claimAll) })
	loops.Go(func() { p.every(ctx, pollPause, p.unread, p.readUnread) })
	loops.Go(func() { p.every(ctx, takeoverLook, p.lostNow, p.takeOver) })
	loops.Go(func() { p.every(ctx, attendLook, nil, p.attendAll) })
	loops.Go(func() { p.every(ctx, pollPause, p.workNow, p.takeWork) })
	loops.Go(func() { p.every(ctx, pollPause, nil, p.expireWork) })
	loops.Go(func() { p.finishAll(ctx) })
	var strays map[uuid.UUID]bool
	loops.Go(func() {
		p.every(ctx, queue.Heartbeat, nil, func(ctx context.Context) (err error) {
			strays, err = p.reconcile(ctx, strays)
			return err
		})
	})
	loops.Wait()
	return nil
}

// every calls f at once and then whenever it is nudged or pause has passed. A failure is logged and the
// next round tries again.
func (p *Pool) every(ctx context.Context, pause time.Duration, nudge <-chan struct{}, f func(context.Context) error) {
	for {
		if err := f(ctx); err != nil && ctx.Err() == nil {
			p.Log.Error("the worker's round failed, it is tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-nudge:
		case <-time.After(pause):
		}
	}
}

// claimAll takes what is ready as long as there is room. A claim is not cut off when the pool is closed: it may
// have been made by then, and nobody would know of it until the lease ends.
func (p *Pool) claimAll(ctx context.Context) error {
	for {
		p.adopt(p.takeReturned())
		n := min(p.room(order.Room), claimBatch)
		if p.suspended() {
			return nil
		}
		if n == 0 {
			return p.wantPlace(ctx)
		}
		claims, more, err := p.Queue.Claim(p.alive, n, p.drivenByTeam(), p.Store.Clock.Now(), !p.peers.Load())
		if err != nil {
			return err
		}
		for _, claim := range claims {
			p.Figures.Claimed(claim.Waited)
		}
		p.adopt(claims)
		if more && len(claims) == 0 {
			time.AfterFunc(othersTurn, p.look)
		}
		if !more || len(claims) == 0 {
			return nil
		}
	}
}

func (p *Pool) takeOver(context.Context) error {
	for {
		n := min(p.room(order.RoomForLost), claimBatch)
		if n == 0 || p.suspended() {
			return nil
		}
		claims, err := p.Queue.TakeOver(p.alive, n, p.groups(), p.QuarantineAfter)
		if err != nil {
			return err
		}
		for range claims {
			p.Figures.Lost()
		}
		for _, claim := range claims {
			p.Log.Warn("an execution of a lost worker is taken over", logs.About{Worker: p.name, Execution: claim.Execution, Event: "LeaseExpired"}.Args("lost_by", claim.LostBy)...)
		}
		p.adopt(p.quarantine(slices.Clone(claims)))
		if len(claims) < n {
			return nil
		}
	}
}

// incident makes an internal fault of one execution visible on it; it is tried again after a pause. lost is whose attempts
// of it are over.
func (p *Pool) incident(about logs.About, lost uuid.UUID, fault error) {
	about.Event = "Incident"
	p.Log.Error("an execution cannot go on because of an internal fault", about.Args("error", fault)...)
	if err := p.Store.Incident(p.alive, about.Execution, p.id, lost, fault); err != nil && p.alive.Err() == nil {
		p.Log.Error("the fault could not be recorded", about.Args("error", err)...)
	}
	p.TimerSet(time.Second)
}

// readUnread wakes the drivers whose executions got messages that no hint told of.
func (p *Pool) readUnread(ctx context.Context) error {
	p.mu.Lock()
	driven := slices.Collect(maps.Keys(p.drivers))
	p.mu.Unlock()
	if len(driven) == 0 {
		return nil
	}
	ids, err := p.Queue.Unread(ctx, driven)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range ids {
		if d := p.drivers[id]; d != nil {
			d.wake()
		}
	}
	return nil
}
