package config

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func providersFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "providers.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const minimal = `providers:
  - id: corp
    issuer: https://login.example.org
    clientID: weftline
    rules: [{ claim: groups, value: a, role: viewer }]
`

// L8: every key of the file acts, and has the default that the documentation says.
func TestEveryKeyOfAProviderActs(t *testing.T) {
	p := load(t, nil, "--oidc-config", providersFile(t, minimal)).Providers[0]
	if p.Name != "corp" || p.NameClaim != "preferred_username" || p.GroupsClaim != "groups" || p.Rules[0].Team != "default" ||
		!slices.Equal(p.Scopes, []string{"openid", "profile", "email"}) || !slices.Equal(p.Algorithms, defaultAlgorithms) {
		t.Errorf("defaults: %+v", p)
	}
	path := providersFile(t, `providers:
  - id: corp
    name: Corp
    issuer: https://login.example.org/.well-known/openid-configuration
    clientID: weftline
    clientSecretFile: corp.secret
    scopes: [groups]
    nameClaim: nick
    groupsClaim: realm_access.roles
    algorithms: [PS512]
    tenants: [t1]
    absentClaimsMeanNone: true
    trustUnverifiedEmail: true
    rules: [{ claim: groups, value: a, role: admin, team: other }]
`)
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "corp.secret"), []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p = load(t, nil, "--oidc-config", path).Providers[0]
	if p.Name != "Corp" || p.Issuer != "https://login.example.org" || p.ClientSecret != "hunter2" || p.NameClaim != "nick" ||
		p.GroupsClaim != "realm_access.roles" || !slices.Equal(p.Scopes, []string{"openid", "groups"}) || !slices.Equal(p.Algorithms, []string{"PS512"}) ||
		!slices.Equal(p.Tenants, []string{"t1"}) || !p.AbsentClaimsMeanNone || !p.TrustUnverifiedEmail || p.Rules[0] != (Rule{"groups", "a", "admin", "other"}) {
		t.Errorf("%+v", p)
	}
}

func TestOneProviderByEnvironment(t *testing.T) {
	c := load(t, map[string]string{"WEFTLINE_OIDC_ISSUER": "http://127.0.0.1:9100", "WEFTLINE_OIDC_CLIENT_ID": "weftline", "WEFTLINE_OIDC_CLIENT_SECRET": "hunter2-secret",
		"WEFTLINE_OIDC_NAME": "Corp", "WEFTLINE_OIDC_SCOPES": "groups", "WEFTLINE_OIDC_NAME_CLAIM": "nick", "WEFTLINE_OIDC_GROUPS_CLAIM": "teams",
		"WEFTLINE_OIDC_RULES": "groups=a:admin, groups=urn:b:author@other", "WEFTLINE_SESSION_IDLE": "1h", "WEFTLINE_SESSION_ABSOLUTE": "90m", "WEFTLINE_SESSION_GRACE": "0s"})
	p := c.Providers[0]
	if p.ID != "sso" || p.Name != "Corp" || p.ClientSecret != "hunter2-secret" || p.NameClaim != "nick" || p.GroupsClaim != "teams" ||
		!slices.Equal(p.Rules, []Rule{{"groups", "a", "admin", "default"}, {"groups", "urn:b", "author", "other"}}) {
		t.Errorf("%+v", p)
	}
	if c.SessionIdle != time.Hour || c.SessionAbsolute != 90*time.Minute || c.SessionGrace != 0 {
		t.Errorf("%v %v %v", c.SessionIdle, c.SessionAbsolute, c.SessionGrace)
	}
	if strings.Contains(c.String(), "hunter2") {
		t.Error("the client secret is printed")
	}
}

// L22: a key that is not known is an error that names the one that was meant; so are all other faults.
func TestFaultsOfProvidersNameTheWayOut(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		args []string
		want []string
	}{
		"misspelt key":    {strings.Replace(minimal, "clientID", "clientId", 1), nil, []string{`"clientId"`, `did you mean "clientID"`}},
		"misspelt rule":   {strings.Replace(minimal, "value:", "vlaue:", 1), nil, []string{`did you mean "value"`}},
		"role":            {strings.Replace(minimal, "viewer", "king", 1), nil, []string{`"king"`, "operator"}},
		"plain http":      {strings.Replace(minimal, "https", "http", 1), nil, []string{"https"}},
		"no rules":        {strings.Replace(minimal, "rules:", "tenants: [] #", 1), nil, []string{"rules are missing"}},
		"id":              {strings.Replace(minimal, "corp", "Corp SSO", 1), nil, []string{"lower-case"}},
		"twice":           {minimal + strings.TrimPrefix(minimal, "providers:\n"), nil, []string{"twice"}},
		"algorithm":       {minimal + "    algorithms: [none]\n", nil, []string{`"none"`, "RS256"}},
		"two secrets":     {minimal + "    clientSecret: a\n    clientSecretFile: b\n", nil, []string{"not both"}},
		"nothing":         {"{}", nil, []string{"providers"}},
		"both ways":       {minimal, []string{"--oidc-issuer", "https://login.example.org"}, []string{"not both"}},
		"open, no URL":    {minimal, []string{"--addr", "0.0.0.0:80"}, []string{"public-url"}},
		"URL without TLS": {minimal, []string{"--public-url", "http://weftline.example.org"}, []string{"https"}},
		"URL with a path": {minimal, []string{"--public-url", "https://weftline.example.org/x"}, []string{"public-url"}},
		"idle above all":  {minimal, []string{"--session-idle", "25h"}, []string{"session-absolute"}},
		"no key":          {minimal, []string{"--database-url", "postgres://x/y"}, []string{"WEFTLINE_SECRET_KEY"}},
	} {
		_, err := Load("serve", append([]string{"--oidc-config", providersFile(t, c.text)}, c.args...), env(nil), io.Discard, AllGroups...)
		if err == nil {
			t.Errorf("%s was taken", name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not mention %q", name, err, want)
			}
		}
	}
	if _, err := Load("serve", []string{"--oidc-client-id", "x"}, env(nil), io.Discard, AllGroups...); err == nil || !strings.Contains(err.Error(), "oidc-issuer") {
		t.Errorf("half a provider: %v", err)
	}
}

func TestMisspeltVariablesAreRefused(t *testing.T) {
	err := CheckEnvironment([]string{"PATH=/bin", "WEFTLINE_OIDC_ISSUR=x", "WEFTLINE_TOKEN=y", "WEFTLINE_ADDR=z"})
	if err == nil || !strings.Contains(err.Error(), "WEFTLINE_OIDC_ISSUER") || strings.Contains(err.Error(), "TOKEN") {
		t.Errorf("%v", err)
	}
	if err := CheckEnvironment([]string{"WEFTLINE_URL=x", "HOME=/"}); err != nil {
		t.Error(err)
	}
}

// With sign-in the server may listen on any address.
func TestSignInLiftsTheBoundOfLocalMode(t *testing.T) {
	c := load(t, nil, "--oidc-config", providersFile(t, minimal), "--addr", "0.0.0.0:80", "--public-url", "https://weftline.example.org/")
	if c.PublicURL != "https://weftline.example.org" {
		t.Errorf("public URL %s", c.PublicURL)
	}
}
