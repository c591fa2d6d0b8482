// Package activitylog shows what an attempt of an activity printed.
package activitylog

import (
	"net/url"
	"strconv"
	"time"
)

// View is the page of one log.
type View struct {
	Execution, Activity, Item string
	Attempt                   int
	Attempts                  []int
	Lines                     []Line
}

// Line is one line as it was printed.
type Line struct {
	N      int
	At     time.Time
	Stream string // stdout, stderr, system
	Text   string
}

// URL is the address of the page for one attempt, 0 = the last one.
func (v View) URL(attempt int) string {
	query := url.Values{}
	if v.Item != "" {
		query.Set("item", v.Item)
	}
	if attempt > 0 {
		query.Set("attempt", strconv.Itoa(attempt))
	}
	address := "/executions/" + v.Execution + "/activities/" + url.PathEscape(v.Activity) + "/log"
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return address
}

// Topic is what the page follows.
func (v View) Topic() string { return "log:" + v.Execution + "/" + v.Activity }
