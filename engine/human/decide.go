// Package human owns the rules of human tasks: who may decide, what an answer must hold, and when a vote
// ends the task. Decide is the one function behind the page, the API, a link and a bulk answer; the timer
// asks Expired. It is pure and must not know storage, HTTP or executions: the caller locks the task, asks,
// and records what was answered.
package human

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"weftline/engine/flow"
)

// Everybody is the group of a person who stands in for all candidates: the one person of local mode.
const Everybody = "*"

// StatusOpen is the status of a task that can be decided; done, expired and cancelled are ends.
const StatusOpen = "open"

// Statuses are all that a task may have.
var Statuses = []string{StatusOpen, "done", "expired", "cancelled"}

// Task is what the rules must know about a task.
type Task struct {
	Status    string
	Assignee  string // "" = nobody
	Users     []string
	Groups    []string
	Barred    []string // who may not decide whatever they are a candidate for
	Requester string
	Quorum    int       // how many different people must give the first outcome
	Outcomes  []string  // the first is the good one
	Due       time.Time // zero = never
	Votes     []Vote

	AllowComment bool
	CheckForm    func(form any) []flow.Problem // nil = the task has no form
}

// Vote is an accepted answer.
type Vote struct{ By, Outcome string }

// Person is who answers.
type Person struct {
	Name   string
	Groups []string
}

// Answer is what they say.
type Answer struct {
	Outcome string
	Form    any // nil = none
	Comment string
}

// Refusal says why an answer is not accepted; Code is a word of the API.
type Refusal struct {
	Code     string
	Message  string
	Problems []flow.Problem
}

func (r *Refusal) Error() string { return r.Message }

func refuse(code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Decide judges an answer. A nil refusal accepts it as a vote; ends says that this vote decides the task:
// the first outcome needs Quorum different people, any other outcome needs one.
func Decide(task Task, who Person, answer Answer, now time.Time) (ends bool, refusal *Refusal) {
	if refusal := MayDecide(task, who, now); refusal != nil {
		return false, refusal
	}
	if refusal := checkAnswer(task, answer); refusal != nil {
		return false, refusal
	}
	if answer.Outcome != task.Outcomes[0] {
		return true, nil
	}
	return task.agreed()+1 >= task.Quorum, nil
}

// MayDecide says why a person cannot decide a task now; nil when they can.
func MayDecide(task Task, who Person, now time.Time) *Refusal {
	switch {
	case !task.IsCandidate(who):
		return refuse("forbidden", "this task is not for you: it is for %s", task.candidates())
	case task.isBarred(who) && who.Name == task.Requester:
		return refuse("self_approval", "you started this; somebody else has to decide it")
	case task.isBarred(who):
		return refuse("forbidden", "you decided an earlier step; somebody else has to decide this one")
	case task.Status != StatusOpen:
		return refuse("conflict", "this task is %s already", task.Status)
	case task.Expired(now):
		return refuse("conflict", "this task was due at %s; its time is over", task.Due.UTC().Format(time.RFC3339))
	case task.hasVoted(who):
		return refuse("conflict", "your vote is counted already; this task needs %d different people", task.Quorum)
	}
	return nil
}

// IsCandidate reports whether a task is meant for a person: as its assignee, by name, or by a group.
func (t Task) IsCandidate(who Person) bool {
	return t.Assignee != "" && t.Assignee == who.Name ||
		slices.Contains(t.Users, who.Name) ||
		slices.Contains(who.Groups, Everybody) ||
		slices.ContainsFunc(who.Groups, func(group string) bool { return slices.Contains(t.Groups, group) })
}

// Expired reports whether the task's time is over.
func (t Task) Expired(now time.Time) bool { return !t.Due.IsZero() && !now.Before(t.Due) }

func (t Task) isBarred(who Person) bool { return slices.Contains(t.Barred, who.Name) }

func (t Task) hasVoted(who Person) bool {
	return slices.ContainsFunc(t.Votes, func(vote Vote) bool { return vote.By == who.Name })
}

// agreed counts the votes for the first outcome; nobody votes twice, so they are different people.
func (t Task) agreed() (n int) {
	for _, vote := range t.Votes {
		if vote.Outcome == t.Outcomes[0] {
			n++
		}
	}
	return n
}

func (t Task) candidates() string {
	var names []string
	if t.Assignee != "" {
		names = append(names, t.Assignee)
	}
	for _, user := range t.Users {
		if user != t.Assignee {
			names = append(names, user)
		}
	}
	for _, group := range t.Groups {
		names = append(names, "the group "+group)
	}
	if len(names) == 0 {
		return "nobody yet; an admin can assign it"
	}
	return strings.Join(names, ", ")
}

func checkAnswer(task Task, answer Answer) *Refusal {
	if !slices.Contains(task.Outcomes, answer.Outcome) {
		return invalid("/decision", fmt.Sprintf("%q is no decision of this task; it has %s", answer.Outcome, strings.Join(task.Outcomes, ", ")))
	}
	if answer.Comment != "" && !task.AllowComment {
		return invalid("/comment", "this task takes no comment")
	}
	return checkForm(task, answer.Form)
}

// checkForm checks the form whatever the outcome; no form given is an empty one.
func checkForm(task Task, form any) *Refusal {
	if form == nil {
		form = map[string]any{}
	}
	if task.CheckForm == nil {
		if fields, ok := form.(map[string]any); ok && len(fields) == 0 {
			return nil
		}
		return invalid("/form", "this task has no form")
	}
	if problems := task.CheckForm(form); len(problems) > 0 {
		return &Refusal{Code: "invalid_input", Message: "the form does not fit its schema", Problems: problems}
	}
	return nil
}

func invalid(path, message string) *Refusal {
	return &Refusal{Code: "invalid_input", Message: message,
		Problems: []flow.Problem{{Path: path, Code: "E420", Severity: "error", Message: message}}}
}
