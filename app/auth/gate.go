package auth

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"weftline/engine"
)

// CookieName is the session cookie. Local mode has no TLS, so it carries no __Host- prefix.
const CookieName = "weftline_session"

// Identity knows tokens and sessions; engine.Identity is it. A credential that is not good is
// engine.ErrUnknownCredential.
type Identity interface {
	Authenticate(ctx context.Context, token string) (engine.Who, error)
	Session(ctx context.Context, id string, limits engine.SessionLimits) (engine.Session, error)
	StartSession(ctx context.Context, person engine.Person, limits engine.SessionLimits, address, agent string) (string, error)
}

// Gate reads credentials of requests.
type Gate struct {
	identity Identity
	local    *engine.Person
	failures *Throttle
}

// NewGate makes a Gate that slows down whoever guesses credentials. local is who visitors of pages are in
// local mode, nil outside it.
func NewGate(identity Identity, local *engine.Person) *Gate {
	const guessesPerMinute = 300
	return &Gate{identity: identity, local: local, failures: NewThrottle(guessesPerMinute, time.Minute)}
}

// Read finds out who asks. A header that is there but wrong is refused, never replaced by a cookie.
// Without a good credential it answers an *engine.Error unauthenticated.
func (g *Gate) Read(c *fiber.Ctx) (Asking, error) {
	asking, err := g.read(c)
	if err != nil {
		return Asking{}, g.slowDown(c, err)
	}
	return admit(c, asking), nil
}

func admit(c *fiber.Ctx, asking Asking) Asking {
	asking.Address, asking.Request = c.IP(), c.GetRespHeader(fiber.HeaderXRequestID)
	keep(c, asking)
	return asking
}

func (g *Gate) read(c *fiber.Ctx) (Asking, error) {
	if header := c.Get(fiber.HeaderAuthorization); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || token == "" {
			return Asking{}, unauthenticated("the Authorization header must be: Bearer <token>")
		}
		return g.byToken(c.UserContext(), token)
	}
	if session := c.Cookies(CookieName); session != "" {
		return g.bySession(c.UserContext(), session)
	}
	return Asking{}, unauthenticated("send Authorization: Bearer <token>, or sign in")
}

func (g *Gate) byToken(ctx context.Context, token string) (Asking, error) {
	who, err := g.identity.Authenticate(ctx, token)
	return Asking{Who: who, Token: token}, plain(err)
}

func (g *Gate) bySession(ctx context.Context, id string) (Asking, error) {
	session, err := g.identity.Session(ctx, id, engine.DefaultSessionLimits)
	return Asking{Who: session.Who, Session: id, csrf: session.CSRF}, plain(err)
}

// StillGood asks anew whether a credential that was good is still good; long-lived connections use it.
func (g *Gate) StillGood(ctx context.Context, asking Asking) error {
	if asking.Token != "" {
		_, err := g.byToken(ctx, asking.Token)
		return err
	}
	_, err := g.bySession(ctx, asking.Session)
	return err
}

// Local reports whether visitors of pages are the one local user.
func (g *Gate) Local() bool { return g.local != nil }

// SignInLocally opens a session for a visitor of local mode and sets its cookie.
func (g *Gate) SignInLocally(c *fiber.Ctx) (Asking, error) {
	id, err := g.identity.StartSession(c.UserContext(), *g.local, engine.DefaultSessionLimits, c.IP(), c.Get(fiber.HeaderUserAgent))
	if err != nil {
		return Asking{}, err
	}
	asking, err := g.bySession(c.UserContext(), id)
	if err != nil {
		return Asking{}, err
	}
	c.Cookie(&fiber.Cookie{Name: CookieName, Value: id, Path: "/", HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode, SessionOnly: true})
	return admit(c, asking), nil
}

// slowDown counts a refused credential against its address.
func (g *Gate) slowDown(c *fiber.Ctx, err error) error {
	if wait := g.failures.Count(c.IP()); wait > 0 {
		return &engine.Error{Code: "rate_limited", Message: "too many requests without a valid credential",
			RetryAfterSeconds: int(wait.Seconds()) + 1}
	}
	return err
}

func plain(err error) error {
	if errors.Is(err, engine.ErrUnknownCredential) {
		return unauthenticated(err.Error())
	}
	return err
}

func unauthenticated(message string) error { return engine.Refuse("unauthenticated", message) }
