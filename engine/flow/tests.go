package flow

import (
	"strconv"
	"time"

	"weftline/engine/expr"
)

// TestSuite is one document of kind WorkflowTest.
type TestSuite struct {
	Name     string
	Workflow string // path of the workflow's file, "" = the Workflow of the same text
	Cases    []TestCase
	Pos      Pos
}

// TestCase is one run with given outcomes.
type TestCase struct {
	Name      string
	Input     map[string]any
	StartedAt time.Time // zero = nothing was said
	StartedBy string
	Trigger   map[string]any
	Mocks     map[string]any
	Script    []TestStep
	Expect    Expectation
	Pos       Pos
	Places    map[string]Pos // of parts: mocks.load, script[1], expect.status, expect.attempts.load
}

// TestStep is what happens from outside at a time after the start. What does not apply is zero.
type TestStep struct {
	At         time.Duration
	Event      string
	Key        *string // nil = a signal to the execution itself
	Payload    any
	Human      string // the activity whose task is decided
	Item       string
	Outcome    string
	By         string
	Comment    string
	Form       any
	Cancel     bool
	Reason     string
	Compensate *bool
	Crash      bool
	Note       string
}

// Expectation is what must be seen; nil and "" = not asked.
type Expectation struct {
	Status    string
	Error     string
	Path      []string
	Skipped   []string
	Attempts  map[string]int
	Inputs    map[string]any
	Output    any
	HasOutput bool
	Duration  *time.Duration
}

// Tests reads the WorkflowTest documents of a text, which may stand beside a Workflow or alone. The report
// holds the problems of these documents only.
func Tests(text []byte) ([]TestSuite, Report) {
	ps := &problems{}
	c := newChecker(ps)
	var suites []TestSuite
	for _, d := range parse(text, ps) {
		if d.root.get("kind").text() == "WorkflowTest" {
			c.check(d.root, group(testObject))
			suites = append(suites, suiteOf(d.root))
		}
	}
	return suites, ps.report("")
}

func suiteOf(root *node) TestSuite {
	s := TestSuite{Name: root.at("metadata", "name").text(), Workflow: root.at("spec", "workflow").text(), Pos: root.pos}
	for _, n := range items(root.at("spec", "cases")) {
		s.Cases = append(s.Cases, caseOf(n))
	}
	return s
}

func caseOf(n *node) TestCase {
	c := TestCase{Name: n.get("name").text(), Input: n.get("input").plainMap(), StartedBy: n.get("startedBy").text(),
		Trigger: n.get("trigger").plainMap(), Mocks: n.get("mocks").plainMap(), Expect: expectationOf(n.get("expect")),
		Pos: n.pos, Places: map[string]Pos{}}
	if at, err := expr.ParseInstant(n.get("startedAt").text(), ""); err == nil {
		c.StartedAt = at.UTC().Truncate(time.Millisecond)
	}
	for _, step := range items(n.get("script")) {
		c.Script = append(c.Script, stepOf(step))
	}
	c.note(n, "")
	return c
}

// note remembers where the parts of a case stand.
func (c *TestCase) note(n *node, path string) {
	for i, item := range n.items {
		c.Places[path+"["+strconv.Itoa(i)+"]"] = item.pos
	}
	for _, e := range n.entries {
		at := e.name
		if path != "" {
			at = path + "." + e.name
		}
		c.Places[at] = e.key.pos
		if path == "" || path == "expect" {
			c.note(e.value, at)
		}
	}
}

func stepOf(n *node) TestStep {
	s := TestStep{At: durationOf(n.get("at"), 0), Event: n.get("event").text(), Payload: n.get("payload").plain(),
		Human: n.get("human").text(), Outcome: n.get("outcome").text(), By: n.get("by").text(), Comment: n.get("comment").text(),
		Reason: n.get("reason").text(), Note: n.get("note").text()}
	if key := n.get("key"); key.given() {
		text := key.raw
		s.Key = &text
	}
	if item := n.get("item"); item.given() {
		s.Item = item.raw
	}
	if form := n.get("form"); form.given() {
		s.Form = form.plain()
	}
	if undo := n.get("compensate"); undo.given() {
		yes := undo.bool(false)
		s.Compensate = &yes
	}
	s.Cancel, s.Crash = switchedOn(n.get("cancel")), switchedOn(n.get("crash"))
	if s.Cancel && s.Reason == "" {
		s.Reason = n.get("cancel").text()
	}
	return s
}

// switchedOn: cancel and crash are written as true, or with a word of why or where.
func switchedOn(n *node) bool { return n != nil && n.bool(true) }

func expectationOf(n *node) Expectation {
	e := Expectation{Status: n.get("status").text(), Error: n.get("error").text(), Inputs: n.get("inputs").plainMap(),
		Path: textsOrNil(n.get("path")), Skipped: textsOrNil(n.get("skipped"))}
	if attempts := n.get("attempts"); attempts != nil {
		e.Attempts = map[string]int{}
		for _, each := range attempts.entries {
			e.Attempts[each.name] = each.value.int(0)
		}
	}
	if output := n.get("output"); output != nil {
		e.Output, e.HasOutput = output.plain(), true
	}
	if duration := n.get("duration"); duration.given() {
		d := durationOf(duration, 0)
		e.Duration = &d
	}
	return e
}

// textsOrNil tells an empty list from none.
func textsOrNil(n *node) []string {
	if n == nil || n.kind != listNode {
		return nil
	}
	return append([]string{}, n.texts()...)
}

// ValidateFile is Validate for a file that may also hold tests alone.
func ValidateFile(text []byte) Report { return ReadFile(text).Report }

// ReadFile is Read for a file that may hold tests alone.
func ReadFile(text []byte) Reading {
	ps := &problems{}
	tests, workflows := 0, 0
	for _, d := range parse(text, ps) {
		if d.root.get("kind").text() == "WorkflowTest" {
			tests++
		} else {
			workflows++
		}
	}
	if tests == 0 || workflows > 0 {
		return Read(text)
	}
	suites, report := Tests(text)
	report.Name = suites[0].Name
	return Reading{Text: text, Report: report}
}

// Value reads one document of YAML or JSON that is no definition, such as mocks, as a plain value.
func Value(text []byte) (any, Report) {
	ps := &problems{}
	documents := parse(text, ps)
	if len(documents) > 1 {
		ps.add("E110", documents[1].root, "keep one document", "there is a second document")
	}
	if len(documents) == 0 {
		return nil, ps.report("")
	}
	return documents[0].root.plain(), ps.report("")
}
