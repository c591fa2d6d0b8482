// Package auth owns the question who is asking and what they may do: it reads the credential of a request
// (API token or browser session), keeps the answer with the request, and knows what each right allows. It
// must not know pages, JSON or what a handler does.
package auth

import (
	"slices"

	"weftline/engine"
)

// Right is one thing that a route may need of who asks. All but Discuss, Decide and Try are scopes of tokens as well.
type Right string

// The rights. Public needs no credential at all.
const (
	Public Right = ""
	Read   Right = engine.ScopeRead
	Run    Right = engine.ScopeRun    // start, cancel, retry, signal
	Author Right = engine.ScopeAuthor // drafts and publishing
	Review Right = engine.ScopeReview
	Work   Right = engine.ScopeWorker // remote workers
	Admin  Right = engine.ScopeAdmin
	// Discuss is to remark on proposals: authors and reviewers.
	Discuss Right = "discuss"
	Decide  Right = "decide" // human tasks: any member, or a token with the scope run
	Try     Right = "try"    // a draft's activity for real: who may write and start
)

// May reports whether who holds the right. Whether one may decide a given task is the task's own rule.
func May(who engine.Who, right Right) bool {
	switch right {
	case Public:
		return true
	case Discuss:
		return who.May(engine.ScopeAuthor) || who.May(engine.ScopeReview)
	case Try:
		return who.May(engine.ScopeAuthor) && who.May(engine.ScopeRun)
	case Decide:
		byScope := slices.Contains(who.Scopes, engine.ScopeRun) || slices.Contains(who.Scopes, engine.ScopeAdmin)
		return who.May(engine.ScopeRun) || len(who.Roles) > 0 && (byScope || len(who.Scopes) == 0)
	}
	return who.May(string(right))
}
