package settings

import (
	"strings"
	"time"
)

// Audit is the page of who did what.
type Audit struct {
	Now         time.Time
	Rows        []AuditRow
	Next        string
	Filter      AuditFilter
	CSV, NDJSON string // addresses of the same as files
}

// AuditFilter is what the list is narrowed to; days as 2026-03-29.
type AuditFilter struct {
	Actor, Action, Target, Since, Until string
	ForWhom, Address, Request           string
}

// any reports whether it narrows at all.
func (f AuditFilter) any() bool { return f != AuditFilter{} }

// rare reports whether one of the filters is set that stand behind "More filters".
func (f AuditFilter) rare() bool { return f.ForWhom != "" || f.Address != "" || f.Request != "" }

// AuditRow is one line.
type AuditRow struct {
	At                                            time.Time
	Actor, Via, Action, Target, TargetID, ForWhom string
	Detail, Address, Request                      string
	Changes                                       []AuditChange
}

// AuditChange is one field that is not what it was; a dash stands for nothing.
type AuditChange struct{ Field, Before, After string }

const (
	nothing     = "–" // an AuditChange's value that is not there
	shownAtOnce = 3   // changes of a row; more stand behind a line that counts them
)

// made reports whether there was nothing before.
func (c AuditChange) made() bool { return c.Before == nothing }

// requestShort is enough of a request's id to tell it from its neighbours.
func (r AuditRow) requestShort() string { return r.Request[:min(8, len(r.Request))] }

// Words say what was done: "published the workflow". An action without words of its own speaks for itself.
func (r AuditRow) Words() string {
	if words, ok := actionWords[r.Action]; ok {
		return words
	}
	noun, verb, _ := strings.Cut(r.Action, ".")
	return strings.TrimSpace(strings.ReplaceAll(verb, "_", " ") + " the " + noun)
}

// URL is where the target is seen; "" when it has no page.
func (r AuditRow) URL() string {
	kind, _, _ := strings.Cut(r.Action, ".")
	switch id := r.id(); kind {
	case "workflow":
		return "/workflows/" + id
	case "execution":
		return "/executions/" + id
	case "task":
		return "/tasks/" + id
	case "schedule":
		return "/schedules"
	case "policy":
		return "/settings/team"
	case "proposal":
		workflow, number, ok := strings.Cut(id, "#")
		if ok {
			return "/workflows/" + workflow + "/proposals/" + number
		}
	case "secret", "connection":
		if !strings.HasSuffix(r.Action, ".deleted") {
			return "/settings/" + kind + "s?name=" + id
		}
	}
	return ""
}

// about is what the target is called, "" where an id is all there is to say and the action says enough.
func (r AuditRow) about() string {
	if strings.HasPrefix(r.Action, "session.") && r.TargetID == "" {
		return ""
	}
	return r.Target
}

// id is the target's own, where it has a name beside it.
func (r AuditRow) id() string {
	if r.TargetID != "" {
		return r.TargetID
	}
	return r.Target
}

// actionWords are the actions whose names alone would not read as words.
var actionWords = map[string]string{
	"access.synced":               "synchronised the access",
	"access.last_admin_kept":      "kept the last admin",
	"activity.refused":            "was refused an activity",
	"activity.tried":              "tried an activity for real",
	"connection.put":              "saved the connection",
	"event.posted":                "posted the event",
	"execution.signalled":         "sent a signal to the execution",
	"file.saved":                  "uploaded the file",
	"proposal.comment_resolved":   "settled a remark on the proposal",
	"schedule.backfill_cancelled": "cancelled a backfill of the schedule",
	"session.ended":               "signed out",
	"workflow.drafted":            "began to edit the workflow",
	"engine.policy":               "changed the engine's policy",
	"person.roles":                "gave roles to",
	"policy.changed":              "changed the team's policy",
	"proposal.commented":          "commented on the proposal",
	"secret.put":                  "set the secret",
	"session.ended_by_provider":   "was signed out by the provider",
	"session.revoked":             "ended a session",
	"session.started":             "signed in",
	"session.switched":            "switched the team",
	"token.created":               "made the token",
	"token.deleted":               "revoked the token",
}
