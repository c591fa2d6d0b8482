package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"weftline/app/auth"
	"weftline/app/login/logintest"
)

func (w *loginWorld) logout(claims map[string]any) visit {
	w.t.Helper()
	return w.browser().send("POST", "/login/corp/backchannel", url.Values{"logout_token": {w.op.LogoutToken(claims)}}.Encode())
}

// L17: the provider ends a session; the next request is refused and the socket closes.
func TestBackchannelLogoutEndsSessionsAndSockets(t *testing.T) {
	w := newLoginWorld(t, nil)
	b := w.browser()
	b.mustSignIn()
	ended := b.socket(w.base)
	got := w.logout(map[string]any{"sid": "s1"})
	if got.status != http.StatusOK || got.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", got.status, got.body)
	}
	w.within("by sid", ended)
	if b.me() != nil {
		t.Error("the session goes on")
	}
	b.mustSignIn()
	if got := w.logout(map[string]any{"sub": "u1"}); got.status != http.StatusOK || b.me() != nil {
		t.Errorf("by subject: %d", got.status)
	}
	if got := w.logout(map[string]any{"sub": "nobody"}); got.status != http.StatusOK {
		t.Errorf("without a session: %d", got.status)
	}
}

func TestFaultyLogoutTokensAreRefused(t *testing.T) {
	w := newLoginWorld(t, nil)
	b := w.browser()
	b.mustSignIn()
	for name, claims := range map[string]map[string]any{
		"no event":     {"sub": "u1", "events": nil},
		"with a nonce": {"sub": "u1", "nonce": "n"},
		"no jti":       {"sub": "u1", "jti": nil},
		"nobody":       {},
		"wrong issuer": {"sub": "u1", "iss": "https://evil.example"},
		"wrong client": {"sub": "u1", "aud": "another"},
		"expired":      {"sub": "u1", "exp": time.Now().Add(-2 * time.Minute).Unix()},
		"too old":      {"sub": "u1", "iat": time.Now().Add(-10 * time.Minute).Unix()},
		"from later":   {"sub": "u1", "iat": time.Now().Add(10 * time.Minute).Unix()},
	} {
		if got := w.logout(claims); got.status != http.StatusBadRequest {
			t.Errorf("%s: %d", name, got.status)
		}
	}
	token := w.op.LogoutToken(map[string]any{"sub": "u1"})
	post := func(token string) int {
		return w.browser().send("POST", "/login/corp/backchannel", url.Values{"logout_token": {token}}.Encode()).status
	}
	if post(logintest.UnsignedToken(token)) != http.StatusBadRequest {
		t.Error("an unsigned token was obeyed")
	}
	if post(strings.Repeat("x", 20<<10)) != http.StatusRequestEntityTooLarge {
		t.Error("a body of any size was read")
	}
	if b.me() == nil {
		t.Fatal("one of them was obeyed")
	}
	if post(token) != http.StatusOK || post(token) != http.StatusBadRequest {
		t.Error("a token counts twice, or not at all")
	}
}

// L16, L28: signing out ends the session first and then leads to the provider, with the hint it needs.
func TestLogoutEndsTheSessionAndLeadsToTheProvider(t *testing.T) {
	w := newLoginWorld(t, nil)
	b := w.browser()
	b.mustSignIn()
	if got := b.send("POST", "/logout", "a=b"); got.status != http.StatusForbidden || b.me() == nil {
		t.Errorf("without the CSRF token: %d", got.status)
	}
	if got := b.get("/logout"); got.status != http.StatusMethodNotAllowed || b.me() == nil {
		t.Errorf("by GET: %d", got.status)
	}
	old := b.session()
	got := b.post("/logout", nil, "HX-Request", "true")
	to, _ := url.Parse(got.header.Get("HX-Redirect"))
	if to.Path != "/end" || to.Query().Get("id_token_hint") == "" || to.Query().Get("post_logout_redirect_uri") != w.base+"/login" {
		t.Errorf("leads to %s", to)
	}
	thief := w.browser()
	thief.cookies[auth.HostCookieName] = old
	if b.session() != "" || thief.me() != nil {
		t.Error("the session goes on")
	}
	b.mustSignIn()
	if page := b.post("/logout", nil); !strings.Contains(page.body, "Sign out of Corp too") {
		t.Errorf("without script: %d %.500s", page.status, page.body)
	}
	if page := b.get("/login?out=1").body; !strings.Contains(page, "again=1") {
		t.Error("the next sign-in does not ask for the password")
	}
}

func TestLogoutWorksWhileTheProviderIsDown(t *testing.T) {
	w := newLoginWorld(t, nil)
	b := w.browser()
	b.mustSignIn()
	w.op.Set(func(p *logintest.Provider) { p.Down = true })
	w.pass(2 * time.Hour) // what is known of it is old
	if got := b.post("/logout", nil); got.status != http.StatusOK || b.session() != "" {
		t.Errorf("%d", got.status)
	}
}
