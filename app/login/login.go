// Package login owns sign-in by identity providers: OpenID Connect with authorization code and PKCE, the
// rules that turn claims into roles, refresh, and logout both ways. It knows protocols and answers faults
// with words for people; it must not know pages, cookies or how people and sessions are stored.
package login

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"weftline/app/config"
	"weftline/engine"
)

// Options of a Service.
type Options struct {
	Providers []config.Provider
	PublicURL string // without a slash at the end
	Identity  *engine.Identity
	Limits    engine.SessionLimits
	Grace     time.Duration // how long a session lives while its provider does not answer
	Fresh     time.Duration // sensitive acts need a proof of who the person is that is no older; 0 = any age will do
	Log       *slog.Logger
	Now       func() time.Time  // time.Now by default
	Transport http.RoundTripper // http.DefaultTransport by default
}

// Service signs people in and out.
type Service struct {
	providers []*provider
	identity  *engine.Identity
	limits    engine.SessionLimits
	grace     time.Duration
	fresh     time.Duration
	publicURL string
	log       *slog.Logger
	now       func() time.Time
}

// New makes the service. No provider is asked before somebody needs it, so one that is down stops nobody.
func New(o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Service{identity: o.Identity, limits: o.Limits, grace: o.Grace, fresh: o.Fresh, publicURL: o.PublicURL, log: o.Log, now: o.Now}
	for _, p := range o.Providers {
		s.providers = append(s.providers, newProvider(p, o))
	}
	return s
}

// Choice is a provider that a person may sign in with.
type Choice struct {
	ID, Name string
	Fault    *Fault // why it cannot be reached, nil when it can
}

// Choices asks every provider whether it is there; one that was there lately is not asked again.
func (s *Service) Choices(ctx context.Context) []Choice {
	choices := make([]Choice, len(s.providers))
	done := make(chan struct{})
	for i, p := range s.providers {
		choices[i] = Choice{ID: p.ID, Name: p.Name}
		go func() {
			defer func() { done <- struct{}{} }()
			if _, err := p.discover(ctx); err != nil {
				choices[i].Fault = faultOf(err, p)
			}
		}()
	}
	for range s.providers {
		<-done
	}
	return choices
}

// Knows reports whether sessions of a provider count.
func (s *Service) Knows(provider string) bool { return s.find(provider) != nil }

func (s *Service) find(id string) *provider {
	for _, p := range s.providers {
		if p.ID == id {
			return p
		}
	}
	return nil
}

// Asked is how a sign-in asks the provider.
type Asked struct {
	Again bool // it asks for the password although it knows the person
	Fresh bool // so it does, and what it says must prove it; see Options.Fresh
}

// Begin starts a sign-in: the browser keeps the attempt's cookie and goes to the address.
func (s *Service) Begin(ctx context.Context, providerID, returnPath string, asked Asked) (engine.Attempt, string, error) {
	p := s.find(providerID)
	if p == nil {
		return engine.Attempt{}, "", engine.Refuse("not_found", "there is no such provider")
	}
	found, err := p.discover(ctx)
	if err != nil {
		return engine.Attempt{}, "", faultOf(err, p)
	}
	maxAge := time.Duration(0)
	if asked.Fresh {
		maxAge = s.fresh
	}
	attempt, err := s.identity.NewAttempt(ctx, p.ID, SafeReturn(returnPath), maxAge)
	if err != nil {
		return engine.Attempt{}, "", err
	}
	return attempt, p.authURL(found, attempt, asked.Again), nil
}

// Came is what a browser brings back from a provider.
type Came struct {
	Provider, State, Code, Issuer, Error, ErrorText string

	Cookie                  string // of the attempt
	Address, Agent, Request string
}

// Finish ends a sign-in and answers the new session's id and where to go. Refusals are *Fault.
func (s *Service) Finish(ctx context.Context, came Came) (session, returnPath string, err error) {
	p := s.find(came.Provider)
	if p == nil {
		return "", "", engine.Refuse("not_found", "there is no such provider")
	}
	attempt, err := s.identity.TakeAttempt(ctx, p.ID, came.State, came.Cookie)
	if errors.Is(err, engine.ErrUnknownCredential) {
		return "", "", &Fault{Code: AttemptGone, Provider: p.ID, ProviderName: p.Name}
	}
	if err != nil {
		return "", "", err
	}
	session, err = s.admit(ctx, p, attempt, came)
	if err != nil {
		err = faultOf(err, p)
		var fault *Fault
		if errors.As(err, &fault) {
			fault.Return = attempt.ReturnPath
			s.log.Warn("sign-in refused", "provider", p.ID, "why", fault.Code, "error", fault.cause, "request", came.Request)
		}
		return "", "", err
	}
	return session, SafeReturn(attempt.ReturnPath), nil
}

func (s *Service) admit(ctx context.Context, p *provider, attempt engine.Attempt, came Came) (string, error) {
	found, err := p.discover(ctx)
	if err != nil {
		return "", err
	}
	if err := p.checkResponse(found, came); err != nil {
		return "", err
	}
	tokens, err := p.exchange(ctx, found, came.Code, attempt.Verifier)
	if err != nil {
		return "", err
	}
	vouched, err := p.verify(ctx, found, tokens, attempt.Nonce)
	if err != nil {
		return "", err
	}
	if err := p.checkFresh(vouched, attempt.MaxAge); err != nil {
		return "", err
	}
	claimed, err := p.claimed(ctx, found, tokens, vouched)
	if err != nil {
		return "", err
	}
	person, err := s.identity.SignIn(ctx, claimed, came.Address, came.Request)
	if err != nil {
		return "", p.noAccess(err, claimed)
	}
	return s.identity.StartProviderSession(ctx, person, p.held(tokens, vouched), s.limits, came.Address, came.Agent, came.Request)
}
