// Package bench measures the engine on the workloads that its rivals are measured on. It uses the door as
// any application does and must not reach into the engine.
package bench

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/activity"
	"weftline/engine/execution"
	"weftline/engine/flow"
)

// Options of one measurement. DatabaseURL is a migrated database of its own.
type Options struct {
	DatabaseURL string
	Workload    string // one of Workloads
	Mode        string // server, local_sync, local_async
	Instances   int    // 0 = the workload's own number
	Workers     int    // with Concurrency: the attempts at one time
	Concurrency int
	Balance     string // policy by which replicas share work, "" = the engine's own
	Version     string
	Log         *slog.Logger

	// Front opens the way in that the workload http takes instead of the door.
	Front func(ctx context.Context, e *engine.Engine, who engine.Who) (start Starter, stop func(), err error)
}

// Starter starts an execution and answers its id when it is durable.
type Starter func(ctx context.Context, workflow string, input map[string]any) (uuid.UUID, error)

// Result is one line of output. Latencies are in milliseconds, from the call that starts an execution to
// its durable end; cpu is the seconds that this process used.
type Result struct {
	Workload            string  `json:"workload"`
	Mode                string  `json:"mode"`
	Instances           int     `json:"instances"`
	Steps               int     `json:"steps"`
	Seconds             float64 `json:"seconds"`
	InstancesPerSecond  float64 `json:"instancesPerSecond"`
	StepsPerSecond      float64 `json:"stepsPerSecond"`
	CommitsPerInstance  float64 `json:"commitsPerInstance"`
	WALBytesPerInstance float64 `json:"walBytesPerInstance"`
	P50                 float64 `json:"p50Ms"`
	P95                 float64 `json:"p95Ms"`
	P99                 float64 `json:"p99Ms"`
	BeginP50            float64 `json:"beginP50Ms,omitempty"` // of single-call and latency: until the step begins, the start's commit included
	BeginP99            float64 `json:"beginP99Ms,omitempty"`
	CommitP50           float64 `json:"commitP50Ms"`            // one row by one client on the same PostgreSQL, right after
	FiredSeconds        float64 `json:"firedSeconds,omitempty"` // of timers: from when they are due until none is left
	*Leases                     // of leases
	*Rest                       // of sleepers
	Balance             string  `json:"balance,omitempty"`
	Shares              []int   `json:"shares,omitempty"` // of workloads whose workers are replicas: calls made by each
	Engine              string  `json:"engine"`
	Postgres            string  `json:"postgres"`
	CPU                 float64 `json:"cpu"`
	BoundRowsPerSecond  float64 `json:"boundRowsPerSecond"` // what the same PostgreSQL inserts at all
	ShareOfBound        float64 `json:"shareOfBound"`       // steps a second of it
}

// Run measures one workload.
func Run(ctx context.Context, options Options) (Result, error) {
	load, ok := workloads[options.Workload]
	if !ok {
		return Result{}, fmt.Errorf("there is no workload %s; choose one of %v", options.Workload, Workloads())
	}
	if options.Instances == 0 {
		options.Instances = load.instances
	}
	var parts parts
	e, stop, err := open(ctx, load, options, &parts)
	if err != nil {
		return Result{}, err
	}
	defer stop()
	m, err := newMeasurement(ctx, e, load, options, &parts)
	if err != nil {
		return Result{}, err
	}
	if load.front {
		begin, stop, err := options.Front(ctx, e, m.who)
		if err != nil {
			return Result{}, err
		}
		defer stop()
		m.begin = begin
	}
	switch {
	case load.together:
		return m.runTimers(ctx)
	case load.remote:
		return m.runLeases(ctx)
	case load.asleep:
		return m.runSleepers(ctx)
	}
	return m.run(ctx)
}

// open starts the workers: all in one replica, or each as one of its own where the workload says so. The first
// one is asked.
func open(ctx context.Context, load workload, options Options, parts *parts) (first *engine.Engine, stop func(), err error) {
	replicas, slots := 1, options.Workers*options.Concurrency
	if load.apart {
		replicas, slots = options.Workers, options.Concurrency
	}
	var stops []func()
	stop = func() {
		for _, f := range stops {
			f()
		}
	}
	for range replicas {
		kinds := activity.NewRegistry()
		kinds.Register(flow.TypeHTTP, parts.add())
		e, err := engine.Open(ctx, engine.Options{DatabaseURL: options.DatabaseURL, Mode: options.Mode, Version: options.Version,
			Concurrency: slots, Activities: kinds, Log: options.Log, Balance: options.Balance, Tracer: &parts.statements})
		if err != nil {
			stop()
			return nil, nil, err
		}
		running := make(chan error, 1)
		go func() { running <- e.Run(ctx) }()
		stops = append(stops, func() {
			e.Close(context.WithoutCancel(ctx))
			<-running
		})
		first = e
	}
	return first, stop, nil
}

// measurement is one workload on one engine.
type measurement struct {
	engine  *engine.Engine
	who     engine.Who
	load    workload
	options Options
	begin   Starter
	*parts

	mu      sync.Mutex
	began   map[uuid.UUID]time.Time
	ended   map[uuid.UUID]time.Time
	failed  int
	changed chan struct{}
}

func newMeasurement(ctx context.Context, e *engine.Engine, load workload, options Options, parts *parts) (*measurement, error) {
	person, err := e.Identity().EnsureLocalUser(ctx, "bench")
	if err != nil {
		return nil, err
	}
	m := &measurement{engine: e, load: load, options: options, parts: parts, began: map[uuid.UUID]time.Time{}, ended: map[uuid.UUID]time.Time{},
		changed: make(chan struct{}, 1),
		who:     engine.Who{Team: person.Team, TeamName: engine.DefaultTeam, User: person.Name, Person: person.User, Via: "bench", Roles: []string{engine.RoleAdmin}}}
	m.begin = m.throughTheDoor
	if _, err := e.SaveDraft(ctx, m.who, workflowName, []byte(load.text()), "", true); err != nil {
		return nil, err
	}
	_, _, err = e.Publish(ctx, m.who, workflowName, "benchmark")
	return m, err
}

func (m *measurement) throughTheDoor(ctx context.Context, workflow string, input map[string]any) (uuid.UUID, error) {
	started, err := m.engine.Start(ctx, m.who, engine.StartRequest{Workflow: workflow, Input: input})
	return started.ID, err
}

func (m *measurement) run(ctx context.Context) (Result, error) {
	stop := m.engine.Watch(m.who.Team, m.watch)
	defer stop()
	if err := m.start(ctx, m.load.warmUp); err != nil {
		return Result{}, err
	}
	m.forget()
	result, err := m.measure(ctx, func() (seconds float64, err error) {
		began := time.Now()
		err = m.start(ctx, m.options.Instances)
		return time.Since(began).Seconds(), err
	})
	if m.load.apart {
		result.Shares = m.byReplica()
	}
	return result, err
}

// measure counts what the database and this process do for the instances while work runs.
func (m *measurement) measure(ctx context.Context, work func() (seconds float64, err error)) (Result, error) {
	before, err := readDatabase(ctx, m.options.DatabaseURL)
	if err != nil {
		return Result{}, err
	}
	cpu := processSeconds()
	seconds, err := work()
	if err != nil {
		return Result{}, err
	}
	result := m.result(seconds)
	result.CPU = round(processSeconds() - cpu)
	after, err := readDatabase(ctx, m.options.DatabaseURL)
	if err != nil {
		return Result{}, err
	}
	n := float64(m.options.Instances)
	result.Postgres = after.version
	result.CommitsPerInstance = round(float64(after.commits-before.commits) / n)
	result.WALBytesPerInstance = math.Round(float64(after.wal-before.wal) / n)
	rows, err := bound(ctx, m.options.DatabaseURL)
	if err != nil {
		return Result{}, fmt.Errorf("measure what PostgreSQL can do: %w", err)
	}
	result.BoundRowsPerSecond, result.ShareOfBound = math.Round(rows), round(result.StepsPerSecond/rows)
	if result.CommitP50, err = commitLatency(ctx, m.options.DatabaseURL); err != nil {
		return Result{}, fmt.Errorf("measure one commit: %w", err)
	}
	return result, nil
}

// start runs n executions to their end, as many at a time as the workload says.
func (m *measurement) start(ctx context.Context, n int) error {
	starting := func() error { return m.startAll(ctx, n, m.startOne) }
	if m.load.batches {
		starting = func() error { return m.startBatches(ctx, n, benchInput(), time.Time{}) }
	}
	if err := starting(); err != nil {
		return err
	}
	return m.waitFor(ctx, n)
}

func (m *measurement) startAll(ctx context.Context, n int, one func(context.Context) error) error {
	numbers := make(chan int)
	failures := make(chan error, m.load.starters)
	var starters sync.WaitGroup
	for range m.load.starters {
		starters.Go(func() {
			for range numbers {
				if err := one(ctx); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	err := feed(numbers, n, failures)
	close(numbers)
	starters.Wait()
	return err
}

func feed(numbers chan<- int, n int, failures <-chan error) error {
	for i := range n {
		select {
		case numbers <- i:
		case err := <-failures:
			return err
		}
	}
	return nil
}

func (m *measurement) startOne(ctx context.Context) error {
	began := time.Now()
	id, err := m.begin(ctx, workflowName, benchInput())
	if err != nil {
		return err
	}
	m.note(id, began)
	if m.load.alone {
		return m.waitForOne(ctx, id)
	}
	return nil
}

// note keeps the instant that the latency of an execution counts from.
func (m *measurement) note(id uuid.UUID, from time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.began[id] = from
}

func (m *measurement) watch(change engine.Change) {
	if !execution.IsTerminal(change.Status) {
		return
	}
	m.mu.Lock()
	if m.ended[change.Execution].IsZero() {
		m.ended[change.Execution] = time.Now()
		if change.Status != execution.StatusCompleted {
			m.failed++
		}
	}
	m.mu.Unlock()
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

func (m *measurement) waitFor(ctx context.Context, n int) error {
	return m.until(ctx, func() bool { return len(m.ended) >= n })
}

func (m *measurement) waitForOne(ctx context.Context, id uuid.UUID) error {
	return m.until(ctx, func() bool { return !m.ended[id].IsZero() })
}

// until waits for a condition over what ended, and refuses to count failures as work done.
func (m *measurement) until(ctx context.Context, holds func() bool) error {
	for {
		m.mu.Lock()
		done, failed := holds(), m.failed
		m.mu.Unlock()
		if failed > 0 {
			return fmt.Errorf("%d executions of the workload did not complete", failed)
		}
		if done {
			return nil
		}
		select {
		case <-m.changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *measurement) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.began, m.ended = map[uuid.UUID]time.Time{}, map[uuid.UUID]time.Time{}
}

func (m *measurement) result(seconds float64) Result {
	var latencies []float64
	from := make(map[string]time.Time, len(m.began))
	for id, began := range m.began {
		if ended, over := m.ended[id]; over {
			latencies = append(latencies, ended.Sub(began).Seconds()*1000)
		}
		from[id.String()] = began
	}
	latencies = sorted(latencies)
	begins := m.begins(from)
	steps := m.options.Instances * m.load.steps
	return Result{Workload: m.options.Workload, Mode: m.options.Mode, Instances: m.options.Instances, Steps: steps,
		Seconds: round(seconds), InstancesPerSecond: round(float64(m.options.Instances) / seconds),
		StepsPerSecond: round(float64(steps) / seconds), Balance: m.options.Balance, P50: percentile(latencies, 0.5), P95: percentile(latencies, 0.95),
		P99: percentile(latencies, 0.99), BeginP50: percentile(begins, 0.5), BeginP99: percentile(begins, 0.99), Engine: "weftline " + m.options.Version}
}

func sorted(values []float64) []float64 {
	slices.Sort(values)
	return values
}

// percentile of sorted values.
func percentile(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return round(sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)])
}

func round(value float64) float64 { return math.Round(value*1000) / 1000 }
