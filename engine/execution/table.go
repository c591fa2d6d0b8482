package execution

import (
	"errors"
	"fmt"
	"strings"
)

// ErrIllegalTransition is wrapped by every refusal of Apply; the state is unchanged then.
var ErrIllegalTransition = errors.New("illegal transition")

// transition is one row of the table: in which statuses an event may come, and which status follows.
type transition struct {
	event EventType
	from  []string // statuses of the execution, or of the activity when about an activity
	to    string   // "" = unchanged, or as the text says
	note  string
}

// workflowTable holds the events about the execution as a whole.
var workflowTable = []transition{
	{WorkflowCreated, []string{""}, StatusCreated, ""},
	{WorkflowValidated, []string{StatusCreated}, StatusValidated, ""},
	{WorkflowScheduled, []string{StatusValidated, StatusScheduled}, StatusScheduled, "startAt, or a slot of the workflow's limit"},
	{VariablesSet, []string{StatusValidated, StatusScheduled, StatusRunning, StatusWaiting}, "", ""},
	{WorkflowStarted, []string{StatusValidated, StatusScheduled}, StatusRunning, ""},
	{WorkflowPaused, []string{StatusScheduled, StatusRunning, StatusWaiting}, StatusPaused, ""},
	{WorkflowResumed, []string{StatusPaused}, "", "scheduled, running or waiting, as it stands"},
	{WorkflowEnding, []string{StatusCreated, StatusValidated, StatusScheduled, StatusRunning, StatusWaiting, StatusPaused}, StatusRunning, "the verdict is known, clean-up follows"},
	{CompensationStarted, []string{StatusRunning, StatusWaiting, StatusPaused}, StatusCompensating, ""},
	{CompensationCompleted, []string{StatusCompensating}, StatusRunning, "everything was undone; hooks may follow"},
	{CompensationFailed, []string{StatusCompensating}, StatusRunning, "something was not undone; hooks may follow"},
	{WorkflowCompleted, openStatuses, StatusCompleted, ""},
	{WorkflowFailed, openStatuses, StatusFailed, ""},
	{WorkflowCancelled, openStatuses, StatusCancelled, ""},
	{WorkflowTimedOut, openStatuses, StatusTimedOut, ""},
	{WorkflowCompensated, openStatuses, StatusCompensated, ""},
	{WorkflowRetried, []string{StatusFailed, StatusTimedOut}, StatusRunning, "the only event after a terminal one, by a person"},
	{SignalReceived, append([]string{StatusCompensating}, openStatuses...), "", ""},
	{PermitAcquired, []string{StatusScheduled, StatusPaused}, "", "the slot of the workflow's limit"},
	{LeaseExpired, append([]string{StatusCompensating}, openStatuses...), "", "the owner was lost"},
	{LeaseAcquired, append([]string{StatusCompensating}, openStatuses...), "", ""},
}

var openStatuses = []string{StatusCreated, StatusValidated, StatusScheduled, StatusRunning, StatusWaiting, StatusPaused}

// activityTable holds the events about one activity. While an execution is being compensated they are about
// the activity that undoes.
var activityTable = []transition{
	{ActivityReady, []string{"pending", "waiting", "retrying"}, "ready", "waiting: the next turn of a repeat"},
	{ActivitySkipped, []string{"pending"}, "skipped", ""},
	{ActivityDispatched, []string{"ready"}, "dispatched", ""},
	{ActivityStarted, []string{"ready", "dispatched"}, "running", "ready: a for_each, whose items are fixed now"},
	{ActivityWaiting, []string{"ready", "dispatched", "running"}, "waiting", "running: it started a child"},
	{PermitAcquired, []string{"waiting"}, "ready", ""},
	{ActivityRetryScheduled, []string{"dispatched", "running", "waiting"}, "retrying", ""},
	{ActivityRepeatScheduled, []string{"running", "waiting"}, "waiting", ""},
	{ActivityCompleted, []string{"running", "waiting"}, "completed", ""},
	{ActivityFailed, []string{"pending", "ready", "dispatched", "running", "waiting", "retrying"}, "failed", "pending: its condition or inputs cannot be computed"},
	{ActivityTimedOut, []string{"ready", "dispatched", "running", "waiting", "retrying"}, "timed_out", ""},
	{ActivityCancelled, []string{"ready", "dispatched", "running", "waiting", "retrying"}, "cancelled", ""},
	{CompensationStarted, []string{"completed"}, "", "begins the life of the activity that undoes"},
	{CompensationCompleted, []string{"completed"}, "compensated", ""},
	{CompensationFailed, []string{"completed"}, "compensation_failed", ""},
	{TimerScheduled, []string{"waiting"}, "", ""},
	{TimerFired, []string{"waiting"}, "", ""},
	{SignalConsumed, []string{"waiting"}, "", ""},
	{HumanTaskCreated, []string{"waiting"}, "", ""},
	{HumanTaskClaimed, []string{"waiting"}, "", ""},
	{HumanTaskUnclaimed, []string{"waiting"}, "", ""},
	{HumanTaskAssigned, []string{"waiting"}, "", ""},
	{HumanTaskCommented, []string{"waiting"}, "", ""},
	{HumanTaskVoted, []string{"waiting"}, "", ""},
	{HumanTaskDecided, []string{"waiting"}, "", ""},
	{HumanTaskReminded, []string{"waiting"}, "", ""},
	{HumanTaskEscalated, []string{"waiting"}, "", ""},
	{HumanTaskExpired, []string{"waiting"}, "", ""},
	{ChildStarted, []string{"dispatched", "running", "waiting"}, "", ""},
	{ChildCompleted, []string{"waiting"}, "", ""},
	{ChildFailed, []string{"waiting"}, "", ""},
	{PermitReleased, []string{"completed", "failed", "timed_out", "cancelled"}, "", ""},
	{ItemCompleted, []string{"running", "cancelled"}, "", "of a for_each: all activities of the item are over"},
	{ItemFailed, []string{"running", "cancelled"}, "", ""},
	{ItemCancelled, []string{"running", "cancelled"}, "", ""},
}

// rule is a row made quick to ask.
type rule struct {
	statuses []string  // of the execution
	phases   phaseMask // of the activity
	to       phase
	moves    bool
	status   string
}

type phaseMask uint16

func (m phaseMask) has(p phase) bool { return m&(1<<p) != 0 }

var workflowRules, activityRules = compile(workflowTable, false), compile(activityTable, true)

func compile(rows []transition, ofActivities bool) map[EventType]*rule {
	rules := make(map[EventType]*rule, len(rows))
	for _, row := range rows {
		r := &rule{statuses: row.from, status: row.to}
		if ofActivities {
			for _, name := range row.from {
				r.phases |= 1 << phaseOf(name)
			}
			if row.to != "" {
				r.to, r.moves = phaseOf(row.to), true
			}
		}
		rules[row.event] = r
	}
	return rules
}

func phaseOf(name string) phase {
	var p phase
	if err := p.UnmarshalText([]byte(name)); err != nil {
		panic(err) // a misspelt row of the table
	}
	return p
}

func (r *rule) allows(status string) bool {
	for _, s := range r.statuses {
		if s == status {
			return true
		}
	}
	return false
}

func illegal(ev Event, format string, args ...any) error {
	what := string(ev.Type)
	if ev.Activity != "" {
		what += " of " + ev.Activity
	}
	if ev.Item != "" {
		what += "[" + ev.Item + "]"
	}
	return fmt.Errorf("%w: event %d, %s: %s", ErrIllegalTransition, ev.Seq, what, fmt.Sprintf(format, args...))
}

// TransitionTable renders the table for the documentation, as Markdown.
func TransitionTable() string {
	var b strings.Builder
	render(&b, "execution", workflowTable)
	b.WriteByte('\n')
	render(&b, "activity", activityTable)
	return b.String()
}

func render(b *strings.Builder, of string, rows []transition) {
	fmt.Fprintf(b, "| event | %s was | becomes | |\n|---|---|---|---|\n", of)
	for _, row := range rows {
		to := row.to
		if to == "" {
			to = "–"
		}
		from := strings.TrimSpace(strings.Join(row.from, ", "))
		if from == "" {
			from = "–"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", row.event, from, to, row.note)
	}
}
