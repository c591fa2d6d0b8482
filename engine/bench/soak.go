package bench

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine"
	"weftline/engine/execution"
)

// Soak keeps the engine under work for a duration. Rate is starts a second, 0 for as many as it takes.
type Soak struct {
	Duration time.Duration
	Rate     float64
	Every    time.Duration // between two lines
}

// SoakLine is what one stretch of a soak was like. Latencies are milliseconds from a start to its durable end;
// what the work itself waits for is in them. Sizes are bytes, indexes included.
type SoakLine struct {
	Seconds      float64          `json:"seconds"` // since the beginning
	Started      int              `json:"started"`
	Completed    int              `json:"completed"`
	PerSecond    float64          `json:"perSecond"` // completed
	P50          float64          `json:"p50Ms"`
	P99          float64          `json:"p99Ms"`
	Open         int              `json:"open"`
	CPU          float64          `json:"cpu"` // seconds that this process used
	ResidentSize int64            `json:"residentBytes"`
	Heap         uint64           `json:"heapBytes"`
	Dead         map[string]int64 `json:"deadRows"` // as PostgreSQL estimates them
	Size         map[string]int64 `json:"tableBytes"`
}

// soakTables are those that are written all the time; one in parts counts as one.
var soakTables = []string{"ready", "timers", "inbox", "executions", "history", "workers"}

// soakStarters bounds the starts at one time.
const soakStarters = 64

// soaking is what an execution of a soak does: compute, call something that takes 100 ms, sleep a second and
// compute again. It is kept for five minutes, so that deleting is part of the work.
func soaking() string {
	return strings.Replace(head, "maxParallel: 200", "historyRetention: 5m", 1) + `    - id: before
      type: set
      outputs:
        context: 'merge(inputs.context, {"before": "done"})'
    - id: call
      type: http
      needs: [before]
      inputs: {url: "http://127.0.0.1/"}
    - id: sleep
      type: wait
      needs: [call]
      wait: {timer: {after: 1s}}
    - id: after
      type: set
      needs: [sleep]
      outputs:
        context: 'merge(activities.before.outputs.context, {"after": "done"})'
`
}

// RunSoak works for the duration and hands a line to each as soon as its stretch is over.
func RunSoak(ctx context.Context, options Options, soak Soak, each func(SoakLine) error) error {
	load, parts := workload{text: soaking}, &parts{endless: true}
	e, stop, err := open(ctx, load, options, parts)
	if err != nil {
		return err
	}
	defer stop()
	m, err := newMeasurement(ctx, e, load, options, parts)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, soak.Duration)
	defer cancel()
	s := &soaker{measurement: m, open: map[uuid.UUID]time.Time{}, early: map[uuid.UUID]time.Time{}}
	stopWatching := e.Watch(m.who.Team, s.watch)
	defer stopWatching()
	failed := make(chan error, 1)
	go func() { failed <- s.startAlways(ctx, soak.Rate) }()
	return s.report(ctx, soak, failed, each)
}

// soaker remembers only what is open, so that it does not grow with the time.
type soaker struct {
	*measurement
	open  map[uuid.UUID]time.Time // by start
	early map[uuid.UUID]time.Time // ended before the start was noted

	stretch stretch
}

// stretch is what happened since the last line.
type stretch struct {
	started   int
	failed    int
	latencies []float64
}

// startAlways starts executions at the rate, or as fast as starters get answers, until ctx ends.
func (s *soaker) startAlways(ctx context.Context, rate float64) error {
	turns := make(chan struct{})
	failures := make(chan error, soakStarters)
	var starters sync.WaitGroup
	for range soakStarters {
		starters.Go(func() {
			for range turns {
				if err := s.startOne(ctx); err != nil && ctx.Err() == nil {
					failures <- err
					return
				}
			}
		})
	}
	defer starters.Wait()
	defer close(turns)
	began := time.Now()
	for n := 0; ; n++ {
		if rate > 0 {
			time.Sleep(time.Until(began.Add(time.Duration(float64(n) / rate * float64(time.Second)))))
		}
		select {
		case turns <- struct{}{}:
		case err := <-failures:
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *soaker) startOne(ctx context.Context) error {
	began := time.Now()
	started, err := s.engine.Start(ctx, s.who, engine.StartRequest{Workflow: workflowName, Input: benchInput()})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stretch.started++
	if ended, ok := s.early[started.ID]; ok {
		delete(s.early, started.ID)
		s.stretch.latencies = append(s.stretch.latencies, ended.Sub(began).Seconds()*1000)
		return nil
	}
	s.open[started.ID] = began
	return nil
}

func (s *soaker) watch(change engine.Change) {
	if !execution.IsTerminal(change.Status) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if change.Status != execution.StatusCompleted {
		s.stretch.failed++
	}
	began, ok := s.open[change.Execution]
	if !ok {
		s.early[change.Execution] = time.Now()
		return
	}
	delete(s.open, change.Execution)
	s.stretch.latencies = append(s.stretch.latencies, time.Since(began).Seconds()*1000)
}

func (s *soaker) report(ctx context.Context, soak Soak, failed <-chan error, each func(SoakLine) error) error {
	began, last := time.Now(), time.Now()
	ticks := time.NewTicker(soak.Every)
	defer ticks.Stop()
	for {
		select {
		case err := <-failed:
			return err // nil when the time is over
		case <-ticks.C:
		}
		line, err := s.line(context.WithoutCancel(ctx), time.Since(last))
		if err != nil {
			return err
		}
		last = time.Now()
		line.Seconds = round(time.Since(began).Seconds())
		if err := each(line); err != nil {
			return err
		}
	}
}

// line sums up what happened since the one before.
func (s *soaker) line(ctx context.Context, length time.Duration) (SoakLine, error) {
	s.mu.Lock()
	now, open := s.stretch, len(s.open)
	s.stretch = stretch{}
	s.mu.Unlock()
	if now.failed > 0 {
		return SoakLine{}, fmt.Errorf("%d executions did not complete", now.failed)
	}
	slices.Sort(now.latencies)
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	line := SoakLine{Started: now.started, Completed: len(now.latencies), PerSecond: round(float64(len(now.latencies)) / length.Seconds()),
		P50: percentile(now.latencies, 0.5), P99: percentile(now.latencies, 0.99), Open: open, CPU: round(processSeconds()),
		ResidentSize: residentSize(), Heap: memory.HeapAlloc}
	var err error
	line.Dead, line.Size, err = readTables(ctx, s.options.DatabaseURL)
	return line, err
}

// readTables reads what the tables that are written all the time hold; dead rows are as PostgreSQL estimates them.
func readTables(ctx context.Context, url string) (dead, size map[string]int64, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = conn.Close(ctx) }()
	const question = `select name, sum(n_dead_tup)::bigint, sum(pg_total_relation_size(relid))::bigint
		from (select coalesce((select i.inhparent::regclass::text from pg_inherits i where i.inhrelid = t.relid), t.relname) as name, t.* from pg_stat_user_tables t) as parts
		where name = any($1) group by name`
	rows, err := conn.Query(ctx, question, soakTables)
	if err != nil {
		return nil, nil, err
	}
	dead, size = map[string]int64{}, map[string]int64{}
	var name string
	var deadRows, bytes int64
	_, err = pgx.ForEachRow(rows, []any{&name, &deadRows, &bytes}, func() error {
		dead[name], size[name] = deadRows, bytes
		return nil
	})
	return dead, size, err
}

// residentSize is the memory of this process in bytes as the kernel counts it; 0 where it does not say.
func residentSize() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
