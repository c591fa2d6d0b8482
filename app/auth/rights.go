// Package auth owns the question who is asking and what they may do: it reads the credential of a request
// (API token or browser session), keeps the answer with the request, and knows what each role and scope
// allows. It must not know pages, JSON or what a handler does.
package auth

import (
	"slices"

	"weftline/engine"
)

// Right is one thing that a route may need of who asks.
type Right string

// The rights. Public needs no credential at all.
const (
	Public Right = ""
	Read   Right = "read"
	Run    Right = "run"    // start, cancel, retry, signal
	Decide Right = "decide" // human tasks; whether one may decide a given task is the task's rule
	Author Right = "author" // drafts and publishing
	Review Right = "review"
	Work   Right = "worker" // remote workers
	Admin  Right = "admin"
)

// byRole: every member may read, and decide the tasks they are a candidate for.
var byRole = map[string][]Right{
	"viewer":   {Read, Decide},
	"operator": {Read, Decide, Run},
	"author":   {Read, Decide, Run, Author},
	"reviewer": {Read, Decide, Review},
	"admin":    {Read, Decide, Run, Author, Review, Work, Admin},
}

// byScope: tokens are given scopes one by one; admin holds them all.
var byScope = map[string][]Right{
	"read":   {Read},
	"run":    {Run, Decide},
	"author": {Author},
	"review": {Review},
	"worker": {Work},
	"admin":  byRole["admin"],
}

// May reports whether who holds the right. A token never exceeds its owner: where both scopes and roles
// are known, both must allow.
func May(who engine.Who, right Right) bool {
	if right == Public {
		return true
	}
	known := len(who.Scopes) > 0 || len(who.Roles) > 0
	return known &&
		(len(who.Scopes) == 0 || allows(byScope, who.Scopes, right)) &&
		(len(who.Roles) == 0 || allows(byRole, who.Roles, right))
}

func allows(table map[string][]Right, names []string, right Right) bool {
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(table[name], right) })
}
