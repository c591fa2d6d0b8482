package expr

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	isoDuration = regexp.MustCompile(`^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$`)
	goDuration  = regexp.MustCompile(`^(\d+(?:\.\d+)?(ms|s|m|h|d|w))+$`)
	goPart      = regexp.MustCompile(`(\d+(?:\.\d+)?)(ms|s|m|h|d|w)`)
	bareNumber  = regexp.MustCompile(`^\d+(\.\d+)?$`)
)

var units = map[string]time.Duration{
	"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour,
	"d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
}

// ParseDuration reads a duration in the form 1m30s, 1.5h, 2d, 1w or in the ISO form P1DT2H30M. A day is
// always 24 hours. The error says what to write instead.
func ParseDuration(text string) (time.Duration, error) {
	switch {
	case goDuration.MatchString(text):
		var total float64
		for _, part := range goPart.FindAllStringSubmatch(text, -1) {
			n, _ := strconv.ParseFloat(part[1], 64)
			total += n * float64(units[part[2]])
		}
		return checked(total, text)
	case isoDuration.MatchString(text) && !strings.HasSuffix(text, "T") && text != "P":
		parts := isoDuration.FindStringSubmatch(text)[1:]
		var total float64
		for i, unit := range []string{"w", "d", "h", "m", "s"} {
			if parts[i] != "" {
				n, _ := strconv.ParseFloat(parts[i], 64)
				total += n * float64(units[unit])
			}
		}
		return checked(total, text)
	case bareNumber.MatchString(text):
		return 0, fmt.Errorf("a duration needs a unit: %s → write %ss", text, text)
	case strings.HasPrefix(text, "P") && strings.ContainsAny(strings.SplitN(text, "T", 2)[0], "YM"):
		return 0, errors.New("years and months have no fixed length: write days, P365D or 30d")
	}
	return 0, fmt.Errorf("%q is not a duration: write 30s, 10m, 1h30m, 2d or PT1H30M", clip(text, 40))
}

func checked(nanoseconds float64, text string) (time.Duration, error) {
	if nanoseconds > math.MaxInt64/2 {
		return 0, fmt.Errorf("the duration %s is too long", clip(text, 40))
	}
	return time.Duration(math.Round(nanoseconds)), nil
}

// FormatDuration writes a duration as the language does: 1h30m, 2d, 1500ms; 0s for none. Fractions of a
// millisecond are dropped.
func FormatDuration(d time.Duration) string {
	if d < time.Millisecond {
		return "0s"
	}
	var out strings.Builder
	for _, unit := range []string{"d", "h", "m", "s", "ms"} {
		if n := d / units[unit]; n > 0 {
			fmt.Fprintf(&out, "%d%s", n, unit)
			d -= n * units[unit]
		}
	}
	return out.String()
}
