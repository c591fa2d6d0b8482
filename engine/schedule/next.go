package schedule

import (
	"time"
)

// DST says what happens on days on which clocks change. A line that fires in every hour follows real time
// and is not concerned.
type DST struct {
	SkipGap     bool // a local time that does not exist: skip it instead of shifting it by the gap
	BothOverlap bool // a local time that comes twice: fire both times instead of the first only
}

// searchDays bounds the search; the 29th of February may be eight years away.
const searchDays = 366 * 9

// Next is the first instant after an instant at which the line fires in a zone; false when there is none
// within nine years.
func (c *Cron) Next(after time.Time, zone *time.Location, dst DST) (time.Time, bool) {
	if c.everyHour() {
		dst = DST{SkipGap: true, BothOverlap: true}
	}
	day := civil(after.In(zone)).AddDate(0, 0, -1) // yesterday's fires may have been shifted past midnight
	for range searchDays {
		if next, ok := c.firstOf(day, after, zone, dst); ok {
			// A shift past midnight may come after the first fire of the day that follows.
			if other, ok := c.firstOf(day.AddDate(0, 0, 1), after, zone, dst); ok && other.Before(next) {
				next = other
			}
			return next, true
		}
		day = day.AddDate(0, 0, 1)
	}
	return time.Time{}, false
}

// civil is the day of a local time as a date without zone.
func civil(local time.Time) time.Time {
	year, month, day := local.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// firstOf is the first fire of a day that is after an instant.
func (c *Cron) firstOf(day, after time.Time, zone *time.Location, dst DST) (first time.Time, found bool) {
	if !c.onDay(day) {
		return first, false
	}
	for hour := range 24 {
		if c.hour&(1<<hour) == 0 {
			continue
		}
		for minute := range 60 {
			if c.minute&(1<<minute) == 0 {
				continue
			}
			wall := day.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
			for _, instant := range instants(wall, zone, dst) {
				if instant.After(after) && (!found || instant.Before(first)) {
					first, found = instant, true
				}
			}
		}
	}
	return first, found
}

// instants are when a clock on the wall of a zone shows wall (given as if it were UTC): usually once, by the
// rules of dst otherwise.
func instants(wall time.Time, zone *time.Location, dst DST) []time.Time {
	const apart = 24 * time.Hour // clocks change at most once within two days
	before := wall.Add(-offset(wall.Add(-apart), zone))
	after := wall.Add(-offset(wall.Add(apart), zone))
	first, second := shows(before, wall, zone), shows(after, wall, zone)
	switch {
	case first && second && !before.Equal(after):
		if dst.BothOverlap {
			return []time.Time{before, after}
		}
		return []time.Time{before}
	case first:
		return []time.Time{before}
	case second:
		return []time.Time{after}
	case dst.SkipGap:
		return nil
	}
	return []time.Time{before} // the offset of before the gap moves it by the gap
}

// Moment is when a clock of the zone shows wall, given as if it were UTC: the first time if it comes twice. In the gap
// it is moved by the gap, and real is false.
func Moment(wall time.Time, zone *time.Location) (moment time.Time, real bool) {
	moment = instants(wall, zone, DST{})[0]
	return moment, shows(moment, wall, zone)
}

func offset(at time.Time, zone *time.Location) time.Duration {
	_, seconds := at.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}

// shows reports whether clocks of the zone show wall at an instant.
func shows(instant, wall time.Time, zone *time.Location) bool {
	return instant.Add(offset(instant, zone)).Equal(wall)
}

// NextInterval is the first instant after an instant that lies a whole number of intervals after the
// beginning of 1970, UTC; so it depends on no start and on no restart.
func NextInterval(every time.Duration, after time.Time) time.Time {
	return time.Unix(0, 0).UTC().Add(after.Sub(time.Unix(0, 0)).Truncate(every) + every)
}
