package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"weftline/engine/execution"
	"weftline/engine/queue"
	"weftline/engine/store"
)

const (
	// startedAfter is how long an attempt may run before its start is recorded: most are over sooner, and
	// their start is then written together with their result.
	startedAfter = 50 * time.Millisecond
	// shortWait is the longest wait for which an execution is kept in memory instead of being parked.
	shortWait = 50 * time.Millisecond
)

// driver drives one execution from the moment it is claimed until it is parked, ends or is lost.
type driver struct {
	pool      *Pool
	exec      *store.Loaded
	takenFrom uuid.UUID // the dead worker that had it, or Nil
	attends   bool      // it applies what needs no worker, and nothing else
	cancel    context.CancelFunc
	ctx       context.Context

	suspected atomic.Int32 // how often in a row its process crashed, if it may be why; else 0

	next *queue.Claim // the execution was claimed again before this driver was gone; under the pool's mu

	woken    chan struct{}
	startDue chan struct{} // the start of some attempt is due to be recorded
	results  chan finished

	wakes    int64 // as of the last look into the inbox
	inbox    []store.Received
	unsaved  unsaved
	attempts map[attemptKey]*attempt
	away     map[store.WorkKey]bool // attempts that others make
	lent     map[store.WorkKey]bool // those of them that waited for a slot here
	lendAt   time.Time              // when what waits for a slot is offered; zero = nothing is planned
	steps    int                    // activities that ended since it was claimed
	stage    stage                  // as of the last decision
	launched bool                   // it began attempts here
	giving   string                 // why it is about to go back to the queue
	saved    checkpointing
}

// unsaved is what was decided and is not durable yet.
type unsaved struct {
	events   []execution.Event
	drained  []int64
	giveBack []execution.Permit // granted when they were not wanted any more
	offers   []store.Offer
	withdraw []store.WorkKey
	steps    int
	must     bool // it may not wait for company
	since    time.Time
}

func newDriver(p *Pool, l *store.Loaded, claim queue.Claim) *driver {
	d := &driver{pool: p, exec: l, takenFrom: claim.LostBy, attends: claim.Attends, wakes: claim.Wakes, inbox: l.Inbox, woken: make(chan struct{}, 1),
		startDue: make(chan struct{}, 1), results: make(chan finished), attempts: map[attemptKey]*attempt{},
		saved: checkpointing{since: l.Tail, size: l.Base}}
	d.stage = stageOf(l.State)
	if l.Crashes >= queue.Suspected && !d.attends { // what starts nothing brings nobody down
		d.suspected.Store(int32(l.Crashes))
	}
	d.expectElsewhere(l.Elsewhere)
	d.ctx, d.cancel = context.WithCancel(p.alive)
	return d
}

func (d *driver) wake() { signal(d.woken) }

// errLeft ends a driver in good order: it parked, handed over or lost the execution.
var errLeft = errors.New("left")

func (d *driver) run() {
	err := d.drive()
	d.cancel()
	inOrder := errors.Is(err, errLeft)
	again := d.pool.remove(d, inOrder)
	switch {
	case again, inOrder, d.pool.alive.Err() != nil:
	case errors.Is(err, store.ErrFenced), errors.Is(err, store.ErrOvertaken), errors.Is(err, context.Canceled), store.IsOutage(err),
		errors.Is(err, store.ErrDuplicate): // a child with the same key was started just before
		d.pool.reclaim(d.exec.ID, d.attends)
	default:
		d.pool.incident(d.pool.about(d.exec), d.began(), err)
	}
}

// began is this worker if it began attempts of the execution, else Nil.
func (d *driver) began() uuid.UUID {
	if d.launched {
		return d.pool.id
	}
	return d.takenFrom
}

// drive is the life of a driver. A panic of the core becomes an error of this execution alone.
func (d *driver) drive() (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %v\n%s", fault, debug.Stack())
		}
	}()
	if err := d.takeOver(); err != nil {
		return err
	}
	if err := d.catchUp(); err != nil {
		return err
	}
	for {
		if err := d.receiveAll(); err != nil {
			return err
		}
		if err := d.advance(); err != nil {
			return err
		}
	}
}

// advance decides, saves and starts what is to run, then waits for the next thing to happen.
func (d *driver) advance() error {
	wf, st := d.exec.Definition.Workflow, d.exec.State
	if err := d.decide(); err != nil {
		return err
	}
	pending := d.toBegin(execution.Pending(wf, st))
	d.stopOthers(pending)
	pending, err := d.leaveToOthers(pending)
	if err != nil {
		return err
	}
	if left, err := d.saveOrLeave(pending); left || err != nil {
		return err
	}
	if len(d.inbox) > 0 {
		return nil
	}
	more, err := d.start(pending)
	if more || err != nil {
		return err
	}
	return d.wait()
}

// takeOver records that a lost worker's lease ended and what it was running is lost.
func (d *driver) takeOver() error {
	if d.takenFrom == uuid.Nil && !d.foundStarted() {
		return nil
	}
	from := ""
	if d.takenFrom != uuid.Nil {
		from = d.takenFrom.String()
	}
	if err := d.lose(from); err != nil {
		return err
	}
	if err := d.save(nil); err != nil {
		return err
	}
	d.takenFrom = uuid.Nil
	return nil
}

// lose records that all attempts are over that are not elsewhere; "" when it is not known whose they were.
func (d *driver) lose(from string) error {
	lost := execution.Lost(d.exec.Definition.Workflow, d.exec.State, d.pool.name, d.now(), d.isAway)
	if len(lost) > 0 && from != "" {
		lost[0].Worker = from
	}
	return d.record(lost)
}

// catchUp fetches what whoever opened the execution's waits had no time to fetch: kept events, and how children
// that it joined ended.
func (d *driver) catchUp() error {
	if err := d.lookJoined(); err != nil {
		return err
	}
	if len(d.exec.State.Hearing) == 0 {
		return nil
	}
	waits, err := d.pool.Store.OpenWaits(d.ctx, d.exec.ID)
	if err != nil {
		return err
	}
	return d.takeKept(waits)
}

// foundStarted reports that the history knows of attempts that were running when nobody owned the
// execution: whoever ran them gave up without a word.
func (d *driver) foundStarted() bool {
	for _, w := range execution.Pending(d.exec.Definition.Workflow, d.exec.State) {
		if w.Started && !d.away[workKey(w)] {
			return true
		}
	}
	return false
}

// receiveAll turns the messages of the inbox into events.
func (d *driver) receiveAll() error {
	for _, received := range d.inbox {
		if err := d.receive(received.Message); err != nil {
			return err
		}
		d.unsaved.drained = append(d.unsaved.drained, received.ID)
		d.unsaved.must = true
	}
	d.inbox = nil
	return nil
}

// receive applies one message and what follows from it. A stale one changes nothing.
func (d *driver) receive(message execution.Message) error {
	wf, st := d.exec.Definition.Workflow, d.exec.State
	if message.OwnerLost != nil {
		if !slices.ContainsFunc(execution.Pending(wf, st), func(w execution.Work) bool { return !d.away[workKey(w)] }) {
			return nil
		}
		return d.lose(message.OwnerLost.Worker)
	}
	d.cameBack(message.Result)
	d.pool.tellAttempt(d.exec, message.Result)
	events, err := execution.Receive(wf, st, message, d.now())
	if errors.Is(err, execution.ErrStale) {
		if granted := message.PermitGranted; granted != nil && granted.At == nil {
			d.unsaved.giveBack = append(d.unsaved.giveBack, *message.PermitGranted)
		}
		d.pool.Log.Debug("a message came too late and changes nothing", d.pool.about(d.exec).With("MessageStale").Args("reason", err)...)
		return nil
	}
	if err != nil {
		return err
	}
	if err := d.record(events); err != nil {
		return err
	}
	return d.decide()
}

// decide goes on until nothing follows. When something is due, the starts of what runs are recorded first: an
// attempt that has its slot must not be taken for one that still waits.
func (d *driver) decide() error {
	if at, ok := execution.NextDue(d.exec.State); ok && !at.After(d.now()) {
		if err := d.recordStarts(func(a *attempt) bool { return a.began.Load() != 0 }); err != nil {
			return err
		}
	}
	noted := len(d.unsaved.events)
	d.unsaved.events = execution.Advance(d.unsaved.events, d.exec.Definition.Workflow, d.exec.State, d.now())
	d.noted(noted)
	if more, err := d.takeBack(); !more || err != nil {
		return err
	}
	return d.decide()
}

// record applies events that are not applied yet.
func (d *driver) record(events []execution.Event) error {
	if err := execution.ApplyAll(d.exec.Definition.Workflow, d.exec.State, events); err != nil {
		return err
	}
	noted := len(d.unsaved.events)
	d.unsaved.events = append(d.unsaved.events, events...)
	d.noted(noted)
	return nil
}

// noted says what follows from the applied events that are kept to be saved, from the given one on.
func (d *driver) noted(from int) {
	events := d.unsaved.events[from:]
	if len(events) > 0 && from == 0 {
		d.unsaved.since = time.Now()
	}
	if slices.ContainsFunc(events, func(e execution.Event) bool { return e.Type == execution.HumanTaskExpired }) {
		d.unsaved.must = true // nothing may follow from it before it is sure that nobody was faster
	}
}

func (d *driver) now() time.Time { return d.pool.Store.Clock.Now() }

// wait returns when something happened: results came, somebody woke the execution, an instant is due.
func (d *driver) wait() error {
	var due <-chan time.Time
	if pause, ok := d.nextInstant(); ok {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-d.ctx.Done():
		return d.ctx.Err()
	case f := <-d.results:
		return d.finish(f)
	case <-d.woken:
		if len(d.lent) > 1 {
			gather(d.ctx, d.woken) // what comes together is saved together
		}
		return d.look()
	case <-d.startDue:
		return d.recordStarts(func(a *attempt) bool { return a.runsLong(d.now()) })
	case <-due:
		if err := d.lend(); err != nil {
			return err
		}
		return d.lookBeforeDue()
	}
}

// lookBeforeDue reads the inbox when a timer is due: what came in time goes before a time-out.
func (d *driver) lookBeforeDue() error {
	if at, ok := execution.NextDue(d.exec.State); ok && !at.After(d.now()) {
		return d.look()
	}
	return nil
}

// look reads the inbox, as soon as the database can be asked: what runs goes on meanwhile. An execution that is not ours
// any more is left at once.
func (d *driver) look() error {
	for {
		wakes, inbox, owned, err := d.pool.Store.Look(d.ctx, d.exec.ID, d.pool.id)
		switch {
		case err == nil && !owned:
			return errLeft
		case err == nil:
			d.wakes, d.inbox = wakes, inbox
			return nil
		case !store.IsOutage(err):
			return err
		}
		select {
		case <-d.ctx.Done():
			return d.ctx.Err()
		case <-time.After(outageLook):
		}
	}
}

// suspendedLook is how often a driver that may not start anything looks whether it may again.
const suspendedLook = 500 * time.Millisecond

// nextInstant is how long it is until a timer of the execution or a delayed save is due.
func (d *driver) nextInstant() (time.Duration, bool) {
	var next time.Duration
	ok := false
	sooner := func(pause time.Duration) {
		if !ok || pause < next {
			next, ok = max(pause, 0), true
		}
	}
	if at, due := execution.NextDue(d.exec.State); due {
		sooner(at.Sub(d.now()))
	}
	if len(d.unsaved.events) > 0 {
		sooner(d.flushEvery() - time.Since(d.unsaved.since))
	}
	if !d.lendAt.IsZero() {
		sooner(time.Until(d.lendAt))
	}
	if d.pool.suspended() {
		sooner(suspendedLook)
	}
	return next, ok
}
