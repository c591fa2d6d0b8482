// Package access owns the pages that explain rights: why a person may do what they may, what the rules would
// make of other claims, and whether sign-in is set up. It must not know protocols or how rules are applied.
package access

import "time"

// View explains the rights of one person.
type View struct {
	Now                         time.Time
	CSRF                        string
	User, Team, Provider, Email string
	Roles, ManualRoles, Groups  []string
	SyncedAt                    *time.Time
	Rules                       []Rule // of the team
	Local                       bool
	Providers                   []Provider // for admins, who may try claims
	Trial                       Trial
}

// Rule is one line of the configuration.
type Rule struct {
	Number             int
	Claim, Value, Role string
	Matched            bool
}

// Provider is one whose rules can be tried.
type Provider struct{ ID, Name string }

// Trial is what an admin typed and what came of it.
type Trial struct {
	Provider, Claims, Error string
	Done                    bool
	Rules                   []Rule
	Groups, Absent          []string
}

// outcome is the roles that the trial gives, in words.
func (t Trial) outcome() string {
	roles := ""
	for _, rule := range t.Rules {
		if rule.Matched {
			if roles != "" {
				roles += ", "
			}
			roles += rule.Role
		}
	}
	switch {
	case len(t.Absent) > 0:
		return "Nobody would be let in or shut out: a claim that the rules need is not there."
	case roles == "":
		return "No role in this team."
	}
	return "In this team: " + roles + "."
}

const sampleClaims = `{
  "email": "ann@example.org",
  "email_verified": true,
  "groups": []
}`

func (t Trial) text() string {
	if t.Claims == "" {
		return sampleClaims
	}
	return t.Claims
}

// CheckView is the page of the setup check.
type CheckView struct {
	Local     bool
	Providers []Checked
}

// Checked is how one provider and the settings fit together.
type Checked struct {
	Name, Issuer string
	Register     []Address
	Findings     []Finding
}

// Address is one of ours that the provider must know.
type Address struct{ What, URL string }

// Finding is one thing that must be right; State is good, warn or bad.
type Finding struct{ What, State, Says, Fix string }

func (f Finding) word() string {
	return map[string]string{"good": "Good", "warn": "Look", "bad": "Wrong"}[f.State]
}

// mark is the symbol of the sprite, tone its colour.
func (f Finding) mark() string {
	return map[string]string{"good": "tick", "warn": "person", "bad": "cross"}[f.State]
}

func (f Finding) tone() string {
	return map[string]string{"good": "completed", "warn": "person", "bad": "failed"}[f.State]
}

// verdict heads the findings of a provider.
func (c Checked) verdict() string {
	bad, warn := 0, 0
	for _, f := range c.Findings {
		switch f.State {
		case "bad":
			bad++
		case "warn":
			warn++
		}
	}
	switch {
	case bad > 0:
		return "People cannot sign in until what is wrong is put right."
	case warn > 0:
		return "People can sign in; some points deserve a look."
	}
	return "Everything fits."
}
