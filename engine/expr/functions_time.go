package expr

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // zones are the same on every machine

	"weftline/engine/schedule"
)

var timeFunctions = map[string]function{
	"parseTime":   {[]Kind{Text, Text}, 1, false, Text, parseTime},
	"formatTime":  {[]Kind{Text, Text, Text}, 2, false, Text, formatTime},
	"addDuration": {[]Kind{Text, Text}, 2, false, Text, addDuration},
	"duration":    {[]Kind{Text, Text}, 1, false, Number, durationOf},
}

// TimeLayout is how an instant is written: UTC with milliseconds, so that texts compare as instants.
const TimeLayout = "2006-01-02T15:04:05.000Z07:00"

// localLayouts are times without an offset, read in a zone.
var localLayouts = []string{
	"2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04", time.DateOnly,
}

// ParseInstant reads RFC 3339 with an offset, or a local date-time or date in zone ("" = UTC). Of a local time that comes
// twice it means the first; one that the clocks leave out is moved by what they leave out.
func ParseInstant(text, zone string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t.UTC(), nil
	}
	location, err := LoadZone(zone)
	if err != nil {
		return time.Time{}, err
	}
	if wall, local := parseLocal(text); local {
		t, _ := schedule.Moment(wall, location)
		return t.UTC(), nil
	}
	return time.Time{}, fmt.Errorf("%q is not an instant: write 2026-01-31T09:00:00Z, or a local time and a zone", clip(text, 40))
}

// parseLocal reads a local time as if it were UTC.
func parseLocal(text string) (wall time.Time, ok bool) {
	for _, layout := range localLayouts {
		if wall, err := time.Parse(layout, text); err == nil {
			return wall, true
		}
	}
	return wall, false
}

// LeftOut reports whether a text is a local time that the clocks of a zone leave out.
func LeftOut(text string, zone *time.Location) bool {
	wall, local := parseLocal(text)
	if !local {
		return false
	}
	_, real := schedule.Moment(wall, zone)
	return !real
}

// LoadZone finds an IANA time zone; "" is UTC. The zone of the machine does not exist here.
func LoadZone(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	location, err := time.LoadLocation(name)
	if err != nil || strings.EqualFold(name, "local") {
		return nil, fmt.Errorf("there is no time zone %q: write a name such as Europe/Berlin", clip(name, 60))
	}
	return location, nil
}

func optionalText(args []any, i int) string {
	if i < len(args) {
		return args[i].(string)
	}
	return ""
}

func parseTime(_ *frame, args []any) (any, error) {
	t, err := ParseInstant(args[0].(string), optionalText(args, 1))
	if err != nil {
		return nil, err
	}
	return t.Format(TimeLayout), nil
}

func formatTime(f *frame, args []any) (any, error) {
	t, err := ParseInstant(args[0].(string), "")
	if err != nil {
		return nil, err
	}
	zone, err := LoadZone(optionalText(args, 2))
	if err != nil {
		return nil, err
	}
	layout := args[1].(string)
	return t.In(zone).Format(layout), f.spend(4 * len(layout))
}

func addDuration(_ *frame, args []any) (any, error) {
	t, err := ParseInstant(args[0].(string), "")
	if err != nil {
		return nil, err
	}
	text, back := strings.CutPrefix(args[1].(string), "-")
	d, err := ParseDuration(text)
	if err != nil {
		return nil, err
	}
	if back {
		d = -d
	}
	return t.Add(d).Format(TimeLayout), nil
}

// durationOf is the number of seconds in a duration, or from one instant to another.
func durationOf(_ *frame, args []any) (any, error) {
	if len(args) == 1 {
		d, err := ParseDuration(args[0].(string))
		if err != nil {
			return nil, err
		}
		return seconds(d), nil
	}
	from, err := ParseInstant(args[0].(string), "")
	if err != nil {
		return nil, err
	}
	to, err := ParseInstant(args[1].(string), "")
	if err != nil {
		return nil, err
	}
	return seconds(to.Sub(from)), nil
}

func seconds(d time.Duration) any {
	if d%time.Second == 0 {
		return int64(d / time.Second)
	}
	return d.Seconds()
}
