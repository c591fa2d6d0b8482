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
