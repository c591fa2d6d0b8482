package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"weftline/app/config"
	"weftline/app/login/logintest"
)

// Every fault of a token is refused, and the page says which kind it is.
func TestFaultyTokensAreRefused(t *testing.T) {
	hour := time.Hour
	for name, c := range map[string]struct {
		token map[string]any
		skew  time.Duration
		says  string
	}{
		"wrong issuer":            {map[string]any{"iss": "https://evil.example"}, 0, "cannot be trusted"},
		"issuer with a slash":     {map[string]any{"iss": "SLASH"}, 0, "cannot be trusted"},
		"wrong audience":          {map[string]any{"aud": "another"}, 0, "cannot be trusted"},
		"two audiences, no azp":   {map[string]any{"aud": []string{logintest.ClientID, "another"}}, 0, "another application"},
		"two audiences, azp else": {map[string]any{"aud": []string{logintest.ClientID, "another"}, "azp": "another"}, 0, "another application"},
		"wrong nonce":             {map[string]any{"nonce": "guess"}, 0, "another sign-in"},
		"no nonce":                {map[string]any{"nonce": nil}, 0, "another sign-in"},
		"no subject":              {map[string]any{"sub": nil}, 0, "names nobody"},
		"clock ten minutes late":  {nil, -10 * time.Minute, "clocks of Corp"},
		"clock ten minutes early": {nil, 10 * time.Minute, "clocks of Corp"},
		"issued in two hours":     {map[string]any{"iat": time.Now().Add(2 * hour).Unix(), "exp": time.Now().Add(3 * hour).Unix()}, 0, "clocks of Corp"},
		"other access token":      {map[string]any{"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}, 0, "do not belong together"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newLoginWorld(t, nil)
			if c.token["iss"] == "SLASH" {
				c.token["iss"] = w.op.URL + "/"
			}
			w.op.Token, w.op.Skew = c.token, c.skew
			b := w.browser()
			if got := b.signIn(); got.status != http.StatusBadRequest || b.session() != "" || !strings.Contains(got.body, c.says) {
				t.Errorf("%d %.900s\n%s", got.status, got.body, w.log)
			}
		})
	}
}

// L25: a minute of difference between the clocks does no harm.
func TestClocksMayDifferByAMinute(t *testing.T) {
	w := newLoginWorld(t, nil)
	for _, skew := range []time.Duration{-time.Minute, time.Minute} {
		w.op.Set(func(p *logintest.Provider) { p.Skew = skew })
		w.browser().mustSignIn()
	}
}

func TestAWrongAlgorithmIsRefused(t *testing.T) {
	w := newLoginWorld(t, func(p *config.Provider) { p.Algorithms = []string{"RS256"} })
	b := w.browser()
	if got := b.signIn(); got.status != http.StatusBadRequest || b.session() != "" {
		t.Errorf("%d", got.status)
	}
}

// RFC 9207: the answer must come from the provider that was asked.
func TestTheAnswersIssuerIsChecked(t *testing.T) {
	w := newLoginWorld(t, nil)
	w.op.SendISS = true
	w.browser().mustSignIn()
	w.op.Set(func(p *logintest.Provider) { p.ISS = "https://evil.example" })
	b := w.browser()
	if got := b.signIn(); got.status != http.StatusBadRequest || b.session() != "" || !strings.Contains(got.body, "another provider") {
		t.Errorf("%d %.500s", got.status, got.body)
	}
	b = w.browser()
	back, _ := url.Parse(b.atProvider(""))
	query := back.Query()
	query.Del("iss")
	back.RawQuery = query.Encode()
	if got := b.get(back.String()); got.status != http.StatusBadRequest || b.session() != "" {
		t.Errorf("without iss although announced: %d", got.status)
	}
}

// L23: a new key is learned at once, a key that was withdrawn counts an hour at most, and unknown keys make
// us ask a few times in a row.
func TestKeysRotate(t *testing.T) {
	w := newLoginWorld(t, nil)
	w.browser().mustSignIn()
	w.op.Rotate(true)
	w.browser().mustSignIn()
	token := w.op.LogoutToken(map[string]any{"sub": "nobody"})
	w.op.Rotate(false) // the key of the token is shown no more
	hits := w.op.KeyHits
	w.pass(2 * time.Hour)
	b := w.browser()
	w.op.Set(func(p *logintest.Provider) { p.Skew = 2 * time.Hour })
	if got := b.send("POST", "/login/corp/backchannel", url.Values{"logout_token": {token}}.Encode()); got.status != http.StatusBadRequest {
		t.Errorf("a withdrawn key after its age: %d %s", got.status, got.body)
	}
	for range 20 {
		b.send("POST", "/login/corp/backchannel", url.Values{"logout_token": {token}}.Encode())
	}
	if w.op.KeyHits > hits+6 {
		t.Errorf("unknown keys were asked for %d times", w.op.KeyHits-hits)
	}
}

// L18, L19: a provider that is down stops neither the start nor the page, and sign-in heals by itself.
func TestAProviderThatIsDownHealsWithoutARestart(t *testing.T) {
	w := newLoginWorld(t, nil)
	w.op.Set(func(p *logintest.Provider) { p.Down = true })
	b := w.browser()
	if got := b.get("/login"); got.status != http.StatusOK || !strings.Contains(got.body, "cannot be reached") {
		t.Errorf("%d %.600s", got.status, got.body)
	}
	if got := b.get("/login/corp"); got.status != http.StatusServiceUnavailable {
		t.Errorf("beginning: %d", got.status)
	}
	w.op.Set(func(p *logintest.Provider) { p.Down = false })
	w.pass(longestWait)
	b.mustSignIn()
}

const longestWait = 31 * time.Second

// L32: an issuer with tenants lets in those on the list only, and the subject belongs to its tenant.
func TestTenantsOfAnIssuer(t *testing.T) {
	w := newLoginWorld(t, func(p *config.Provider) { p.Tenants = []string{"t-good"} })
	template := w.op.URL + "/{tenantid}/v2.0"
	for tenant, in := range map[string]bool{"t-good": true, "t-bad": false} {
		w.op.Set(func(p *logintest.Provider) {
			p.Meta = map[string]any{"issuer": template}
			p.Token = map[string]any{"tid": tenant, "iss": strings.ReplaceAll(template, "{tenantid}", tenant)}
		})
		b := w.browser()
		if got := b.signIn(); (b.session() != "") != in {
			t.Errorf("%s: %d %.600s\n%s", tenant, got.status, got.body, w.log)
		}
	}
	w.op.Set(func(p *logintest.Provider) {
		p.Token = map[string]any{"tid": "t-good", "iss": strings.ReplaceAll(template, "{tenantid}", "t-bad")}
	})
	b := w.browser()
	if b.signIn(); b.session() != "" {
		t.Error("a tenant in another's issuer came in")
	}
}

// A code works once.
func TestACodeThatIsGoneIsSaidSo(t *testing.T) {
	w := newLoginWorld(t, nil)
	w.op.Refusal = "invalid_grant"
	b := w.browser()
	if got := b.signIn(); got.status != http.StatusBadRequest || !strings.Contains(got.body, "no longer accepts this sign-in") {
		t.Errorf("%d %.500s", got.status, got.body)
	}
}

func TestAWrongClientSecretIsSaidSo(t *testing.T) {
	w := newLoginWorld(t, nil)
	w.op.Refusal, w.op.Status = "invalid_client", 401
	b := w.browser()
	if got := b.signIn(); !strings.Contains(got.body, "client secret") || strings.Contains(got.body+w.log.String(), logintest.ClientSecret) {
		t.Errorf("%.700s", got.body)
	}
}
