package login

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"weftline/engine"
)

// States of a Finding.
const (
	Good = "good"
	Warn = "warn"
	Bad  = "bad"
)

// Finding is one thing that must be right for sign-in to work, and what to do when it is not.
type Finding struct {
	What  string `json:"what"`
	State string `json:"state"` // good, warn or bad
	Says  string `json:"says"`
	Fix   string `json:"fix,omitempty"`
}

// Check is how a provider and the settings fit together.
type Check struct {
	Provider string    `json:"provider"`
	Name     string    `json:"name"`
	Issuer   string    `json:"issuer"`
	Register []Address `json:"register"` // what must be entered at the provider
	Findings []Finding `json:"findings"`
}

// Address is one of ours that the provider must know.
type Address struct {
	What string `json:"what"`
	URL  string `json:"url"`
}

// Check asks every provider anew.
func (s *Service) Check(ctx context.Context) []Check {
	checks := make([]Check, 0, len(s.providers))
	for _, p := range s.providers {
		checks = append(checks, s.check(ctx, p))
	}
	return checks
}

func (s *Service) check(ctx context.Context, p *provider) Check {
	base := s.publicURL + "/login/" + p.ID
	c := Check{Provider: p.ID, Name: p.Name, Issuer: p.Issuer, Register: []Address{
		{"Redirect address", p.redirect}, {"Address after logout", p.home}, {"Back-channel logout address", base + "/backchannel"}}}
	began := p.now()
	found, err := p.read(ctx)
	if err != nil {
		f := faultOf(err, p)
		c.add("Discovery", Bad, f.Detail, "Open "+p.Issuer+wellKnown+" from this server; the issuer in the settings must be the one that it shows.")
		return c
	}
	c.add("Discovery", Good, fmt.Sprintf("It answers in %d ms.", p.now().Sub(began).Milliseconds()), "")
	c.keys(ctx, p, found)
	c.clock(p)
	c.redirect(ctx, p, found)
	c.scopes(p, found)
	c.algorithms(p, found)
	c.logout(found)
	s.groups(ctx, &c, p)
	return c
}

const wellKnown = "/.well-known/openid-configuration"

func (c *Check) add(what, state, says, fix string) {
	c.Findings = append(c.Findings, Finding{what, state, says, fix})
}

func (c *Check) keys(ctx context.Context, p *provider, found *discovered) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := p.getJSON(ctx, found.meta.Keys, &set); err != nil || len(set.Keys) == 0 {
		c.add("Keys", Bad, "It shows no key at "+found.meta.Keys+".", "Without keys no token can be checked; look at the provider.")
		return
	}
	c.add("Keys", Good, fmt.Sprintf("It shows %d.", len(set.Keys)), "")
}

func (c *Check) clock(p *provider) {
	off := time.Duration(p.clock.Load()).Abs()
	switch {
	case off > leeway:
		c.add("Clock", Bad, fmt.Sprintf("It differs by %s from this server's.", off), "Let both machines follow a time server; a minute is allowed.")
	case off > leeway/4:
		c.add("Clock", Warn, fmt.Sprintf("It differs by %s from this server's.", off), "A minute is allowed; let both machines follow a time server.")
	default:
		c.add("Clock", Good, "It is the same as this server's.", "")
	}
}

// redirect asks the provider to begin a sign-in and sees whether it refuses the address.
func (c *Check) redirect(ctx context.Context, p *provider, found *discovered) {
	u := p.authURL(found, engine.Attempt{State: "setup-check", Nonce: "setup-check", Verifier: oauth2.GenerateVerifier()}, false)
	fix := "Register exactly " + p.redirect + " as redirect address of the client " + p.ClientID + "."
	status, err := p.status(ctx, u)
	switch {
	case err != nil:
		c.add("Redirect address", Bad, "The address where people sign in does not answer.", "Look whether "+found.meta.Authorization+" can be reached.")
	case status >= 400:
		c.add("Redirect address", Bad, fmt.Sprintf("It refuses the beginning of a sign-in with status %d: it does not know the client or the redirect address.", status), fix)
	default:
		c.add("Redirect address", Good, "It takes the client "+p.ClientID+" with "+p.redirect+".", "")
	}
}

func (c *Check) scopes(p *provider, found *discovered) {
	if len(found.meta.Scopes) == 0 {
		c.add("Scopes", Warn, "It does not say which scopes it knows; asked for are "+strings.Join(p.Scopes, ", ")+".", "Sign in once: it refuses a scope that it does not know.")
		return
	}
	for _, scope := range p.Scopes {
		if !slices.Contains(found.meta.Scopes, scope) {
			c.add("Scopes", Bad, "It does not list the scope "+scope+".", "Take it out of scopes, or allow it at the provider; it lists "+strings.Join(found.meta.Scopes, ", ")+".")
			return
		}
	}
	c.add("Scopes", Good, "It knows "+strings.Join(p.Scopes, ", ")+".", "")
}

func (c *Check) algorithms(p *provider, found *discovered) {
	offered := found.meta.Algorithms
	if len(offered) > 0 && !slices.ContainsFunc(p.Algorithms, func(a string) bool { return slices.Contains(offered, a) }) {
		c.add("Signatures", Bad, "It signs with "+strings.Join(offered, ", ")+"; accepted are "+strings.Join(p.Algorithms, ", ")+".", "Choose another algorithm for the client at the provider, or list it under algorithms.")
		return
	}
	c.add("Signatures", Good, "Accepted are "+strings.Join(p.Algorithms, ", ")+".", "")
}

func (c *Check) logout(found *discovered) {
	switch {
	case found.meta.EndSession == "":
		c.add("Logout", Warn, "It has no address for logout: signing out ends the session here only.", "")
	case !found.meta.Backchannel:
		c.add("Logout", Warn, "Signing out ends its session too. It does not say that it can end sessions here (back-channel).", "")
	default:
		c.add("Logout", Good, "It works both ways.", "")
	}
}

// groups looks at what came with the last sign-in, since no document tells.
func (s *Service) groups(ctx context.Context, c *Check, p *provider) {
	fix := "Sign in once. If the claim is missing then, add it to the ID token or the user information at the provider, or ask for its scope."
	last, err := s.identity.LastSync(ctx, p.ID)
	switch {
	case err != nil:
		c.add("Groups", Warn, "What came with the last sign-in cannot be read.", fix)
	case last == nil:
		c.add("Groups", Warn, "Nobody has signed in yet, so it is not known whether the claim "+p.GroupsClaim+" comes.", fix)
	case len(last.Groups) == 0:
		c.add("Groups", Warn, "The last sign-in came without any group in the claim "+p.GroupsClaim+".", fix)
	default:
		c.add("Groups", Good, fmt.Sprintf("Groups with the last sign-in, in the claim %s: %d. Rules that matched: %d.", p.GroupsClaim, len(last.Groups), len(last.Matches)), "")
	}
}

func (p *provider) getJSON(ctx context.Context, address string, into any) error {
	answer, err := p.get(ctx, address)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return json.NewDecoder(answer.Body).Decode(into)
}

func (p *provider) status(ctx context.Context, address string) (int, error) {
	answer, err := p.get(ctx, address)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body) // so that the connection can be used again
	return answer.StatusCode, nil
}

func (p *provider) get(ctx context.Context, address string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	return p.client.Do(request)
}

// Rules are those of a provider, for the page that explains them; nil when there is no such provider.
func (s *Service) Rules(provider string) []RuleView {
	p := s.find(provider)
	if p == nil {
		return nil
	}
	rules := make([]RuleView, len(p.Rules))
	for i, rule := range p.Rules {
		rules[i] = RuleView{Number: i + 1, Claim: rule.Claim, Value: rule.Value, Role: rule.Role, Team: rule.Team}
	}
	return rules
}

// RuleView is one rule with its number.
type RuleView struct {
	Number int    `json:"number"`
	Claim  string `json:"claim"`
	Value  string `json:"value"`
	Role   string `json:"role"`
	Team   string `json:"team"`
}

// Try shows what the rules of a provider would make of claims. It changes nothing.
func (s *Service) Try(provider string, claims map[string]any) (Decision, error) {
	p := s.find(provider)
	if p == nil {
		return Decision{}, engine.Refuse("not_found", "there is no such provider")
	}
	return Evaluate(p.Provider, claims), nil
}

// Names are the ids and names of all providers, without asking them.
func (s *Service) Names() []Choice {
	choices := make([]Choice, len(s.providers))
	for i, p := range s.providers {
		choices[i] = Choice{ID: p.ID, Name: p.Name}
	}
	return choices
}
