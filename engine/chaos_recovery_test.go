package engine_test

import (
	"os"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine/execution"
	"weftline/engine/queue"
)

// recoveryBound is within how much time after the end of a lease what it was for has another owner. make chaos
// asserts it; in the short form few losses take long enough to be judged, so there the figures are printed alone.
const recoveryBound = time.Second

// loss is a worker that was lost, with what it owned in that moment and had not been lost before: what was is taken
// over one by one. All instants are the database's.
type loss struct {
	worker uuid.UUID
	owned  []uuid.UUID
	beat   time.Time // the last heartbeat before
	back   time.Time // when it was let go on; zero = it was killed
	left   int       // executions that nobody had taken over then
}

const neverLost = `from ready r join executions e on e.id = r.execution_id where r.owner = $1 and e.crashes = 0`

// workerOf is the process that a member is; the zero id when it has not come up yet.
func (c *chaos) workerOf(m *member) (worker uuid.UUID) {
	c.row(`select coalesce((select id from workers where version = '`+m.Name+`' order by started_at desc limit 1), $1::uuid)`, uuid.Nil, &worker)
	return worker
}

// losing notes what a worker owns that is lost now.
func (c *chaos) losing(worker uuid.UUID) *loss {
	l := &loss{worker: worker}
	c.connected(func(conn *pgx.Conn) error {
		rows, err := conn.Query(c.t.Context(), `select r.execution_id `+neverLost, worker)
		if err == nil {
			l.owned, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		}
		return err
	})
	c.figures.mu.Lock()
	c.figures.losses = append(c.figures.losses, l)
	c.figures.mu.Unlock()
	return l
}

// returns notes that the worker is about to go on, and what nobody had taken over by then.
func (c *chaos) returns(l *loss) {
	if l.worker == uuid.Nil {
		return
	}
	c.connected(func(conn *pgx.Conn) error {
		return conn.QueryRow(c.t.Context(), `select heartbeat_at, clock_timestamp(), (select count(*) `+neverLost+` and r.execution_id = any($2)) from workers where id = $1`,
			l.worker, l.owned).Scan(&l.beat, &l.back, &l.left)
	})
}

// recoveries are how long after the end of its lease each execution that a lost worker owned had another owner, by
// the instants in the histories; less than nothing where the death was seen before. While PostgreSQL is down nobody
// can take over; what an outage came between is not judged. How long the machine itself stood still is taken off.
func (c *chaos) recoveries() (after []time.Duration) {
	for _, l := range c.figures.losses {
		if l.worker == uuid.Nil {
			continue
		}
		if l.back.IsZero() {
			c.row(`select heartbeat_at from workers where id = $1`, l.worker, &l.beat)
		}
		judge := func(at time.Time) {
			if !overlaps(c.figures.outages, l.beat, at) {
				after = append(after, at.Sub(l.beat)-queue.Lease-c.figures.stoodStill(l.beat, at))
			}
		}
		for _, id := range l.owned {
			if at, found := c.takenOver(id, l); found {
				judge(at)
			}
		}
		if l.left > 0 {
			c.t.Logf("of what a worker owned that was silent from %s on, %d executions had no other owner at %s", l.beat, l.left, l.back)
			judge(l.back)
		}
	}
	slices.Sort(after)
	return after
}

// takenOver is when an execution got another owner after a loss.
func (c *chaos) takenOver(id uuid.UUID, l *loss) (at time.Time, found bool) {
	for _, event := range c.events(id) {
		if event.Type == execution.LeaseExpired && event.Worker == l.worker.String() && !event.At.Before(l.beat) && (l.back.IsZero() || event.At.Before(l.back)) {
			return event.At, true
		}
	}
	return at, false
}

// recoversInTime prints how soon what was lost had an owner, and in the long form holds it against the bound.
func (c *chaos) recoversInTime() {
	after := c.recoveries()
	if len(after) == 0 {
		return
	}
	last := after[len(after)-1]
	c.t.Logf("%d executions of lost workers had another owner %s after the end of the lease in the middle, %s at most (less than nothing: before its end)",
		len(after), after[len(after)/2].Round(time.Millisecond), last.Round(time.Millisecond))
	if long := os.Getenv(chaosRounds) != ""; long && last > recoveryBound {
		c.t.Errorf("something had no owner until %s after the end of its lease, more than %s", last, recoveryBound)
	}
}

// stall is a time in which the machine did not run this process though it wanted to.
type stall struct{ from, to time.Time }

// stallPause is how often it is looked whether the machine runs.
const stallPause = 50 * time.Millisecond

// watchStalls notes when the machine stood still, until stop is called: asleep, or given to others.
func (f *chaosFigures) watchStalls() (stop func()) {
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			due := time.Now().Round(0).Add(stallPause) // by the wall clock, which goes on while a machine sleeps
			select {
			case <-over:
				return
			case <-time.After(stallPause):
			}
			if now := time.Now().Round(0); now.Sub(due) > stallPause {
				f.mu.Lock()
				f.stalls = append(f.stalls, stall{due, now})
				f.mu.Unlock()
			}
		}
	})
	return func() { close(over); watching.Wait() }
}

// stoodStill is for how long the machine did between two instants.
func (f *chaosFigures) stoodStill(from, to time.Time) (sum time.Duration) {
	for _, s := range f.stalls {
		if s.from.Before(to) && s.to.After(from) {
			sum += s.to.Sub(s.from)
		}
	}
	return sum
}

func overlaps(spans [][2]time.Time, from, to time.Time) bool {
	return slices.ContainsFunc(spans, func(s [2]time.Time) bool { return from.Before(s[1]) && to.After(s[0]) })
}

// faultsIn counts the faults that something between two instants may follow from.
func (f *chaosFigures) faultsIn(from, to time.Time) (n int) {
	for _, fault := range f.faults {
		if overlaps([][2]time.Time{fault}, from, to) {
			n++
		}
	}
	return n
}
