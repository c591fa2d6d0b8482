package flow

import (
	"fmt"
	"strconv"
	"strings"
)

// cronField is one of the five fields of a cron line.
type cronField struct {
	name     string
	min, max int
	names    []string // jan … dec, sun … sat; the first one is min
}

var cronFields = []cronField{
	{"minute", 0, 59, nil},
	{"hour", 0, 23, nil},
	{"day of month", 1, 31, nil},
	{"month", 1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{"day of week", 0, 7, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

var cronWords = []string{"@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"}

func (c *checker) cron(n *node) {
	if strings.HasPrefix(n.raw, "@") {
		if !contains(cronWords, n.raw) {
			c.ps.add("E410", n, "use "+list(cronWords)+", or every: 15m", "%q is not a cron word", n.raw)
		}
		return
	}
	parts := strings.Fields(n.raw)
	if len(parts) != len(cronFields) {
		c.ps.add("E410", n, "write minute hour day month weekday, for example 30 2 * * 1-5", "a cron line has 5 fields, here are %d", len(parts))
		return
	}
	for i, part := range parts {
		if err := cronFields[i].check(part); err != nil {
			c.ps.add("E410", n, "fields: minute 0-59, hour 0-23, day 1-31, month 1-12, weekday 0-7; lists 1,15, ranges 1-5, steps */10", "%v", err)
		}
	}
}

func (f cronField) check(text string) error {
	if strings.ContainsAny(text, "LW#?") && !f.isName(text) {
		return fmt.Errorf("the %s %q uses L, W, # or ?, which are not part of the language: use a when on trigger.scheduledAt", f.name, text)
	}
	for _, part := range strings.Split(text, ",") {
		span, step, stepped := strings.Cut(part, "/")
		if n, err := strconv.Atoi(step); stepped && (err != nil || n < 1 || n > f.max) {
			return fmt.Errorf("the step %q of the %s is not a number from 1 to %d", step, f.name, f.max)
		}
		if span == "*" {
			continue
		}
		from, to, ranged := strings.Cut(span, "-")
		low, err := f.number(from)
		if err != nil {
			return err
		}
		high := low
		if ranged {
			if high, err = f.number(to); err != nil {
				return err
			}
		}
		if high < low {
			return fmt.Errorf("the range %q of the %s goes backwards", span, f.name)
		}
	}
	return nil
}

func (f cronField) isName(text string) bool {
	return contains(f.names, strings.ToLower(text))
}

func (f cronField) number(text string) (int, error) {
	for i, name := range f.names {
		if strings.EqualFold(name, text) {
			return i + f.min, nil
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < f.min || n > f.max {
		return 0, fmt.Errorf("the %s %q is not from %d to %d", f.name, text, f.min, f.max)
	}
	return n, nil
}
