package schedule

import (
	"hash/fnv"
	"slices"
	"time"
)

// Plan says when a schedule fires: by one of Cron, Every and At.
type Plan struct {
	Cron  *Cron
	Every time.Duration
	At    time.Time

	Zone   *time.Location // of the cron line and of the calendar
	DST    DST
	DayOff func(time.Weekday) bool // days of the calendar without starts; nil = none
	Jitter time.Duration           // each instant is delayed by less than this
	Seed   string                  // chooses the delays, so that schedules differ and a restart changes nothing
}

// Next is the first planned instant after an instant; false when there is none.
func (p Plan) Next(after time.Time) (time.Time, bool) {
	switch {
	case p.Cron != nil:
		return p.Cron.Next(after, p.Zone, p.DST)
	case p.Every > 0:
		return NextInterval(p.Every, after), true
	}
	return p.At, p.At.After(after)
}

// Due is when a planned instant is taken up: after its jitter.
func (p Plan) Due(planned time.Time) time.Time {
	if p.Jitter <= 0 {
		return planned
	}
	hash := fnv.New64a()
	hash.Write([]byte(p.Seed))
	hash.Write([]byte(planned.UTC().Format(time.RFC3339Nano)))
	return planned.Add(time.Duration(hash.Sum64() % uint64(p.Jitter))).Truncate(time.Millisecond)
}

// Verdict says what becomes of a due tick, before anybody asks whether the execution before still runs.
type Verdict string

// Verdicts.
const (
	Start   Verdict = "start"
	Late    Verdict = "late"     // missed, and not made up for
	Limit   Verdict = "limit"    // missed, and more than are made up for
	Holiday Verdict = "calendar" // on a day without starts
)

// CatchUp says how many missed ticks are made up for, and how old one may be.
type CatchUp struct {
	Most     int           // the newest so many start; 0 = none
	Bounded  bool          // ticks beyond Most are over a limit; otherwise they are just late
	Deadline time.Duration // a tick that is due for longer never starts
}

// grace is how late a tick may be that was not missed: a busy server is not an outage.
const grace = 3 * time.Second

// batch is the most ticks that one look decides, so that a long outage is worked off in bounded steps.
const batch = 1000

// Tick is one due instant with its verdict.
type Tick struct {
	At time.Time
	Verdict
}

// Overdue decides about the ticks from first on that are due now, oldest first, and answers the planned
// instant after them, zero when there is none. Call it again while that instant is due too.
func (p Plan) Overdue(first, now time.Time, catchUp CatchUp) (ticks []Tick, next time.Time) {
	at, more := first, true
	for more && !p.Due(at).After(now) && len(ticks) < batch+catchUp.Most {
		ticks = append(ticks, Tick{At: at})
		at, more = p.Next(at)
	}
	if more {
		next = at
	}
	p.judge(ticks, now, catchUp)
	if len(ticks) > batch && len(ticks) == batch+catchUp.Most { // the newest are judged when all newer ones are known
		next = ticks[batch].At
		ticks = ticks[:batch]
	}
	return ticks, next
}

// judge walks from the newest tick back, since the newest missed ones are made up for.
func (p Plan) judge(ticks []Tick, now time.Time, catchUp CatchUp) {
	left := catchUp.Most
	for i := range slices.Backward(ticks) {
		tick := &ticks[i]
		late := now.Sub(p.Due(tick.At))
		switch {
		case p.DayOff != nil && p.DayOff(tick.At.In(p.Zone).Weekday()):
			tick.Verdict = Holiday
		case late > catchUp.Deadline:
			tick.Verdict = Late
		case late <= grace:
			tick.Verdict = Start
			left--
		case left > 0:
			tick.Verdict = Start
			left--
		case catchUp.Bounded:
			tick.Verdict = Limit
		default:
			tick.Verdict = Late
		}
	}
}

// Between lists planned instants from one instant to another, both included, at most so many.
func (p Plan) Between(from, to time.Time, most int) []time.Time {
	var all []time.Time
	at, more := p.Next(from.Add(-1))
	for more && !at.After(to) && len(all) < most {
		all = append(all, at)
		at, more = p.Next(at)
	}
	return all
}
