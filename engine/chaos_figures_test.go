package engine_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"weftline/engine"
	"weftline/engine/store"
)

// chaosFigures is what a run under faults is measured by. What of it make chaos holds against bounds is in
// recoversInTime and answersClients.
type chaosFigures struct {
	mu       sync.Mutex
	counts   map[string]int
	recovery []time.Duration // of what a lost worker owned, until somebody else had all of it
	outages  [][2]time.Time  // when PostgreSQL itself was down
	faults   [][2]time.Time  // with the time in which something may follow from them
	losses   []*loss
	stalls   []stall
	asked    []asking
	watching sync.WaitGroup
}

// asking is a request of a client; failed with what would be a status of 5xx.
type asking struct {
	from, to time.Time
	failed   error
}

func newChaosFigures() *chaosFigures { return &chaosFigures{counts: map[string]int{}} }

func (f *chaosFigures) count(what string) {
	f.mu.Lock()
	f.counts[what]++
	f.mu.Unlock()
}

// down notes that PostgreSQL is down until up is called and it takes writes again: it may be recovering by itself.
func (c *chaos) down() (up func()) {
	from := time.Now()
	return func() {
		c.eventually("PostgreSQL works again", func() bool {
			conn, err := pgx.Connect(c.t.Context(), c.url)
			if err != nil {
				return false
			}
			defer func() { _ = conn.Close(c.t.Context()) }()
			_, err = conn.Exec(c.t.Context(), `update server_settings set value = value`)
			return err == nil
		})
		c.figures.mu.Lock()
		c.figures.outages = append(c.figures.outages, [2]time.Time{from, time.Now()})
		c.figures.mu.Unlock()
	}
}

// watchOver measures how long it takes from now on until nothing is owned any more by the process that a member is.
func (c *chaos) watchOver(m *member) (worker uuid.UUID) {
	worker = c.workerOf(m)
	for range 12 { // so that it has something to lose
		_ = c.startOne("local-sync") // one that is not acknowledged is counted
	}
	from := time.Now()
	c.figures.watching.Go(func() { c.figures.watch(c.url, worker, from) })
	return worker
}

// watch waits until a worker owns nothing. What was never owned is no recovery.
func (f *chaosFigures) watch(database string, worker uuid.UUID, from time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return // the next fault was faster
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for owned := false; ; time.Sleep(10 * time.Millisecond) {
		var n int
		if err := conn.QueryRow(ctx, `select count(*) from ready where owner = $1`, worker).Scan(&n); err != nil {
			return
		}
		if n == 0 {
			if owned {
				f.mu.Lock()
				f.recovery = append(f.recovery, time.Since(from))
				f.mu.Unlock()
			}
			return
		}
		owned = true
	}
}

// oversee looks all the time, until stop is called, at what must hold at every moment: nothing is in limbo and no
// limit is overdrawn. While the database cannot be asked nobody looks.
func (c *chaos) oversee() (stop func()) {
	pool, err := pgxpool.New(context.Background(), c.url)
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var looking sync.WaitGroup
	looking.Go(func() {
		for ctx.Err() == nil {
			if _, limbo, err := store.FindLimbo(ctx, pool); err == nil && len(limbo) > 0 {
				c.t.Errorf("in limbo: %+v", limbo)
			}
			var overdrawn int
			err := pool.QueryRow(ctx, `select count(*) from (select from permits where held group by team_id, name having count(*) > min(capacity)) o`).Scan(&overdrawn)
			if err == nil && overdrawn > 0 {
				c.t.Errorf("%d limits are overdrawn", overdrawn)
			}
			c.figures.count("looks at the whole")
			time.Sleep(100 * time.Millisecond)
		}
	})
	return func() {
		cancel()
		looking.Wait()
		pool.Close()
	}
}

// clients ask the door all the time, until stop is called.
func (c *chaos) clients(n int) (stop func()) {
	var over atomic.Bool
	var all sync.WaitGroup
	for i := range n {
		dice := rand.New(rand.NewPCG(c.dice.Uint64(), uint64(i)))
		all.Go(func() {
			for !over.Load() {
				from := time.Now()
				err := c.ask(dice)
				if !engine.IsOutage(err) && !errors.Is(err, context.DeadlineExceeded) {
					err = nil
				}
				c.figures.mu.Lock()
				c.figures.asked = append(c.figures.asked, asking{from, time.Now(), err})
				c.figures.mu.Unlock()
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	return func() {
		over.Store(true)
		all.Wait()
		c.figures.watching.Wait()
	}
}

// ask is one request of a client.
func (c *chaos) ask(dice *rand.Rand) error {
	ctx := c.t.Context()
	id := c.anyStarted()
	switch n := dice.IntN(40); {
	case n == 0:
		return c.startOne("local-sync")
	case n < 10 || id == uuid.Nil:
		_, err := engine.Again(ctx, func() (engine.Page[engine.ExecutionSummary], error) {
			return c.Executions(ctx, c.who, engine.ExecutionFilter{})
		})
		return err
	case n < 25:
		_, err := engine.Again(ctx, func() (engine.ExecutionDetail, error) { return c.Execution(ctx, c.who, id) })
		return err
	default:
		_, err := engine.Again(ctx, func() (engine.EventPage, error) { return c.Events(ctx, c.who, id, 0, 100) })
		return err
	}
}

func (c *chaos) anyStarted() uuid.UUID {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.started {
		return id
	}
	return uuid.Nil
}

func (f *chaosFigures) print(t *testing.T) {
	t.Logf("faults %v", f.counts)
	slices.Sort(f.recovery)
	if n := len(f.recovery); n > 0 {
		t.Logf("%d times what a lost worker owned was taken over: after %s in the middle, %s at most", n, f.recovery[n/2].Round(time.Millisecond), f.recovery[n-1].Round(time.Millisecond))
	}
	t.Logf("lost acknowledged starts 0, lost signals 0, results accepted twice 0: each would have failed the test")
}

// answersClients holds what clients were answered against the share of requests, outside the seconds in which
// PostgreSQL itself is down, that the server may fail to answer: one in ten thousand, so of few none.
func (f *chaosFigures) answersClients(t *testing.T) {
	asked, failed := 0, 0
	for _, r := range f.asked {
		if overlaps(f.outages, r.from, r.to) {
			continue
		}
		asked++
		if r.failed != nil {
			failed++
			t.Logf("a request failed: %v", r.failed)
		}
	}
	t.Logf("%d requests while PostgreSQL was up, %d of them answered with a failure of the server (%.3f %% were not)", asked, failed, 100-100*float64(failed)/float64(max(asked, 1)))
	if failed*10_000 > asked {
		t.Errorf("of %d requests %d were answered with a failure of the server", asked, failed)
	}
}
