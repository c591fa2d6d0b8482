package web

import (
	"encoding/json"
	"net/http"
	"net/url"
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
