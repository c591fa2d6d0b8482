package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/gorilla/websocket"

	"weftline/app/auth"
	"weftline/app/login/logintest"
)

// socket opens the live protocol and answers a channel that gets the close code.
func (b *browser) socket(base string) <-chan int {
	b.w.t.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{"weftline.v1"}}
	header := http.Header{"Origin": {base}, "Cookie": {auth.HostCookieName + "=" + b.session()}}
	conn, _, err := dialer.Dial("ws"+strings.TrimPrefix(base, "http")+"/api/v1/live", header)
	if err != nil {
		b.w.t.Fatal(err)
	}
	b.w.t.Cleanup(func() { conn.Close() })
	if _, _, err := conn.ReadMessage(); err != nil { // welcome: the hub knows it now
		b.w.t.Fatal(err)
	}
	ended := make(chan int, 1)
	go func() {
		for {
			if _, _, err := conn.ReadMessage(); err != nil {
				code := 0
				if closed, ok := err.(*websocket.CloseError); ok {
					code = closed.Code
				}
				ended <- code
				return
			}
		}
	}()
	return ended
}

// within fails unless the socket is closed for its credential before a page would ask by itself.
func (w *loginWorld) within(what string, ended <-chan int) {
	w.t.Helper()
	select {
	case code := <-ended:
		if code != 4401 {
			w.t.Errorf("%s: the socket ends with %d", what, code)
		}
	case <-time.After(10 * time.Second): // pings come each 25 s
		w.t.Errorf("%s: the socket stays open", what)
	}
}

func TestPeopleSeeAndEndTheirOwnSessionsOnly(t *testing.T) {
	w := newLoginWorld(t, nil)
	phone, desk := w.browser(), w.browser()
	phone.mustSignIn()
	desk.mustSignIn()
	ended := phone.socket(w.base)
	w.op.Set(func(p *logintest.Provider) {
		p.Claims = groups("staff")
		p.Claims["sub"], p.Claims["preferred_username"] = "u2", "ben"
	})
	ben := w.browser()
	ben.mustSignIn()

	list := jsonOf(t, desk.get("/api/v1/sessions", "Accept", "application/json").body)["items"].([]any)
	if len(list) != 2 {
		t.Fatalf("%d sessions", len(list))
	}
	other := ""
	for _, item := range list {
		if session := item.(map[string]any); session["current"] == false {
			other = session["id"].(string)
		}
	}
	csrf := ben.csrf()
	if got := ben.send("DELETE", "/api/v1/sessions/"+other, "", "X-CSRF-Token", csrf); got.status != http.StatusNotFound || phone.me() == nil {
		t.Errorf("a stranger ends it: %d", got.status)
	}
	if got := desk.post("/account/sessions/"+other+"/revoke", nil); got.status != http.StatusSeeOther || phone.me() != nil || desk.me() == nil {
		t.Errorf("its person: %d", got.status)
	}
	w.within("revoked", ended)
}

// L28: shutting a person out ends sessions, sockets and tokens, and the next sign-in too.
func TestShuttingOutEndsEverything(t *testing.T) {
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
	// L30: whoever signs in by a provider makes tokens.
	made := jsonOf(t, b.send("POST", "/api/v1/tokens", `{"name":"mine","scopes":["read"]}`, "Content-Type", "application/json", "X-CSRF-Token", b.csrf()).body)
	token := caller{t, w.base, made["token"].(string)}
	if status, _ := token.call("GET", "/me", ""); status != 200 {
		t.Fatalf("the token does not work: %d", status)
	}
	ended := b.socket(w.base)
	id := w.text("select id::text from users where name = 'ben'")
	if got := b.post("/people/"+id+"/block", nil); got.status != http.StatusForbidden {
		t.Errorf("a viewer shuts out: %d", got.status)
	}
	admin.post("/people/"+id+"/block", nil)
	w.within("shut out", ended)
	if status, _ := token.call("GET", "/me", ""); b.me() != nil || status != 401 {
		t.Errorf("the session goes on, or the token does: %d", status)
	}
	if got := b.signIn(); got.status != http.StatusForbidden || !strings.Contains(got.body, "shut this account out") {
		t.Errorf("signs in again: %d", got.status)
	}
	admin.post("/people/"+id+"/unblock", nil)
	b.mustSignIn()
	if self := w.text("select id::text from users where name = 'ann'"); admin.post("/people/"+self+"/block", nil).status == http.StatusSeeOther {
		t.Error("an admin shuts themselves out")
	}
}

// A change on one replica closes the sockets of another.
func TestRevocationReachesOtherReplicas(t *testing.T) {
	w := newLoginWorld(t, nil)
	here, first := w.base, w.engine
	b := w.browser()
	b.mustSignIn()
	ann := uuid.MustParse(w.text("select id::text from users where name = 'ann'"))
	admin, err := first.Identity().Server(context.Background(), "default")
	if err != nil {
		t.Fatal(err)
	}
	w.start() // a second replica on the same database
	there := w.base
	ended := b.socket(there)
	w.base = here
	// Replicas learn of each other by their heartbeats, so the first word may go to nobody.
	for deadline := time.Now().Add(20 * time.Second); ; {
		if err := first.Identity().EndSessions(context.Background(), admin, ann); err != nil {
			t.Fatal(err)
		}
		select {
		case code := <-ended:
			if code != 4401 {
				t.Errorf("ends with %d", code)
			}
			return
		case <-time.After(200 * time.Millisecond):
			if time.Now().After(deadline) {
				t.Fatal("the socket of the other replica stays open")
			}
		}
	}
}

func TestSwitchingTheTeamGivesANewSession(t *testing.T) {
	w := newLoginWorld(t, nil)
	w.op.Claims = groups("staff", "others")
	b := w.browser()
	b.mustSignIn()
	old := b.session()
	other := w.text("select id::text from teams where name = 'other'")
	if got := b.post("/account/team", url.Values{"team": {other}}); got.status != http.StatusSeeOther {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if me := b.me(); me["team"] != "other" || b.roles() != "author" || b.session() == old {
		t.Errorf("%v", me)
	}
	thief := w.browser()
	thief.cookies[auth.HostCookieName] = old
	if thief.me() != nil {
		t.Error("the old id still works")
	}
	w.exec("insert into teams (name) values ('closed')")
	closed := w.text("select id::text from teams where name = 'closed'")
	if got := b.post("/account/team", url.Values{"team": {closed}}); got.status != http.StatusNotFound || b.me()["team"] != "other" {
		t.Errorf("a team that is not theirs: %d", got.status)
	}
}

func TestSessionsEndByThemselves(t *testing.T) {
	w := newLoginWorld(t, nil)
	b := w.browser()
	b.mustSignIn()
	w.exec("update sessions set last_seen_at = now() - interval '8 hours 1 minute'")
	if b.me() != nil {
		t.Error("idle for more than eight hours and alive")
	}
	b.mustSignIn()
	w.exec("update sessions set expires_at = now() - interval '1 second'")
	if b.me() != nil {
		t.Error("past its end and alive")
	}
}

// L12, L35: an ended session leads to the sign-in in the form that each kind of request can follow.
func TestAnEndedSessionLeadsToTheSignIn(t *testing.T) {
	w := newLoginWorld(t, nil)
	b := w.browser()
	if got := b.get("/tasks?q=a"); got.to() != "/login?return=%2Ftasks%3Fq%3Da" {
		t.Errorf("a first visit: %d to %s", got.status, got.to())
	}
	b.cookies[auth.HostCookieName] = "over"
	if got := b.get("/tasks?q=a"); got.status != http.StatusSeeOther || got.to() != "/login?expired=1&return=%2Ftasks%3Fq%3Da" {
		t.Errorf("a page: %d to %s", got.status, got.to())
	}
	got := b.get("/tasks", "HX-Request", "true", "HX-Current-URL", w.base+"/tasks")
	if got.status != http.StatusUnauthorized || got.header.Get("HX-Redirect") != "/login?expired=1&return=%2Ftasks" {
		t.Errorf("htmx: %d %s", got.status, got.header.Get("HX-Redirect"))
	}
	if got := b.send("POST", "/new", "a=b", "HX-Request", "true", "HX-Current-URL", w.base+"/new"); got.header.Get("HX-Redirect") == "" {
		t.Errorf("htmx write: %d", got.status)
	}
	if got := b.send("POST", "/new", "a=b", "Referer", w.base+"/new"); got.status != http.StatusSeeOther || !strings.Contains(got.to(), "return=%2Fnew") {
		t.Errorf("a form: %d %s", got.status, got.to())
	}
	if got := b.get("/api/v1/me", "Accept", "application/json"); got.status != http.StatusUnauthorized || got.to() != "" {
		t.Errorf("a program: %d", got.status)
	}
	if got := b.get("/login"); got.status != http.StatusOK || !strings.Contains(got.body, "Sign in with Corp") {
		t.Errorf("the page itself: %d", got.status)
	}
}

// The provider's tokens and the session's id are nowhere in the database or the log.
func TestTokensOfTheProviderAreSealed(t *testing.T) {
	w := newLoginWorld(t, nil)
	b := w.browser()
	b.mustSignIn()
	dump := w.text("select string_agg(s::text, ' ') from sessions s") + w.text("select coalesce(string_agg(a::text, ' '), '') from audit a") + w.log.String()
	for what, secret := range map[string]string{"refresh token": "refresh-1", "session id": b.session(), "client secret": logintest.ClientSecret} {
		if strings.Contains(dump, secret) {
			t.Errorf("the %s is there in plain", what)
		}
	}
	if w.text("select count(*)::text from sessions where refresh_token is not null and id_token is not null") != "1" {
		t.Error("nothing is kept")
	}
}

// A provider that is no longer configured vouches for nobody, and neither does local mode.
func TestSessionsOfOthersDoNotCount(t *testing.T) {
	w := newLoginWorld(t, nil)
	b := w.browser()
	b.mustSignIn()
	for _, provider := range []string{"'gone'", "null"} {
		w.exec("update sessions set provider = " + provider)
		if b.me() != nil {
			t.Errorf("provider %s counts", provider)
		}
	}
}

func TestTheExplanationAndTheTrialAgreeWithTheSignIn(t *testing.T) {
	w := newLoginWorld(t, nil)
	w.op.Claims = groups("admins")
	b := w.browser()
	b.mustSignIn()
	explained := jsonOf(t, b.get("/api/v1/access", "Accept", "application/json").body)
	matches := explained["member"].(map[string]any)["access"].(map[string]any)["matches"].([]any)
	if len(matches) != 1 || matches[0].(map[string]any)["role"] != "admin" || len(explained["rules"].([]any)) != 2 {
		t.Errorf("%v", explained)
	}
	page := b.post("/access/try", url.Values{"provider": {"corp"}, "claims": {`{"groups":["staff"]}`}})
	if page.status != 200 || !strings.Contains(page.body, "In this team: viewer.") {
		t.Errorf("%d %.300s", page.status, page.body)
	}
	if page := b.post("/access/try", url.Values{"provider": {"corp"}, "claims": {`{}`}}); !strings.Contains(page.body, "a claim that the rules need is not there") {
		t.Error("a missing claim is not said")
	}
	if page := b.post("/access/try", url.Values{"provider": {"corp"}, "claims": {"no JSON"}}); page.status != http.StatusUnprocessableEntity {
		t.Errorf("no JSON: %d", page.status)
	}
}

func TestTheSetupCheckFindsWhatIsWrong(t *testing.T) {
	w := newLoginWorld(t, nil)
	w.op.Claims = groups("admins")
	b := w.browser()
	b.mustSignIn()
	if page := b.get("/access/check").body; !strings.Contains(page, "Discovery") || strings.Contains(page, `data-state="bad"`) || !strings.Contains(page, w.base+"/login/corp/callback") {
		t.Errorf("%s", page)
	}
	w.op.Set(func(p *logintest.Provider) {
		p.Skew = 5 * time.Minute
		p.Meta = map[string]any{"scopes_supported": []string{"profile"}, "id_token_signing_alg_values_supported": []string{"HS256"}}
	})
	found := b.get("/api/v1/access/check", "Accept", "application/json").body
	for _, want := range []string{"differs by", "does not list the scope openid", "It signs with HS256"} {
		if !strings.Contains(found, want) {
			t.Errorf("%q is missing in %s", want, found)
		}
	}
	w.op.Set(func(p *logintest.Provider) { p.Meta["issuer"] = p.URL + "/" })
	if found := b.get("/api/v1/access/check", "Accept", "application/json").body; !strings.Contains(found, "another issuer") {
		t.Errorf("a slash too many: %s", found)
	}
}
