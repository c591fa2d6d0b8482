package engine

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/engine/enginetest"
	"weftline/engine/human"
)

// newIdentity is an identity over a fresh database, with an admin and their right to everything.
func newIdentity(t *testing.T) (*Identity, Who) {
	t.Helper()
	identity := NewIdentity(enginetest.Pool(t))
	if err := identity.EnsureBootstrapToken(t.Context(), "bootstrap-value"); err != nil {
		t.Fatal(err)
	}
	admin, err := identity.Authenticate(t.Context(), "bootstrap-value")
	if err != nil {
		t.Fatal(err)
	}
	return identity, admin
}

func wantRefusal(t *testing.T, err error, code string) {
	t.Helper()
	var refusal *Error
	if !errors.As(err, &refusal) || refusal.Code != code {
		t.Fatalf("error %v, want a refusal %s", err, code)
	}
}

func TestBootstrapTokenIsAnAdminOnce(t *testing.T) {
	identity, admin := newIdentity(t)
	if err := identity.EnsureBootstrapToken(t.Context(), "bootstrap-value"); err != nil {
		t.Fatal(err)
	}
	if admin.TeamName != DefaultTeam || !admin.May(ScopeAdmin) || !admin.May(ScopeRun) {
		t.Errorf("bootstrap is %+v", admin)
	}
	page, err := identity.Tokens(t.Context(), admin, PageRequest{})
	if err != nil || len(page.Items) != 1 || page.Items[0].Name != "bootstrap" {
		t.Errorf("tokens %+v, %v; want the bootstrap token once", page.Items, err)
	}
	if _, err := identity.Authenticate(t.Context(), "bootstrap-valuE"); !errors.Is(err, ErrUnknownCredential) {
		t.Errorf("a wrong token: %v", err)
	}
}

func TestServiceAccountActsAsItself(t *testing.T) {
	identity, admin := newIdentity(t)
	token, value, err := identity.CreateToken(t.Context(), admin, TokenRequest{
		Name: "case", Scopes: []string{"read", "run"}, ServiceAccount: &ServiceAccount{Name: "ben", Groups: []string{"board"}}})
	if err != nil {
		t.Fatal(err)
	}
	who, err := identity.Authenticate(t.Context(), value)
	if err != nil {
		t.Fatal(err)
	}
	want := Who{Team: admin.Team, TeamName: DefaultTeam, User: "ben", Groups: []string{"board"}, Scopes: []string{"read", "run"}, Via: "case"}
	if !reflect.DeepEqual(who, want) {
		t.Errorf("authenticated %+v, want %+v", who, want)
	}
	if !who.May(ScopeRun) || who.May(ScopeAuthor) || who.May(ScopeAdmin) {
		t.Errorf("a token of read and run may not do more: %+v", who)
	}
	if _, _, err := identity.CreateToken(t.Context(), who, TokenRequest{Name: "own", Scopes: []string{"read"}}); err == nil {
		t.Error("a service account made a token for a person")
	}
	if err := identity.DeleteToken(t.Context(), admin, token.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := identity.Authenticate(t.Context(), value); !errors.Is(err, ErrUnknownCredential) {
		t.Errorf("a withdrawn token: %v", err)
	}
	wantRefusal(t, identity.DeleteToken(t.Context(), admin, token.ID), "not_found")
}

func TestTokensThatAreRefused(t *testing.T) {
	identity, admin := newIdentity(t)
	_, value, err := identity.CreateToken(t.Context(), admin, TokenRequest{Name: "reader", Scopes: []string{"read"}})
	if err != nil {
		t.Fatal(err)
	}
	reader, err := identity.Authenticate(t.Context(), value)
	if err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Minute)
	for name, c := range map[string]struct {
		who     Who
		request TokenRequest
		code    string
	}{
		"no name":             {admin, TokenRequest{Scopes: []string{"read"}}, "invalid_input"},
		"no scope":            {admin, TokenRequest{Name: "x"}, "invalid_input"},
		"unknown scope":       {admin, TokenRequest{Name: "x", Scopes: []string{"root"}}, "invalid_input"},
		"expired":             {admin, TokenRequest{Name: "x", Scopes: []string{"read"}, ExpiresAt: &past}, "invalid_input"},
		"more than one has":   {reader, TokenRequest{Name: "x", Scopes: []string{"read", "run"}}, "forbidden"},
		"account by a reader": {reader, TokenRequest{Name: "x", Scopes: []string{"read"}, ServiceAccount: &ServiceAccount{Name: "y"}}, "forbidden"},
		"nameless account":    {admin, TokenRequest{Name: "x", Scopes: []string{"read"}, ServiceAccount: &ServiceAccount{}}, "invalid_input"},
		"stand-in account": {admin, TokenRequest{Name: "x", Scopes: []string{"read"},
			ServiceAccount: &ServiceAccount{Name: "y", Groups: []string{human.Everybody}}}, "invalid_input"},
	} {
		_, _, err := identity.CreateToken(t.Context(), c.who, c.request)
		var refusal *Error
		if !errors.As(err, &refusal) || refusal.Code != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
}

func TestTokenValuesAreNotStored(t *testing.T) {
	identity, admin := newIdentity(t)
	_, value, err := identity.CreateToken(t.Context(), admin, TokenRequest{Name: "secret", Scopes: []string{"read"}})
	if err != nil {
		t.Fatal(err)
	}
	var dump string
	const everything = `select coalesce(string_agg(k::text, ' '), '') || (select string_agg(a::text, ' ') from audit a) from tokens k`
	if err := identity.db.QueryRow(t.Context(), everything).Scan(&dump); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(dump, "secret") || strings.Contains(dump, value) {
		t.Errorf("the rows hold the token or miss its name: %s", dump)
	}
}

func TestTokenPages(t *testing.T) {
	identity, admin := newIdentity(t)
	for _, name := range []string{"a", "b", "c"} {
		if _, _, err := identity.CreateToken(t.Context(), admin, TokenRequest{Name: name, Scopes: []string{"read"}}); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	request := PageRequest{Limit: 3}
	for {
		page, err := identity.Tokens(t.Context(), admin, request)
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range page.Items {
			names = append(names, token.Name)
		}
		if page.NextCursor == nil {
			break
		}
		request.Cursor = *page.NextCursor
	}
	if !slices.Equal(names, []string{"bootstrap", "a", "b", "c"}) {
		t.Errorf("pages give %v", names)
	}
	_, err := identity.Tokens(t.Context(), admin, PageRequest{Cursor: "nonsense!"})
	wantRefusal(t, err, "bad_request")
}

func TestTokenOfAnotherTeam(t *testing.T) {
	identity, admin := newIdentity(t)
	token, _, err := identity.CreateToken(t.Context(), admin, TokenRequest{Name: "x", Scopes: []string{"read"}})
	if err != nil {
		t.Fatal(err)
	}
	stranger := admin
	stranger.Team = uuid.New()
	wantRefusal(t, identity.DeleteToken(t.Context(), stranger, token.ID), "not_found")
	page, err := identity.Tokens(t.Context(), stranger, PageRequest{})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("another team sees %v, %v", page.Items, err)
	}
}

func TestSessions(t *testing.T) {
	identity, _ := newIdentity(t)
	person, err := identity.EnsureLocalUser(t.Context(), "local")
	if err != nil {
		t.Fatal(err)
	}
	id, err := identity.StartSession(t.Context(), person, DefaultSessionLimits, "127.0.0.1", "browser\x00")
	if err != nil {
		t.Fatal(err)
	}
	session, err := identity.Session(t.Context(), id, DefaultSessionLimits)
	if err != nil {
		t.Fatal(err)
	}
	if session.Who.User != "local" || !session.Who.May(ScopeAdmin) || !slices.Contains(session.Who.Groups, human.Everybody) {
		t.Errorf("signed in as %+v", session.Who)
	}
	other, err := identity.StartSession(t.Context(), person, DefaultSessionLimits, "", "")
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := identity.Session(t.Context(), other, DefaultSessionLimits); again.CSRF == session.CSRF || session.CSRF == "" {
		t.Error("two sessions share their CSRF token")
	}
	if _, err := identity.Session(t.Context(), id, SessionLimits{}); !errors.Is(err, ErrUnknownCredential) {
		t.Errorf("a session that was idle for too long: %v", err)
	}
	if _, err := identity.EndSession(t.Context(), Who{}, id); err != nil {
		t.Fatal(err)
	}
	if _, err := identity.Session(t.Context(), id, DefaultSessionLimits); !errors.Is(err, ErrUnknownCredential) {
		t.Errorf("an ended session: %v", err)
	}
	gone, err := identity.StartSession(t.Context(), person, SessionLimits{Absolute: -time.Second}, "", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := identity.Session(t.Context(), gone, DefaultSessionLimits); !errors.Is(err, ErrUnknownCredential) {
		t.Errorf("a session past its end: %v", err)
	}
}

func TestRights(t *testing.T) {
	for name, c := range map[string]struct {
		who  Who
		want []string
	}{
		"viewer":             {Who{Roles: []string{RoleViewer}}, []string{ScopeRead}},
		"operator":           {Who{Roles: []string{RoleOperator}}, []string{ScopeRead, ScopeRun}},
		"author, reviewer":   {Who{Roles: []string{RoleAuthor, RoleReviewer}}, []string{ScopeRead, ScopeRun, ScopeAuthor, ScopeReview}},
		"admin":              {Who{Roles: []string{RoleAdmin}}, scopes},
		"admin's read token": {Who{Roles: []string{RoleAdmin}, Scopes: []string{ScopeRead}}, []string{ScopeRead}},
		"viewer's run token": {Who{Roles: []string{RoleViewer}, Scopes: []string{ScopeRead, ScopeRun}}, []string{ScopeRead}},
		"service account":    {Who{Scopes: []string{ScopeRun, ScopeWorker}}, []string{ScopeRun, ScopeWorker}},
		"nobody":             {Who{}, nil},
	} {
		for _, scope := range scopes {
			if got, want := c.who.May(scope), slices.Contains(c.want, scope); got != want {
				t.Errorf("%s: may %s = %v, want %v", name, scope, got, want)
			}
		}
	}
}

func TestOnce(t *testing.T) {
	identity, admin := newIdentity(t)
	calls := 0
	act := func() (json.RawMessage, error) { calls++; return json.RawMessage(`{"n": 1}`), nil }
	once := func(operation, key, body string) (json.RawMessage, error) {
		return identity.Once(t.Context(), admin, operation, key, []byte(body), act)
	}
	for range 2 {
		if answer, err := once("POST /a", "k", "x"); err != nil || string(answer) != `{"n": 1}` {
			t.Fatalf("answer %s, %v", answer, err)
		}
	}
	if calls != 1 {
		t.Errorf("acted %d times, want once", calls)
	}
	_, err := once("POST /a", "k", "y")
	wantRefusal(t, err, "idempotency_mismatch")
	if _, err := once("POST /b", "k", "y"); err != nil || calls != 2 {
		t.Errorf("another operation: %v, acted %d times", err, calls)
	}
	other := admin
	if _, err := once("POST /a", strings.Repeat("k", 256), "x"); err == nil {
		t.Error("a key of any length was kept")
	}
	_, err = identity.Once(t.Context(), other, "POST /a", "busy", nil, func() (json.RawMessage, error) {
		_, inner := once("POST /a", "busy", "")
		wantRefusal(t, inner, "conflict")
		return nil, Refuse("invalid_input", "no")
	})
	wantRefusal(t, err, "invalid_input")
	if _, err := once("POST /a", "busy", ""); err != nil {
		t.Errorf("after a failure the key is not free: %v", err)
	}
}

func TestAuditIsAppendOnlyAndPaged(t *testing.T) {
	identity, admin := newIdentity(t)
	admin.Address, admin.Request = "10.0.0.9", "r1"
	for _, name := range []string{"a", "b", "c"} {
		if _, _, err := identity.CreateToken(t.Context(), admin, TokenRequest{Name: name, Scopes: []string{"read"}}); err != nil {
			t.Fatal(err)
		}
	}
	page, err := identity.Audit(t.Context(), admin, AuditFilter{PageRequest: PageRequest{Limit: 2}, Action: "token.created"})
	if err != nil || len(page.Items) != 2 || page.NextCursor == nil {
		t.Fatalf("page %+v, %v", page, err)
	}
	newest := page.Items[0]
	if newest.Actor != "admin" || newest.Address != "10.0.0.9" || newest.Request != "r1" || newest.TargetName != "c" || newest.ForWhom != "admin" {
		t.Errorf("newest entry %+v", newest)
	}
	rest, err := identity.Audit(t.Context(), admin, AuditFilter{PageRequest: PageRequest{Limit: 2, Cursor: *page.NextCursor}})
	if err != nil || len(rest.Items) != 1 || rest.NextCursor != nil {
		t.Errorf("second page %+v, %v", rest, err)
	}
	if _, err := identity.db.Exec(t.Context(), "delete from audit"); err == nil {
		t.Error("the audit can be deleted")
	}
}
