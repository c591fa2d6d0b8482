// Package review owns the page before publishing: what changes against the published version, what it
// affects, what stands in the way. It must not know how a definition is compared or published.
package review

import (
	"fmt"
	"strconv"

	"weftline/engine/flow"
	"weftline/views/ui"
	"weftline/views/versions"
)

// View is the page.
type View struct {
	Name       string
	Next       int  // number that publishing gives
	Same       bool // the content is what is published already
	Comparison versions.Comparison
	Problems   []Problem
	Warnings   []Problem
	Affects    []string
	Message    string // as typed
	Refused    string // why the last try was refused
	MayPublish bool
	Approvals  int    // that the policy asks for, 0 = none: publishing needs no proposal
	Proposals  []Link // open ones of the workflow
	CSRF       string
}

// Link leads to an open proposal.
type Link struct{ Label, URL string }

// Problem is one finding; URL leads to its line in the designer.
type Problem struct {
	Code, Message, Hint, Place, URL string
}

// Blocked reports whether something must be put right first.
func (v View) Blocked() bool { return len(v.Problems) > 0 }

// Problems makes the lines of findings.
func Problems(name string, found []flow.Problem) []Problem {
	list := make([]Problem, 0, len(found))
	for _, problem := range found {
		list = append(list, Problem{
			Code: problem.Code, Message: problem.Message, Hint: problem.Hint,
			Place: fmt.Sprintf("line %d, column %d", problem.Line, problem.Column),
			URL:   "/workflows/" + name + "/edit#line=" + strconv.Itoa(problem.Line),
		})
	}
	return list
}

// AffectedAt says in words what waits for a person or an event at the activities that change.
func AffectedAt(waits map[string]int, changes []flow.Change) []string {
	var lines []string
	said := map[string]bool{}
	for _, change := range changes {
		if n := waits[change.ID]; change.What == "activity" && n > 0 && !said[change.ID] {
			said[change.ID] = true
			lines = append(lines, ui.Plural(n, "wait")+" open at "+change.ID+", which is "+change.Kind+": they end as they began")
		}
	}
	return lines
}

// Affected says in words what is under way on the workflow.
func Affected(running, waiting, openTasks, schedules int) []string {
	var lines []string
	if n := running + waiting; n > 0 {
		lines = append(lines, ui.Plural(n, "execution")+" under way: each finishes on the version it began with")
	}
	if openTasks > 0 {
		lines = append(lines, ui.Plural(openTasks, "open task")+" of them: the people asked still decide them")
	}
	if schedules > 0 {
		lines = append(lines, ui.Plural(schedules, "schedule")+" will start the new version")
	}
	if len(lines) == 0 {
		lines = append(lines, "Nothing is under way; new executions start on the new version")
	}
	return lines
}
