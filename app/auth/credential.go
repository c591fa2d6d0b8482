package auth

import (
	"context"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"weftline/engine"
)

// CookieName is the session cookie. Local mode has no TLS, so it carries no __Host- prefix.
const CookieName = "weftline_session"

// Identity knows tokens and sessions. A credential that is not good is an *engine.Error unauthenticated.
type Identity interface {
	Authenticate(ctx context.Context, token string) (engine.Who, error)
	Session(ctx context.Context, id string) (engine.Who, error)
	// OpenLocalSession signs the one user of local mode in and answers the new session's id.
	OpenLocalSession(ctx context.Context, address, agent string) (id string, err error)
}

// Gate reads credentials of requests.
type Gate struct {
	Identity Identity
	Local    bool // sign visitors of pages in as the one local user
	Secure   bool // cookies go over TLS only
	failures *Throttle
}

// NewGate makes a Gate that slows down whoever guesses credentials.
func NewGate(identity Identity, local bool) *Gate {
	return &Gate{Identity: identity, Local: local, failures: NewThrottle(300, time.Minute)}
}

// Read finds out who asks. A header that is there but wrong is refused, never replaced by a cookie.
// Without any credential it answers an *engine.Error unauthenticated.
func (g *Gate) Read(c *fiber.Ctx) (Asking, error) {
	asking, err := g.read(c)
	if err != nil {
		return Asking{}, g.slowDown(c, err)
	}
	asking.Address, asking.Request = c.IP(), c.GetRespHeader(fiber.HeaderXRequestID)
	Keep(c, asking)
	return asking, nil
}

func (g *Gate) read(c *fiber.Ctx) (Asking, error) {
	ctx := c.UserContext()
	if header := c.Get(fiber.HeaderAuthorization); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || token == "" {
			return Asking{}, unauthenticated("the Authorization header must be: Bearer <token>")
		}
		who, err := g.Identity.Authenticate(ctx, token)
		return Asking{Who: who, Token: token}, err
	}
	if session := c.Cookies(CookieName); session != "" {
		who, err := g.Identity.Session(ctx, session)
		return Asking{Who: who, Session: session}, err
	}
	return Asking{}, unauthenticated("send Authorization: Bearer <token>, or sign in")
}

// Again asks anew whether a credential that was good is still good; long-lived connections use it.
func (g *Gate) Again(ctx context.Context, asking Asking) (engine.Who, error) {
	if asking.Token != "" {
		return g.Identity.Authenticate(ctx, asking.Token)
	}
	return g.Identity.Session(ctx, asking.Session)
}

// SignInLocally opens a session for a visitor of local mode and sets its cookie.
func (g *Gate) SignInLocally(c *fiber.Ctx) (Asking, error) {
	id, err := g.Identity.OpenLocalSession(c.UserContext(), c.IP(), c.Get(fiber.HeaderUserAgent))
	if err != nil {
		return Asking{}, err
	}
	who, err := g.Identity.Session(c.UserContext(), id)
	if err != nil {
		return Asking{}, err
	}
	c.Cookie(&fiber.Cookie{Name: CookieName, Value: id, Path: "/", HTTPOnly: true, Secure: g.Secure,
		SameSite: fiber.CookieSameSiteLaxMode, SessionOnly: true})
	who.Address, who.Request = c.IP(), c.GetRespHeader(fiber.HeaderXRequestID)
	asking := Asking{Who: who, Session: id}
	Keep(c, asking)
	return asking, nil
}

// slowDown counts a refused credential against its address.
func (g *Gate) slowDown(c *fiber.Ctx, err error) error {
	if wait := g.failures.Count(c.IP()); wait > 0 {
		return &engine.Error{Code: "rate_limited", Message: "too many requests without a valid credential",
			RetryAfterSeconds: int(wait.Seconds()) + 1}
	}
	return err
}

func unauthenticated(message string) error { return engine.Refuse("unauthenticated", message) }
