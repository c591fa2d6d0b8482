package settings

import (
	"slices"
	"strings"
	"time"
)

type section struct{ key, label, url string }

// sections are the pages of settings that everybody may open.
var sections = []section{
	{"you", "You and tokens", "/settings"},
	{"team", "Team", "/settings/team"},
	{"connections", "Connections", "/settings/connections"},
	{"secrets", "Secrets", "/settings/secrets"},
}

// sectionsFor adds the audit, which only admins may read.
func sectionsFor(admin bool) []section {
	if !admin {
		return sections
	}
	return append(slices.Clone(sections), section{"audit", "Audit", "/settings/audit"})
}

// Team is the page of the team: its members and its policy.
type Team struct {
	Members  []Member
	Policy   Policy
	MayEdit  bool
	Types    []string // every type of activity
	Error    string
	Saved    bool
	CSRF     string
	TeamName string
}

// Member is a person of the team.
type Member struct{ Name, Roles, Groups string }

// Policy is the policy as the form shows it.
type Policy struct {
	RequireReview, AllowSelfApproval, AllowUnsignedWebhooks bool
	RequiredApprovals, OpenExecutions, Activities           string
	Retention                                               string
	Types                                                   []string
}

// Secrets is the page of secrets: names, never a value.
type Secrets struct {
	Now     time.Time
	Rows    []SecretRow
	MayEdit bool
	Error   string
	Typed   SecretRow
	Replace string // the secret whose value saving may replace: nobody overwrites one by chance
	Asks    bool   // it was found to exist only when the form was sent
	CSRF    string
}

// SecretRow is one secret without its value.
type SecretRow struct {
	Name, By  string
	UsableBy  []string
	UsedBy    []string // connections and published workflows, in words
	UpdatedAt time.Time
}

// use says who would miss a secret.
func (r SecretRow) use() string {
	if len(r.UsedBy) == 0 {
		return "No connection and no published workflow uses it."
	}
	return "Used by " + strings.Join(r.UsedBy, ", ") + "."
}

func (v Secrets) title() string {
	if v.Replace != "" {
		return "Change " + v.Replace
	}
	return "Set a secret"
}

// usable says in words who may use something.
func usable(patterns []string) string {
	if len(patterns) == 0 {
		return "every workflow"
	}
	return strings.Join(patterns, ", ")
}
