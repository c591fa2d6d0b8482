// Package worker owns executions that this process drives: it claims them, folds them once, decides in
// memory, runs their activities on its slots and makes every step durable through the group committer. It
// must not know SQL, HTTP or pages.
//
// One goroutine drives one execution; nothing else touches its state. An execution that only waits is
// parked: it then owns no memory, no goroutine and no row of the queue.
package worker

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"weftline/engine/activity"
	"weftline/engine/execution"
	"weftline/engine/figures"
	"weftline/engine/notify"
	"weftline/engine/queue"
	"weftline/engine/queue/order"
	"weftline/engine/store"
)

// Execution modes.
const (
	ModeDefault    = "default"
	ModeServer     = "server"
	ModeLocalSync  = "local_sync"
	ModeLocalAsync = "local_async"
)

// Options of a pool. Concurrency is the number of activity attempts at one time; Mode is what the mode
// default of a definition means; OutputLimit bounds an activity's output in bytes.
type Options struct {
	Worker          queue.Worker
	Store           *store.Store
	Queue           *queue.Queue
	Works           *queue.Works
	Activities      *activity.Registry
	Mode            string
	OutputLimit     int
	ItemLimit       int           // items of a for_each in executions that begin here
	Shares          bool          // attempts that wait for a slot are offered to other replicas
	QuarantineAfter int           // crashes of its process in a row after which an execution is set aside
	Grace           time.Duration // how long Close lets running attempts finish
	Log             *slog.Logger

	Figures *figures.Figures

	// Secrets reads secret values by name for a workflow; nil when the server has none. It answers
	// activity.ErrNotUsable for one that the workflow may not use.
	Secrets func(ctx context.Context, team uuid.UUID, workflow string, names []string) (map[string]string, error)
	// Permit says why an attempt may not run by the policy of its team; nil when it may, or nobody asks.
	Permit func(ctx context.Context, team, id uuid.UUID, w execution.Work) *execution.Error
	// Hint tells other replicas.
	Hint func(notify.Hint)
	// Changed tells watchers in this process, after each commit.
	Changed func([]notify.Change)
	// TimerSet tells the timer loop that something is due after wait.
	TimerSet func(wait time.Duration)
}

// Pool drives executions.
type Pool struct {
	Options
	id    uuid.UUID
	name  string // as it stands in histories
	slots *slots

	mu       sync.Mutex
	drivers  map[uuid.UUID]*driver
	adopting map[uuid.UUID]bool // executions that are about to be driven
	reserved int                // places promised to executions that are about to begin
	returned []queue.Claim      // claimed again while there were drivers of them
	receipts map[uuid.UUID][]*Receipt
	serving  bool // registered and not closing
	full     bool // the last look for room found none
	place    wanted

	running   sync.WaitGroup                   // drivers
	spare     chan *driver                     // to goroutines that have none
	bringing  sync.WaitGroup                   // loops that claim and promised places: more may come to be driven
	held      map[uuid.UUID]context.CancelFunc // leases of attempts that it makes for other owners
	queued    atomic.Int64                     // attempts that wait for a slot
	peers     atomic.Bool                      // other replicas are alive
	offered   atomic.Bool                      // there may be more work of others than was taken
	labels    map[string]string
	abilities []string
	finished  chan queue.Finished

	lookNow    chan struct{} // something may be ready
	workNow    chan struct{} // somebody may have offered work
	lostNow    chan struct{} // the next of the suspected may be taken over
	unread     chan struct{} // something owned may have been woken elsewhere
	registered atomic.Bool
	born       time.Time     // when it was made
	acked      atomic.Int64  // how long after that the last acknowledged heartbeat was sent, in nanoseconds
	draining   chan struct{} // closed when Close begins
	closed     chan struct{} // closed when Close ends
	alive      context.Context
	abandon    context.CancelFunc // cancels every driver
	usage      usage
}

// New makes a pool; Run starts it.
func New(options Options) *Pool {
	p := &Pool{Options: options, id: options.Worker.ID, name: options.Worker.ID.String(),
		born:     time.Now(),
		slots:    newSlots(options.Worker.Concurrency),
		drivers:  map[uuid.UUID]*driver{},
		adopting: map[uuid.UUID]bool{},
		receipts: map[uuid.UUID][]*Receipt{},
		held:     map[uuid.UUID]context.CancelFunc{},
		labels:   queue.AllLabels(options.Worker.Labels, options.Worker.Region, options.Worker.Zone),
		finished: make(chan queue.Finished, options.Worker.Concurrency),
		spare:    make(chan *driver),
		lookNow:  make(chan struct{}, 1),
		workNow:  make(chan struct{}, 1),
		lostNow:  make(chan struct{}, 1),
		unread:   make(chan struct{}, 1),
		draining: make(chan struct{}),
		closed:   make(chan struct{}),
	}
	p.abilities = p.Activities.Abilities()
	p.alive, p.abandon = context.WithCancel(context.Background())
	return p
}

// ID is the worker's.
func (p *Pool) ID() uuid.UUID { return p.id }

// Draining is closed when the pool begins to drain.
func (p *Pool) Draining() <-chan struct{} { return p.draining }

// Active is the number of executions that it owns.
func (p *Pool) Active() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.drivers)
}

// Busy is the number of attempts that run.
func (p *Pool) Busy() int { return p.Worker.Concurrency - p.slots.unused() }

// room is how many more executions it may own, by a rule of package order. When it is full, the next that leaves
// makes the pool look.
func (p *Pool) room(rule func(slots, owned int) int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.serving {
		return 0
	}
	owned := len(p.drivers) + p.reserved
	p.full = order.Room(p.Worker.Concurrency, owned) == 0
	return rule(p.Worker.Concurrency, owned)
}

// Reserve promises a place for an execution of a team that is about to begin; false when there is none, when it is
// not of what this worker serves, or when its slots are taken and other workers are to have it. A promise is redeemed
// by Drive or given back by Unreserve.
func (p *Pool) Reserve(execution uuid.UUID, team string, definition *store.Definition) bool {
	lane := queue.Lane{Partition: p.Store.Partition(execution), Team: team, Workflow: definition.Name, Queue: definition.Queue()}
	if !p.Queue.Serving().Takes(lane) || p.isFull() && p.peers.Load() && !p.Queue.MayKeep(p.alive) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.serving || order.Room(p.Worker.Concurrency, len(p.drivers)+p.reserved) == 0 || p.suspended() {
		return false
	}
	p.reserved++
	p.bringing.Add(1)
	return true
}

// isFull reports whether it owns as many executions as it has slots.
func (p *Pool) isFull() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.drivers)+p.reserved >= p.Worker.Concurrency
}

// Unreserve gives a promised place back.
func (p *Pool) Unreserve() {
	defer p.bringing.Done()
	p.mu.Lock()
	p.reserved--
	look := p.full
	p.mu.Unlock()
	if look {
		p.look()
	}
}

// Drive begins to drive an execution that this worker owns since its first flush. It redeems a promise.
func (p *Pool) Drive(begun *store.Loaded) {
	defer p.bringing.Done()
	p.mu.Lock()
	p.reserved--
	if p.drivers[begun.ID] != nil || p.adopting[begun.ID] { // the answer took so long that it was found undriven
		p.mu.Unlock()
		return
	}
	d := p.add(begun, queue.Claim{Execution: begun.ID, Wakes: 1})
	p.mu.Unlock()
	p.launch(d)
}

// Wake tells that executions got a message or a timer: their drivers look at once, and those nobody owns
// are claimed soon.
func (p *Pool) Wake(ids ...uuid.UUID) {
	p.mu.Lock()
	foreign := false
	for _, id := range ids {
		if d := p.drivers[id]; d != nil {
			d.wake()
		} else {
			foreign = true
		}
	}
	p.mu.Unlock()
	if foreign {
		p.look()
	}
	p.Hint(notify.Hint{Ready: foreign, Woken: ids})
}

// Heard takes a hint of another replica.
func (p *Pool) Heard(hint notify.Hint) {
	p.mu.Lock()
	for _, id := range hint.Woken {
		if d := p.drivers[id]; d != nil {
			d.wake()
		}
	}
	p.mu.Unlock()
	p.peers.Store(true)
	if hint.Ready {
		p.look()
	}
	if slices.ContainsFunc(hint.Changes, func(c notify.Change) bool { return c.Work }) {
		p.workOffered()
	}
}

// look makes the claim loop look at once.
func (p *Pool) look() { signal(p.lookNow) }

// lookAround is for wake-ups of executions that are not known here, such as whoever got a permit.
func (p *Pool) lookAround() {
	signal(p.unread)
	p.look()
	p.Hint(notify.Hint{Ready: true})
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
