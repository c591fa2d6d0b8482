package rehearse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"weftline/engine/execution"
	"weftline/engine/flow"
)

// Runner runs the cases of one workflow and counts what they cover together.
type Runner struct {
	Workflow *flow.Workflow
	Library  Library
	Replays  bool        // every move of a case is followed by a replay of its history
	Stopped  func() bool // true gives up; nil = never
	cover    cover
}

// CaseResult says how one case went.
type CaseResult struct {
	Name     string    `json:"name"`
	Line     int       `json:"line"`
	Passed   bool      `json:"passed"`
	Status   string    `json:"status"` // of the execution at its end
	Error    string    `json:"error,omitempty"`
	Duration string    `json:"duration"` // on the clock of the case
	Path     []string  `json:"path"`
	Events   int       `json:"events"`
	Failures []Failure `json:"failures"`
	Notes    []Note    `json:"notes"`
}

// Failure is something that a case did not show, with its place in the text.
type Failure struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Path    string `json:"path,omitempty"` // in the case: mocks.load, script[1], expect.status
	Message string `json:"message"`

	// Of an expectation that is not met.
	Expected string `json:"expected,omitempty"`
	Got      string `json:"got,omitempty"`
}

// Case runs one case.
func (r *Runner) Case(c flow.TestCase) (result CaseResult) {
	result = CaseResult{Name: c.Name, Line: c.Pos.Line, Path: []string{}, Failures: []Failure{}, Notes: []Note{}}
	fail := func(f Fault) { result.Failures = append(result.Failures, placed(c, f)) }
	defer func() {
		if fault := recover(); fault != nil {
			fail(Fault{Message: fmt.Sprintf("a fault of the engine: %v", fault)})
		}
		result.Passed = len(result.Failures) == 0
		slices.SortStableFunc(result.Failures, func(a, b Failure) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	}()
	s, faults := r.setup(c)
	for _, f := range faults {
		fail(f)
	}
	if s == nil {
		return result
	}
	w := rehearse(*s)
	r.count(w)
	o := outcomeOf(w)
	result.Status, result.Duration, result.Path, result.Events = o.status, short(w.elapsed()), o.path, len(w.root().history)
	result.Notes = append(result.Notes, w.notes...)
	if o.failure != nil {
		result.Error = o.failure.Type
	}
	for _, f := range w.faults {
		fail(f)
	}
	for _, f := range o.check(c.Expect) {
		fail(f)
	}
	return result
}

// setup prepares a case; nil when it cannot begin.
func (r *Runner) setup(c flow.TestCase) (*setup, []Fault) {
	mocks, faults := ParseMocks(r.Workflow, c.Mocks)
	if c.Input == nil {
		c.Input = map[string]any{}
	}
	checked, problems := r.Workflow.Input.Check(c.Input)
	for _, problem := range problems {
		faults = append(faults, Fault{Path: "input", Message: "input" + problem.Path + ": " + problem.Message})
	}
	input, _ := checked.(map[string]any)
	if len(problems) > 0 {
		return nil, faults
	}
	if c.Trigger == nil {
		c.Trigger = byAPI()
	}
	return &setup{workflow: r.Workflow, library: r.Library, input: input, mocks: mocks, script: c.Script,
		startedAt: c.StartedAt, startedBy: orTester(c.StartedBy), trigger: c.Trigger, replays: r.Replays, stopped: r.Stopped}, faults
}

// placed finds where a fault stands: its own part, else the part around it, else the case.
func placed(c flow.TestCase, f Fault) Failure {
	at := c.Pos
	for path := f.Path; path != ""; {
		if found, known := c.Places[path]; known {
			at = found
			break
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return Failure{Line: at.Line, Column: at.Column, Path: f.Path, Message: f.Message, Expected: f.Expected, Got: f.Got}
}

// count notes what the executions of the workflow itself have covered.
func (r *Runner) count(w *world) {
	for _, run := range w.all {
		if run.wf == r.Workflow {
			r.cover.add(run.history)
		}
	}
}

// outcome is what a case may ask about.
type outcome struct {
	workflow *flow.Workflow
	status   string
	failure  *execution.Error
	output   any
	path     []string
	skipped  []string
	attempts map[string]int
	inputs   map[string]any
	took     time.Duration
}

func outcomeOf(w *world) outcome {
	root := w.root()
	detail := execution.Describe(root.wf, root.st)
	o := outcome{workflow: root.wf, status: detail.Status, failure: detail.Error, output: detail.Output,
		path: []string{}, skipped: []string{}, attempts: map[string]int{}, inputs: map[string]any{}, took: w.elapsed()}
	for i := range root.history {
		o.event(&root.history[i])
	}
	return o
}

func (o *outcome) event(ev *execution.Event) {
	if ev.Activity == "" {
		return
	}
	name := partName(ev)
	o.attempts[name] = max(o.attempts[name], ev.Attempt)
	main := ev.Item == "" && ev.Hook == "" && !ev.Compensating && o.workflow.Graph.ByID[ev.Activity] != nil
	switch d := ev.Data.(type) {
	case *execution.Ready:
		if d.Input != nil {
			o.inputs[name] = d.Input
		}
	case *execution.Waiting:
		o.inputs[name] = orElse(o.inputs[name], waitInputs(d))
	case *execution.TaskCreated:
		o.inputs[name] = taskInputs(d)
	case *execution.Skipped:
		if main {
			o.skipped = append(o.skipped, ev.Activity)
		}
	}
	if ev.Type == execution.ActivityCompleted && main {
		o.path = append(o.path, ev.Activity)
	}
}

// partName names an activity, an item of it, or what undoes it: load, load[b], load/compensate.
func partName(ev *execution.Event) string {
	name := ev.Activity
	if ev.Item != "" {
		name += "[" + ev.Item + "]"
	}
	if ev.Compensating {
		name += "/compensate"
	}
	return name
}
