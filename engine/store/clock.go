package store

import (
	"sync/atomic"
	"time"
)

// Clock tells the database's time, so that replicas agree on what is due whatever their own clocks say.
// Between measurements it follows the monotonic clock.
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
func (c *Clock) Now() time.Time {
	r := c.at.Load()
	return r.database.Add(time.Since(r.local)).UTC().Truncate(time.Millisecond)
}

// Measured takes a reading: the database answered database to a question sent and answered at these local
// instants. The answer was made somewhere in between; the middle is the best guess.
func (c *Clock) Measured(database, sent, answered time.Time) {
	c.at.Store(&reading{database: database, local: sent.Add(answered.Sub(sent) / 2)})
}
