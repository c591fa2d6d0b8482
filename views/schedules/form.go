package schedules

import (
	"net/url"
	"time"

	"weftline/views/form"
)

// Names of the form's own fields; fields of the input are JSON pointers and so begin with a slash.
const (
	WorkflowField = "workflow"
	WhenField     = "when" // cron, every or at
	TimeField     = "time" // what it is, in that form
	ZoneField     = "timezone"
	OverlapField  = "overlap"
	CatchUpField  = "catchUp"
	PreviewField  = "_preview"
	OtherWayField = "_when"  // the button that says it in another form
	AsField       = "_as"    // how the schedule stood when the page was opened
	AnewField     = "_anew"  // the input is given anew
	AskAnewField  = "_input" // the button that asks for it
)

// OtherTimeField holds what was typed for a form that is not chosen.
func OtherTimeField(way string) string { return TimeField + "." + way }

// Form asks for a new schedule, or for changes of one.
type Form struct {
	ID               string // of the one that is changed, "" = a new one
	CSRF             string
	Workflows        []string // published ones to choose from
	Workflow         string   // "" until one is chosen
	When, Time, Zone string
	Others           map[string]string // times typed in other forms than When
	Overlap, CatchUp string
	Input            form.Form
	As               string // how the schedule stands
	Kept             string // JSON of an input that stays as it is, since something in it is masked; "" = it can be changed here
	Anew             bool   // it is given anew nevertheless
	Refused          string
	NoTime           bool        // sent without saying when
	Fires            []time.Time // what the preview found
	Previewed        bool
	Doubt            string // why nothing could be previewed, in what may still be being typed
	Now              time.Time
}

// Ways are the ways to say when.
var Ways = []string{"cron", "every", "at"}

type wayWords struct{ label, field, help, example, asked string }

var ways = map[string]wayWords{
	"cron":  {"By a cron line", "Cron line", "Minute, hour, day of the month, month, weekday.", "30 2 * * *", "a cron line"},
	"every": {"Every so often", "Every", "A duration such as 15m, 6h or 1d.", "1h", "a duration"},
	"at":    {"Once", "At", "A day and a time in the zone below.", "2027-01-31T08:00:00", "a day and a time"},
}

// sayWhen asks for the time that was left out.
func (f Form) sayWhen() string {
	return "Say when: " + f.way().asked + ", such as " + f.way().example
}

func (f Form) way() wayWords { return ways[f.When] }

// zoned reports whether a zone makes a difference.
func (f Form) zoned() bool { return f.When != "every" }

// address is where the form is sent.
func (f Form) address() string {
	if f.ID == "" {
		return "/schedules/new"
	}
	return "/schedules/" + f.ID + "/edit"
}

// look is where the form is asked what it would do.
func (f Form) look() string {
	if f.ID == "" {
		return f.address() + "?" + url.Values{WorkflowField: {f.Workflow}}.Encode()
	}
	return f.address()
}

func (f Form) submit() string {
	if f.ID == "" {
		return "Make the schedule"
	}
	return "Change the schedule"
}

type choice struct{ value, label string }

var overlaps = []choice{{"skip", "Leave this one out"}, {"buffer_one", "Start one when it has ended"}, {"allow", "Start beside it"}}

var catchUps = []choice{{"none", "None"}, {"last", "The last one"}, {"all", "All of them"}}
