package engine

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	pgxuuid "github.com/vgarvardt/pgx-google-uuid/v5"

	"weftline/engine/activity"
	"weftline/engine/execution"
	"weftline/engine/figures"
	"weftline/engine/flow"
	"weftline/engine/notify"
	"weftline/engine/queue"
	"weftline/engine/queue/balance"
	"weftline/engine/queue/order"
	"weftline/engine/seal"
	"weftline/engine/store"
	"weftline/engine/timer"
	"weftline/engine/worker"
	"weftline/queries"
)

// Options of an engine; zero values are the defaults in parentheses.
type Options struct {
	DatabaseURL     string             // of a migrated database
	ListenURL       string             // of the same past a connection pooler, for LISTEN (DatabaseURL)
	Partitions      int                // fixed for the life of the database (32)
	Concurrency     int                // activity attempts at one time (16)
	Committers      int                // connections that flush in parallel (4)
	Connections     int                // most connections of the pool (Committers + 8)
	Mode            string             // what the execution mode default means (local_sync)
	Scheduling      string             // policy of package order (tenant_aware)
	Balance         string             // policy of package balance (least_loaded)
	Backpressure    PressureLimits     // when starts are held back (never)
	PayloadLimit    int                // bytes of an input, signal or event (1 MiB)
	OutputLimit     int                // bytes of an activity's output (16 MiB)
	FileLimit       int                // bytes of a file (64 MiB)
	ItemLimit       int                // items of a for_each (10,000)
	QuarantineAfter int                // crashes of its process in a row after which an execution is set aside (5)
	Grace           time.Duration      // how long Close lets running activities finish (20 s)
	Activities      *activity.Registry // kinds that this process runs; emit is added
	SecretKeys      [][]byte           // of 32 bytes: the first encrypts secrets, all decrypt; none = no secrets
	Tracer          pgx.QueryTracer    // sees each statement; nil = nobody
	Version         string             // of the program, shown in the worker registry
	Region, Zone    string
	Labels          map[string]string
	Teams           []string // teams that the worker works for, by their names (all)
	Workflows       []string // workflows that it works for (all)
	Queues          []string // queues of executions and of work that it serves (all)
	Serves          []int    // partitions that the worker claims executions from (all)
	KeepsWork       bool     // attempts that wait for a slot are not offered to other workers
	Log             *slog.Logger
}

func (o Options) withDefaults() Options {
	o.Partitions = orDefault(o.Partitions, 32)
	o.Concurrency = orDefault(o.Concurrency, 16)
	o.Committers = orDefault(o.Committers, 4)
	o.Connections = orDefault(o.Connections, o.Committers+8)
	o.Mode = orDefault(o.Mode, worker.ModeLocalSync)
	o.Scheduling = orDefault(o.Scheduling, "tenant_aware")
	o.Balance = orDefault(o.Balance, balance.Default)
	o.PayloadLimit = orDefault(o.PayloadLimit, 1<<20)
	o.OutputLimit = orDefault(o.OutputLimit, 16<<20)
	o.FileLimit = orDefault(o.FileLimit, 64<<20)
	o.ItemLimit = orDefault(o.ItemLimit, execution.DefaultItems)
	o.QuarantineAfter = orDefault(o.QuarantineAfter, 5)
	o.Grace = orDefault(o.Grace, 20*time.Second)
	o.Log = orDefault(o.Log, slog.Default())
	o.Activities = orDefault(o.Activities, activity.NewRegistry())
	return o
}

func orDefault[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

// Engine is one replica: the door, the worker that drives executions, and the loops that wake them.
type Engine struct {
	*catalog
	*desk
	*runs
	*scheduler
	*hooks
	*cabinet
	*watchers
	*policies

	options  Options
	db       *pgxpool.Pool
	asked    queries.Pool // db, as whoever asks sees it
	identity *Identity
	vault    *Vault
	services *Connections
	bus      *notify.Bus
	timers   *timer.Loop
	ticks    *timer.Poll
	figures  *figures.Figures
}

var _ Door = (*Engine)(nil)

// Open connects to a migrated database. Nothing runs before Run; the door may be used at once.
func Open(ctx context.Context, options Options) (*Engine, error) {
	options = options.withDefaults()
	line, err := order.Named(options.Scheduling)
	if err != nil {
		return nil, err
	}
	share, err := balance.Named(options.Balance)
	if err != nil {
		return nil, err
	}
	keys, err := seal.NewRing(options.SecretKeys...)
	if err != nil {
		return nil, err
	}
	db, asked, err := connect(ctx, options)
	if err != nil {
		return nil, err
	}
	st, err := store.Open(ctx, db, store.Options{Partitions: options.Partitions, Committers: options.Committers, Keys: keys, Log: options.Log, Asked: asked})
	if err != nil {
		db.Close()
		return nil, err
	}
	e := &Engine{options: options, db: db, asked: asked, identity: NewIdentity(asked), figures: figures.New(), vault: NewVault(asked, keys), watchers: newWatchers(), policies: newPolicies(asked)}
	e.identity.keys = keys
	e.identity.changed = func(team uuid.UUID) { e.publish(Change{Team: team, Access: true}) }
	e.assemble(st, line, share)
	return e, nil
}

// connect answers the pool, and the same as what is done for a team sees it.
func connect(ctx context.Context, options Options) (db *pgxpool.Pool, asked queries.Pool, err error) {
	config, err := pgxpool.ParseConfig(options.DatabaseURL)
	if err != nil {
		return nil, nil, fmt.Errorf("read the database URL: %w", err)
	}
	config.MaxConns = int32(options.Connections)
	config.MaxConnIdleTime = time.Minute
	config.ConnConfig.Tracer = options.Tracer
	config.ConnConfig.RuntimeParams["application_name"] = "weftline"
	pooled, err := behindPooler(ctx, config.ConnConfig)
	if err != nil {
		return nil, nil, err
	}
	if pooled {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe // no statement outlives its transaction
	} else {
		config.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = "30000"
		plainPlans(config.ConnConfig.RuntimeParams)
	}
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		pgxuuid.Register(conn.TypeMap()) // else each id goes through its text, in both directions
		return nil
	}
	scope := &teamScope{}
	config.PrepareConn = scope.prepare
	config.ShouldPing = func(_ context.Context, before pgxpool.ShouldPingParams) bool {
		return before.IdleDuration > time.Second || spokeUp(before.Conn)
	}
	db, err = pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, nil, fmt.Errorf("connect to the database: %w", err)
	}
	if asked, err = scope.enable(ctx, db, options.Log); err != nil {
		db.Close()
		return nil, nil, err
	}
	return db, asked, nil
}

// plainPlans keeps the planner from what is right for a table that is nearly empty: statements are planned once for a
// connection, often while the queue is, and reading all of it is then what they do for as long as they live. Every
// statement that is asked often has its index. Nothing runs so long that compiling it would pay.
func plainPlans(settings map[string]string) {
	settings["enable_seqscan"], settings["jit"] = "off", "off"
}

// assemble wires the parts; each gets functions for the little that it needs of the others.
func (e *Engine) assemble(st *store.Store, line order.Policy, share balance.Policy) {
	id := uuid.Must(uuid.NewV7())
	e.options.Activities.Register(flow.TypeEmit, emitter{e})
	e.services = newConnections(e.asked, e.vault, e.options.Activities)
	e.options.Activities.Connect(e.services.find)
	e.options.Activities.Narrow(e.policies.reach)
	e.services.reach = e.policies.reach
	e.cabinet = &cabinet{db: e.asked, q: queries.New(e.asked), most: int64(e.options.FileLimit), now: st.Clock.Now, keys: e.vault.keys}
	e.options.Activities.KeepFiles(activityFiles{e.cabinet})
	q, works := queue.New(e.db, id, e.options.serving(), line, share), queue.NewWorks(e.asked)
	pool := worker.New(worker.Options{
		Worker: e.worker(id), Store: st, Queue: q, Works: works, Activities: e.options.Activities, Mode: e.options.Mode,
		OutputLimit: e.options.OutputLimit, ItemLimit: e.options.ItemLimit, Shares: !e.options.KeepsWork, QuarantineAfter: e.options.QuarantineAfter, Grace: e.options.Grace, Log: e.options.Log,
		Figures:  e.figures,
		Secrets:  e.vault.valuesFor,
		Permit:   e.permit,
		Hint:     func(hint notify.Hint) { e.bus.Send(hint) },
		Changed:  e.watchers.tell,
		TimerSet: func(wait time.Duration) { e.timers.Nudge(wait) },
	})
	e.bus = notify.New(e.db, e.options.listening(e.db), id, e.options.Log, e.heard, func(ctx context.Context, session *pgx.Conn) error {
		return q.HoldLock(ctx, session)
	})
	e.timers = timer.New(st, e.options.Log, func(woken []uuid.UUID) { pool.Wake(woken...) })
	e.runs = &runs{gauge: newGauge(e.options.Backpressure, backlogOf(queries.New(e.db)), e.options.Log), db: e.asked, q: queries.New(e.asked), store: st, pool: pool, policies: e.policies, works: works, watch: e.watchers.Watch,
		payloadLimit: e.options.PayloadLimit, outputLimit: e.options.OutputLimit, log: e.options.Log}
	e.catalog = newCatalog(e.asked, e.policies, catalogLinks{unable: e.unable, mistakes: e.options.Activities.Mistakes, inputLimit: e.options.PayloadLimit, connection: e.services.kind, latest: e.runs.Executions, attempt: pool.Try, state: e.runs.stateOf, now: st.Clock.Now, changed: e.publish,
		resolve: func(ctx context.Context, team uuid.UUID, workflow, version string) error {
			_, err := st.Library.Resolve(ctx, team, workflow, version)
			return err
		},
		published: func(ctx context.Context, team uuid.UUID, workflow, version string) (*flow.Workflow, error) {
			definition, err := st.Library.Resolve(ctx, team, workflow, version)
			if err != nil {
				return nil, err
			}
			return definition.Workflow, nil
		}})
	e.desk = newDesk(e.asked, deskLinks{now: st.Clock.Now, changed: e.publish,
		deliver: st.DeliverIn, delivered: e.runs.settle})
	e.scheduler = newScheduler(e.runs.q, st, e.runs, func() { e.ticks.Nudge() })
	e.ticks = timer.NewPoll("schedules", e.options.Log, e.scheduler.look)
	e.hooks = &hooks{q: e.runs.q, store: st, runs: e.runs, secrets: e.vault.valuesFor, watch: e.watchers.Watch}
}

// serving is what the worker claims.
func (o Options) serving() queue.Serving {
	return queue.Serving{Partitions: o.partitions(), Every: len(o.Serves) == 0, Teams: o.Teams, Workflows: o.Workflows, Queues: o.Queues}
}

func (o Options) partitions() []int16 {
	var partitions []int16
	for i := range o.Partitions {
		if len(o.Serves) == 0 || slices.Contains(o.Serves, i) {
			partitions = append(partitions, int16(i))
		}
	}
	return partitions
}

func (e *Engine) worker(id uuid.UUID) queue.Worker {
	hostname, err := os.Hostname()
	if err != nil {
		hostname = "unknown"
	}
	return queue.Worker{ID: id, Hostname: hostname, Version: e.options.Version, Region: e.options.Region, Zone: e.options.Zone,
		Labels: e.options.Labels, Activities: e.options.Activities.Abilities(), Teams: e.options.Teams, Workflows: e.options.Workflows, Queues: e.options.Queues, Concurrency: e.options.Concurrency,
		Kind: queue.KindReplica, Architecture: runtime.GOARCH, CPU: runtime.NumCPU(), Memory: worker.MachineMemory()}
}

// unable says why an activity cannot run: it is neither of a type that the engine drives by itself nor one that
// a runner in this process or another replica takes.
func (e *Engine) unable(step *flow.Activity) string {
	if engineDrives(step.Type) || step.Type == flow.TypeWorker { // whoever registers for the task may come later
		return ""
	}
	reason := e.options.Activities.Unable(step)
	if reason == "" || e.othersCan(step) {
		return ""
	}
	return reason
}

// engineDrives: activities of the type need no worker.
func engineDrives(kind string) bool {
	switch kind {
	case flow.TypeHuman, flow.TypeWait, flow.TypeEvent, flow.TypeWorkflow, flow.TypeForEach, flow.TypeSwitch, flow.TypeSet, flow.TypeFail, flow.TypeEnd:
		return true
	}
	return false
}

// othersCan reports whether another replica that is alive now runs what this one cannot.
func (e *Engine) othersCan(step *flow.Activity) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	able, err := e.runs.q.AbleWorker(ctx, activity.NeedOf(step), queue.Lease.Seconds())
	return err == nil && able
}

// Run drives executions until Close or until ctx ends. It answers an error only if the worker could not
// be registered.
func (e *Engine) Run(ctx context.Context) error {
	var loops sync.WaitGroup
	beating, stopBeating := context.WithCancel(context.WithoutCancel(ctx))
	ctx, stop := context.WithCancel(ctx)
	defer func() {
		stop()
		e.pool.Close(context.WithoutCancel(ctx))
		stopBeating()
		loops.Wait()
	}()
	loops.Go(func() { e.timers.Run(ctx) })
	loops.Go(func() { e.timers.Tidy(ctx) })
	loops.Go(func() { e.gauge.run(ctx) })
	loops.Go(func() { e.ticks.Run(ctx) })
	loops.Go(func() { e.identity.sweepAlways(ctx, e.options.Log) })
	return e.pool.Run(ctx, func() {
		loops.Go(func() { e.pool.Beat(beating, e.bus.SetPeers) })
		loops.Go(func() { e.bus.Run(beating) })
	})
}

// Close drains the worker and disconnects. Run ends by it.
func (e *Engine) Close(ctx context.Context) {
	e.pool.Close(ctx)
	e.runs.store.Close()
	e.db.Close()
}

// Tidy deletes what has served its time, as every replica does by itself from time to time.
func (e *Engine) Tidy(ctx context.Context) error { return e.runs.store.Forget(ctx) }

// Worker is the id of this replica in the worker registry.
func (e *Engine) Worker() uuid.UUID { return e.pool.ID() }

// Identity knows who may come in.
func (e *Engine) Identity() *Identity { return e.identity }

// Vault keeps the secrets of teams.
func (e *Engine) Vault() *Vault { return e.vault }

// Figures are what the engine counts.
func (e *Engine) Figures() *figures.Figures { return e.figures }

// Slots is how many attempts may run here at one time, and how many do.
func (e *Engine) Slots() (all, busy int) { return e.options.Concurrency, e.pool.Busy() }

// Services keeps the connections of teams.
func (e *Engine) Services() *Connections { return e.services }

// heard takes a hint of another replica.
func (e *Engine) heard(hint notify.Hint) {
	e.bus.SetPeers(true)
	e.pool.Heard(hint)
	if slices.ContainsFunc(hint.Changes, func(c notify.Change) bool { return c.Access }) {
		e.identity.known.clear()
	}
	e.watchers.tell(hint.Changes)
}

// publish tells everybody of a change that was made through the door.
func (e *Engine) publish(change Change) {
	changes := []notify.Change{{Team: change.Team, Execution: change.Execution, Workflow: change.Workflow,
		LastSeq: change.LastSeq, Status: change.Status, Tasks: change.Tasks, Drafts: change.Drafts, Access: change.Access, Log: change.Log}}
	e.watchers.tell(changes)
	e.bus.Send(notify.Hint{Changes: changes})
}
