package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"weftline/engine"
)

// A token made on the page ends after the days chosen there, and after ninety when nothing else is said.
func TestATokenLastsAsLongAsWasChosen(t *testing.T) {
	w := newLoginWorld(t, nil)
	w.op.Claims = groups("admins")
	b := w.browser()
	b.mustSignIn()
	for name, days := range map[string]string{"month": "30", "never": "0", "unsaid": "", "odd": "12345"} {
		form := url.Values{"name": {name}, "scope": {"read"}, "days": {days}}
		if made := b.post("/settings/tokens", form); made.status != http.StatusOK {
			t.Fatalf("%s: %d %s", name, made.status, made.body)
		}
	}
	var list engine.Page[engine.Token]
	if got := b.get("/api/v1/tokens"); json.Unmarshal([]byte(got.body), &list) != nil || got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	want := map[string]int{"month": 30, "never": 0, "unsaid": 90, "odd": 90}
	for _, token := range list.Items {
		days := 0
		if token.ExpiresAt != nil {
			days = int(token.ExpiresAt.Sub(token.CreatedAt).Hours()/24 + 0.5)
		}
		if expected, mine := want[token.Name]; mine && days != expected {
			t.Errorf("%s lasts %d days, want %d", token.Name, days, expected)
		}
		delete(want, token.Name)
	}
	if len(want) > 0 {
		t.Errorf("not made: %v; %+v", want, list)
	}
}

// Whoever is no admin sees and withdraws their own tokens only, on the page and over the API alike.
func TestPeopleSeeAndWithdrawTheirOwnTokensOnly(t *testing.T) {
	w := newTwins(t)
	admin, viewer := w.as(engine.DefaultTeam, "admin"), w.as(engine.DefaultTeam, "viewer")
	theirs := admin.must(201, "POST", "/tokens", `{"name": "of-the-admin", "scopes": ["read"]}`)["id"].(string)
	robot := admin.must(201, "POST", "/tokens", `{"name": "of-a-robot", "scopes": ["read"], "serviceAccount": {"name": "robot"}}`)["id"].(string)
	own := viewer.must(201, "POST", "/tokens", `{"name": "of-the-viewer", "scopes": ["read"]}`)["id"].(string)
	seen := fmt.Sprint(viewer.must(200, "GET", "/tokens", ""))
	_, page := w.send(Route{Method: get, Path: "/settings", Kind: Page}, "/settings", engine.DefaultTeam+":viewer")
	for what, text := range map[string]string{"the API": seen, "the page": page} {
		if !strings.Contains(text, "of-the-viewer") || strings.Contains(text, "of-the-admin") || strings.Contains(text, "of-a-robot") {
			t.Errorf("%s shows a viewer: %.2000s", what, text)
		}
	}
	for _, id := range []string{theirs, robot} {
		viewer.must(404, "DELETE", "/tokens/"+id, "")
		revoke := Route{Method: post, Path: "/settings/tokens/:id/revoke", Kind: Page}
		if status, _ := w.send(revoke, "/settings/tokens/"+id+"/revoke", engine.DefaultTeam+":viewer"); status != 404 {
			t.Errorf("a viewer withdraws a token of somebody else: %d", status)
		}
	}
	w.as(engine.DefaultTeam, "scope-read").must(404, "DELETE", "/tokens/"+own, "") // a service account has none of its own
	if all := fmt.Sprint(admin.must(200, "GET", "/tokens", "")); !strings.Contains(all, "of-the-viewer") || !strings.Contains(all, "of-a-robot") {
		t.Errorf("an admin sees: %s", all)
	}
	viewer.must(204, "DELETE", "/tokens/"+own, "")
	admin.must(204, "DELETE", "/tokens/"+robot, "")
}
