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
	Tasks      []lists.TaskRow // open ones that the person may decide
	Running    []lists.RunRow
	Failed     []lists.RunRow
	Workflows  []lists.WorkflowRow
	FirstVisit bool   // nothing was ever run here
	First      string // the workflow to run first
}
