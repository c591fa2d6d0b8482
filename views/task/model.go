// Package task owns the page of one human task: the question with what one needs to decide it, the form,
// one button an outcome, and what happened after. It must not know who may decide what; it is told.
package task

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"time"

	"weftline/views/form"
	"weftline/views/state"
	"weftline/views/ui"
)

// View is the page.
type View struct {
	Now                       time.Time
	ID, URL                   string
	Title, Description        string
	Workflow, Activity        string
	Execution, ShortExecution string
	ExecutionLook             state.Look
	ExecutionWords            string // where the execution is now
	Look                      state.Look
	Open                      bool
	Outcome                   string
	Requester                 string
	Assignee, Candidates      string
	AssignedToMe              bool
	CreatedAt                 time.Time
	Due, ExpiresAt            *time.Time
	Overdue                   bool
	Quorum                    int
	Data                      []Datum
	DataJSON                  string
	Files                     []ui.File // in what it is about
	Decisions                 []Decision
	Before                    []Decision // decided earlier in the same execution
	History                   []Entry
	Outcomes                  []Button
	Form                      form.Form
	AllowComment              bool
	Comment                   string // as typed
	MayDecide                 bool
	WhyNot                    string
	Refused                   string // why the last answer was not taken
	CSRF                      string
}

// Datum is one value to decide upon.
type Datum struct {
	Label, Value string
}

// Decision is an answer that was given.
type Decision struct {
	Task, By, Outcome, Comment, Form string
	Files                            []ui.File // in the form
	At                               time.Time
}

// Entry is a line of the task's history.
type Entry struct {
	At   time.Time
	Text string
}

// Button is one outcome.
type Button struct {
	Outcome, Label string
	Good           bool
}

// Buttons are the outcomes as what a person does: approved → Approve. The first is the good one.
func Buttons(outcomes []string) []Button {
	list := make([]Button, len(outcomes))
	for i, outcome := range outcomes {
		list[i] = Button{Outcome: outcome, Label: Verb(outcome), Good: i == 0}
	}
	return list
}

var irregular = map[string]string{"sent_back": "Send back", "done": "Mark as done", "ok": "Accept", "no": "Say no", "yes": "Say yes"}

// Verb turns an outcome into what pressing its button does. What it does not know it shows as it is.
func Verb(outcome string) string {
	if verb, ok := irregular[outcome]; ok {
		return verb
	}
	words := strings.Split(outcome, "_")
	words[0] = infinitive(words[0])
	text := strings.Join(words, " ")
	return strings.ToUpper(text[:1]) + text[1:]
}

// keepsE are the verbs in -ed whose infinitive ends in -e, by what stands before the d.
var keepsE = []string{"ve", "se", "te", "ce", "ge", "ue", "le", "ne", "re", "pe"}

// plainVerbs end as keepsE would have it, but without the e.
var plainVerbs = map[string]string{
	"rejected": "reject", "accepted": "accept", "granted": "grant", "confirmed": "confirm", "returned": "return",
	"edited": "edit", "submitted": "submit", "permitted": "permit", "corrected": "correct", "selected": "select",
	"posted": "post", "passed": "pass", "cancelled": "cancel", "answered": "answer", "offered": "offer",
	"stopped": "stop", "shipped": "ship", "skipped": "skip", "requested": "request", "restarted": "restart",
	"started": "start", "halted": "halt", "planned": "plan", "signed": "sign", "assigned": "assign", "failed": "fail",
	"denied": "deny", "verified": "verify", "modified": "modify", "retried": "retry", "declined": "decline",
}

func infinitive(word string) string {
	if verb, ok := plainVerbs[word]; ok {
		return verb
	}
	stem, ok := strings.CutSuffix(word, "d")
	if !ok || !strings.HasSuffix(stem, "e") {
		return word
	}
	for _, ending := range keepsE {
		if strings.HasSuffix(stem, ending) {
			return stem
		}
	}
	return strings.TrimSuffix(stem, "e")
}

// Data makes a flat object readable line by line; ok is false for anything deeper, which is shown as JSON.
func Data(value any) (data []Datum, ok bool) {
	object, isObject := value.(map[string]any)
	if !isObject {
		return nil, false
	}
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		switch member := object[name].(type) {
		case map[string]any, []any:
			return nil, false
		case string:
			data = append(data, Datum{words(name), member})
		default:
			raw, err := json.Marshal(member)
			if err != nil {
				return nil, false
			}
			data = append(data, Datum{words(name), string(raw)})
		}
	}
	return data, true
}

func words(name string) string {
	text := strings.ReplaceAll(name, "_", " ")
	if text == "" {
		return name
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// Sentence is a line of the history in words.
func Sentence(kind, by, text string) string {
	who := by
	if who == "" {
		who = "the workflow"
	}
	line := fmt.Sprintf("%s by %s", words(kind), who)
	if text != "" {
		line += ": " + text
	}
	return line
}
