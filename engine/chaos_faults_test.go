package engine_test

import (
	"slices"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// fault is one thing that happens to fleets, and how long it lasts at least.
type fault struct {
	name  string
	lasts time.Duration
	do    func(c *chaos, m *member)
}

// longer is a time after which a lease that nobody renewed is over.
const longer = 12 * time.Second

// aftermath is for how long after a fault something may still follow from it: a lease, and until it is noticed.
const aftermath = 3 * longer

// holeFor is how long a network is silent.
const holeFor = 3 * time.Second

var chaosFaults = []fault{
	{"killed", 0, func(c *chaos, m *member) { c.kill(m); c.launch(m) }},
	{"all killed", 0, func(c *chaos, _ *member) { c.kill(c.replicas...); c.launchAll(c.replicas) }},
	{"a region killed", time.Second, (*chaos).killRegion},
	{"rolled", 0, func(c *chaos, m *member) { m.end(syscall.SIGTERM); c.launch(m) }},
	{"frozen past its lease", longer, func(c *chaos, m *member) {
		worker := c.watchOver(m)
		m.send(syscall.SIGSTOP)
		l := c.losing(worker)
		time.Sleep(longer)
		c.returns(l)
		m.send(syscall.SIGCONT)
	}},
	{"heartbeats lost", longer, func(c *chaos, m *member) {
		l := c.losing(c.watchOver(m))
		m.wire.Lose("update workers m set heartbeat_at")
		time.Sleep(longer)
		c.returns(l)
		m.wire.Lose("")
	}},
	{"all connections cut", 0, func(c *chaos, m *member) { m.wire.Cut() }},
	{"a door's connections cut", 0, func(c *chaos, _ *member) { c.front.Cut() }},
	{"listening cut", 0, func(c *chaos, m *member) { m.wire.CutListening() }},
	{"replies dropped", 0, func(c *chaos, m *member) { m.wire.DropReplies(1 + c.dice.IntN(4)) }},
	{"a door's replies dropped", 0, func(c *chaos, _ *member) { c.front.DropReplies(1 + c.dice.IntN(4)) }},
	{"black hole", holeFor, func(c *chaos, m *member) { m.hole(m.wire.BlackHole) }},
	{"one way cut", holeFor, func(c *chaos, m *member) { m.hole(m.wire.OneWay) }},
	{"backends terminated", 0, func(c *chaos, _ *member) { c.terminateBackends() }},
	{"clock ahead", 0, func(c *chaos, m *member) { m.send(syscall.SIGUSR1) }},
	{"clock behind", 0, func(c *chaos, m *member) { m.send(syscall.SIGUSR2) }},
	{"pool of two", 0, func(c *chaos, m *member) {
		few := m.replica
		few.Connections = 2
		m.end(syscall.SIGTERM)
		m.end, m.send = c.world.launch(few)
	}},
	{"PostgreSQL stopped", time.Second, func(c *chaos, _ *member) {
		defer c.down()()
		c.own.Stop()
		time.Sleep(time.Duration(c.dice.IntN(1000)) * time.Millisecond)
		c.own.Start()
	}},
	{"disk full", 2 * time.Second, func(c *chaos, _ *member) {
		defer c.down()()
		c.own.Fill()
		time.Sleep(2 * time.Second)
		c.own.Empty()
	}},
}

// possible leaves out what this machine does not let happen.
func (c *chaos) possible() []fault {
	return slices.DeleteFunc(slices.Clone(chaosFaults), func(f fault) bool {
		impossible := f.name == "PostgreSQL stopped" && c.own == nil || f.name == "disk full" && (c.own == nil || !c.own.Small())
		if impossible {
			c.t.Logf("left out: %s", f.name)
		}
		return impossible
	})
}

// perFault bounds how long the faults of a row last on average, so that a short row is over soon.
const perFault = 2500 * time.Millisecond

// drawn is a row of n faults: each kind comes before any comes again, unless it would last too long.
func (c *chaos) drawn(n int) (row []fault) {
	possible := c.possible()
	left := time.Duration(n) * perFault
	for len(row) < n {
		for _, i := range c.dice.Perm(len(possible)) {
			if f := possible[i]; len(row) < n && f.lasts <= left {
				left -= f.lasts
				row = append(row, f)
			}
		}
	}
	return row
}

// befall lets a fault happen, and lets work go on for a moment.
func (c *chaos) befall(f fault) {
	c.figures.count(f.name)
	from := time.Now()
	f.do(c, c.replicas[c.dice.IntN(len(c.replicas))])
	c.figures.faults = append(c.figures.faults, [2]time.Time{from, time.Now().Add(aftermath)})
	time.Sleep(time.Duration(c.dice.IntN(400)) * time.Millisecond)
}

func (m *member) hole(dig func(bool)) {
	dig(true)
	time.Sleep(holeFor)
	dig(false)
	m.wire.Cut()
}

func (c *chaos) kill(members ...*member) {
	for _, m := range members {
		c.losing(c.watchOver(m))
		m.end(syscall.SIGKILL)
	}
}

func (c *chaos) launchAll(members []*member) {
	for _, m := range members {
		c.launch(m)
	}
}

// killRegion leaves the others of the fleet alone for a while.
func (c *chaos) killRegion(*member) {
	var region []*member
	for _, m := range c.replicas {
		if m.Region == "far" {
			region = append(region, m)
		}
	}
	c.kill(region...)
	c.work(4)
	time.Sleep(time.Second)
	c.launchAll(region)
}

// terminateBackends ends about half of all connections to the database, those of this test's own door too.
func (c *chaos) terminateBackends() {
	c.connected(func(conn *pgx.Conn) error {
		_, err := conn.Exec(c.t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity
			where datname = current_database() and pid <> pg_backend_pid() and pid % 2 = $1`, c.dice.IntN(2))
		return err
	})
}
