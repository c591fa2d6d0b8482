package auth

import (
	"context"
	"crypto/x509"
	"errors"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"weftline/engine"
)

// Names of the session cookie. Local mode has no TLS, so its cookie carries no __Host- prefix.
const (
	CookieName     = "weftline_session"
	HostCookieName = "__Host-weftline_session"
)

// Identity knows tokens and sessions; engine.Identity is it. A credential that is not good is
// engine.ErrUnknownCredential.
type Identity interface {
	Authenticate(ctx context.Context, token string) (engine.Who, error)
	Session(ctx context.Context, id string, limits engine.SessionLimits) (engine.Session, error)
	PeekSession(ctx context.Context, id string, limits engine.SessionLimits) (engine.Session, error)
	StartSession(ctx context.Context, person engine.Person, limits engine.SessionLimits, address, agent string) (string, error)
}

// Login stands for the identity providers.
type Login interface {
	Knows(provider string) bool
	Refresh(ctx context.Context, session string) error
}

// Machines knows programs by what others vouch for. engine.ErrUnknownCredential stands for what is not good.
type Machines interface {
	ByToken(ctx context.Context, token string) (engine.Who, error)
	ByCertificate(ctx context.Context, certificate *x509.Certificate) (engine.Who, error)
}

// Options of a Gate.
type Options struct {
	Identity Identity
	Local    *engine.Person       // who visitors of pages are in local mode, nil outside it
	Login    Login                // nil without identity providers
	Machines Machines             // nil when programs come with tokens of this server alone
	Limits   engine.SessionLimits // of sessions; zero = engine.DefaultSessionLimits
	Fresh    time.Duration        // sensitive acts need a proof of who the person is that is no older; 0 = never asked for
}

// Gate reads credentials of requests.
type Gate struct {
	identity Identity
	local    *engine.Person
	login    Login
	machines Machines
	limits   engine.SessionLimits
	fresh    time.Duration
	failures *Throttle
}

// NewGate makes a Gate that slows down whoever guesses credentials.
func NewGate(o Options) *Gate {
	const guessesPerMinute = 300
	if o.Limits == (engine.SessionLimits{}) {
		o.Limits = engine.DefaultSessionLimits
	}
	return &Gate{identity: o.Identity, local: o.Local, login: o.Login, machines: o.Machines, limits: o.Limits, fresh: o.Fresh, failures: NewThrottle(guessesPerMinute, time.Minute)}
}

// Read finds out who asks. A header that is there but wrong is refused, never replaced by a cookie.
// Without a good credential it answers an *engine.Error unauthenticated.
func (g *Gate) Read(c *fiber.Ctx) (Asking, error) {
	asking, err := g.read(c)
	if err != nil {
		return Asking{}, g.SlowDown(c, err)
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
	if session := c.Cookies(g.cookieName()); session != "" {
		return g.bySession(c.UserContext(), session, g.identity.Session)
	}
	if certificate := g.certificate(c); certificate != nil {
		who, err := g.machines.ByCertificate(c.UserContext(), certificate)
		return Asking{Who: who, Certificate: true}, plain(err)
	}
	return Asking{}, unauthenticated("send Authorization: Bearer <token>, or sign in")
}

// certificate is that of the client, verified; it counts for the API alone.
func (g *Gate) certificate(c *fiber.Ctx) *x509.Certificate {
	state := c.Context().TLSConnectionState()
	if g.machines == nil || state == nil || len(state.VerifiedChains) == 0 || !strings.HasPrefix(c.Path(), "/api/") {
		return nil
	}
	return state.VerifiedChains[0][0]
}

func (g *Gate) byToken(ctx context.Context, token string) (Asking, error) {
	who, err := g.identity.Authenticate(ctx, token)
	if g.machines != nil && errors.Is(err, engine.ErrUnknownCredential) {
		who, err = g.machines.ByToken(ctx, token)
	}
	return Asking{Who: who, Token: token}, plain(err)
}

type lookUp func(ctx context.Context, id string, limits engine.SessionLimits) (engine.Session, error)

// bySession asks the provider again when that is due, and then reads what the person may do now.
func (g *Gate) bySession(ctx context.Context, id string, look lookUp) (Asking, error) {
	session, err := look(ctx, id, g.limits)
	if err == nil && g.login != nil {
		if !g.login.Knows(session.Provider) {
			return Asking{}, plain(engine.ErrUnknownCredential)
		}
		if session.RefreshDue {
			if err := g.login.Refresh(ctx, id); err != nil {
				return Asking{}, err
			}
			session, err = look(ctx, id, g.limits)
		}
	}
	if err != nil {
		return Asking{}, plain(err)
	}
	return Asking{Who: session.Who, Session: id, SessionID: session.ID, Provider: session.Provider, Proved: session.Authenticated,
		Unreachable: session.UnreachableSince, csrf: session.CSRF}, nil
}

// IsFresh reports whether a person may do what is sensitive without signing in again: they proved who they are a
// short time ago. Programs with a token and local mode have nobody to ask.
func (g *Gate) IsFresh(asking Asking) bool {
	if g.fresh == 0 || asking.Session == "" || asking.Provider == "" {
		return true
	}
	return asking.Proved != nil && time.Since(*asking.Proved) <= g.fresh
}

// Fresh is how old the proof of who a person is may be for what is sensitive; 0 = nobody is asked.
func (g *Gate) Fresh() time.Duration { return g.fresh }

// StillGood asks anew whether a credential that was good is still good, and for what; long-lived connections
// use it. It does not count as a use.
func (g *Gate) StillGood(ctx context.Context, asking Asking) (Asking, error) {
	if asking.Token != "" {
		return g.byToken(ctx, asking.Token)
	}
	return g.bySession(ctx, asking.Session, g.identity.PeekSession)
}

// Local reports whether visitors of pages are the one local user.
func (g *Gate) Local() bool { return g.local != nil }

// ByProvider reports whether people sign in by identity providers.
func (g *Gate) ByProvider() bool { return g.login != nil }

// Limits of sessions.
func (g *Gate) Limits() engine.SessionLimits { return g.limits }

// SignInLocally opens a session for a visitor of local mode and sets its cookie.
func (g *Gate) SignInLocally(c *fiber.Ctx) (Asking, error) {
	id, err := g.identity.StartSession(c.UserContext(), *g.local, g.limits, c.IP(), c.Get(fiber.HeaderUserAgent))
	if err != nil {
		return Asking{}, err
	}
	asking, err := g.bySession(c.UserContext(), id, g.identity.Session)
	if err != nil {
		return Asking{}, err
	}
	g.Remember(c, id)
	return admit(c, asking), nil
}

// Remember gives the browser its session.
func (g *Gate) Remember(c *fiber.Ctx, session string) {
	c.Cookie(&fiber.Cookie{Name: g.cookieName(), Value: session, Path: "/", HTTPOnly: true, Secure: g.login != nil,
		SameSite: fiber.CookieSameSiteLaxMode, SessionOnly: true})
}

// Forget takes the session away from the browser.
func (g *Gate) Forget(c *fiber.Ctx) {
	c.Cookie(&fiber.Cookie{Name: g.cookieName(), Path: "/", HTTPOnly: true, Secure: g.login != nil,
		SameSite: fiber.CookieSameSiteLaxMode, MaxAge: -1, Expires: time.Unix(1, 0)})
}

// SessionOf is the id that the browser holds, good or not.
func (g *Gate) SessionOf(c *fiber.Ctx) string { return c.Cookies(g.cookieName()) }

func (g *Gate) cookieName() string {
	if g.login != nil {
		return HostCookieName
	}
	return CookieName
}

// SlowDown counts a refused credential against its address, and answers the refusal: in place of err, when there
// were too many, that it has to wait.
func (g *Gate) SlowDown(c *fiber.Ctx, err error) error {
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
