// Package settings owns the page of appearance and API tokens. It must not know how a token is made; a
// new one is shown once, on the answer to the form that asked for it.
package settings

import (
	"slices"
	"time"
)

// View is the page.
type View struct {
	Now            time.Time
	User, Team     string
	Roles, Groups  string
	Theme, Density string
	Tokens         []Token
	NewToken       string // the secret, once
	NewName        string
	Error          string
	Typed          Typed
	MayMakeTokens  bool
	CSRF           string
}

// Token is one API token without its secret.
type Token struct {
	ID, Name, Scopes, ActsAs string
	CreatedAt                time.Time
	ExpiresAt, LastUsedAt    *time.Time
}

// Typed is what the form held when it was refused.
type Typed struct {
	Name   string
	Scopes []string
	Days   int // until it ends; 0 = never
}

// DefaultDays is how long a token lasts unless somebody chooses otherwise.
const DefaultDays = 90

type lifetime struct {
	Days int
	Says string
}

// lasting is how long a token may last.
var lasting = []lifetime{
	{30, "30 days"},
	{DefaultDays, "90 days"},
	{365, "a year"},
	{0, "until it is revoked"},
}

// Lasts reports whether a token may be made for so many days.
func Lasts(days int) bool {
	return slices.ContainsFunc(lasting, func(l lifetime) bool { return l.Days == days })
}

// scopes are what a token may do, with what that means.
var scopes = []struct{ Name, Says string }{
	{"read", "look at everything"},
	{"run", "start and steer executions, answer tasks"},
	{"author", "write drafts and publish"},
	{"review", "review proposals"},
	{"worker", "take work as a remote worker"},
	{"admin", "everything, tokens included"},
}
