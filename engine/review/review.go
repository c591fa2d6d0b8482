// Package review owns the rules of a review before publishing: what verdicts add up to, who may approve, and
// what a change risks. It is pure, and it must not know storage, HTTP or who is asked.
package review

import (
	"maps"
	"slices"
)

// Verdicts.
const (
	Approve        = "approve"
	RequestChanges = "request_changes"
	Comment        = "comment"
)

// States of a proposal. Open, Approved and ChangesRequested follow from the verdicts while it is open.
const (
	Open             = "open"
	Approved         = "approved"
	ChangesRequested = "changes_requested"
	Published        = "published"
	Closed           = "closed"
)

// Verdict is one answer of a reviewer, in the order given.
type Verdict struct {
	By        string
	Verdict   string
	Dismissed bool // by a later revision
}

// Tally is what the verdicts add up to: of each reviewer the last one that decides.
type Tally struct {
	Approved  []string // reviewers whose approval counts, sorted
	Objecting []string // reviewers who ask for changes, sorted
}

// Count adds verdicts up. Approvals of those who are barred do not count: they may have worked on the change
// after they approved it.
func Count(verdicts []Verdict, barred []string) Tally {
	last := map[string]Verdict{}
	for _, v := range verdicts {
		if v.Verdict != Comment {
			last[v.By] = v
		}
	}
	var tally Tally
	for _, by := range slices.Sorted(maps.Keys(last)) {
		switch v := last[by]; {
		case v.Verdict == RequestChanges:
			tally.Objecting = append(tally.Objecting, by)
		case !v.Dismissed && !slices.Contains(barred, by):
			tally.Approved = append(tally.Approved, by)
		}
	}
	return tally
}

// State is that of a proposal whose stored state is open, published or closed.
func State(stored string, tally Tally, needed int) string {
	switch {
	case stored != Open:
		return stored
	case len(tally.Objecting) > 0:
		return ChangesRequested
	case len(tally.Approved) >= max(1, needed):
		return Approved
	}
	return Open
}

// Revision is what an approval was given for, and what there is now.
type Revision struct {
	ContentHash string
	Changes     string // against its base, in a form that compares
	Rebased     bool   // made by a rebase, not by a person's edit
}

// Keeps reports whether approvals of one revision hold for the next: its content is the same, or a rebase left
// the change as it was.
func Keeps(before, after Revision) bool {
	return before.ContentHash == after.ContentHash || after.Rebased && before.Changes == after.Changes
}
