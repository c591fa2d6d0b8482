package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"weftline/app/strictjson"
	"weftline/engine"
)

// Provider is an identity provider that people sign in with. Names of fields are the keys of the file.
type Provider struct {
	ID               string   `json:"id"`       // stands in addresses: lower-case letters, digits, dashes
	Name             string   `json:"name"`     // for people; the id by default
	Issuer           string   `json:"issuer"`   // exactly as the provider calls itself
	ClientID         string   `json:"clientID"` // what Weftline is called there
	ClientSecret     string   `json:"clientSecret"`
	ClientSecretFile string   `json:"clientSecretFile"` // relative to the file that names it
	Scopes           []string `json:"scopes"`           // beside openid; profile and email by default
	NameClaim        string   `json:"nameClaim"`        // preferred_username by default
	GroupsClaim      string   `json:"groupsClaim"`      // groups by default; a path with dots
	Algorithms       []string `json:"algorithms"`       // of signatures; RS256, ES256, PS256 and EdDSA by default
	Tenants          []string `json:"tenants"`          // of an issuer with {tenantid} in its name: those that may come in
	Rules            []Rule   `json:"rules"`

	AbsentClaimsMeanNone bool `json:"absentClaimsMeanNone"` // it leaves a claim out when it is empty
	TrustUnverifiedEmail bool `json:"trustUnverifiedEmail"` // rules on email count without email_verified
}

// Rule gives a role in a team to whoever has a value in a claim. A rule on the claim email may name a whole
// domain: @example.org.
type Rule struct {
	Claim string `json:"claim"`
	Value string `json:"value"`
	Role  string `json:"role"`
	Team  string `json:"team"` // default by default
}

// file is what oidc-config names.
type file struct {
	Providers []Provider `json:"providers"`
}

// Algorithms of signatures that a provider may be allowed to use. Those with a shared secret and none are not
// among them.
var Algorithms = []string{"RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "EdDSA"}

// DefaultAlgorithms are accepted of an issuer that names none.
func DefaultAlgorithms() []string { return slices.Clone(defaultAlgorithms) }

var defaultAlgorithms = []string{"RS256", "ES256", "PS256", "EdDSA"}

const wellKnown = "/.well-known/openid-configuration"

// readProviders reads the file, or makes the one provider that flags and environment describe.
func (c *Config) readProviders() ([]Provider, error) {
	switch {
	case c.OIDCFile != "" && c.OIDC.Issuer != "":
		return nil, errors.New("give oidc-config or oidc-issuer, not both")
	case c.OIDCFile != "":
		return readFile(c.OIDCFile)
	case c.OIDC.Issuer == "":
		return nil, nil
	}
	one := c.OIDC
	one.ID = "sso"
	return finish([]Provider{one}, ".")
}

func readFile(path string) ([]Provider, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("oidc-config: %w", err)
	}
	var content any
	if err := yaml.Unmarshal(text, &content); err != nil {
		return nil, fmt.Errorf("oidc-config: %s: %w", path, err)
	}
	var read file
	if err := strictjson.Assign(content, &read); err != nil {
		return nil, fmt.Errorf("oidc-config: %s: %w", path, err)
	}
	if len(read.Providers) == 0 {
		return nil, fmt.Errorf("oidc-config: %s lists no provider under the key providers", path)
	}
	return finish(read.Providers, filepath.Dir(path))
}

// finish fills in defaults and answers every fault of every provider at once.
func finish(providers []Provider, folder string) ([]Provider, error) {
	var faults []error
	seen := map[string]bool{}
	for i := range providers {
		p := &providers[i]
		p.fill()
		if err := p.readSecret(folder); err != nil {
			faults = append(faults, fmt.Errorf("provider %s: %w", p.ID, err))
		}
		for _, fault := range p.faults() {
			faults = append(faults, fmt.Errorf("provider %q (number %d): %s", p.ID, i+1, fault))
		}
		if seen[p.ID] {
			faults = append(faults, fmt.Errorf("provider %q is there twice", p.ID))
		}
		seen[p.ID] = true
	}
	return providers, errors.Join(faults...)
}

func (p *Provider) fill() {
	p.Issuer = strings.TrimSuffix(p.Issuer, wellKnown) // what people copy from the provider's page
	p.Name = either(p.Name, p.ID)
	p.NameClaim = either(p.NameClaim, "preferred_username")
	p.GroupsClaim = either(p.GroupsClaim, "groups")
	if len(p.Scopes) == 0 {
		p.Scopes = []string{"profile", "email"}
	}
	if !slices.Contains(p.Scopes, "openid") {
		p.Scopes = append([]string{"openid"}, p.Scopes...)
	}
	if len(p.Algorithms) == 0 {
		p.Algorithms = defaultAlgorithms
	}
	for i := range p.Rules {
		p.Rules[i].Team = either(p.Rules[i].Team, engine.DefaultTeam)
	}
}

func (p *Provider) readSecret(folder string) error {
	if p.ClientSecretFile == "" {
		return nil
	}
	if p.ClientSecret != "" {
		return errors.New("give clientSecret or clientSecretFile, not both")
	}
	path := p.ClientSecretFile
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	text, err := os.ReadFile(path)
	p.ClientSecret = strings.TrimSpace(string(text))
	return err
}

var providerID = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,30}$`)

var roles = []string{engine.RoleViewer, engine.RoleOperator, engine.RoleAuthor, engine.RoleReviewer, engine.RoleAdmin}

func (p *Provider) faults() (faults []string) {
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if !providerID.MatchString(p.ID) {
		say("the id stands in addresses: use lower-case letters, digits and dashes, at most 31")
	}
	if p.ClientID == "" {
		say("clientID is missing: it is what the provider calls Weftline")
	}
	if fault := checkIssuer(p.Issuer); fault != "" {
		say("%s", fault)
	}
	for _, name := range p.Algorithms {
		if !slices.Contains(Algorithms, name) {
			say("algorithm %q is not accepted; choose among %s", name, strings.Join(Algorithms, ", "))
		}
	}
	if len(p.Rules) == 0 {
		say("rules are missing: without one nobody may come in")
	}
	for i, rule := range p.Rules {
		switch {
		case rule.Claim == "" || rule.Value == "":
			say("rule %d needs a claim and a value", i+1)
		case !slices.Contains(roles, rule.Role):
			say("rule %d: %q is no role; there are %s", i+1, rule.Role, strings.Join(roles, ", "))
		}
	}
	return faults
}

func checkIssuer(issuer string) string {
	u, err := url.Parse(issuer)
	switch {
	case err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		return fmt.Sprintf("issuer %q is no address such as https://login.example.org", issuer)
	case u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname())):
		return fmt.Sprintf("issuer %q must be https: only a provider on this machine may do without", issuer)
	}
	return ""
}

// checkLogin checks what sign-in needs of the other settings.
func (c *Config) checkLogin() error {
	var faults []error
	var err error
	if c.Providers, err = c.readProviders(); err != nil {
		faults = append(faults, err)
	}
	if c.SessionIdle <= 0 || c.SessionAbsolute < c.SessionIdle || c.SessionGrace < 0 || c.SessionFresh < 0 {
		faults = append(faults, errors.New("session-idle must be above 0, session-absolute at least as long, session-grace and session-fresh not below 0"))
	}
	if len(c.Providers) == 0 {
		if c.OIDC.ClientID != "" || c.OIDC.ClientSecret != "" || len(c.OIDC.Rules) > 0 {
			faults = append(faults, errors.New("oidc-issuer is missing: the other oidc settings do nothing without it"))
		}
		return errors.Join(faults...)
	}
	if c.DatabaseURL != "" && c.SecretKey == "" {
		faults = append(faults, errors.New("sign-in by a provider needs WEFTLINE_SECRET_KEY: it seals what sessions keep of the provider"))
	}
	return errors.Join(append(faults, c.checkPublicURL())...)
}

func (c *Config) checkPublicURL() error {
	if c.PublicURL == "" {
		if host := hostOf(c.Addr); !isLoopback(host) {
			return errors.New("public-url is missing: it is the address that browsers use, and providers send people back to it")
		}
		return nil
	}
	u, err := url.Parse(c.PublicURL)
	if err != nil || u.Host == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" {
		return fmt.Errorf("public-url %q must have the form https://weftline.example.org", c.PublicURL)
	}
	if u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname())) {
		return fmt.Errorf("public-url %q must be https: browsers keep the session's cookie on no other address", c.PublicURL)
	}
	c.PublicURL = strings.TrimSuffix(c.PublicURL, "/")
	return nil
}

func hostOf(addr string) string {
	if i := strings.LastIndexByte(addr, ':'); i >= 0 {
		addr = addr[:i]
	}
	addr = strings.Trim(addr, "[]")
	if ip, err := netip.ParseAddr(addr); err == nil {
		return ip.String()
	}
	return addr
}

func either(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// rules are written CLAIM=VALUE:ROLE or CLAIM=VALUE:ROLE@TEAM.
type rules []Rule

func (v *rules) String() string {
	var parts []string
	for _, r := range *v {
		text := r.Claim + "=" + r.Value + ":" + r.Role
		if r.Team != "" {
			text += "@" + r.Team
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ",")
}

func (v *rules) Set(s string) error {
	var made rules
	parts, err := fields(s)
	if err != nil {
		return err
	}
	for _, part := range parts {
		left, right, ok := lastCut(part, ":")
		claim, value, both := strings.Cut(left, "=")
		if !ok || !both {
			return fmt.Errorf("has %q: each rule is written claim=value:role or claim=value:role@team", part)
		}
		role, team, _ := strings.Cut(right, "@")
		made = append(made, Rule{Claim: claim, Value: value, Role: role, Team: team})
	}
	*v = made
	return nil
}

func lastCut(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}
