// Package workflows owns the list of workflows and the page that begins a new one. It must not know how
// they are read or stored.
package workflows

import (
	"regexp"
	"time"

	"weftline/views/lists"
)

// View is the list.
type View struct {
	Now   time.Time
	Query string
	Label string
	Rows  []lists.WorkflowRow
	Next  string // address of the next page, "" at the end
}

// New is the page that asks for the name of a new workflow.
type New struct {
	Name, Error string
	Template    string // the example that the draft starts from, "" = one activity
	CSRF        string
	Examples    []string
}

// Blank is the draft that a new workflow starts with: valid, and with one place to go on from.
func Blank(name string) string {
	return `apiVersion: weftline/v1
kind: Workflow
metadata:
  name: ` + name + `
spec:
  activities:
    - id: start
      name: Start
      type: set
      outputs:
        ready: "true"
`
}

// Renamed is a definition's text under another name, everything else byte for byte.
func Renamed(text, from, to string) string {
	line := regexp.MustCompile(`(?m)^(\s*name:\s*["']?)` + regexp.QuoteMeta(from) + `(["']?\s*(?:#.*)?)$`)
	found := line.FindStringSubmatchIndex(text)
	if found == nil {
		return text
	}
	return text[:found[3]] + to + text[found[4]:]
}
