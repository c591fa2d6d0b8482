package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"weftline/app/auth"
	"weftline/app/config"
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

// L5, L6: the first sign-in has the whole mapping, admin and several teams included.
func TestTheFirstSignInHasEveryRoleOfTheRules(t *testing.T) {
	w := newLoginWorld(t, nil)
	w.op.Claims = groups("admins", "staff", "others")
	b := w.browser()
	b.mustSignIn()
	if b.roles() != "admin,viewer" {
		t.Errorf("roles %s", b.roles())
	}
	if page := b.get("/account").body; !strings.Contains(page, "Switch to other") {
		t.Error("the other team is not offered")
	}
}

// L1: a group that is gone takes its role away, at the next sign-in and at the next refresh.
func TestARemovedGroupTakesTheRoleAway(t *testing.T) {
	w := newLoginWorld(t, nil)
	w.op.Claims = groups("admins", "staff")
	boss := w.browser()
	boss.mustSignIn() // somebody else stays admin
	w.op.Set(func(p *logintest.Provider) {
		p.Claims = groups("admins", "staff")
		p.Claims["sub"], p.Claims["preferred_username"] = "u2", "ben"
	})
	b := w.browser()
	b.mustSignIn()
	w.op.Set(func(p *logintest.Provider) { p.Claims["groups"] = []any{"staff"} })
	w.exec("update sessions set refresh_at = now() - interval '1 second' where user_id = (select id from users where name = 'ben')")
	if got := b.roles(); got != "viewer" {
		t.Errorf("after the refresh: %s", got)
	}
	w.op.Set(func(p *logintest.Provider) { p.Claims["groups"] = []any{"others"} })
	b.mustSignIn()
	if me := b.me(); me["team"] != "other" || b.roles() != "author" {
		t.Errorf("after another sign-in: %v", me)
	}
}

// L2: what an admin gave by hand survives every sign-in.
func TestAManualGrantSurvivesTheSync(t *testing.T) {
	w := newLoginWorld(t, nil)
	w.op.Claims = groups("admins")
	admin := w.browser()
	admin.mustSignIn()
	w.op.Set(func(p *logintest.Provider) {
		p.Claims = groups("staff")
		p.Claims["sub"], p.Claims["preferred_username"] = "u2", "ben"
	})
	b := w.browser()
	b.mustSignIn()
	id := w.text("select id::text from users where name = 'ben'")
	if got := admin.post("/people/"+id+"/roles", url.Values{"role": {"author"}}); got.status != http.StatusSeeOther {
		t.Fatalf("%d %s", got.status, got.body)
	}
	b.mustSignIn()
	if got := b.roles(); got != "author,viewer" {
		t.Errorf("roles %s", got)
	}
	w.op.Set(func(p *logintest.Provider) { p.Claims["groups"] = []any{} })
	b.mustSignIn()
	if got := b.roles(); got != "author" {
		t.Errorf("without any group: %s", got)
	}
}

// The last admin who can sign in keeps the role, and the audit says so.
func TestTheLastAdminIsKept(t *testing.T) {
	w := newLoginWorld(t, nil)
	w.op.Claims = groups("admins")
	b := w.browser()
	b.mustSignIn()
	w.op.Set(func(p *logintest.Provider) { p.Claims["groups"] = []any{"staff"} })
	b.mustSignIn()
	if got := b.roles(); got != "admin,viewer" {
		t.Errorf("roles %s", got)
	}
	if w.text("select count(*)::text from audit where action = 'access.last_admin_kept'") != "1" {
		t.Error("the audit does not say so")
	}
}

// L33, L27: who matches no rule gets no row, no session, and a page that says what to do.
func TestWithoutAMatchingRuleNobodyIsMade(t *testing.T) {
	w := newLoginWorld(t, nil)
	w.op.Claims = groups("strangers")
	b := w.browser()
	got := b.signIn()
	if got.status != http.StatusForbidden || !strings.Contains(got.body, "Signed in, no access") || !strings.Contains(got.body, "strangers") || b.session() != "" {
		t.Errorf("%d %.800s", got.status, got.body)
	}
	if w.text("select count(*)::text from users where provider is not null") != "0" {
		t.Error("a person was made")
	}
}

// L27: an e-mail counts for rules only when the provider says that it has verified it.
func TestAnUnverifiedEmailMatchesNothing(t *testing.T) {
	w := newLoginWorld(t, func(p *config.Provider) {
		p.Rules = []config.Rule{{Claim: "email", Value: "@example.org", Role: "viewer", Team: "default"}}
	})
	for name, c := range map[string]struct {
		verified any
		in       bool
	}{"verified": {true, true}, "not": {false, false}, "missing": {nil, false}, "text": {"false", false}, "text true": {"true", false}} {
		claims := groups()
		claims["sub"], claims["email_verified"] = name, c.verified
		claims["preferred_username"] = "person " + name
		if c.verified == nil {
			delete(claims, "email_verified")
		}
		w.op.Set(func(p *logintest.Provider) { p.Claims = claims })
		b := w.browser()
		if b.signIn(); (b.session() != "") != c.in {
			t.Errorf("%s: signed in is %v", name, !c.in)
		}
	}
}

// L7, L21: the same name and e-mail with another subject is another account; an admin may hand it over, and
// the next sign-in is direct (L9).
func TestAnotherSubjectIsAnotherAccountUntilAnAdminSaysSo(t *testing.T) {
	w := newLoginWorld(t, nil)
	w.op.Claims = groups("admins")
	w.op.Claims["preferred_username"], w.op.Claims["sub"] = "zoe", "u0"
	admin := w.browser()
	admin.mustSignIn()
	w.op.Set(func(p *logintest.Provider) { p.Claims = groups("staff") })
	w.browser().mustSignIn()
	w.op.Set(func(p *logintest.Provider) { p.Claims["sub"] = "new-subject" })
	b := w.browser()
	if got := b.signIn(); got.status != http.StatusForbidden || !strings.Contains(got.body, "another account of the same provider") {
		t.Fatalf("%d %.800s", got.status, got.body)
	}
	id := w.text("select id::text from users where name = 'ann'")
	admin.post("/people/"+id+"/relink", nil)
	if b.mustSignIn(); w.text("select id::text from users where name = 'ann' and subject = 'new-subject'") != id {
		t.Error("the account was not handed over")
	}
	if again := w.browser(); again.mustSignIn()["user"] != "ann" {
		t.Error("the next sign-in is not direct")
	}
}

// People never take the name of the application's own accounts.
func TestReservedNamesAreNobodys(t *testing.T) {
	w := newLoginWorld(t, nil)
	w.op.Claims["preferred_username"] = "admin"
	if me := w.browser().mustSignIn(); me["user"] != "admin@corp" {
		t.Errorf("signed in as %v", me["user"])
	}
}

// L4: nothing depends on the team that a fresh database has.
func TestSignInWorksAfterTheDefaultTeamWasRenamed(t *testing.T) {
	w := newLoginWorld(t, func(p *config.Provider) {
		p.Rules = []config.Rule{{Claim: "groups", Value: "staff", Role: "viewer", Team: "mine"}}
	})
	w.exec("update teams set name = 'renamed' where name = 'default'")
	if me := w.browser().mustSignIn(); me["team"] != "mine" {
		t.Errorf("%v", me)
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
// us ask once in 30 seconds.
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
	if w.op.KeyHits > hits+2 {
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

// Absent is not empty: nobody is let in or shut out by a claim that did not come.
func TestAnAbsentClaimIsNotAnEmptyOne(t *testing.T) {
	w := newLoginWorld(t, nil)
	claims := groups()
	delete(claims, "groups")
	w.op.Claims = claims
	b := w.browser()
	if got := b.signIn(); got.status != http.StatusForbidden || !strings.Contains(got.body, "did not say what decides") {
		t.Errorf("absent: %d %.700s", got.status, got.body)
	}
	w.op.Set(func(p *logintest.Provider) { p.Claims["hasgroups"] = true })
	if got := b.signIn(); got.status != http.StatusForbidden || !strings.Contains(got.body, "more groups than Corp can send") {
		t.Errorf("overage: %d %.700s", got.status, got.body)
	}
	w.op.Set(func(p *logintest.Provider) { p.Info = map[string]any{"sub": "u1", "groups": []string{"staff"}} })
	w.pass(2 * time.Hour) // the metadata is read again
	w.op.Set(func(p *logintest.Provider) { p.Skew = 2 * time.Hour })
	b.mustSignIn()
}

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
