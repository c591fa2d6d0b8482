package store

import (
	"sync/atomic"
	"time"
)

// Clock tells the database's time, so that replicas agree on what is due whatever their own clocks say.
// Between measurements it follows the monotonic clock. It may be behind the database, by the time that an answer
// took to arrive, and is never ahead of it: nothing is due too early.
type Clock struct{ at atomic.Pointer[reading] }

// reading says that the database's clock showed database when the monotonic clock showed local.
type reading struct{ database, local time.Time }

func newClock() *Clock {
	c := &Clock{}
	now := time.Now()
	c.at.Store(&reading{database: now, local: now})
	return c
}

// Now is the database's time in UTC, cut to milliseconds.
func (c *Clock) Now() time.Time { return c.at.Load().when(time.Now()).UTC().Truncate(time.Millisecond) }

func (r *reading) when(local time.Time) time.Time { return r.database.Add(local.Sub(r.local)) }

// prompt is how soon an answer is there that is better than what was measured before, whatever it says.
const prompt = 100 * time.Millisecond

// Measured takes a reading: the database answered database to a question sent and answered at these local
// instants. Of an answer that was long under way it is only known that it is later now than it says.
func (c *Clock) Measured(database, sent, answered time.Time) {
	if answered.Sub(sent) > prompt && database.Before(c.at.Load().when(answered)) {
		return
	}
	c.at.Store(&reading{database: database, local: answered})
}
