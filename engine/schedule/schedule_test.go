package schedule_test

import (
	"strings"
	"testing"
	"time"

	"weftline/engine/schedule"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	location, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return location
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// fires lists the next fires of a line in local time.
func fires(t *testing.T, line, zoneName, after string, dst schedule.DST, count int) []string {
	t.Helper()
	cron, err := schedule.ParseCron(line)
	if err != nil {
		t.Fatal(err)
	}
	location := zone(t, zoneName)
	at := instant(t, after)
	var list []string
	for range count {
		next, ok := cron.Next(at, location, dst)
		if !ok {
			break
		}
		list = append(list, next.In(location).Format("2006-01-02 15:04 MST"))
		at = next
	}
	return list
}

func TestNextFires(t *testing.T) {
	for name, c := range map[string]struct {
		line, after string
		want        []string
	}{
		"every quarter":     {"*/15 * * * *", "2026-11-29T12:00:00Z", []string{"2026-11-29 12:15 UTC", "2026-11-29 12:30 UTC"}},
		"within the minute": {"0 12 * * *", "2026-11-29T11:59:59.999Z", []string{"2026-11-29 12:00 UTC", "2026-11-30 12:00 UTC"}},
		"month end":         {"0 0 31 * *", "2026-11-29T00:00:00Z", []string{"2026-12-31 00:00 UTC", "2027-01-31 00:00 UTC", "2027-03-31 00:00 UTC"}},
		"leap day":          {"0 0 29 2 *", "2026-11-29T00:00:00Z", []string{"2028-02-29 00:00 UTC", "2032-02-29 00:00 UTC"}},
		"leap day of 2100":  {"0 0 29 2 *", "2096-03-01T00:00:00Z", []string{"2104-02-29 00:00 UTC"}},
		"weekdays by name":  {"30 8 * * mon-fri", "2026-11-27T09:00:00Z", []string{"2026-11-30 08:30 UTC", "2026-12-01 08:30 UTC"}},
		"sunday is 0 and 7": {"0 0 * * 7", "2026-11-29T00:00:00Z", []string{"2026-12-06 00:00 UTC"}},
		"until sunday":      {"0 0 * * 6-7", "2026-11-29T00:00:00Z", []string{"2026-12-05 00:00 UTC", "2026-12-06 00:00 UTC"}},
		"day or weekday":    {"0 0 13 * fri", "2026-11-01T00:00:00Z", []string{"2026-11-06 00:00 UTC", "2026-11-13 00:00 UTC", "2026-11-20 00:00 UTC"}},
		"list and range":    {"5,10-12 6 1 jan *", "2026-11-29T00:00:00Z", []string{"2027-01-01 06:05 UTC", "2027-01-01 06:10 UTC", "2027-01-01 06:11 UTC"}},
		"step from":         {"50/5 0 * * *", "2026-11-29T00:00:00Z", []string{"2026-11-29 00:50 UTC", "2026-11-29 00:55 UTC", "2026-11-30 00:50 UTC"}},
		"word":              {"@monthly", "2026-11-29T00:00:00Z", []string{"2026-12-01 00:00 UTC"}},
	} {
		if got := fires(t, c.line, "UTC", c.after, schedule.DST{}, len(c.want)); strings.Join(got, ", ") != strings.Join(c.want, ", ") {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// In Berlin clocks go from 2:00 to 3:00 on 29 March 2026, and from 3:00 back to 2:00 on 25 October.
func TestDaysOnWhichClocksChange(t *testing.T) {
	for name, c := range map[string]struct {
		line, after string
		dst         schedule.DST
		want        []string
	}{
		"gap, shifted":       {"30 2 * * *", "2026-03-28T12:00:00Z", schedule.DST{}, []string{"2026-03-29 03:30 CEST", "2026-03-30 02:30 CEST"}},
		"gap, skipped":       {"30 2 * * *", "2026-03-28T12:00:00Z", schedule.DST{SkipGap: true}, []string{"2026-03-30 02:30 CEST"}},
		"gap, no double":     {"30 2,3 * * *", "2026-03-28T12:00:00Z", schedule.DST{}, []string{"2026-03-29 03:30 CEST", "2026-03-30 02:30 CEST"}},
		"overlap, first":     {"30 2 * * *", "2026-10-24T12:00:00Z", schedule.DST{}, []string{"2026-10-25 02:30 CEST", "2026-10-26 02:30 CET"}},
		"overlap, both":      {"30 2 * * *", "2026-10-24T12:00:00Z", schedule.DST{BothOverlap: true}, []string{"2026-10-25 02:30 CEST", "2026-10-25 02:30 CET", "2026-10-26 02:30 CET"}},
		"every hour in gap":  {"0 * * * *", "2026-03-29T00:30:00Z", schedule.DST{}, []string{"2026-03-29 03:00 CEST", "2026-03-29 04:00 CEST"}},
		"every hour overlap": {"30 * * * *", "2026-10-24T23:45:00Z", schedule.DST{}, []string{"2026-10-25 02:30 CEST", "2026-10-25 02:30 CET", "2026-10-25 03:30 CET"}},
		"stays at its hours": {"0 7,9 * * *", "2026-10-25T00:00:00Z", schedule.DST{}, []string{"2026-10-25 07:00 CET", "2026-10-25 09:00 CET", "2026-10-26 07:00 CET"}},
	} {
		if got := fires(t, c.line, "Europe/Berlin", c.after, c.dst, len(c.want)); strings.Join(got, ", ") != strings.Join(c.want, ", ") {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A gap before midnight moves the fire into the next day, whose own fires may come first.
func TestGapAcrossMidnight(t *testing.T) {
	// Clocks in Beirut went from 0:00 to 1:00 at the beginning of 28 March 2021.
	got := fires(t, "30 0 * * *", "Asia/Beirut", "2021-03-27T12:00:00Z", schedule.DST{}, 2)
	if want := "2021-03-28 01:30 EEST, 2021-03-29 00:30 EEST"; strings.Join(got, ", ") != want {
		t.Errorf("Beirut: %v, want %s", got, want)
	}
	// Samoa left out the whole of 30 December 2011.
	got = fires(t, "0 12 30 12 *", "Pacific/Apia", "2011-12-29T12:00:00Z", schedule.DST{SkipGap: true}, 1)
	if want := "2012-12-30 12:00 +14"; strings.Join(got, ", ") != want {
		t.Errorf("Apia: %v, want %s", got, want)
	}
}

// Over years and zones a fixed daily time fires once a day, ever later, at most shifted by the gap.
func TestDailyFiresOnceADay(t *testing.T) {
	for _, name := range []string{"Europe/London", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Africa/Cairo", "UTC"} {
		location := zone(t, name)
		cron, err := schedule.ParseCron("15 1 * * *")
		if err != nil {
			t.Fatal(err)
		}
		at := instant(t, "2026-01-01T12:00:00Z")
		last := at.In(location)
		for range 366 * 2 {
			next, ok := cron.Next(at, location, schedule.DST{})
			local := next.In(location)
			if !ok || !next.After(at) || local.YearDay() == last.YearDay() {
				t.Fatalf("%s: after %s comes %s", name, last, local)
			}
			at, last = next, local
		}
	}
}

func TestLinesThatAreRefused(t *testing.T) {
	for line, word := range map[string]string{
		"":              "5 fields",
		"* * * *":       "5 fields",
		"* * * * * *":   "5 fields",
		"60 * * * *":    "minute",
		"* 24 * * *":    "hour",
		"* * 0 * *":     "day of month",
		"* * * 13 *":    "month",
		"* * * * 8":     "day of week",
		"5-1 * * * *":   "backwards",
		"*/0 * * * *":   "step",
		"*/x * * * *":   "step",
		"0 0 L * *":     "L, W",
		"0 0 * * fri#2": "L, W",
		"0 0 30 2 *":    "never",
		"a * * * *":     "minute",
		"-1 * * * *":    "minute",
		"1,,2 * * * *":  "minute",
		"@never":        "@daily",
	} {
		if _, err := schedule.ParseCron(line); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%q: %v, want an error that mentions %q", line, err, word)
		}
	}
}

func TestIntervalDependsOnNoStart(t *testing.T) {
	at := instant(t, "2026-11-29T12:07:30Z")
	if got := schedule.NextInterval(15*time.Minute, at); !got.Equal(instant(t, "2026-11-29T12:15:00Z")) {
		t.Errorf("next %s", got)
	}
	exactly := instant(t, "2026-11-29T12:15:00Z")
	if got := schedule.NextInterval(15*time.Minute, exactly); !got.Equal(instant(t, "2026-11-29T12:30:00Z")) {
		t.Errorf("an instant is not after itself: %s", got)
	}
}

func FuzzParseCron(f *testing.F) {
	for _, line := range []string{"*/15 * * * *", "0 0 29 2 *", "5,10-12/2 6 1 jan sun", "@daily", "0 0 31 4,6 mon"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		cron, err := schedule.ParseCron(line)
		if err != nil {
			return
		}
		at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
		if next, ok := cron.Next(at, time.UTC, schedule.DST{}); !ok || !next.After(at) {
			t.Errorf("%q is accepted but fires at %s, %v", line, next, ok)
		}
	})
}
