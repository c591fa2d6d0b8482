// Package execution owns the page of one execution: in words where it is, why it waits and what failed;
// the states for the graph; timeline, details of an activity and the event list. It must not know how any
// of it is read or kept fresh.
package execution

import (
	"net/url"
	"slices"
	"strconv"
	"time"

	"weftline/engine/execution"
	"weftline/views/state"
	"weftline/views/timeline"
	"weftline/views/ui"
)

// Facts are what the page is built from.
type Facts struct {
	ID, Workflow string
	Version      int
	Detail       execution.Detail
	Activities   []Activity // of the definition, in file order
	Definition   string     // its text
	Events       []execution.Event
	Spans        []timeline.Span
	Asked        map[string]string // who may decide, by id of the task waited for
	Parent       string            // id of the parent execution, "" when there is none
	Worker       string            // host and id of who drives it now, "" when nobody does
	SavedAt      *time.Time        // with Worker: when what it did was last stored
	Selected     string            // activity whose details are shown; "" chooses the one that matters most
	Now          time.Time
	MayOperate   bool
	MayKeep      bool // it may become a test in the draft
}

// Activity is what the page needs of an activity's definition.
type Activity struct {
	ID, Name, Type string
	Attempts       int // allowed tries, 1 = no retry
}

// View is the page.
type View struct {
	ID, ShortID, Workflow, URL string
	Version                    int
	Look                       state.Look
	Lines                      []Line
	Ended                      bool
	Seq                        int64
	Now                        time.Time
	StartedAt, FinishedAt      *time.Time
	Took                       string
	Facts                      []Fact
	Labels                     []string
	Chart                      timeline.Chart
	Detail                     Detail
	Events                     []EventRow
	EarlierEvents              int // left out of the list
	Input, Output, Variables   string
	Files                      []ui.File // that its input, outputs and activities hold
	Definition                 string
	States                     map[string]NodeState
	Actions                    Actions
}

// Fact is one line of the head. Saved goes with a Value.
type Fact struct {
	Label, Value, URL string
	At                *time.Time
	Saved             *time.Time
}

// Actions are what the person may do now.
type Actions struct {
	Cancel, Pause, Resume, Compensate, Release bool
	Keep                                       bool // as a test
	Again                                      bool // a new execution with the same input
	Retry                                      bool
	RetryFrom                                  string // name of the activity that failed
}

// NodeState is an activity's state for the graph; scripts turn Since and Until into running words.
type NodeState struct {
	State  string     `json:"state"`
	Label  string     `json:"label"`
	Detail string     `json:"detail,omitempty"`
	Since  *time.Time `json:"since,omitempty"`
	Until  *time.Time `json:"until,omitempty"`
	Port   string     `json:"port,omitempty"` // by which it ended
}

// shownEvents is how many of the newest events the page lists; the whole history is a file away.
const shownEvents = 300

// Build makes the page.
func Build(f Facts) View {
	b := newBuilder(f)
	d := f.Detail
	v := View{
		ID: f.ID, ShortID: Short(f.ID), Workflow: f.Workflow, Version: f.Version, URL: "/executions/" + f.ID,
		Look:  state.ForExecution(d.Status, d.Waits),
		Lines: b.lines(), Ended: state.Ended(d.Status), Seq: d.LastSeq, Now: f.Now,
		StartedAt: d.StartedAt, FinishedAt: d.FinishedAt, Took: b.took(),
		Facts: b.facts(), Labels: pairs(d.Labels),
		Chart:  timeline.Build(f.Spans, b.subject()),
		Events: b.events(), Input: indented(d.Input), Output: indented(d.Output),
		Definition: f.Definition, States: b.states(), Actions: b.actions(),
	}
	v.Detail = b.detail(b.selected())
	v.Files = b.files()
	v.EarlierEvents = int(d.LastSeq) - len(v.Events)
	if len(d.Variables) > 0 {
		v.Variables = indented(d.Variables)
	}
	return v
}

// files are what the execution was given and made, in the order of the definition.
func (b builder) files() []ui.File {
	held := []any{b.Facts.Detail.Input}
	for _, activity := range b.Activities {
		if detail, reached := b.activity(activity.ID); reached {
			held = append(held, detail.Output)
		}
	}
	return ui.FilesIn(append(held, b.Facts.Detail.Output))
}

// Short is an execution's id as people tell it apart: its end, since ids begin with their time.
func Short(id string) string {
	if len(id) <= 8 {
		return id
	}
	return id[len(id)-8:]
}

// againURL is the form of a new execution, filled with the input of this one.
func (v View) againURL() string { return "/workflows/" + v.Workflow + "/run?from=" + v.ID }

// SelectURL shows an activity's details.
func (v View) SelectURL(activity string) string {
	return v.URL + "?activity=" + url.QueryEscape(activity) + "#details"
}

type builder struct {
	Facts
	byID  map[string]Activity
	waits map[string]execution.WaitDetail // the first wait of each activity
}

func newBuilder(f Facts) builder {
	b := builder{f, map[string]Activity{}, map[string]execution.WaitDetail{}}
	for _, activity := range f.Activities {
		b.byID[activity.ID] = activity
	}
	for _, wait := range f.Detail.Waits {
		if _, known := b.waits[wait.Activity]; !known {
			b.waits[wait.Activity] = wait
		}
	}
	return b
}

// name is what people call an activity.
func (b builder) name(id string) string {
	if activity, ok := b.byID[id]; ok && activity.Name != "" {
		return activity.Name
	}
	return id
}

func (b builder) wait(id string) *execution.WaitDetail {
	if wait, ok := b.waits[id]; ok {
		return &wait
	}
	return nil
}

// activity is the activity of this id wherever it runs: ids are unique in a definition, hooks included.
func (b builder) activity(id string) (execution.ActivityDetail, bool) {
	if detail, ok := b.Detail.Activities[id]; ok {
		return detail, true
	}
	for _, hook := range b.Detail.Hooks {
		if detail, ok := hook[id]; ok {
			return detail, true
		}
	}
	return execution.ActivityDetail{}, false
}

func (b builder) look(activity, item string) state.Look {
	if item != "" {
		return b.itemLook(activity, item)
	}
	detail, ok := b.activity(activity)
	if !ok {
		return state.Of("pending")
	}
	return state.ForActivity(detail.Status, b.wait(activity))
}

func (b builder) itemLook(activity, item string) state.Look {
	for _, detail := range b.Detail.Activities {
		if detail.Items == nil {
			continue
		}
		for _, entry := range detail.Items.List {
			if entry.Key != item {
				continue
			}
			if inner, ok := entry.Activities[activity]; ok {
				return state.Of(inner.Status)
			}
			return state.Of(entry.Status)
		}
	}
	return state.Of("completed") // the list leaves out items that simply completed
}

func (b builder) subject() timeline.Subject {
	start := b.Detail.UpdatedAt
	if b.Detail.StartedAt != nil {
		start = *b.Detail.StartedAt
	}
	for _, span := range b.Spans {
		if span.From.Before(start) {
			start = span.From
		}
	}
	return timeline.Subject{Start: start, End: b.Detail.FinishedAt, Now: b.Now, Label: b.name, Look: b.look}
}

func (b builder) took() string {
	switch d := b.Detail; {
	case d.StartedAt == nil:
		return ""
	case d.FinishedAt != nil:
		return ui.Duration(d.FinishedAt.Sub(*d.StartedAt))
	default:
		return ui.Duration(b.Now.Sub(*d.StartedAt))
	}
}

func (b builder) facts() []Fact {
	d := b.Detail
	facts := []Fact{
		{Label: "Workflow", Value: b.Workflow + ", version " + strconv.Itoa(b.Version), URL: "/workflows/" + b.Workflow},
		{Label: "Started", At: d.StartedAt},
		{Label: "By", Value: d.StartedBy},
	}
	if b.Worker != "" && !state.Ended(d.Status) {
		facts = append(facts, Fact{Label: "Running", Value: running(d.Mode) + " on worker " + b.Worker, Saved: b.SavedAt})
	}
	if d.FinishedAt != nil {
		facts = append(facts, Fact{Label: "Took", Value: b.took()})
	}
	if d.CorrelationID != "" && d.CorrelationID != b.ID {
		facts = append(facts, Fact{Label: "Correlation", Value: d.CorrelationID})
	}
	if d.Priority != "" && d.Priority != "normal" {
		facts = append(facts, Fact{Label: "Priority", Value: d.Priority})
	}
	if d.Deadline != nil {
		facts = append(facts, Fact{Label: "Deadline", At: d.Deadline})
	}
	if d.Usage != nil {
		facts = append(facts, Fact{Label: "Tokens", Value: strconv.FormatInt(d.Usage.Total, 10)})
	}
	if b.Parent != "" {
		facts = append(facts, Fact{Label: "Started by execution", Value: Short(b.Parent), URL: "/executions/" + b.Parent})
	}
	return facts
}

// running says whether a worker goes on by itself from step to step, which it does in the local modes.
func running(mode string) string {
	if mode == "server" {
		return "step by step"
	}
	return "locally"
}

func (b builder) actions() Actions {
	d := b.Detail
	keep := b.MayKeep && state.Ended(d.Status)
	if !b.MayOperate {
		return Actions{Keep: keep}
	}
	a := Actions{Compensate: d.Compensation == "incomplete", Keep: keep}
	if !state.Ended(d.Status) {
		if a.Release = b.quarantined(); a.Release {
			return a
		}
		a.Cancel = true
		a.Resume = d.Status == "paused"
		a.Pause = !a.Resume && d.Status != "compensating"
		return a
	}
	a.Again = true
	a.Retry = d.Status == "failed" || d.Status == "timed_out"
	if a.Retry && d.Error != nil {
		a.RetryFrom = b.name(d.Error.Activity)
	}
	return a
}

// quarantined reports that nobody may drive it until it is released; whatever else is asked of it has to wait.
func (b builder) quarantined() bool {
	return slices.ContainsFunc(b.Detail.Waits, func(wait execution.WaitDetail) bool { return wait.Kind == "quarantine" })
}

// selected is the activity whose details matter most: the one asked for, what failed, a person's turn,
// what runs, else the last that completed.
func (b builder) selected() string {
	if b.Selected != "" {
		return b.Selected
	}
	if b.Detail.Error != nil && b.Detail.Error.Activity != "" {
		return b.Detail.Error.Activity
	}
	best, bestRank := "", 0
	for _, activity := range b.Activities {
		detail, ok := b.activity(activity.ID)
		lowest := max(bestRank, 1)
		if _, main := b.Detail.Activities[activity.ID]; !main {
			lowest = bestRank + 1 // a hook must press more than the work itself
		}
		if rank := pressing[detail.Status]; ok && rank >= lowest {
			best, bestRank = activity.ID, rank
		}
	}
	return best
}

var pressing = map[string]int{"completed": 1, "ready": 2, "dispatched": 3, "running": 4, "retrying": 5, "waiting": 6, "failed": 7, "timed_out": 7}

func pairs(labels map[string]string) []string {
	var list []string
	for _, key := range sortedKeys(labels) {
		list = append(list, key+"="+labels[key])
	}
	return list
}

// indented is a value as JSON for people, "" for nothing.
func indented(value any) string {
	if value == nil {
		return ""
	}
	text, err := ui.JSONText(value)
	if err != nil {
		return "This value cannot be shown: " + err.Error()
	}
	return text
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

func retryWords(a Actions) string {
	if a.RetryFrom != "" {
		return "Retry from ‘" + a.RetryFrom + "’"
	}
	return "Retry"
}
