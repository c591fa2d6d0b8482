package human

import (
	"slices"
	"strings"
)

// Claim takes a task for a person. It must not have been taken by somebody else.
func Claim(task Task, who Person) *Refusal {
	if refusal := mayHandle(task, who); refusal != nil {
		return refusal
	}
	if task.Assignee != "" && task.Assignee != who.Name {
		return refuse("conflict", "%s has this task", task.Assignee)
	}
	return nil
}

// Release gives a task back. An admin may do so for whoever has it.
func Release(task Task, who Person, admin bool) *Refusal {
	switch {
	case task.Status != StatusOpen:
		return refuse("conflict", "this task is %s already", task.Status)
	case task.Assignee == "":
		return refuse("conflict", "nobody has this task")
	case task.Assignee != who.Name && !admin:
		return refuse("conflict", "%s has this task, not you", task.Assignee)
	}
	return nil
}

// Assign gives a task to somebody; who has it, or an admin, may.
func Assign(task Task, who Person, admin bool, to string) *Refusal {
	switch {
	case strings.TrimSpace(to) == "":
		return invalid("/user", "say who is to have the task")
	case task.Status != StatusOpen:
		return refuse("conflict", "this task is %s already", task.Status)
	case !admin && !task.IsCandidate(who):
		return refuse("forbidden", "this task is not for you")
	case !admin && task.Assignee != "" && task.Assignee != who.Name:
		return refuse("conflict", "%s has this task; they or an admin can hand it on", task.Assignee)
	case slices.Contains(task.Barred, to):
		return refuse("forbidden", "%s may not decide this task", to)
	}
	return nil
}

// Comment adds words to a task without deciding it.
func Comment(task Task, who Person, admin bool, body string) *Refusal {
	switch {
	case strings.TrimSpace(body) == "":
		return invalid("/body", "say something")
	case task.Status != StatusOpen:
		return refuse("conflict", "this task is %s already", task.Status)
	case !admin && !task.IsCandidate(who) && who.Name != task.Requester:
		return refuse("forbidden", "this task is not for you")
	}
	return nil
}

// Keep saves a half-filled form.
func Keep(task Task, who Person) *Refusal { return mayHandle(task, who) }

// mayHandle says why a person cannot work on an open task; unlike deciding it, somebody who was barred or
// has voted is not kept from looking after it.
func mayHandle(task Task, who Person) *Refusal {
	switch {
	case !task.IsCandidate(who):
		return refuse("forbidden", "this task is not for you: it is for %s", task.candidates())
	case task.Status != StatusOpen:
		return refuse("conflict", "this task is %s already", task.Status)
	}
	return nil
}
