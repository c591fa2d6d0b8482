// Package ui owns what every page shares: the shell with its rail and breadcrumb, marks, times, empty
// states, and the words for durations. It must not know any page, request or engine call.
package ui

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"weftline/engine/instants"
)

// Page is what the shell needs to know of the page that it frames.
type Page struct {
	Title      string
	Section    string // the rail's entry that is current: home, workflows, executions, tasks, reviews, schedules, workers, settings
	Crumbs     []Crumb
	Team       string
	User       string
	Admin      bool // may everything in the team
	OpenTasks  int
	CSRF       string
	ByProvider bool     // the session came from an identity provider and may end while the page is open
	Nonce      string   // for styles that scripts must insert
	Theme      string   // "", light or dark; "" follows the system
	Density    string   // "" or compact
	Notices    []string // shown on every page, e.g. what local mode means on an open address
	Islands    []string
	Actions    templ.Component // buttons of the head, the primary one last; nil = none
	Main       string          // id of the page's own <main>, which fills the window below the head; "" = the shell's
}

// Crumb is a step of the breadcrumb before the page's own title.
type Crumb struct {
	Label, URL string
}

// Asking is what a person must say yes to.
type Asking struct {
	URL, CSRF   string
	Verb, About string // of the button that asks: Delete, and which one for who does not see its row
	Do          string // of the button that acts
	Danger      bool   // what it does cannot be undone
}

// Entry is a link of the rail.
type Entry struct {
	Key, Label, URL, Icon string
	Counted               bool
	Count                 int
}

func rail(p Page) []Entry {
	return []Entry{
		{Key: "home", Label: "Home", URL: "/", Icon: "home"},
		{Key: "workflows", Label: "Workflows", URL: "/workflows", Icon: "flow"},
		{Key: "executions", Label: "Executions", URL: "/executions", Icon: "runs"},
		{Key: "tasks", Label: "Tasks", URL: "/tasks", Icon: "tasks", Counted: true, Count: p.OpenTasks},
		{Key: "reviews", Label: "Reviews", URL: "/reviews", Icon: "review"},
		{Key: "schedules", Label: "Schedules", URL: "/schedules", Icon: "clock"},
		{Key: "workers", Label: "Workers", URL: "/workers", Icon: "workers"},
		{Key: "settings", Label: "Settings", URL: "/settings", Icon: "settings"},
	}
}

// documentTitle is the title, and what it belongs to where it does not say so itself: "Versions · pay · Weftline".
func (p Page) documentTitle() string {
	title := p.Title
	if n := len(p.Crumbs); n > 0 && !strings.Contains(p.Title, p.Crumbs[n-1].Label) {
		title += " · " + p.Crumbs[n-1].Label
	}
	if p.OpenTasks > 0 && p.Section == "tasks" {
		title = fmt.Sprintf("(%d) %s", p.OpenTasks, title)
	}
	return title + " · Weftline"
}

func (p Page) main() string { return cmp.Or(p.Main, "content") }

// Iso is an instant for machines, as the API writes it.
func Iso(t time.Time) string { return instants.Text(t) }

// Exact is an instant for people, with its zone; scripts turn it into the viewer's own.
func Exact(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04:05 UTC") }

// Ago says how far an instant lies from now: "3 min ago", "in 8 s", "just now".
func Ago(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case d > -time.Second && d < 5*time.Second:
		return "just now"
	case d < 0:
		return "in " + rough(-d)
	default:
		return rough(d) + " ago"
	}
}

// AgoPrecisely is Ago with milliseconds for what was a moment ago: "30 ms ago", "2.4 s ago".
func AgoPrecisely(t, now time.Time) string {
	if d := now.Sub(t); d >= time.Minute {
		return Ago(t, now)
	}
	return Duration(max(0, now.Sub(t))) + " ago"
}

// rough is a duration in its largest unit; what rounds to 60 of one is 1 of the next.
func rough(d time.Duration) string {
	switch {
	case d < 59500*time.Millisecond:
		return count(d.Seconds(), "s")
	case d < 59*time.Minute+30*time.Second:
		return count(d.Minutes(), "min")
	case d < 47*time.Hour+30*time.Minute:
		return count(d.Hours(), "h")
	default:
		return count(d.Hours()/24, "days")
	}
}

func count(n float64, unit string) string {
	return strconv.Itoa(int(math.Round(n))) + " " + unit
}

// Duration is a length of time as precise as a person needs: "840 ms", "12.4 s", "3 min 20 s", "2 d 4 h".
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "0 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + " s"
	case d < time.Hour:
		return two(d, time.Minute, "min", time.Second, "s")
	case d < 24*time.Hour:
		return two(d, time.Hour, "h", time.Minute, "min")
	default:
		return two(d, 24*time.Hour, "d", time.Hour, "h")
	}
}

func two(d, large time.Duration, largeUnit string, small time.Duration, smallUnit string) string {
	words := fmt.Sprintf("%d %s", d/large, largeUnit)
	if rest := d % large / small; rest > 0 {
		words += fmt.Sprintf(" %d %s", rest, smallUnit)
	}
	return words
}

// Number is a count with its thousands apart: "12,500".
func Number(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Plural counts things in words: Plural(2, "task") = "2 tasks".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Number(n) + " " + noun + "s"
}
