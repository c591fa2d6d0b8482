package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"weftline/engine"
	"weftline/engine/enginetest"
	"weftline/engine/execution"
	"weftline/engine/store"
)

// Settings of the test of chaos, as environment variables; `make chaos` sets more rounds.
const (
	chaosSeed   = "WEFTLINE_CHAOS_SEED"   // the same seed gives the same faults and starts
	chaosRounds = "WEFTLINE_CHAOS_ROUNDS" // faults, one after the other
)

// Every kind of work that the fleet does under faults: chains in each mode, items of a loop and a retry, a
// wait for a signal, and what is undone.
var chaosWorkflows = map[string]string{
	"server":      "  execution: {mode: server}\n" + chain(6),
	"local_sync":  "  execution: {mode: local_sync}\n" + chain(6),
	"local_async": "  execution: {mode: local_async}\n" + chain(6),
	"items": `
  activities:
    - id: each
      type: for_each
      for_each: {items: "[1, 2, 3, 4, 5, 6]", maxConcurrent: 3, activity: {type: http, inputs: {url: "http://example.com"}}}
    - {id: after, type: http, needs: [each], inputs: {url: "http://example.com"}}
`,
	"signal": `
  activities:
    - {id: before, type: http, inputs: {url: "http://example.com"}}
    - {id: go, type: event, needs: [before], timeout: 1h, event: {name: go, correlation: execution.id}}
    - {id: after, type: http, needs: [go], inputs: {url: "http://example.com"}}
`,
	"pause": `
  activities:
    - {id: before, type: http, inputs: {url: "http://example.com"}}
    - {id: rest, type: wait, needs: [before], wait: {timer: {after: 500ms}}}
    - {id: after, type: http, needs: [rest], inputs: {url: "http://example.com"}}
`,
	"limited": `
  limits: {maxConcurrent: 2}
  activities:
    - {id: alone, type: http, inputs: {url: "http://example.com"}, semaphore: {name: door, permits: 1}}
`,
	"undone": `
  activities:
    - {id: book, type: http, inputs: {url: "http://example.com"}, compensate: {type: http, inputs: {url: "http://example.com"}}}
    - {id: stop, type: fail, needs: [book], fail: {error: own.kind, message: "no"}}
`,
}

// chaos is a fleet of replicas under seeded faults.
type chaos struct {
	*world
	own      *enginetest.Own // the server, if it is this test's alone
	dice     *rand.Rand
	log      string           // the effects, one line each
	front    *enginetest.Wire // the way to the database of the door that clients use
	replicas []*member
	figures  *chaosFigures

	mu      sync.Mutex
	started map[uuid.UUID]string // acknowledged starts, with their workflow
}

// member is one replica, which reaches the database over a wire of its own.
type member struct {
	replica
	wire *enginetest.Wire
	end  func(os.Signal)
	send func(os.Signal)
}

func TestAFleetUnderFaultsLosesNothing(t *testing.T) {
	t.Parallel()
	c := newChaos(t)
	clients := c.clients(2)
	overseer := c.oversee()
	for _, f := range c.drawn(setting(chaosRounds, 6)) {
		c.work(6)
		c.befall(f)
	}
	c.work(6)
	c.heal()
	clients()
	overseer()
	for id, workflow := range c.started {
		want := "completed"
		if workflow == "undone" {
			want = "compensated"
		}
		c.ends(id, want)
	}
	c.invariants()
	made := len(effects(t, c.log))
	t.Logf("%d executions ended as they should, %d effects of which %d were repeated", len(c.started), made, made-len(c.made()))
	c.figures.print(t)
}

func setting(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

func newChaos(t *testing.T) *chaos {
	seed := setting(chaosSeed, int(time.Now().UnixNano()%1_000_000))
	t.Logf("%s=%d", chaosSeed, seed)
	c := &chaos{dice: rand.New(rand.NewPCG(uint64(seed), 1)), log: t.TempDir() + "/effects", started: map[uuid.UUID]string{}, figures: newChaosFigures()}
	var database string
	var err error
	if c.own, err = enginetest.NewOwn(t); err == nil {
		database = c.own.Database()
	} else {
		t.Logf("PostgreSQL itself is left alone, since there is none that may be broken: %v", err)
		database = enginetest.Database(t)
	}
	c.world = newWorldAt(t, database)
	for name, spec := range chaosWorkflows {
		c.publish(strings.ReplaceAll(name, "_", "-"), spec)
	}
	c.stop() // from here on only the replicas drive
	c.front = enginetest.NewWire(t, c.url)
	c.doorAt(c.front.URL())
	for i, region := range []string{"near", "far", "far"} {
		m := &member{wire: enginetest.NewWire(t, c.url)}
		m.replica = replica{Database: m.wire.URL(), Log: c.log, Name: fmt.Sprintf("replica-%d", i), Region: region}
		c.replicas = append(c.replicas, m)
		c.launch(m)
	}
	return c
}

func (c *chaos) launch(m *member) { m.end, m.send = c.world.launch(m.replica) }

// work starts executions and sends signals to those that may wait for one. What is acknowledged must not be lost.
func (c *chaos) work(n int) {
	names := []string{"items", "limited", "local-async", "local-sync", "pause", "server", "signal", "undone"}
	for range n {
		c.startOne(names[c.dice.IntN(len(names))])
	}
}

func (c *chaos) startOne(name string) error {
	started, err := c.Start(c.t.Context(), c.who, engine.StartRequest{Workflow: name})
	if err != nil {
		c.figures.count("start not acknowledged")
		return err
	}
	c.mu.Lock()
	c.started[started.ID] = name
	c.mu.Unlock()
	if name == "signal" {
		c.signal(started.ID)
		c.signal(started.ID) // the same again is the same
	}
	return nil
}

// signal repeats one until it is acknowledged, or until the execution that had it before is over.
func (c *chaos) signal(id uuid.UUID) {
	c.eventually("a signal is taken", func() bool {
		err := c.Signal(c.t.Context(), c.who, id, "go", nil, "only-once")
		var refused *engine.Error
		return err == nil || errors.As(err, &refused) && refused.Code == "conflict"
	})
}

// heal ends all faults: whoever is gone comes back.
func (c *chaos) heal() {
	c.front.Heal()
	for _, m := range c.replicas {
		m.wire.Heal()
		m.send(syscall.SIGCONT)
		m.send(syscall.SIGHUP)
	}
}

// made is how often each effect happened, by its idempotency key.
func (c *chaos) made() map[string]int {
	times := map[string]int{}
	for _, key := range effects(c.t, c.log) {
		times[key]++
	}
	return times
}

// invariants checks what must hold whatever happened. That histories are gapless and each activity completed
// once was seen by ends.
func (c *chaos) invariants() {
	made := c.made()
	for id := range c.started {
		c.terminalIsFinal(id)
		c.timersAreNotEarly(id)
		c.foldIsTheState(id)
		c.successesHadEffects(id, made)
		if n := c.count(id, execution.SignalConsumed); n > 1 {
			c.t.Errorf("%s consumed its signal %d times", id, n)
		}
		for _, table := range []string{"ready", "timers", "event_waits", "inbox", "permits", "work"} {
			if n := c.rows(table, id); n > 0 {
				c.t.Errorf("%s has ended and left %d rows in %s", id, n, table)
			}
		}
	}
	c.noLimbo()
}

func (c *chaos) terminalIsFinal(id uuid.UUID) {
	events := c.events(id)
	for i, event := range events {
		if last := i == len(events)-1; event.Type.Terminal() != last {
			c.t.Errorf("%s: event %d of %d is %s", id, i+1, len(events), event.Type)
		}
	}
}

// timersAreNotEarly: the only timers of these workflows are their pauses.
func (c *chaos) timersAreNotEarly(id uuid.UUID) {
	var since time.Time
	for _, event := range c.events(id) {
		switch {
		case event.Activity == "rest" && event.Type == execution.ActivityWaiting:
			since = event.At
		case event.Activity == "rest" && event.Type == execution.ActivityCompleted && event.At.Sub(since) < 500*time.Millisecond:
			c.t.Errorf("%s: a pause of 500 ms lasted %s", id, event.At.Sub(since))
		}
	}
}

// foldIsTheState compares the state that lists and checkpoints lead to with the fold of the whole history.
func (c *chaos) foldIsTheState(id uuid.UUID) {
	detail, err := c.Execution(c.t.Context(), c.who, id)
	if err != nil {
		c.t.Fatal(err)
	}
	folded, err := c.StateAt(c.t.Context(), c.who, id, detail.LastSeq)
	if err != nil {
		c.t.Fatal(err)
	}
	if folded.Status != detail.Status || !reflect.DeepEqual(folded.Activities, detail.Activities) || !reflect.DeepEqual(folded.Output, detail.Output) {
		c.t.Errorf("%s: the fold differs from the state", id)
	}
}

// successesHadEffects: whatever counts as done was done at least once.
func (c *chaos) successesHadEffects(id uuid.UUID, made map[string]int) {
	for _, event := range c.events(id) {
		if event.Type != execution.ActivityCompleted {
			continue
		}
		key := id.String() + "/" + event.Activity
		if event.Item != "" {
			key += "/" + event.Item
		}
		if made[key] == 0 && event.Worker != "" && !strings.HasPrefix(event.Activity, "each") {
			c.t.Errorf("%s counts as completed and never happened", key)
		}
	}
	if c.started[id] == "items" {
		for i := range 6 {
			if key := fmt.Sprintf("%s/each/%d", id, i); made[key] == 0 {
				c.t.Errorf("%s never happened", key)
			}
		}
	}
}

func (c *chaos) noLimbo() {
	pool, err := pgxpool.New(context.Background(), c.url)
	if err != nil {
		c.t.Fatal(err)
	}
	defer pool.Close()
	c.eventually("nothing is open", func() bool { // a start whose acknowledgement was lost runs too
		open, limbo, err := store.FindLimbo(c.t.Context(), pool)
		if err != nil || len(limbo) > 0 {
			c.t.Fatalf("in limbo: %v, %v", limbo, err)
		}
		return open == 0
	})
}
