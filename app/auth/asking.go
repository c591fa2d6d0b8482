package auth

import (
	"crypto/subtle"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"weftline/engine"
)

// Asking is who asks with one request, and by what.
type Asking struct {
	engine.Who
	Session string // the session's id when a cookie said who, else ""
	Token   string // the API token when a header said who, else ""

	Certificate bool // a client certificate said who

	SessionID   uuid.UUID  // the session's name in lists; zero for a token
	Provider    string     // who vouched for the person of a session, "" in local mode
	Proved      *time.Time // when the person of a session last proved to the provider who they are; nil = unknown
	Unreachable *time.Time // the provider of the session has not answered since

	csrf string // what writes of the session must repeat
}

type askingKey struct{}

func keep(c *fiber.Ctx, asking Asking) { c.Locals(askingKey{}, asking) }

// Of answers who asks; ok is false for a request without a valid credential.
func Of(c *fiber.Ctx) (asking Asking, ok bool) {
	asking, ok = c.Locals(askingKey{}).(Asking)
	return asking, ok
}

// Who answers who asks in the form that the engine wants. It is only for handlers of routes that need a
// right: there it is always known.
func Who(c *fiber.Ctx) engine.Who {
	asking, _ := Of(c)
	return asking.Who
}

// CSRF answers the token that writes of this browser session must repeat, "" without a session.
func CSRF(c *fiber.Ctx) string {
	asking, _ := Of(c)
	return asking.csrf
}

// CSRFMatches compares in constant time.
func (a Asking) CSRFMatches(given string) bool {
	return a.csrf != "" && subtle.ConstantTimeCompare([]byte(a.csrf), []byte(given)) == 1
}
