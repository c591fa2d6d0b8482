package worker

import (
	"context"
	"time"

	"github.com/google/uuid"

	"weftline/engine/notify"
	"weftline/engine/queue"
)

// suspendAfter is how long after its last acknowledged heartbeat a worker starts nothing more; at the
// lease's end it gives everything up, because others may have taken it over.
const suspendAfter = queue.Lease * 2 / 3

// Beat keeps the worker's lease until ctx ends; peers is told whether other workers are alive. It runs
// beside Run and must outlive Close, so that what is still running stays ours.
func (p *Pool) Beat(ctx context.Context, peers func(bool)) {
	pause := queue.Heartbeat
	for {
		sent := time.Now()
		alive, err := p.beatOnce(ctx)
		switch {
		case err == nil:
			p.acknowledged(sent)
			p.Figures.Renewed()
			peers(alive > 1)
			p.meet(alive > 1)
			p.renewErrands(ctx)
			pause = queue.Heartbeat
		case ctx.Err() == nil:
			p.Log.Warn("a heartbeat was not acknowledged", "error", err)
			pause = 500 * time.Millisecond
		}
		if p.sinceAck() > queue.Lease {
			p.giveEverythingUp()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// meet notes whether other replicas are alive, and makes itself known to those that were alone.
func (p *Pool) meet(others bool) {
	if p.peers.Swap(others) != others && others {
		p.Hint(notify.Hint{Ready: true})
	}
}

func (p *Pool) beatOnce(ctx context.Context) (alive int, err error) {
	ctx, cancel := context.WithTimeout(ctx, queue.Heartbeat/2)
	defer cancel()
	active := p.Active()
	cpu, memory := p.usage.shares()
	load := queue.Load{Active: active, Waiting: int(p.queued.Load()), CPU: cpu, Memory: memory}
	sent := time.Now()
	alive, now, err := p.Queue.Beat(ctx, queue.Working(active+p.errands(), p.isClosing()), load)
	if err == nil {
		p.Store.Clock.Measured(now, sent, time.Now())
	}
	return alive, err
}

// reconcile takes back what this worker owns in the database but does not drive, for example after it gave
// everything up. strays are those of the look before: one that is just being claimed is none.
func (p *Pool) reconcile(ctx context.Context, strays map[uuid.UUID]bool) (map[uuid.UUID]bool, error) {
	owned, err := p.Queue.Owned(ctx)
	if err != nil {
		return nil, err
	}
	next := map[uuid.UUID]bool{}
	var claims []queue.Claim
	attends := !p.Queue.Serving().All() // it may be one that this worker does not serve
	p.mu.Lock()
	for _, id := range owned {
		switch {
		case p.drivers[id] != nil:
		case strays[id]:
			claims = append(claims, queue.Claim{Execution: id, LostBy: p.id, Attends: attends})
		default:
			next[id] = true
		}
	}
	p.mu.Unlock()
	p.adopt(claims)
	return next, nil
}

// acknowledged notes when a heartbeat was sent that was acknowledged. It is kept as a time since the pool was made:
// somebody may set the machine's clock, and a lease must not end, or last, by that.
func (p *Pool) acknowledged(sent time.Time) { p.acked.Store(int64(sent.Sub(p.born))) }

func (p *Pool) sinceAck() time.Duration { return time.Since(p.born) - time.Duration(p.acked.Load()) }

// suspended reports that the lease may be about to end: nothing is begun.
func (p *Pool) suspended() bool { return p.sinceAck() > suspendAfter }

// giveEverythingUp cancels all drivers. What is still ours in the database when it answers again is taken
// over like that of a dead worker.
func (p *Pool) giveEverythingUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.drivers) > 0 {
		p.Log.Error("the lease ended without an acknowledged heartbeat: everything in progress is given up", "executions", len(p.drivers))
	}
	for _, d := range p.drivers {
		d.cancel()
	}
	for _, cancel := range p.held {
		cancel()
	}
}

// serve opens the pool for executions; false when it was closed before it began.
func (p *Pool) serve() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.serving = !p.isClosing(); p.serving {
		p.bringing.Add(1)
	}
	return p.serving
}

func (p *Pool) isClosing() bool {
	select {
	case <-p.draining:
		return true
	default:
		return false
	}
}

// deafFor is how long Close waits for attempts that were cancelled. One that is deaf must not keep its process for
// ever: its lease ends, and another worker makes it again.
const deafFor = 5 * time.Second

// Close drains: nothing new is claimed, running attempts finish within the grace, everything computed is
// saved, and the rest is left for others. It answers when no driver is left, or none that heeds it.
func (p *Pool) Close(ctx context.Context) {
	if !p.drain() {
		<-p.closed // somebody else is at it
		return
	}
	defer close(p.closed)
	done := make(chan struct{})
	go func() {
		p.bringing.Wait() // what was just claimed or begun is driven before it is handed over
		p.running.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(p.Grace):
	case <-ctx.Done():
	}
	p.abandon()
	select {
	case <-done:
	case <-time.After(deafFor):
		p.Log.Error("attempts do not heed that they were cancelled; they are left behind", "attempts", p.Busy())
	}
	p.giveBack(p.takeReturned()...)
	p.finishLast(ctx)
	if !p.registered.Load() {
		return
	}
	ctx, cancel := p.lastWords()
	defer cancel()
	if _, _, err := p.Queue.Beat(ctx, queue.StateStopped, queue.Load{}); err != nil {
		p.Log.Warn("the worker could not be marked as stopped; its lease will end", "error", err)
	}
}

// lastWords is a context for what is said after the pool was told to give up: the database may be what is gone.
func (p *Pool) lastWords() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(p.alive), queue.Heartbeat)
}

// drain stops the pool from taking anything on and tells its drivers; false when that was done before.
func (p *Pool) drain() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isClosing() {
		return false
	}
	p.serving = false
	close(p.draining)
	for _, d := range p.drivers {
		d.wake()
	}
	return true
}
