package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

func asksFreshSignIns(w *loginWorld) { w.fresh = 15 * time.Minute }

// proves makes the provider say that the person proved who they are so long ago.
func (w *loginWorld) proves(ago time.Duration) {
	claims := groups("admins")
	claims["auth_time"] = time.Now().Add(-ago).Unix()
	w.op.Claims = claims
}

// Each act that changes who may do what is refused to a session whose person has not proved who they are lately,
// and to nobody else; the way out leads through the provider and back.
func TestSensitiveActsNeedAFreshSignIn(t *testing.T) {
	w := newLoginWorld(t, nil, asksFreshSignIns)
	w.proves(time.Hour)
	b := w.browser()
	b.mustSignIn()
	token := b.csrf()
	server, _ := newTestServer(t, nil)
	left := len(sensitive)
	for _, route := range server.Routes() {
		path := strings.NewReplacer(":id", uuid.NewString(), ":name", "x", ":secret", "x", ":connection", "x").Replace(route.Path)
		if route.Method == get || route.Needs == "" || strings.HasPrefix(route.Path, "/logout") || strings.HasPrefix(route.Path, "/hooks") {
			continue
		}
		got := b.send(route.Method, path, "", "X-CSRF-Token", token, "Accept", "application/json", "Content-Type", "application/json")
		if asked := strings.Contains(got.body, "sign_in_again"); asked != route.sensitive() {
			t.Errorf("%s %s: asks for a new sign-in: %v; %d %.200s", route.Method, route.Path, asked, got.status, got.body)
		}
		if route.sensitive() {
			left--
		}
	}
	if left != 0 {
		t.Errorf("%d sensitive acts are no routes", left)
	}

	form := url.Values{"_csrf": {token}, "name": {"KEY"}, "value": {"s3cret"}}.Encode()
	refused := b.send("POST", "/settings/secrets", form, "Referer", w.base+"/settings/secrets")
	if refused.status != http.StatusForbidden || !strings.Contains(refused.body, `href="/login/corp?fresh=1&amp;return=%2Fsettings%2Fsecrets"`) || strings.Contains(refused.body, "s3cret") {
		t.Errorf("%d %s", refused.status, refused.body)
	}
	if asks := b.get("/session?action=/settings/secrets", "Accept", "application/json"); !strings.Contains(asks.body, `"signInAgain":"/login/corp?fresh=1`) {
		t.Errorf("%s", asks.body)
	}
	if other := b.get("/session?action=/workflows/x/run", "Accept", "application/json"); !strings.Contains(other.body, `"signInAgain":""`) {
		t.Errorf("%s", other.body)
	}

	w.proves(0)
	again := b.atProvider("?fresh=1&return=/settings/secrets")
	if asked := w.op.Asked; asked.Get("prompt") != "login" || asked.Get("max_age") != "900" {
		t.Errorf("the provider was asked %v", asked)
	}
	if back := b.get(again); back.to() != "/settings/secrets" {
		t.Errorf("%d to %s", back.status, back.to())
	}
	form = url.Values{"_csrf": {b.csrf()}, "name": {"KEY"}, "value": {"s3cret"}}.Encode()
	if done := b.send("POST", "/settings/secrets", form); done.status != http.StatusSeeOther {
		t.Errorf("after signing in again: %d %.500s", done.status, done.body)
	}
}

// A provider that lets the person through without asking, or does not say whether it asked, proves nothing.
func TestAProviderThatDoesNotAskAgainProvesNothing(t *testing.T) {
	w := newLoginWorld(t, nil, asksFreshSignIns)
	for name, make := range map[string]func(){
		"an old proof": func() { w.proves(time.Hour) },
		"no proof":     func() { w.op.Claims = groups("admins") },
		"a false form": func() { w.op.Claims = groups("admins"); w.op.Claims["auth_time"] = "now" },
	} {
		make()
		b := w.browser()
		if b.mustSignIn(); b.roles() != "admin" {
			t.Fatalf("%s: an ordinary sign-in gives %s", name, b.roles())
		}
		got := b.get(b.atProvider("?fresh=1"))
		if got.status != http.StatusForbidden || !strings.Contains(got.body, "proof of who you are") {
			t.Errorf("%s: %d %.500s", name, got.status, got.body)
		}
		if refused := b.post("/settings/policy", nil); refused.status != http.StatusForbidden {
			t.Errorf("%s: the policy can be changed: %d", name, refused.status)
		}
	}
}

// Whoever signs in and proves it needs no second sign-in, and programs have nobody to ask.
func TestAFreshSignInIsEnoughAndTokensAreNotAsked(t *testing.T) {
	w := newLoginWorld(t, nil, asksFreshSignIns)
	w.proves(time.Minute)
	b := w.browser()
	b.mustSignIn()
	made := b.send("POST", "/api/v1/tokens", `{"name": "ci", "scopes": ["admin"]}`, "X-CSRF-Token", b.csrf(), "Accept", "application/json", "Content-Type", "application/json")
	if made.status != http.StatusCreated {
		t.Fatalf("%d %s", made.status, made.body)
	}
	token := jsonOf(t, made.body)["token"].(string)
	caller{t, w.base, token}.must(204, "PUT", "/secrets/KEY", `{"value": "s3cret"}`)
}
