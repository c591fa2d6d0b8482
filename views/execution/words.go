package execution

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"weftline/engine/execution"
	"weftline/views/state"
	"weftline/views/ui"
)

// Line is one sentence of where the execution stands: "Waiting for a person: Manager approval, since …".
type Line struct {
	Look          state.Look
	Text          string
	Activity      string // what the line is about; its name leads to the details
	Name          string
	Since, Until  *time.Time
	Reason        string // further words
	Link, LinkURL string // what to do about it
	Advice        string // the next step after a failure
}

// MostLines is how many sentences stand in the head before they are summed up.
const MostLines = 4

// lines says where it is, why it waits, what failed.
func (b builder) lines() []Line {
	d := b.Detail
	var lines []Line
	switch {
	case state.Ended(d.Status):
		lines = b.endLines()
	case d.Status == "paused":
		lines = append(lines, Line{Look: state.Of("paused"), Text: "Paused: nothing new starts until it is resumed"})
	}
	if !state.Ended(d.Status) {
		lines = append(lines, b.waitLines()...)
		lines = append(lines, b.runningLines()...)
	}
	if len(lines) == 0 {
		lines = append(lines, Line{Look: state.Of(d.Status), Text: state.Of(d.Status).Word})
	}
	if rest := len(lines) - MostLines; rest > 0 {
		lines = append(lines[:MostLines], Line{Look: state.Of("pending"), Text: fmt.Sprintf("and %s", ui.Plural(rest, "more place"))})
	}
	return lines
}

func (b builder) endLines() []Line {
	d := b.Detail
	line := Line{Look: state.Of(d.Status), Text: state.Of(d.Status).Word}
	switch {
	case d.Status == "completed":
		line.Text += " in " + b.took()
		line.Reason = d.Note
	case d.Error != nil:
		line.Reason = d.Error.Type + ": " + d.Error.Message
		line.Advice = advice(d.Error.Type)
		if d.Error.Activity != "" {
			if line.Text += " at"; d.Status == "compensated" {
				line.Text, line.Advice = "Compensated after a failure at", "Put the cause right and start a new execution."
			}
			line.Activity, line.Name = d.Error.Activity, b.name(d.Error.Activity)
			line.Reason += b.afterAttempts(d.Error)
		}
	default:
		line.Text += " after " + b.took()
	}
	lines := []Line{line}
	switch d.Compensation {
	case "complete":
		lines = append(lines, Line{Look: state.Of("compensated"), Text: "Everything that had been done was undone"})
	case "incomplete":
		lines = append(lines, Line{Look: state.Of("compensation_failed"), Text: "Not everything could be undone",
			Advice: "Look at the activities marked so, put their cause right, then run the compensation again."})
	}
	return lines
}

func (b builder) afterAttempts(e *execution.Error) string {
	words := ""
	if e.Attempt > 1 {
		words = fmt.Sprintf(" (attempt %d of %d)", e.Attempt, max(e.Attempt, b.byID[e.Activity].Attempts))
	}
	if e.Item != "" {
		words += " for item " + e.Item
	}
	return words
}

func (b builder) waitLines() []Line {
	waits := slices.Clone(b.Detail.Waits)
	slices.SortStableFunc(waits, func(x, y execution.WaitDetail) int { return urgency[y.Kind] - urgency[x.Kind] })
	var lines []Line
	for _, wait := range waits {
		lines = append(lines, b.waitLine(wait))
	}
	return lines
}

var urgency = map[string]int{"quarantine": 5, "unserved": 4, "human": 3, "retry": 2, "event": 1}

func (b builder) waitLine(wait execution.WaitDetail) Line {
	since := wait.Since
	line := Line{
		Look: state.ForWait(wait.Kind), Text: state.ForWait(wait.Kind).Word + ":",
		Activity: wait.Activity, Name: b.name(wait.Activity), Since: &since, Until: wait.Until, Reason: wait.Reason,
	}
	if wait.Item != "" {
		line.Name += " (" + wait.Item + ")"
	}
	if asked := b.Asked[wait.Task]; asked != "" {
		line.Reason = "asks " + asked
	}
	switch wait.Kind {
	case "human":
		if wait.Task != "" {
			line.Link, line.LinkURL = "Open the task", "/tasks/"+wait.Task
		}
	case "child":
		if wait.Execution != "" {
			line.Link, line.LinkURL = "Open that execution", "/executions/"+wait.Execution
		}
	case "retry":
		line.Text = b.attemptWords(wait.Activity, 1) + ":"
	case "unserved":
		line.Advice = "Start a worker that takes it. Cancel, pause and time-outs work meanwhile."
	case "quarantine":
		line.Text = state.ForWait(wait.Kind).Word
		line.Advice = "Put the cause right, a script that takes too much memory for example, then release it."
	}
	return line
}

// attemptWords is "Attempt 2 of 5" for the current attempt plus ahead.
func (b builder) attemptWords(activity string, ahead int) string {
	detail, _ := b.activity(activity)
	attempt := detail.Attempt + ahead
	if allowed := b.byID[activity].Attempts; allowed >= attempt {
		return fmt.Sprintf("Attempt %d of %d", attempt, allowed)
	}
	return fmt.Sprintf("Attempt %d", attempt)
}

func (b builder) runningLines() []Line {
	var lines []Line
	for _, activity := range b.Activities {
		detail, _ := b.activity(activity.ID)
		if detail.Status != "running" && detail.Status != "dispatched" {
			continue
		}
		line := Line{Look: state.Of(detail.Status), Text: state.Of(detail.Status).Word, Activity: activity.ID,
			Name: b.name(activity.ID), Since: detail.StartedAt}
		if detail.Attempt > 1 {
			line.Reason = strings.ToLower(b.attemptWords(activity.ID, 0))
		}
		if detail.Items != nil {
			line.Reason = itemWords(*detail.Items)
		}
		lines = append(lines, line)
	}
	return lines
}

func itemWords(items execution.ItemsDetail) string {
	words := fmt.Sprintf("%d of %s done", items.Completed+items.Failed, ui.Plural(items.Total, "item"))
	if items.Failed > 0 {
		words += fmt.Sprintf(", %d failed", items.Failed)
	}
	return words
}

// states are the marks of the graph.
func (b builder) states() map[string]NodeState {
	states := map[string]NodeState{}
	for id, detail := range b.Detail.Activities {
		states[id] = b.nodeState(id, detail)
	}
	for _, hook := range b.Detail.Hooks {
		for id, detail := range hook {
			states[id] = b.nodeState(id, detail)
		}
	}
	return states
}

func (b builder) nodeState(id string, detail execution.ActivityDetail) NodeState {
	look := state.ForActivity(detail.Status, b.wait(id))
	n := NodeState{State: detail.Status, Label: look.Word, Port: port(detail)}
	switch wait := b.wait(id); {
	case wait != nil && (detail.Status == "waiting" || detail.Status == "retrying" || detail.Status == "ready"):
		b.parked(&n, *wait)
	case detail.Items != nil:
		n.Detail = itemWords(*detail.Items)
		n.Label += ", " + n.Detail
	case detail.Status == "running":
		n.Since = detail.StartedAt
		if detail.Attempt > 1 {
			n.Label = b.attemptWords(id, 0)
		}
	case detail.Error != nil:
		n.Label += ": " + detail.Error.Type
		n.Detail = detail.Error.Message
	case detail.Status == "skipped":
		n.Detail = skipWords(detail.SkipReason)
	case detail.Outcome != "":
		n.Label += ": " + detail.Outcome
	case detail.Status == "completed" && detail.StartedAt != nil && detail.FinishedAt != nil:
		n.Label += " in " + ui.Duration(detail.FinishedAt.Sub(*detail.StartedAt))
		if detail.Attempt > 1 {
			n.Label += ", " + ui.Plural(detail.Attempt, "attempt")
		}
	}
	return n
}

// port is by which port an activity ended; "" while it goes on, and when it has none.
func port(detail execution.ActivityDetail) string {
	switch {
	case detail.Status == "failed" || detail.Status == "timed_out":
		return cmp.Or(detail.Outcome, "failure")
	case detail.Status == "completed":
		return cmp.Or(detail.Outcome, "success")
	}
	return ""
}

// parked says in a node's few words what is waited for; scripts add for how long already or still.
func (b builder) parked(n *NodeState, wait execution.WaitDetail) {
	since := wait.Since
	n.Detail = wait.Reason
	switch wait.Kind {
	case "human":
		n.State, n.Label, n.Since = "waiting_person", "For a person", &since
	case "retry":
		n.State, n.Label, n.Until = "retrying", b.attemptWords(wait.Activity, 1), wait.Until
	case "timer":
		n.Label, n.Until = "Waits", wait.Until
	case "event":
		n.Label, n.Since = "For an event", &since
	case "child":
		n.Label, n.Since = "For an execution", &since
	default:
		n.Since = &since
	}
}

func skipWords(reason string) string {
	switch reason {
	case "when_false":
		return "Skipped: its condition was false"
	case "branch":
		return "Skipped: the decision went another way"
	case "upstream_failed":
		return "Skipped: something before it failed"
	case "fail_fast":
		return "Skipped: the execution was already failing"
	case "join_lost":
		return "Skipped: other branches were faster"
	}
	return "Skipped"
}

// keeps is what a retry does not change.
const keeps = "Retry goes on with the same version and input; Run again takes the latest version, and its input can be changed."

// advice is the next step after an error, by its type.
func advice(errorType string) string {
	first, rest, _ := strings.Cut(errorType, ".")
	switch first {
	case "http":
		if rest == "address_refused" {
			return "This server does not call that address. Have an operator allow it and retry, or put the address right. " + keeps
		}
		if strings.HasPrefix(rest, "5") || rest == "429" {
			return "The other service answered with an error. When it is well again, retry from the failed activity."
		}
		return "The other service refused the request. Check the address and what was sent in the details, then put it right. " + keeps
	case "transport":
		return "The other service could not be reached. Check the address and the network, then retry."
	case "timeout":
		return "It took longer than allowed. Retry, or give it more time in the definition. " + keeps
	case "human":
		return "A person decided so, or nobody decided in time. Run it again, or let the definition take this outcome."
	case "event":
		return "The event did not come in time. Retry to wait for it again."
	case "expr", "input", "output", "switch":
		return "The data was not what the definition expects. See the details, then put it right. " + keeps
	case "child":
		return "The execution that it started failed. Look at that one first."
	case "for_each":
		return "Some items failed. Retry runs the failed items again, nothing else."
	case "engine":
		return "A worker was lost. Nothing is wrong with the definition; retry."
	}
	return "See the details and put the cause right. " + keeps
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
