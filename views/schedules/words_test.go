package schedules

import "testing"

func TestCronInWords(t *testing.T) {
	for line, want := range map[string]string{
		"30 2 * * *":     "every day at 02:30",
		"0 8 * * 1":      "Mondays at 08:00",
		"0 8 * * 7":      "Sundays at 08:00",
		"5 18 * * 1-5":   "Mondays to Fridays at 18:05",
		"0 0 1 * *":      "on day 1 of each month at 00:00",
		"*/15 * * * *":   "every 15 minutes",
		"* * * * *":      "every minute",
		"0 * * * *":      "every hour",
		"10 * * * *":     "every hour, 10 minutes past",
		"*/7 * * * *":    "", // not at equal distances
		"*/0 * * * *":    "",
		"0 8 * * 9":      "",
		"0 8 1-7 */3 1":  "",
		"0 8 1 * 1":      "",
		"0 8,9 * * *":    "",
		"0 0 2 * * *":    "",
		"not a cron one": "",
	} {
		if got := CronWords(line); got != want {
			t.Errorf("%q reads %q, want %q", line, got, want)
		}
	}
}
