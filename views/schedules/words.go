package schedules

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var weekdays = []string{"Sundays", "Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays"}

var (
	plainNumber = regexp.MustCompile(`^\d{1,2}$`)
	everySoMany = regexp.MustCompile(`^\*/(\d{1,2})$`)
)

// CronWords says a cron line of five fields in words: "every day at 02:30", "Mondays at 08:00". Lines that are
// not of the usual forms have no words.
func CronWords(line string) string {
	fields := strings.Fields(line)
	if len(fields) != 5 || fields[3] != "*" {
		return ""
	}
	minute, hour, day, weekday := fields[0], fields[1], fields[2], fields[4]
	if day == "*" && weekday == "*" && hour == "*" {
		return hourly(minute)
	}
	if !plainNumber.MatchString(minute) || !plainNumber.MatchString(hour) {
		return ""
	}
	at := fmt.Sprintf(" at %02s:%02s", hour, minute)
	switch {
	case day == "*" && weekday == "*":
		return "every day" + at
	case day == "*" && weekday == "1-5":
		return "Mondays to Fridays" + at
	case day == "*" && plainNumber.MatchString(weekday) && number(weekday) < len(weekdays):
		return weekdays[number(weekday)] + at
	case weekday == "*" && plainNumber.MatchString(day):
		return "on day " + day + " of each month" + at
	}
	return ""
}

func hourly(minute string) string {
	switch step := everySoMany.FindStringSubmatch(minute); {
	case minute == "*":
		return "every minute"
	case step != nil && number(step[1]) > 1 && 60%number(step[1]) == 0:
		return "every " + step[1] + " minutes"
	case minute == "0":
		return "every hour"
	case plainNumber.MatchString(minute):
		return "every hour, " + minute + " minutes past"
	}
	return ""
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits) // the callers matched digits
	return n
}
