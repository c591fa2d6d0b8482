// Package workflow owns the page of one workflow: what it looks like, what is published, how its last
// executions went. It must not know how any of it is read.
package workflow

import (
	"time"

	"weftline/views/lists"
	"weftline/views/tests"
	"weftline/views/versions"
)

// View is the page.
type View struct {
	Now         time.Time
	Name        string
	Description string
	Labels      []string
	Version     int // published, 0 = none
	Published   versions.Publishing
	Draft       bool
	Text        string // of what is shown: the published version, else the draft
	Runs        []lists.RunRow
	Versions    []versions.Row
	Tests       tests.View
}
