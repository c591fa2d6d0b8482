// Package tasks owns the inbox of human tasks. It must not know who may decide what; the rows say so.
package tasks

import (
	"net/url"
	"time"

	"weftline/views/lists"
)

// Filter is what the address says.
type Filter struct {
	Show     string // mine, open, done
	Workflow string
	Query    string
}

// View is the page.
type View struct {
	Reviews []lists.ReviewRow // that wait for the person
	Now     time.Time
	Filter  Filter
	Rows    []lists.TaskRow
	Next    string
}

// Tab is a choice of what to show.
type Tab struct {
	Key, Label, URL string
	On              bool
}

// Tabs are the choices.
func (f Filter) Tabs() []Tab {
	var tabs []Tab
	for _, tab := range []Tab{{Key: "open", Label: "Open"}, {Key: "mine", Label: "Taken by me"}, {Key: "done", Label: "Decided"}} {
		to := f
		to.Show = tab.Key
		tab.URL, tab.On = to.URL(), tab.Key == f.Show
		tabs = append(tabs, tab)
	}
	return tabs
}

// URL is the address of a filter.
func (f Filter) URL() string {
	values := url.Values{}
	if f.Show != "open" {
		values.Set("show", f.Show)
	}
	if f.Workflow != "" {
		values.Set("workflow", f.Workflow)
	}
	if f.Query != "" {
		values.Set("q", f.Query)
	}
	if len(values) == 0 {
		return "/tasks"
	}
	return "/tasks?" + values.Encode()
}
