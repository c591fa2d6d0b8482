package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"weftline/app/auth"
	"weftline/app/login/logintest"
)

func jsonOf(t *testing.T, text string) map[string]any {
	t.Helper()
	var value map[string]any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v: %.300s", err, text)
	}
	return value
}

func TestSignInGivesASessionInAHostCookie(t *testing.T) {
	w := newLoginWorld(t, nil)
	b := w.browser()
	if me := b.mustSignIn(); me["user"] != "ann" || b.roles() != "viewer" || len(b.cookies) != 1 {
		t.Errorf("signed in as %v with %d cookies", me, len(b.cookies))
	}
	b.cookies = map[string]string{}
	b.signIn()
	found := false
	for _, cookie := range b.set {
		if cookie.Name == auth.HostCookieName {
			found = true
			if !cookie.Secure || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Domain != "" {
				t.Errorf("the session's cookie is %v", cookie)
			}
		}
	}
	if !found {
		t.Error("no session cookie")
	}
}

func TestSignInGivesANewSessionIDAndEndsTheOld(t *testing.T) {
	w := newLoginWorld(t, nil)
	b := w.browser()
	b.mustSignIn()
	old := b.session()
	b.mustSignIn()
	if b.session() == old {
		t.Error("the id is the same")
	}
	thief := w.browser()
	thief.cookies[auth.HostCookieName] = old
	if thief.me() != nil {
		t.Error("the old id still works")
	}
}

// An attempt is bound to its browser, its provider and its state, and ends once.
func TestAnAttemptEndsOnceAndInItsOwnBrowser(t *testing.T) {
	w := newLoginWorld(t, nil)
	b := w.browser()
	back := b.atProvider("")
	thief := w.browser()
	if got := thief.get(back); got.status != http.StatusBadRequest || thief.session() != "" || !strings.Contains(got.body, "another browser") {
		t.Errorf("in another browser: %d %.500s", got.status, got.body)
	}
	wrong := strings.Replace(back, "state=", "state=x", 1)
	if got := b.get(wrong); got.status != http.StatusBadRequest || b.session() != "" {
		t.Errorf("with another state: %d", got.status)
	}
	kept := b.cookies
	if got := b.get(back); got.status != http.StatusSeeOther {
		t.Fatalf("the right one: %d %.500s", got.status, got.body)
	}
	again := w.browser()
	for name, value := range kept {
		if strings.HasPrefix(name, attemptCookie) {
			again.cookies[name] = value
		}
	}
	if got := again.get(back); got.status != http.StatusBadRequest || again.session() != "" {
		t.Errorf("a second time: %d", got.status)
	}
}

// L14: a dead attempt does not shut out whoever is signed in.
func TestADeadAttemptWithASessionGoesOn(t *testing.T) {
	w := newLoginWorld(t, nil)
	b := w.browser()
	back := b.atProvider("")
	b.get(back)
	if got := b.get(back); got.status != http.StatusSeeOther || got.to() != "/" {
		t.Errorf("%d to %s", got.status, got.to())
	}
}

func TestAnAttemptExpires(t *testing.T) {
	w := newLoginWorld(t, nil)
	b := w.browser()
	back := b.atProvider("")
	w.exec("update login_attempts set created_at = now() - interval '11 minutes'")
	if got := b.get(back); got.status != http.StatusBadRequest || b.session() != "" {
		t.Errorf("%d", got.status)
	}
}

// Several tabs sign in at once; the newest five count.
func TestTabsSignInAtOnce(t *testing.T) {
	w := newLoginWorld(t, nil)
	b := w.browser()
	first := b.atProvider("?return=/tasks")
	second := b.atProvider("?return=/workers")
	if got := b.get(second); got.to() != "/workers" {
		t.Errorf("the second tab goes to %s", got.to())
	}
	if got := b.get(first); got.to() != "/tasks" {
		t.Errorf("the first tab goes to %s", got.to())
	}
	for range 9 {
		b.atProvider("")
	}
	held := 0
	for name := range b.cookies {
		if strings.HasPrefix(name, attemptCookie) {
			held++
		}
	}
	if held > attemptsKept {
		t.Errorf("%d attempts are kept", held)
	}
}

// Only a person's navigation begins a sign-in.
func TestImagesAndPrefetchesBeginNothing(t *testing.T) {
	w := newLoginWorld(t, nil)
	b := w.browser()
	for _, headers := range [][]string{{"Sec-Fetch-Dest", "image"}, {"Sec-Fetch-Dest", "iframe"}, {"Sec-Purpose", "prefetch"}} {
		if got := b.get("/login/corp", headers...); got.status != http.StatusBadRequest {
			t.Errorf("%v: %d", headers, got.status)
		}
	}
	if w.text("select count(*)::text from login_attempts") != "0" {
		t.Error("an attempt was stored")
	}
}

// Existing sessions work on while the provider is down, with a notice, until their grace is over.
func TestASessionLivesThroughAnOutageForItsGrace(t *testing.T) {
	w := newLoginWorld(t, nil)
	b := w.browser()
	b.mustSignIn()
	w.op.Set(func(p *logintest.Provider) { p.Down = true })
	w.due()
	if b.roles() != "viewer" {
		t.Error("signed out at once")
	}
	if page := b.get("/account").body; !strings.Contains(page, "has not answered since") {
		t.Error("no notice")
	}
	w.exec("update sessions set unreachable_since = now() - interval '16 minutes'")
	w.due()
	if b.me() != nil {
		t.Error("the session outlives its grace")
	}
}

func TestAnOutageThatEndsLeavesNoTrace(t *testing.T) {
	w := newLoginWorld(t, nil)
	b := w.browser()
	b.mustSignIn()
	w.op.Set(func(p *logintest.Provider) { p.Refusal, p.Status = "server_error", 502 })
	w.due()
	b.me()
	w.op.Set(func(p *logintest.Provider) { p.Refusal = "" })
	w.due()
	b.me()
	if page := b.get("/account").body; strings.Contains(page, "has not answered since") {
		t.Error("the notice stays")
	}
}

// L11, L28: work goes on over many access tokens; a refused refresh ends the session.
func TestRefreshKeepsTheSessionAndItsRefusalEndsIt(t *testing.T) {
	w := newLoginWorld(t, nil)
	b := w.browser()
	b.mustSignIn()
	for range 5 {
		w.due()
		if b.me() == nil {
			t.Fatalf("signed out\n%s", w.log)
		}
	}
	if w.op.Hits != 5 {
		t.Errorf("%d refreshes", w.op.Hits)
	}
	w.op.Set(func(p *logintest.Provider) { p.Refusal = "invalid_grant" })
	w.due()
	if b.me() != nil {
		t.Error("the session goes on")
	}
}

// One refresh at a time: a refresh token may work only once.
func TestOneRefreshAtATime(t *testing.T) {
	w := newLoginWorld(t, nil)
	b := w.browser()
	b.mustSignIn()
	w.due()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			request, _ := http.NewRequest("GET", w.base+"/api/v1/me", nil)
			request.AddCookie(&http.Cookie{Name: auth.HostCookieName, Value: b.session()})
			response, err := http.DefaultClient.Do(request)
			if err != nil || response.StatusCode != http.StatusOK {
				t.Errorf("%v %v", response, err)
				return
			}
			response.Body.Close()
		})
	}
	all.Wait()
	if w.op.Hits != 1 {
		t.Errorf("%d refreshes", w.op.Hits)
	}
}

// A refresh without an ID token asks the user information.
func TestARefreshWithoutAnIDTokenAsksForTheUser(t *testing.T) {
	w := newLoginWorld(t, nil)
	w.op.NoID, w.op.Info = true, map[string]any{"sub": "u1", "groups": []string{"staff"}}
	b := w.browser()
	b.mustSignIn()
	w.due()
	if b.roles() != "viewer" {
		t.Fatalf("roles %s\n%s", b.roles(), w.log)
	}
	w.op.Set(func(p *logintest.Provider) { p.Info["groups"] = []string{} })
	w.due()
	if b.me() != nil {
		t.Error("a group that is gone is not seen")
	}
	w.op.Set(func(p *logintest.Provider) { p.Info["sub"] = "somebody else" })
	c := w.browser()
	w.op.Set(func(p *logintest.Provider) { delete(p.Claims, "groups") })
	if c.signIn(); c.session() != "" {
		t.Error("user information of another person was taken")
	}
}
