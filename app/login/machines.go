package login

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"weftline/app/config"
	"weftline/engine"
)

// Machines knows programs by what others vouch for: a client certificate, or a token that an issuer gave them for
// their own credentials. Rules say what they may do and in which team; without a fitting rule they may nothing.
type Machines struct {
	rules    []config.Rule
	anyCert  bool      // no rule is about certificates: each that was verified is a worker of the team default
	issuer   *provider // nil = no tokens
	audience string
	teamOf   func(ctx context.Context, name string) (engine.Who, error)
	log      *slog.Logger

	mu    sync.Mutex
	teams map[string]engine.Who
}

// MachineOptions of Machines. Issuer "" accepts no tokens.
type MachineOptions struct {
	Issuer, Audience string
	Rules            []config.Rule
	Identity         *engine.Identity
	Log              *slog.Logger
	Now              func() time.Time  // time.Now by default
	Transport        http.RoundTripper // http.DefaultTransport by default
}

// NewMachines makes them. The issuer is not asked before somebody comes with a token.
func NewMachines(o MachineOptions) *Machines {
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &Machines{rules: o.Rules, audience: o.Audience, teamOf: o.Identity.Server, log: o.Log, teams: map[string]engine.Who{}}
	m.anyCert = !slices.ContainsFunc(o.Rules, func(r config.Rule) bool { return ofCertificate(r.Claim) })
	if o.Issuer != "" {
		c := config.Provider{ID: "workers", Issuer: o.Issuer, ClientID: o.Audience, Algorithms: config.DefaultAlgorithms()}
		m.issuer = newProvider(c, Options{Now: o.Now, Transport: o.Transport})
	}
	return m
}

// ByToken finds out who comes with a token of the issuer. engine.ErrUnknownCredential when it is none, or is not
// good; a refusal forbidden when no rule is for its claims.
func (m *Machines) ByToken(ctx context.Context, raw string) (engine.Who, error) {
	if m.issuer == nil || strings.Count(raw, ".") != 2 || headerType(raw) == "" && !strings.HasPrefix(raw, "ey") {
		return engine.Who{}, engine.ErrUnknownCredential
	}
	found, err := m.issuer.discover(ctx)
	if err != nil {
		return engine.Who{}, &engine.Error{Code: "not_ready", Message: "the issuer of workers' tokens does not answer", RetryAfterSeconds: 5}
	}
	token, err := m.issuer.verifier(found).Verify(ctx, raw)
	if err == nil {
		err = m.issuer.checkTimes(token)
	}
	var claims map[string]any
	if err == nil {
		err = token.Claims(&claims)
	}
	if err != nil || token.Subject == "" {
		return engine.Who{}, m.refuse(err)
	}
	return m.admit(ctx, "client:"+clientOf(claims, token.Subject), func(claim string) []string {
		if ofCertificate(claim) {
			return nil
		}
		has, _ := values(claims, claim)
		return has
	})
}

// clientOf is what the issuer calls the program.
func clientOf(claims map[string]any, subject string) string {
	return cmp.Or(textOf(claims["client_id"]), textOf(claims["azp"]), subject)
}

// refuse keeps to itself what is wrong with a token, except an issuer whose keys cannot be read.
func (m *Machines) refuse(err error) error {
	if isNetwork(err) || errors.Is(err, errTooSoon) {
		return &engine.Error{Code: "not_ready", Message: "the keys of the issuer of workers' tokens cannot be read", RetryAfterSeconds: 5}
	}
	if expired := (*oidc.TokenExpiredError)(nil); !errors.As(err, &expired) {
		m.log.Warn("a worker's token was refused", "reason", printable(fmt.Sprint(err)))
	}
	return engine.ErrUnknownCredential
}

// ByCertificate finds out who has a client certificate, which the server's TLS has verified.
func (m *Machines) ByCertificate(ctx context.Context, certificate *x509.Certificate) (engine.Who, error) {
	names := namesOf(certificate)
	name := slices.Concat(names["cert.cn"], names["cert.san"], []string{certificate.SerialNumber.String()})[0]
	if !m.anyCert {
		return m.admit(ctx, "certificate:"+name, func(claim string) []string { return names[claim] })
	}
	who, err := m.team(ctx, engine.DefaultTeam)
	return acting(who, "certificate:"+name, engine.ScopeWorker), err
}

// ofCertificate: such claims of rules are about certificates, never about tokens.
func ofCertificate(claim string) bool { return strings.HasPrefix(claim, "cert.") }

// namesOf are what rules may name of a certificate. Alternative names are DNS names and addresses such as spiffe://….
func namesOf(c *x509.Certificate) map[string][]string {
	names := map[string][]string{"cert.o": c.Subject.Organization, "cert.ou": c.Subject.OrganizationalUnit, "cert.san": slices.Clone(c.DNSNames)}
	if c.Subject.CommonName != "" {
		names["cert.cn"] = []string{c.Subject.CommonName}
	}
	for _, address := range c.URIs {
		names["cert.san"] = append(names["cert.san"], address.String())
	}
	return names
}

// admit applies the rules: the first that fits says the team, and all that fit in it the scopes.
func (m *Machines) admit(ctx context.Context, name string, claim func(string) []string) (engine.Who, error) {
	var team string
	var scopes []string
	for _, rule := range m.rules {
		if !slices.Contains(claim(rule.Claim), rule.Value) || team != "" && rule.Team != team {
			continue
		}
		team = rule.Team
		scopes = append(scopes, rule.Role)
	}
	if team == "" {
		return engine.Who{}, engine.Refuse("forbidden", "no rule for workers fits "+printable(name)+": see worker-rules")
	}
	who, err := m.team(ctx, team)
	return acting(who, name, scopes...), err
}

func acting(who engine.Who, name string, scopes ...string) engine.Who {
	return engine.Who{Team: who.Team, TeamName: who.TeamName, User: name, Scopes: slices.Compact(slices.Sorted(slices.Values(scopes)))}
}

// team finds a team once; what it is called and its id never change.
func (m *Machines) team(ctx context.Context, name string) (engine.Who, error) {
	m.mu.Lock()
	who, known := m.teams[name]
	m.mu.Unlock()
	if known {
		return who, nil
	}
	who, err := m.teamOf(ctx, name)
	if err == nil {
		m.mu.Lock()
		m.teams[name] = who
		m.mu.Unlock()
	}
	return who, err
}
