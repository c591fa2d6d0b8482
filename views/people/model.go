// Package people owns the page on which admins see the members of their team. It must not know how roles are
// kept or where they come from beyond what it shows.
package people

import "time"

// View is the page.
type View struct {
	Now        time.Time
	CSRF, Team string
	People     []Person
	Next       string
	Local      bool
}

// Person is one member.
type Person struct {
	ID, Name, Email, Provider, Groups string
	Roles, ManualRoles                []string
	SyncedAt, RelinkUntil             *time.Time
	Sessions                          int
	Blocked, Self, ByProvider         bool
}

// roles that can be given by hand, with what they allow.
var roles = []struct{ Name, Says string }{
	{"viewer", "look at everything, decide own tasks"},
	{"operator", "start and steer executions"},
	{"author", "write drafts and publish"},
	{"reviewer", "review proposals"},
	{"admin", "everything"},
}
