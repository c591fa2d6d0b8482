// Package state owns how a status looks and reads: its tone (a colour by CSS class), its mark (a symbol of
// the sprite) and its word. Pages, lists, timeline and graph all ask here, so one status never looks two
// ways. It must not know HTML or requests.
package state

import (
	"slices"

	"weftline/engine/execution"
)

// Look is the appearance of one status. Colour never speaks alone: Mark and Word say the same.
type Look struct {
	Tone string // class suffix: idle, running, waiting, person, retrying, completed, failed, skipped, cancelled, undo, paused
	Mark string // symbol id in the sprite, without its "m-" prefix
	Word string // sentence case
}

var looks = map[string]Look{
	"created":             {"idle", "ring", "Created"},
	"validated":           {"idle", "ring", "Validated"},
	"scheduled":           {"idle", "ring", "Scheduled"},
	"pending":             {"idle", "ring", "Not reached yet"},
	"ready":               {"idle", "ring", "Ready, in the queue"},
	"dispatched":          {"running", "spin", "Starting"},
	"running":             {"running", "spin", "Running"},
	"waiting":             {"waiting", "hourglass", "Waiting"},
	"retrying":            {"retrying", "retry", "Retrying"},
	"completed":           {"completed", "tick", "Completed"},
	"failed":              {"failed", "cross", "Failed"},
	"timed_out":           {"failed", "clock", "Timed out"},
	"skipped":             {"skipped", "dash", "Skipped"},
	"cancelled":           {"cancelled", "square", "Cancelled"},
	"compensating":        {"undo", "undo", "Compensating"},
	"compensated":         {"undo", "undo", "Compensated"},
	"compensation_failed": {"failed", "undo", "Compensation failed"},
	"paused":              {"paused", "bars", "Paused"},

	// Of tasks.
	"open":    {"person", "person", "Open"},
	"done":    {"completed", "tick", "Done"},
	"expired": {"failed", "clock", "Expired"},

	// Of workers.
	"offline":     {"failed", "cross", "Offline"},
	"starting":    {"idle", "ring", "Starting"},
	"registering": {"idle", "ring", "Registering"},
	"idle":        {"idle", "ring", "Idle"},
	"busy":        {"running", "spin", "Busy"},
	"draining":    {"waiting", "hourglass", "Draining"},
	"stopped":     {"cancelled", "square", "Stopped"},
}

// Of answers the look of a status. An unknown one is shown as it is, never hidden.
func Of(status string) Look {
	if look, ok := looks[status]; ok {
		return look
	}
	return Look{"idle", "ring", status}
}

// ForWait answers the look of something parked: a person is asked, an attempt pauses before the next, a
// place in a queue or limit is awaited, or time, an event or a child execution.
func ForWait(kind string) Look {
	switch kind {
	case "human":
		return Look{"person", "person", "Waiting for a person"}
	case "retry":
		return Look{"retrying", "retry", "Retrying"}
	case "quarantine":
		return Look{"failed", "cross", "Quarantined"}
	case "unserved":
		return Look{"waiting", "hourglass", "Waiting for a worker"}
	case "limit", "queue":
		return Look{"idle", "ring", "Queued"}
	case "timer":
		return Look{"waiting", "hourglass", "Waiting for time"}
	case "event":
		return Look{"waiting", "hourglass", "Waiting for an event"}
	case "child":
		return Look{"waiting", "hourglass", "Waiting for another execution"}
	default:
		return Look{"waiting", "hourglass", "Waiting"}
	}
}

// ForActivity prefers what an activity waits for over the bare status.
func ForActivity(status string, wait *execution.WaitDetail) Look {
	if wait != nil && (status == "waiting" || status == "retrying" || status == "ready") {
		return ForWait(wait.Kind)
	}
	return Of(status)
}

// ForExecution prefers the most pressing wait, a person before all others, over a bare "waiting". One that is
// quarantined, or that no worker serves, is nothing else.
func ForExecution(status string, waits []execution.WaitDetail) Look {
	for _, kind := range []string{"quarantine", "unserved"} {
		if slices.ContainsFunc(waits, func(wait execution.WaitDetail) bool { return wait.Kind == kind }) {
			return ForWait(kind)
		}
	}
	if status != "waiting" || len(waits) == 0 {
		return Of(status)
	}
	kind := waits[0].Kind
	for _, wait := range waits {
		if wait.Kind == "human" {
			kind = wait.Kind
		}
	}
	return ForWait(kind)
}

// Ended reports whether a status of an execution is terminal.
func Ended(status string) bool {
	switch status {
	case "completed", "failed", "cancelled", "compensated", "timed_out":
		return true
	}
	return false
}
