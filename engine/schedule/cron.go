// Package schedule owns when a schedule fires next: cron lines in a time zone with rules for the days on
// which clocks change, fixed intervals, and single instants. It is pure: the present is an argument. It
// must not know workflows, storage or who asks.
package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Cron is a parsed cron line: minute, hour, day of month, month, day of week. A bit n of a field is set when
// the line names n.
type Cron struct {
	minute, hour, dom, month, dow uint64
	anyDay, anyWeekday            bool // the field is *
}

// field is one of the five fields of a cron line.
type field struct {
	name     string
	min, max int
	names    []string // the first one is min
}

var fields = [5]field{
	{"minute", 0, 59, nil},
	{"hour", 0, 23, nil},
	{"day of month", 1, 31, nil},
	{"month", 1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{"day of week", 0, 7, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

var words = map[string]string{
	"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
	"@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}

// ParseCron reads five fields (lists, ranges, steps, English names, 7 or 0 for Sunday) or a word such as
// @daily. L, W, # and ? are not part of the language. The error says which field is wrong and how.
func ParseCron(text string) (*Cron, error) {
	line := strings.TrimSpace(text)
	if strings.HasPrefix(line, "@") {
		full, known := words[strings.ToLower(line)]
		if !known {
			return nil, fmt.Errorf("%q is no cron word; there are @hourly, @daily, @weekly, @monthly and @yearly", text)
		}
		line = full
	}
	parts := strings.Fields(line)
	if len(parts) != len(fields) {
		return nil, fmt.Errorf("a cron line has 5 fields (minute hour day month weekday), here are %d", len(parts))
	}
	var bits [5]uint64
	for i, part := range parts {
		set, err := fields[i].parse(part)
		if err != nil {
			return nil, err
		}
		bits[i] = set
	}
	if bits[4]&(1<<7) != 0 {
		bits[4] |= 1 // 7 is Sunday too
	}
	c := &Cron{minute: bits[0], hour: bits[1], dom: bits[2], month: bits[3], dow: bits[4],
		anyDay: strings.HasPrefix(parts[2], "*"), anyWeekday: strings.HasPrefix(parts[4], "*")}
	return c, c.possible()
}

// possible refuses lines that never fire, such as the 30th of February.
func (c *Cron) possible() error {
	if !c.anyWeekday {
		return nil
	}
	for month, days := range [12]int{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31} {
		if c.month&(1<<(month+1)) != 0 && c.dom&(1<<(days+1)-2) != 0 {
			return nil
		}
	}
	return fmt.Errorf("no month that the line names has such a day, so it would never fire")
}

// parse reads a comma-separated list of *, n, a-b, each with an optional /step.
func (f field) parse(text string) (set uint64, err error) {
	for part := range strings.SplitSeq(text, ",") {
		bits, err := f.parsePart(part)
		if err != nil {
			return 0, err
		}
		set |= bits
	}
	return set, nil
}

func (f field) parsePart(part string) (uint64, error) {
	span, stepText, stepped := strings.Cut(part, "/")
	step := 1
	if stepped {
		var err error
		if step, err = strconv.Atoi(stepText); err != nil || step < 1 || step > f.max {
			return 0, fmt.Errorf("the step %q of the %s is not a number from 1 to %d", stepText, f.name, f.max)
		}
	}
	low, high, err := f.span(span)
	if err != nil {
		return 0, err
	}
	if stepped && low == high {
		high = f.max
	}
	var set uint64
	for n := low; n <= high; n += step {
		set |= 1 << n
	}
	return set, nil
}

func (f field) span(text string) (low, high int, err error) {
	if text == "*" {
		return f.min, f.max, nil
	}
	from, to, ranged := strings.Cut(text, "-")
	if low, err = f.number(from); err != nil {
		return 0, 0, err
	}
	if !ranged {
		return low, low, nil
	}
	if high, err = f.number(to); err != nil {
		return 0, 0, err
	}
	if high < low {
		return 0, 0, fmt.Errorf("the range %q of the %s goes backwards", text, f.name)
	}
	return low, high, nil
}

func (f field) number(text string) (int, error) {
	if i := slices.Index(f.names, strings.ToLower(text)); i >= 0 {
		return i + f.min, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil && strings.ContainsAny(text, "LW#?") {
		return 0, fmt.Errorf("the %s %q uses L, W, # or ?, which are not part of the language", f.name, text)
	}
	if err != nil || n < f.min || n > f.max {
		return 0, fmt.Errorf("the %s %q is not from %d to %d", f.name, text, f.min, f.max)
	}
	return n, nil
}

// onDay reports whether the line fires on a day. As everywhere, a day of month and a weekday that are both
// named are alternatives.
func (c *Cron) onDay(day time.Time) bool {
	if c.month&(1<<day.Month()) == 0 {
		return false
	}
	dom := c.dom&(1<<day.Day()) != 0
	dow := c.dow&(1<<day.Weekday()) != 0
	if !c.anyDay && !c.anyWeekday {
		return dom || dow
	}
	return dom && dow
}

// everyHour reports whether the line fires in all hours of a day.
func (c *Cron) everyHour() bool { return c.hour == 1<<24-1 }
