package login

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"weftline/app/config"
)

func TestOnlyOwnPathsAreReturnedTo(t *testing.T) {
	for path, want := range map[string]string{
		"/tasks?q=a":               "/tasks?q=a",
		"/workflows/a%20b":         "/workflows/a%20b",
		"/":                        "/",
		"":                         "/",
		"tasks":                    "/",
		"//evil.example":           "/",
		"/\\evil.example":          "/",
		"/%5cevil.example":         "/",
		"/%2f/evil.example":        "/",
		"/a\nb":                    "/",
		"/%0d%0aSet-Cookie:x":      "/",
		"https://evil.example":     "/",
		"javascript:alert(1)":      "/",
		"/login/corp":              "/",
		"/logout":                  "/",
		"/api/v1/me":               "/",
		"/%zz":                     "/",
		strings.Repeat("/a", 2000): "/",
	} {
		if got := SafeReturn(path); got != want {
			t.Errorf("%.40q leads to %q", path, got)
		}
	}
}

func claims(t *testing.T, text string) map[string]any {
	t.Helper()
	var value map[string]any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestRules(t *testing.T) {
	p := config.Provider{GroupsClaim: "groups", Rules: []config.Rule{
		{Claim: "groups", Value: "a", Role: "admin", Team: "x"}, {Claim: "realm.roles", Value: "r", Role: "author", Team: "y"},
		{Claim: "email", Value: "@example.org", Role: "viewer", Team: "x"}}}
	for name, c := range map[string]struct {
		claims string
		roles  []string
		absent []string
	}{
		"all":               {`{"groups":["a"],"realm":{"roles":["r"]},"email":"a@EXAMPLE.org","email_verified":true}`, []string{"admin", "author", "viewer"}, nil},
		"one text":          {`{"groups":"a","realm":{"roles":[]}}`, []string{"admin"}, nil},
		"a name with a dot": {`{"groups":[],"realm.roles":["r"]}`, []string{"author"}, nil},
		"other case":        {`{"groups":["A"],"realm":{"roles":["R"]}}`, nil, nil},
		"absent":            {`{"groups":["a"]}`, []string{"admin"}, []string{"realm.roles"}},
		"null is absent":    {`{"groups":null,"realm":{"roles":["r"]}}`, []string{"author"}, []string{"groups"}},
		"no texts":          {`{"groups":[1,{"a":1}],"realm":{"roles":[true]}}`, nil, nil},
		"domain inside":     {`{"groups":[],"realm":{"roles":[]},"email":"a@example.org.evil","email_verified":true}`, nil, nil},
		"not verified":      {`{"groups":[],"realm":{"roles":[]},"email":"a@example.org"}`, nil, nil},
	} {
		d := Evaluate(p, claims(t, c.claims))
		var roles []string
		for _, match := range d.Matches {
			roles = append(roles, match.Role)
		}
		if !slices.Equal(roles, c.roles) || !slices.Equal(d.Absent, c.absent) {
			t.Errorf("%s: roles %v, absent %v", name, roles, d.Absent)
		}
	}
}

// L8: every key of a provider that concerns claims acts.
func TestEveryKeyOfClaimsActs(t *testing.T) {
	rules := []config.Rule{{Claim: "groups", Value: "a", Role: "viewer", Team: "x"}, {Claim: "email", Value: "a@example.org", Role: "viewer", Team: "x"}}
	base := config.Provider{ID: "corp", GroupsClaim: "groups", NameClaim: "preferred_username", Rules: rules}
	given := claims(t, `{"email":"a@example.org","preferred_username":"ann","nick":"annie","teams":["t"]}`)
	if d := Evaluate(base, given); len(d.Absent) != 1 || len(d.Matches) != 0 {
		t.Errorf("as they are: %+v", d)
	}
	lenient := base
	lenient.AbsentClaimsMeanNone = true
	if d := Evaluate(lenient, given); len(d.Absent) != 0 {
		t.Error("absentClaimsMeanNone does nothing")
	}
	trusting := base
	trusting.TrustUnverifiedEmail = true
	if d := Evaluate(trusting, given); len(d.Matches) != 1 {
		t.Error("trustUnverifiedEmail does nothing")
	}
	elsewhere := base
	elsewhere.GroupsClaim = "teams"
	if d := Evaluate(elsewhere, given); !slices.Equal(d.Groups, []string{"t"}) {
		t.Error("groupsClaim does nothing")
	}
	named := &provider{Provider: base}
	named.NameClaim = "nick"
	if name := named.nameOf(given, "u1"); name != "annie" {
		t.Errorf("nameClaim gives %s", name)
	}
	if name := named.nameOf(map[string]any{}, "u1"); name != "u1" {
		t.Errorf("without any name: %s", name)
	}
}
