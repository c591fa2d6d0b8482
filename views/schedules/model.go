// Package schedules owns the page of what starts by the clock. It must not know when a schedule fires or
// how its ticks were decided.
package schedules

import (
	"cmp"
	"time"

	"weftline/views/state"
	"weftline/views/ui"
)

// View is the page.
type View struct {
	Now     time.Time
	CSRF    string
	MayRun  bool // may pause, resume and trigger
	MayMake bool // may make and delete
	Rows    []Row
	Next    string // address of the rest of the list, "" at its end
}

// Row is one schedule.
type Row struct {
	ID, URL, Workflow string
	Fires, Zone       string     // 30 2 * * *, every 1h or an instant; the zone of a cron line or instant
	Words             string     // what Fires means, "" where it speaks for itself
	At                *time.Time // of one that fires once
	Published         bool       // belongs to the published definition
	Paused            bool
	NextAt            *time.Time
	Ticks             []Tick // newest first
}

// Tick is one tick of a schedule.
type Tick struct {
	At     time.Time
	Look   state.Look
	URL    string // of its execution, "" when none was started
	Reason string
}

// looks of the outcomes of ticks.
var looks = map[string]state.Look{
	"started":          {Tone: "completed", Mark: "tick", Word: "Started"},
	"buffered":         {Tone: "waiting", Mark: "hourglass", Word: "Waits for its turn"},
	"skipped_overlap":  {Tone: "skipped", Mark: "dash", Word: "Skipped: still running"},
	"skipped_late":     {Tone: "skipped", Mark: "clock", Word: "Skipped: too late"},
	"skipped_calendar": {Tone: "skipped", Mark: "dash", Word: "Skipped: a day without starts"},
	"skipped_limit":    {Tone: "skipped", Mark: "dash", Word: "Skipped: over a limit"},
	"failed":           {Tone: "failed", Mark: "cross", Word: "Could not start"},
}

// LookOf is the look of an outcome.
func LookOf(outcome string) state.Look {
	if look, known := looks[outcome]; known {
		return look
	}
	return state.Of(outcome)
}

// Missing says why there is no next tick.
func (r Row) Missing() string {
	if r.Paused {
		return "Paused"
	}
	return "Over"
}

// rule says when it fires, within a sentence.
func (r Row) rule() string {
	words := cmp.Or(r.Words, r.Fires)
	if r.At != nil {
		words = "at " + ui.Exact(*r.At)
	}
	if r.Zone != "" {
		words += " (" + r.Zone + ")"
	}
	return words
}

func (r Row) action(what string) string { return "/schedules/" + r.ID + "/" + what }
