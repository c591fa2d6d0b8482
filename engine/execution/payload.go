package execution

import (
	"time"

	"github.com/google/uuid"
)

// Payloads: what an event carries besides its head. A field that does not apply is left out. Instants are
// UTC with millisecond precision. Shown is what people may see in place of the value before it, absent when
// that is the same (see twin).

// Created opens a history. Its input may hold values that the definition marks as sensitive.
type Created struct {
	ID            uuid.UUID               `json:"id"`
	Workflow      string                  `json:"workflow"`
	Version       int                     `json:"version"`
	ContentHash   string                  `json:"contentHash,omitempty"`
	Mode          string                  `json:"mode,omitempty"`
	CorrelationID string                  `json:"correlationId,omitempty"`
	Priority      string                  `json:"priority,omitempty"`
	StartedBy     string                  `json:"startedBy,omitempty"`
	Team          string                  `json:"team,omitempty"`
	Labels        map[string]string       `json:"labels,omitempty"`
	Input         map[string]any          `json:"input,omitempty"`
	Trigger       map[string]any          `json:"trigger,omitempty"`
	Deadline      *time.Time              `json:"deadline,omitempty"`
	StartAt       *time.Time              `json:"startAt,omitempty"`
	Parent        *ParentRef              `json:"parent,omitempty"`
	Depth         int                     `json:"depth,omitempty"`
	Children      map[string]ChildVersion `json:"children,omitempty"`
	NeedsPermit   bool                    `json:"needsPermit,omitempty"`
	MaxItems      int                     `json:"maxItems,omitempty"`
	DedupeKey     string                  `json:"dedupeKey,omitempty"`
	Hidden        []string                `json:"hidden,omitempty"`    // inputs that are sensitive although the schema does not say so
	Sensitive     bool                    `json:"sensitive,omitempty"` // what triggered it holds a sensitive value
}

// Scheduled says what an execution waits for before it starts.
type Scheduled struct {
	Until  *time.Time `json:"until,omitempty"`
	Reason string     `json:"reason"` // start_at, limit
}

// Variables are the values of spec.variables.
type Variables struct {
	Variables map[string]any `json:"variables"`
	Shown     map[string]any `json:"shown,omitempty"`
}

// Controlled is a pause or its end.
type Controlled struct {
	By   string `json:"by,omitempty"`
	Note string `json:"note,omitempty"`
}

// Ending is the verdict of an execution that still has to clean up.
type Ending struct {
	Status     string `json:"status"` // completed, failed, cancelled, timed_out
	By         string `json:"by,omitempty"`
	Reason     string `json:"reason,omitempty"`
	Compensate bool   `json:"compensate,omitempty"`
	Output     any    `json:"output,omitempty"`
	Shown      any    `json:"shown,omitempty"`
	Error      *Error `json:"error,omitempty"`
}

// Ended is carried by terminal events.
type Ended struct {
	Output       any    `json:"output,omitempty"`
	Shown        any    `json:"shown,omitempty"`
	Error        *Error `json:"error,omitempty"`
	Note         string `json:"note,omitempty"`
	By           string `json:"by,omitempty"`
	Reason       string `json:"reason,omitempty"`
	Compensation string `json:"compensation,omitempty"`
}

// Retried drives an ended execution again.
type Retried struct {
	By         string         `json:"by,omitempty"`
	From       string         `json:"from,omitempty"`
	Item       string         `json:"item,omitempty"`
	Input      map[string]any `json:"input,omitempty"`
	Note       string         `json:"note,omitempty"`
	Compensate bool           `json:"compensate,omitempty"` // only the compensation is run again
	Hidden     []string       `json:"hidden,omitempty"`     // as of Created
}

// Ready holds the resolved inputs, secrets and sensitive values masked. A retry keeps those of its first
// attempt and carries none.
type Ready struct {
	Input     any `json:"input,omitempty"`
	Iteration int `json:"iteration,omitempty"`
}

// LoopStarted is carried by the start of a loop: its items are fixed from here on.
type LoopStarted struct {
	Items         []any    `json:"items"`
	Shown         []any    `json:"shown,omitempty"`
	Keys          []string `json:"keys,omitempty"` // absent = the index
	MaxConcurrent int      `json:"maxConcurrent"`
}

// Waiting says what an activity is parked for.
type Waiting struct {
	Kind     string     `json:"kind"` // timer, event, human, child, limit
	Name     string     `json:"name,omitempty"`
	Key      string     `json:"key,omitempty"`
	Where    bool       `json:"where,omitempty"` // an event has to meet a condition
	Capacity int        `json:"capacity,omitempty"`
	Until    *time.Time `json:"until,omitempty"`
	Reason   string     `json:"reason,omitempty"`
	// PerSecond is how many starts a second the limit Name allows; Capacity is 0 then.
	PerSecond float64 `json:"perSecond,omitempty"`
}

// Completed is the accepted result. A loop without outputs of its own carries none: its results are those
// of its items.
type Completed struct {
	Output    any    `json:"output,omitempty"`
	Shown     any    `json:"shown,omitempty"`
	Outcome   string `json:"outcome,omitempty"`
	Iteration int    `json:"iteration,omitempty"`
	Usage     *Usage `json:"usage,omitempty"` // of an ai activity
}

// Usage counts tokens of language models.
type Usage struct {
	Prompt     int64 `json:"promptTokens"`
	Completion int64 `json:"completionTokens"`
	Total      int64 `json:"totalTokens"`
}

// Failed is the end of an activity, of an item or of a compensation. Task and Child are what it leaves open.
type Failed struct {
	Error *Error     `json:"error"`
	Task  *uuid.UUID `json:"task,omitempty"`
	Child *uuid.UUID `json:"child,omitempty"`
}

// Skipped: when_false, branch, upstream_failed, fail_fast, join_lost.
type Skipped struct {
	Reason string `json:"reason"`
}

// Cancelled: fail_fast, join_lost, end, cancelled, timed_out. Task and Child are what it leaves open.
type Cancelled struct {
	Reason string     `json:"reason"`
	Task   *uuid.UUID `json:"task,omitempty"`
	Child  *uuid.UUID `json:"child,omitempty"`
}

// RetryScheduled follows an attempt that failed and is tried again.
type RetryScheduled struct {
	Error *Error    `json:"error"`
	Until time.Time `json:"until"`
	Delay string    `json:"delay"`
	Free  bool      `json:"free,omitempty"` // the attempt does not count
}

// RepeatScheduled follows a turn whose condition did not hold.
type RepeatScheduled struct {
	Iteration int       `json:"iteration"` // the turn to come, from 0
	Until     time.Time `json:"until"`
}

// ItemEnded is the result of an item of a loop with a graph as body or with collect.
type ItemEnded struct {
	Result any    `json:"result,omitempty"`
	Shown  any    `json:"shown,omitempty"`
	Error  *Error `json:"error,omitempty"`
}

// Timer is scheduled or fired.
type Timer struct {
	Until time.Time `json:"until"`
}

// Received is a signal or event that reached the execution. Late: its wait was over, nothing keeps it.
type Received struct {
	ID      string `json:"id,omitempty"`
	Name    string `json:"name"`
	Payload any    `json:"payload,omitempty"`
	Shown   any    `json:"shown,omitempty"`
	By      string `json:"by,omitempty"`
	Direct  bool   `json:"direct,omitempty"`
	Late    bool   `json:"late,omitempty"`
}

// Consumed says which received signal a wait took.
type Consumed struct {
	ID     string `json:"id,omitempty"`
	Name   string `json:"name"`
	Signal int64  `json:"signal"` // seq of its SignalReceived
}

// TaskCreated is a human task with everything people see of it.
type TaskCreated struct {
	Task         uuid.UUID  `json:"task"`
	Title        string     `json:"title"`
	Description  string     `json:"description,omitempty"`
	Assignee     string     `json:"assignee,omitempty"`
	Users        []string   `json:"users,omitempty"`
	Groups       []string   `json:"groups,omitempty"`
	Quorum       int        `json:"quorum,omitempty"`
	NotActor     bool       `json:"notActor,omitempty"`
	Barred       []string   `json:"barred,omitempty"`
	Data         any        `json:"data,omitempty"`
	Due          *time.Time `json:"due,omitempty"`
	AllowComment bool       `json:"allowComment,omitempty"`
}

// TaskVoted is one accepted answer, TaskDecided the one that ends the task.
type TaskVoted struct {
	Task    uuid.UUID `json:"task"`
	By      string    `json:"by"`
	Outcome string    `json:"outcome"`
	Form    any       `json:"form,omitempty"`
	Shown   any       `json:"shown,omitempty"`
	Comment string    `json:"comment,omitempty"`
	At      time.Time `json:"votedAt"`
}

// TaskDecided ends a task by people.
type TaskDecided struct {
	Task    uuid.UUID `json:"task"`
	By      string    `json:"by"`
	Outcome string    `json:"outcome"`
}

// TaskChanged is a claim, release, assignment or comment.
type TaskChanged struct {
	Task    uuid.UUID `json:"task"`
	By      string    `json:"by,omitempty"`
	To      string    `json:"to,omitempty"`
	Comment string    `json:"comment,omitempty"`
}

// TaskNotice is the n-th reminder or escalation (from 0), or the expiry with its outcome.
type TaskNotice struct {
	Task    uuid.UUID `json:"task"`
	N       int       `json:"n,omitempty"`
	Users   []string  `json:"users,omitempty"`
	Groups  []string  `json:"groups,omitempty"`
	Outcome string    `json:"outcome,omitempty"`
}

// ChildBegun is a child execution created in the transaction that records it; Joined: one that was started for
// the same key before, and that this activity only waits for.
type ChildBegun struct {
	Execution uuid.UUID      `json:"execution"`
	Workflow  string         `json:"workflow"`
	Version   int            `json:"version"`
	Input     map[string]any `json:"input,omitempty"`
	Hidden    []string       `json:"hidden,omitempty"` // names of inputs that are sensitive
	Wait      bool           `json:"wait"`
	Key       string         `json:"key,omitempty"`
	Joined    bool           `json:"joined,omitempty"`
}

// ChildOver is how a child ended.
type ChildOver struct {
	Execution uuid.UUID `json:"execution"`
	Status    string    `json:"status"`
	Error     *Error    `json:"error,omitempty"`
}

// Undone is carried by compensation events of the execution as a whole.
type Undone struct {
	Activities int    `json:"activities,omitempty"` // to undo, or not undone
	By         string `json:"by,omitempty"`
}

// PermitNamed names the limit of a permit.
type PermitNamed struct {
	Name string `json:"name"`
}

// newPayload makes an empty payload for a type, nil for a type that carries none.
func newPayload(t EventType) any {
	switch t {
	case WorkflowCreated:
		return new(Created)
	case WorkflowScheduled:
		return new(Scheduled)
	case VariablesSet:
		return new(Variables)
	case WorkflowPaused, WorkflowResumed:
		return new(Controlled)
	case WorkflowEnding:
		return new(Ending)
	case WorkflowCompleted, WorkflowFailed, WorkflowCancelled, WorkflowTimedOut, WorkflowCompensated:
		return new(Ended)
	case WorkflowRetried:
		return new(Retried)
	case ActivityReady:
		return new(Ready)
	case ActivityStarted:
		return new(LoopStarted)
	case ActivityWaiting:
		return new(Waiting)
	case ActivityCompleted:
		return new(Completed)
	case ActivityFailed, ActivityTimedOut:
		return new(Failed)
	case ActivitySkipped:
		return new(Skipped)
	case ActivityCancelled:
		return new(Cancelled)
	case ActivityRetryScheduled:
		return new(RetryScheduled)
	case ActivityRepeatScheduled:
		return new(RepeatScheduled)
	case ItemCompleted, ItemFailed, ItemCancelled:
		return new(ItemEnded)
	default:
		return newWaitPayload(t)
	}
}

func newWaitPayload(t EventType) any {
	switch t {
	case TimerScheduled, TimerFired:
		return new(Timer)
	case SignalReceived:
		return new(Received)
	case SignalConsumed:
		return new(Consumed)
	case HumanTaskCreated:
		return new(TaskCreated)
	case HumanTaskVoted:
		return new(TaskVoted)
	case HumanTaskDecided:
		return new(TaskDecided)
	case HumanTaskClaimed, HumanTaskUnclaimed, HumanTaskAssigned, HumanTaskCommented:
		return new(TaskChanged)
	case HumanTaskReminded, HumanTaskEscalated, HumanTaskExpired:
		return new(TaskNotice)
	case ChildStarted:
		return new(ChildBegun)
	case ChildCompleted, ChildFailed:
		return new(ChildOver)
	case CompensationStarted, CompensationCompleted:
		return new(Undone)
	case CompensationFailed:
		return new(Failed)
	case PermitAcquired, PermitReleased:
		return new(PermitNamed)
	}
	return nil
}
