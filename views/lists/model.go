// Package lists owns the tables of executions, tasks and workflows that several pages show. It must not
// know which page shows them or how the rows were read.
package lists

import (
	"strconv"
	"strings"
	"time"

	"weftline/views/state"
)

// RunRow is one execution.
type RunRow struct {
	ID, ShortID, URL string
	Workflow         string
	Version          int
	Look             state.Look
	Words            string     // where it waits, or the error, when it failed
	Until            *time.Time // when what it waits for ends by itself
	StartedAt        time.Time
	StartedBy        string
	Took             string
	Labels           []string
}

// TaskRow is one human task.
type TaskRow struct {
	ID, URL, Title, Workflow, Activity string
	Look                               state.Look
	Outcome, Requester, Assignee       string
	CreatedAt                          time.Time
	Due                                *time.Time
	Overdue                            bool
	MayDecide                          bool
}

// Decided is the outcome, where the state does not say the same.
func (r TaskRow) Decided() string {
	if strings.EqualFold(r.Outcome, r.Look.Word) {
		return ""
	}
	return r.Outcome
}

// WorkflowRow is one workflow.
type WorkflowRow struct {
	Name, Title, URL string
	Labels           []string
	Version          int // 0 = nothing published
	Draft            bool
	Last             *RunRow
	UpdatedAt        time.Time
}

// ReviewRow is a proposal that waits for a verdict.
type ReviewRow struct {
	Title, Workflow, Author string
	Number                  int
	UpdatedAt               time.Time
}

// URL is where it is reviewed.
func (r ReviewRow) URL() string {
	return "/workflows/" + r.Workflow + "/proposals/" + strconv.Itoa(r.Number)
}
