package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"weftline/engine/expr"
	"weftline/engine/flow"
	"weftline/engine/schedule"
)

// ScheduleRequest makes or changes a schedule: one of Cron, Every and At; the rest has defaults.
type ScheduleRequest struct {
	Workflow      string         `json:"workflow"`
	Input         map[string]any `json:"input"`
	Cron          string         `json:"cron"`
	Every         string         `json:"every"` // duration
	At            string         `json:"at"`    // RFC 3339, or a local time in Timezone
	Timezone      string         `json:"timezone"`
	Overlap       string         `json:"overlap"` // skip, allow, buffer_one
	CatchUp       string         `json:"catchUp"` // none, last, all
	CatchUpLimit  int            `json:"catchUpLimit"`
	DST           DSTRule        `json:"dst"`
	StartDeadline string         `json:"startDeadline"` // duration
	Calendar      string         `json:"calendar"`
	Jitter        string         `json:"jitter"` // duration
	Paused        bool           `json:"paused"`
}

// DSTRule says what happens on days on which clocks change.
type DSTRule struct {
	Gap     string `json:"gap"`     // shift, skip
	Overlap string `json:"overlap"` // first, both
}

// ScheduleSpec is when a schedule fires and what it does with ticks that cannot start as planned.
type ScheduleSpec struct {
	Cron          string  `json:"cron,omitempty"`
	Every         string  `json:"every,omitempty"`
	At            string  `json:"at,omitempty"`
	Timezone      string  `json:"timezone"`
	Overlap       string  `json:"overlap"`
	CatchUp       string  `json:"catchUp"`
	CatchUpLimit  int     `json:"catchUpLimit"`
	DST           DSTRule `json:"dst"`
	StartDeadline string  `json:"startDeadline"`
	Calendar      string  `json:"calendar,omitempty"`
	Jitter        string  `json:"jitter,omitempty"`
}

// What a schedule may do with a tick whose predecessor still runs, and with ticks that were missed.
const (
	overlapSkip, overlapAllow, overlapBuffer = "skip", "allow", "buffer_one"
	catchUpNone, catchUpLast, catchUpAll     = "none", "last", "all"
)

const (
	shortestInterval = time.Second
	mostCaughtUp     = 10_000
)

// calendars name days without starts.
var calendars = map[string]func(time.Weekday) bool{
	"":         nil,
	"weekends": func(day time.Weekday) bool { return day == time.Saturday || day == time.Sunday },
	"weekdays": func(day time.Weekday) bool { return day != time.Saturday && day != time.Sunday },
}

// spec fills in the defaults of a request.
func (r ScheduleRequest) spec() ScheduleSpec {
	return ScheduleSpec{Cron: r.Cron, Every: r.Every, At: r.At, Timezone: cmp.Or(r.Timezone, "UTC"),
		Overlap: cmp.Or(r.Overlap, overlapSkip), CatchUp: cmp.Or(r.CatchUp, catchUpNone), CatchUpLimit: cmp.Or(r.CatchUpLimit, 100),
		DST:           DSTRule{Gap: cmp.Or(r.DST.Gap, "shift"), Overlap: cmp.Or(r.DST.Overlap, "first")},
		StartDeadline: cmp.Or(r.StartDeadline, "1h"), Calendar: r.Calendar, Jitter: r.Jitter}
}

// request is the request that would make the spec.
func (s ScheduleSpec) request() ScheduleRequest {
	return ScheduleRequest{Cron: s.Cron, Every: s.Every, At: s.At, Timezone: s.Timezone, Overlap: s.Overlap, CatchUp: s.CatchUp,
		CatchUpLimit: s.CatchUpLimit, DST: s.DST, StartDeadline: s.StartDeadline, Calendar: s.Calendar, Jitter: s.Jitter}
}

// specOf is the spec of a schedule in a definition.
func specOf(trigger flow.ScheduleTrigger) ScheduleSpec {
	s := ScheduleRequest{Cron: trigger.Cron, At: trigger.At, Timezone: trigger.Timezone, Overlap: trigger.Overlap,
		CatchUp: trigger.CatchUp, CatchUpLimit: trigger.CatchUpLimit, Calendar: trigger.Calendar,
		DST: DSTRule{Gap: trigger.DSTGap, Overlap: trigger.DSTOverlap}}.spec()
	s.StartDeadline = spelled(trigger.StartDeadline)
	if trigger.Every > 0 {
		s.Every = spelled(trigger.Every)
	}
	if trigger.Jitter > 0 {
		s.Jitter = spelled(trigger.Jitter)
	}
	return s
}

// spelled writes a duration as people do: 1h, not 1h0m0s.
func spelled(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// plan reads the spec; seed chooses its jitter. The error is a refusal that names the field.
func (s ScheduleSpec) plan(seed string) (schedule.Plan, error) {
	none := schedule.Plan{}
	if given := len(slices.DeleteFunc([]string{s.Cron, s.Every, s.At}, func(v string) bool { return v == "" })); given != 1 {
		return none, Refuse("invalid_input", fmt.Sprintf("a schedule has exactly one of cron, every and at, not %d of them", given))
	}
	if err := s.checkWords(); err != nil {
		return none, err
	}
	p := schedule.Plan{Seed: seed, DayOff: calendars[s.Calendar],
		DST: schedule.DST{SkipGap: s.DST.Gap == "skip", BothOverlap: s.DST.Overlap == "both"}}
	var wrong [5]error
	p.Zone, wrong[0] = expr.LoadZone(s.Timezone)
	if wrong[0] != nil {
		return none, Refuse("invalid_input", "timezone: "+wrong[0].Error())
	}
	switch {
	case s.Cron != "":
		p.Cron, wrong[1] = schedule.ParseCron(s.Cron)
	case s.Every != "":
		p.Every, wrong[1] = lasting(s.Every, shortestInterval)
	default:
		p.At, wrong[1] = expr.ParseInstant(s.At, s.Timezone)
		p.At = p.At.UTC().Truncate(time.Millisecond)
		if p.DST.SkipGap && expr.LeftOut(s.At, p.Zone) {
			wrong[1] = fmt.Errorf("at: the clocks of %s leave %s out, and dst.gap says skip: it would never start", s.Timezone, s.At)
		}
	}
	if s.Jitter != "" {
		p.Jitter, wrong[2] = lasting(s.Jitter, 0)
	}
	_, wrong[3] = lasting(s.StartDeadline, 0)
	if err := errors.Join(wrong[:]...); err != nil {
		return none, Refuse("invalid_input", "the schedule cannot be read: "+err.Error())
	}
	return p, nil
}

func lasting(text string, least time.Duration) (time.Duration, error) {
	d, err := expr.ParseDuration(text)
	if err == nil && d < least {
		err = fmt.Errorf("%s is shorter than %s", text, least)
	}
	return d, err
}

func (s ScheduleSpec) checkWords() error {
	for _, word := range []struct {
		field, value string
		allowed      []string
	}{
		{"overlap", s.Overlap, []string{overlapSkip, overlapAllow, overlapBuffer}},
		{"catchUp", s.CatchUp, []string{catchUpNone, catchUpLast, catchUpAll}},
		{"dst.gap", s.DST.Gap, []string{"shift", "skip"}},
		{"dst.overlap", s.DST.Overlap, []string{"first", "both"}},
	} {
		if !slices.Contains(word.allowed, word.value) {
			return Refuse("invalid_input", fmt.Sprintf("%s is one of %v, not %q", word.field, word.allowed, word.value))
		}
	}
	if s.CatchUpLimit < 1 || s.CatchUpLimit > mostCaughtUp {
		return Refuse("invalid_input", fmt.Sprintf("catchUpLimit is 1 to %d", mostCaughtUp))
	}
	if _, known := calendars[s.Calendar]; !known {
		return Refuse("invalid_input", fmt.Sprintf("there is no calendar %q; the calendars of days without starts are weekends and weekdays", s.Calendar))
	}
	return nil
}

// catchUp is the policy for ticks that were missed.
func (s ScheduleSpec) catchUp() schedule.CatchUp {
	policy := schedule.CatchUp{Deadline: s.deadline()}
	switch s.CatchUp {
	case catchUpLast:
		policy.Most = 1
	case catchUpAll:
		policy.Most, policy.Bounded = s.CatchUpLimit, true
	}
	return policy
}

// deadline is how late a tick may start; the spec was checked when it was stored.
func (s ScheduleSpec) deadline() time.Duration {
	d, _ := expr.ParseDuration(s.StartDeadline)
	return d
}
