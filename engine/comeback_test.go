package engine_test

import (
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
)

// How soon a fleet works again, for docs/benchmarks.md: `make chaos` measures it. Nothing of it fails the test: a
// busy machine is no fault.
func TestHowSoonAFleetIsBack(t *testing.T) {
	if os.Getenv(chaosRounds) == "" {
		t.Skip("a measurement, part of make chaos")
	}
	c := newChaos(t)
	for how, signal := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "told to stop": syscall.SIGTERM} {
		var took []time.Duration
		for range 7 {
			c.inFlight()
			for _, m := range c.replicas {
				m.end(signal)
			}
			before := len(effects(t, c.log))
			from := time.Now()
			c.launchAll(c.replicas)
			c.eventually("work goes on", func() bool { return len(effects(t, c.log)) > before })
			took = append(took, time.Since(from))
		}
		report(t, "from the start of all replicas, which were "+how+", to the first dispatch", took)
	}
	var took []time.Duration
	for range 5 {
		took = append(took, c.afterLease())
	}
	report(t, "from the end of a frozen owner's lease to the claim by another", took)
}

func report(t *testing.T, what string, took []time.Duration) {
	slices.Sort(took)
	t.Logf("%s: %s in the middle, %s at most, of %d", what, took[len(took)/2].Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond), len(took))
}

// inFlight makes sure that there is work under way.
func (c *chaos) inFlight() {
	c.t.Helper()
	before := len(effects(c.t, c.log))
	for range 60 {
		if err := c.startOne("local-sync"); err != nil {
			c.t.Fatal(err)
		}
	}
	c.eventually("work is under way", func() bool { return len(effects(c.t, c.log)) > before })
}

// freeze stops a replica that owns something.
func (c *chaos) freeze() (m *member, worker uuid.UUID) {
	c.t.Helper()
	c.eventually("a replica is stopped in the middle of something", func() bool {
		m = c.replicas[c.dice.IntN(len(c.replicas))]
		c.row(`select id from workers where version = '`+m.Name+`' and $1::uuid is not null order by started_at desc limit 1`, uuid.New(), &worker)
		c.inFlight()
		m.send(syscall.SIGSTOP)
		if c.owns(worker) > 0 {
			return true
		}
		m.send(syscall.SIGCONT)
		return false
	})
	return m, worker
}

func (c *chaos) owns(worker uuid.UUID) (n int) {
	c.row(`select count(*) from ready where owner = $1`, worker, &n)
	return n
}

// afterLease freezes a replica, and answers how long after the end of its lease the last of what it owned had another
// owner, by the database's clock.
func (c *chaos) afterLease() time.Duration {
	c.t.Helper()
	m, worker := c.freeze()
	defer m.send(syscall.SIGCONT)
	var last int64
	c.eventually("it is taken over", func() bool {
		c.row(`select (extract(epoch from clock_timestamp() - heartbeat_at - interval '10 s') * 1000000)::bigint from workers where id = $1`, worker, &last)
		return c.owns(worker) == 0
	})
	return time.Duration(last) * time.Microsecond
}
