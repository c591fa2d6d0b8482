// Package tests owns the page of a workflow's test cases: what they are, how they went, what they cover. It
// must not know how they are run.
package tests

import (
	"fmt"
	"time"

	"weftline/views/state"
)

// View is the page. Ran says that the cases were run; without it they are only listed.
type View struct {
	Name     string
	CSRF     string
	Cases    []Case
	Ran      bool
	Passed   int
	Failed   int
	Percent  int
	Coverage []Covered
	Refused  string // why nothing could be run
	Problems []string
	Kept     string // name of the case that was just made of an execution
	// KeptFails: the draft has changed since the version that ran, and the case fails on it.
	KeptFails bool
	MayKeep   bool
	Past      []Past // ended executions, newest first
	Now       time.Time
}

// Past is an ended execution that can be kept as a case.
type Past struct {
	ID, StartedBy string
	Look          state.Look
	StartedAt     time.Time
}

// Failure is something that a case did not show. Expected and Got are there where an expectation was not met.
type Failure struct {
	Line          int
	Part          string // of the case: output, path, mocks.load
	Message       string
	Expected, Got string
}

// Case is one row.
type Case struct {
	Name     string
	Line     int
	Passed   bool
	Ended    state.Look
	Error    string
	Took     string // on the clock of the case
	Path     string
	Failures []Failure
	Notes    []string
}

// Covered is one kind of what can be covered.
type Covered struct {
	What           string
	Covered, Total int
	Missing        []string
}

// Look of the result of a case.
func (c Case) Look() state.Look {
	if c.Passed {
		return state.Look{Tone: "completed", Mark: "tick", Word: "Passed"}
	}
	return state.Look{Tone: "failed", Mark: "cross", Word: "Failed"}
}

// Summary says in words how the run went.
func (v View) Summary() string {
	switch {
	case v.Failed == 0:
		return fmt.Sprintf("%s passed", count(v.Passed))
	case v.Passed == 0:
		return fmt.Sprintf("%s failed", count(v.Failed))
	}
	return fmt.Sprintf("%d passed, %d failed", v.Passed, v.Failed)
}

func count(n int) string {
	if n == 1 {
		return "The case"
	}
	return fmt.Sprintf("All %d cases", n)
}

func (c Covered) words() string { return fmt.Sprintf("%d of %d", c.Covered, c.Total) }

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

// example is the beginning of a case of this workflow.
func (v View) example() string {
	return `---
apiVersion: weftline/v1
kind: WorkflowTest
metadata:
  name: ` + v.Name + `
spec:
  cases:
    - name: what the case shows
      input: {}
      mocks:
        some_activity: {status: 200, body: {ok: true}}
      expect:
        status: completed
`
}
