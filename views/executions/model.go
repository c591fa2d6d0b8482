// Package executions owns the list of executions with its filters. It must not know how they are read.
package executions

import (
	"net/url"
	"slices"
	"time"

	"weftline/views/lists"
	"weftline/views/state"
)

// Filter is what the address says.
type Filter struct {
	Workflow string
	Status   []string
	Query    string
}

// View is the page.
type View struct {
	Now       time.Time
	Filter    Filter
	Workflows []string // to choose from
	Rows      []lists.RunRow
	Next      string
}

// Chip is a filter by state that one click sets or clears.
type Chip struct {
	Label, URL string
	Look       state.Look
	On         bool
}

// groups are the states that people look for together.
var groups = []struct {
	label    string
	statuses []string
}{
	{"Running", []string{"running"}},
	{"Waiting", []string{"waiting", "scheduled", "paused"}},
	{"Failed", []string{"failed", "timed_out"}},
	{"Completed", []string{"completed"}},
	{"Cancelled or undone", []string{"cancelled", "compensating", "compensated"}},
}

// URL is the address of a filter.
func (f Filter) URL() string {
	if f.empty() {
		return "/executions"
	}
	return "/executions?" + f.query()
}

// Topic is what the live protocol calls these executions.
func (f Filter) Topic() string { return "executions:" + f.query() }

func (f Filter) query() string {
	values := url.Values{}
	if f.Workflow != "" {
		values.Set("workflow", f.Workflow)
	}
	for _, status := range f.Status {
		values.Add("status", status)
	}
	if f.Query != "" {
		values.Set("q", f.Query)
	}
	return values.Encode()
}

// Chips are the filters by state; the first clears them.
func (f Filter) Chips() []Chip {
	clear := f
	clear.Status = nil
	chips := []Chip{{Label: "All", URL: clear.URL(), On: len(f.Status) == 0}}
	for _, group := range groups {
		to := f
		to.Status = group.statuses
		on := slices.Equal(slices.Sorted(slices.Values(f.Status)), slices.Sorted(slices.Values(group.statuses)))
		chips = append(chips, Chip{Label: group.label, URL: to.URL(), Look: state.Of(group.statuses[0]), On: on})
	}
	return chips
}

func (f Filter) empty() bool { return f.Workflow == "" && f.Query == "" && len(f.Status) == 0 }
