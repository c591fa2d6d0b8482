package live

import (
	"context"
	"slices"
	"time"
)

// suspect asks the writer to look whether the credential is still good; it never blocks.
func (c *conn) suspect() {
	select {
	case c.doubt <- struct{}{}:
	default:
	}
}

// check ends a socket whose credential is no longer good. One whose rights changed comes back with the new
// ones: what it watches was opened with the old.
func (c *conn) check() bool {
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	c.mu.Lock()
	asking := c.asking
	c.mu.Unlock()
	now, err := c.hub.gate.StillGood(ctx, asking)
	switch {
	case codeOf(err) == "unauthenticated":
		c.end(farewell{code: closeAuthExpired, text: "the credential is no longer good"})
	case err == nil && now.Team != asking.Team:
		c.end(farewell{code: closeAuthExpired, text: "the session went on in another team"})
	case err == nil && !(slices.Equal(now.Roles, asking.Roles) && slices.Equal(now.Groups, asking.Groups)):
		c.end(restart())
	default:
		return true
	}
	return false
}

// renew puts a fresh credential of the same person in the place of one that may end.
func (c *conn) renew(value string) {
	asking, ok := c.hub.tickets.take(value, time.Now())
	c.mu.Lock()
	defer c.mu.Unlock()
	if !ok || asking.User != c.asking.User || asking.Team != c.asking.Team {
		c.end(farewell{code: closeAuthExpired, text: "the ticket is not good"})
		return
	}
	c.asking = asking
}
