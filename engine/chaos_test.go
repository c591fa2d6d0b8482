package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/enginetest"
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
	"ticked": `
  activities:
    - {id: once, type: http, inputs: {url: "http://example.com"}}
`,
}

// chaosStarts are those of them that clients start; a schedule starts the other one.
var chaosStarts = []string{"items", "limited", "local-async", "local-sync", "pause", "server", "signal", "undone"}

// chaos is a fleet of replicas under seeded faults.
type chaos struct {
	*world
	own      *enginetest.Own // the server, if it is this test's alone
	dice     *rand.Rand
	log      string           // the effects, one line each
	front    *enginetest.Wire // the way to the database of the door that clients use
	replicas []*member
	figures  *chaosFigures
	ticking  engine.Schedule // starts "ticked" all the time

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
	c.ticking = c.schedule(engine.ScheduleRequest{Workflow: "ticked", Every: "1s", Overlap: "allow", CatchUp: "all", CatchUpLimit: 10_000, StartDeadline: "24h"})
	clients := c.clients(2)
	overseer, stalls := c.oversee(), c.figures.watchStalls()
	c.calm()
	for _, f := range c.drawn(setting(chaosRounds, 6)) {
		c.work(6)
		c.befall(f)
	}
	c.work(6)
	c.heal()
	clients()
	overseer()
	stalls()
	c.firedAtItsInstants()
	for id, workflow := range c.started {
		c.endsAs(id, workflow)
	}
	c.invariants()
	made := len(effects(t, c.log))
	t.Logf("%d executions ended as they should, %d effects of which %d were repeated", len(c.started), made, made-len(c.made()))
	c.recoversInTime()
	c.figures.answersClients(t)
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
	for range n {
		c.startOne(chaosStarts[c.dice.IntN(len(chaosStarts))])
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

// calm sees one of each kind end before the first fault: of these, each effect must have happened once.
func (c *chaos) calm() {
	for _, name := range chaosStarts {
		started, err := c.Start(c.t.Context(), c.who, engine.StartRequest{Workflow: name})
		if err != nil {
			c.t.Fatal(err)
		}
		c.mu.Lock()
		c.started[started.ID] = name
		c.mu.Unlock()
		if name == "signal" {
			c.signal(started.ID)
		}
		c.endsAs(started.ID, name)
	}
}

// endsAs waits for an execution to end as those of its workflow do.
func (c *chaos) endsAs(id uuid.UUID, workflow string) {
	want := "completed"
	if workflow == "undone" {
		want = "compensated"
	}
	c.ends(id, want)
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
