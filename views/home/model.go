// Package home owns the first page: what needs the person, what runs, what failed lately, and the
// workflows ready to run. It must not know how they are read.
package home

import (
	"time"

	"weftline/views/lists"
)

// View is the page.
type View struct {
	Now        time.Time
	Tasks      []lists.TaskRow   // open ones that the person may decide
	Reviews    []lists.ReviewRow // changes that wait for the person's verdict
	Running    []lists.RunRow
	Failed     []lists.RunRow
	Workflows  []lists.WorkflowRow
	FirstVisit bool   // nothing was ever run here, and nothing waits for a review
	First      string // the workflow to run first
}
