// Package engine is the one door of the application to workflows and executions: publish, start, signal,
// cancel, query, watch, decide. It owns the wiring of store, queue, workers and timers; it must not know
// HTTP, cookies or pages.
package engine

import (
	"context"
	"time"

	"github.com/google/uuid"

	"weftline/engine/execution"
	"weftline/engine/flow"
	"weftline/engine/rehearse"
)

// Who asks: the team comes from the credential alone.
type Who struct {
	Team     uuid.UUID
	TeamName string
	User     string    // the stable name shown in histories, e.g. "ann"
	Person   uuid.UUID // who is behind it; zero for a service account and the server itself
	Groups   []string  // groups within the team, for human tasks
	Roles    []string  // viewer, operator, author, reviewer, admin
	Scopes   []string  // of a token; empty for a session
	Via      string    // name of the token, for the audit; empty for a session
	Address  string    // where from, for the audit
	Request  string    // request id
}

// Door is everything the application may ask of the engine. Every error is an *Error where it has a
// meaning for the caller; anything else is an internal fault.
type Door interface {
	Definitions
	Presence
	Runs
	Tasks
	Triggers
	Teams
	Reviews
	Files
	Watcher
	RemoteWorkers
}

// Definitions are workflows, drafts and versions.
type Definitions interface {
	Validate(ctx context.Context, text []byte) flow.Report
	Workflows(ctx context.Context, who Who, filter WorkflowFilter) (Page[Workflow], error)
	Workflow(ctx context.Context, who Who, name string) (Workflow, error)
	// SaveDraft keeps any text, also one that is not YAML. ifMatch is the etag the caller has, "" with
	// create for the first save. A stale etag is a *Error stale that carries the other side's draft.
	SaveDraft(ctx context.Context, who Who, name string, text []byte, ifMatch string, create bool) (Draft, error)
	Draft(ctx context.Context, who Who, name string) (Draft, error)
	Publish(ctx context.Context, who Who, name, message string) (version Version, created bool, err error)
	Unpublish(ctx context.Context, who Who, name string) error
	Versions(ctx context.Context, who Who, name string, page PageRequest) (Page[Version], error)
	Version(ctx context.Context, who Who, name string, number int) (Version, error)
	Restore(ctx context.Context, who Who, name string, number int) (Draft, error)
	// Diff compares two sides, each a version number, "draft" or "published".
	Diff(ctx context.Context, who Who, name, from, to string) (Diff, error)
	// Plan shows the path that an input takes, without any effect.
	Plan(ctx context.Context, who Who, name string, request PlanRequest) (rehearse.Planned, error)
	// Try makes one attempt of one activity for real, outside any execution.
	Try(ctx context.Context, who Who, name string, request TryRequest) (Tried, error)
	// Evaluate shows what an expression gives, on a past execution or on pinned data.
	Evaluate(ctx context.Context, who Who, name string, request EvaluateRequest) (Evaluated, error)
	// Tests lists the cases of the WorkflowTest documents beside a workflow, RunTests runs them.
	Tests(ctx context.Context, who Who, name string) ([]TestCase, error)
	RunTests(ctx context.Context, who Who, name string, request TestRequest) (rehearse.Report, error)
	// KeepTest makes a test case of an ended execution, in the draft.
	KeepTest(ctx context.Context, who Who, execution uuid.UUID, name string) (KeptTest, error)
}

// Presence is who works on which workflow now, on any replica. Whoever begins has to be kept every EditorsKept.
type Presence interface {
	Editors(ctx context.Context, who Who, workflow string) ([]Editor, error)
	BeginEditing(ctx context.Context, who Who, workflow, socket string) error
	PointEditing(ctx context.Context, who Who, workflow, socket, activity string) error
	EndEditing(ctx context.Context, who Who, workflow, socket string) error
	KeepEditing(ctx context.Context, sockets []string) error
}

// Runs are executions.
type Runs interface {
	Start(ctx context.Context, who Who, request StartRequest) (Started, error)
	StartBatch(ctx context.Context, who Who, workflow string, version int, items []StartRequest) ([]uuid.UUID, error)
	Executions(ctx context.Context, who Who, filter ExecutionFilter) (Page[ExecutionSummary], error)
	Execution(ctx context.Context, who Who, id uuid.UUID) (ExecutionDetail, error)
	StateAt(ctx context.Context, who Who, id uuid.UUID, seq int64) (ExecutionDetail, error)
	Events(ctx context.Context, who Who, id uuid.UUID, after int64, limit int) (EventPage, error)
	ActivityLog(ctx context.Context, who Who, id uuid.UUID, activity string, request LogRequest) (ActivityLog, error)
	// Definition is the text of the version that the execution runs on.
	Definition(ctx context.Context, who Who, id uuid.UUID) (Version, error)
	Cancel(ctx context.Context, who Who, id uuid.UUID, reason string, compensate *bool) error
	Pause(ctx context.Context, who Who, id uuid.UUID) error
	Resume(ctx context.Context, who Who, id uuid.UUID) error
	Retry(ctx context.Context, who Who, id uuid.UUID, request execution.Retry) error
	Compensate(ctx context.Context, who Who, id uuid.UUID) error
	// Release lets a quarantined execution be driven again; conflict when it is not quarantined.
	Release(ctx context.Context, who Who, id uuid.UUID, note string) error
	Signal(ctx context.Context, who Who, id uuid.UUID, name string, payload any, signalID string) error
	PostEvent(ctx context.Context, who Who, event PostedEvent) (PostedResult, error)
	// Replay folds an exported history without effects.
	Replay(ctx context.Context, who Who, history []byte) (ExecutionDetail, error)
	Queue(ctx context.Context, who Who, by string) ([]QueueRow, error)
	// Pressure says whether starts are held back because too much is waiting.
	Pressure() Pressure
	Workers(ctx context.Context, who Who) ([]Worker, error)
}

// Tasks are human tasks.
type Tasks interface {
	Tasks(ctx context.Context, who Who, filter TaskFilter) (Page[Task], error)
	Task(ctx context.Context, who Who, id uuid.UUID) (Task, error)
	CompleteTask(ctx context.Context, who Who, id uuid.UUID, answer Answer) (status string, err error)
	ClaimTask(ctx context.Context, who Who, id uuid.UUID) error
	UnclaimTask(ctx context.Context, who Who, id uuid.UUID) error
	AssignTask(ctx context.Context, who Who, id uuid.UUID, user string) error
	CommentTask(ctx context.Context, who Who, id uuid.UUID, body string) error
	DraftTask(ctx context.Context, who Who, id uuid.UUID, form any) error
}

// Watcher tells about changes: a hint, never the truth.
type Watcher interface {
	// Watch calls f, from any goroutine and without blocking for long, after a change of the team was
	// committed on any replica. stop ends it.
	Watch(team uuid.UUID, f func(Change)) (stop func())
}

// Change is a hint that something moved; fields that do not apply are zero.
type Change struct {
	Team      uuid.UUID
	Execution uuid.UUID
	Workflow  string
	LastSeq   int64
	Status    string
	Tasks     bool   // tasks of the team changed
	Drafts    bool   // a draft or version of Workflow changed
	Work      bool   // attempts were offered to workers
	Access    bool   // who may do what changed: credentials must be looked at again
	Log       string // an attempt of this activity of Execution printed something
}

// PageRequest asks for a part of a list; Limit 0 is 50, at most 500.
type PageRequest struct {
	Limit  int
	Cursor string
}

// Page is a part of a list, stable under concurrent inserts.
type Page[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"nextCursor"`
}

// WorkflowFilter narrows the list of workflows.
type WorkflowFilter struct {
	PageRequest
	Labels map[string]string
	Query  string
}

// Workflow is one workflow of a team.
type Workflow struct {
	Name             string             `json:"name"`
	Title            string             `json:"title"` // description's first line, else the name
	Description      string             `json:"description,omitempty"`
	Labels           map[string]string  `json:"labels"`
	PublishedVersion *int               `json:"publishedVersion"`
	HasDraft         bool               `json:"hasDraft"`
	OpenProposals    int                `json:"openProposals"`
	UpdatedAt        time.Time          `json:"updatedAt"`
	UpdatedBy        string             `json:"updatedBy,omitempty"`
	Schedule         any                `json:"schedule,omitempty"`       // one workflow only
	LastExecutions   []ExecutionSummary `json:"lastExecutions,omitempty"` // newest first
}

// Draft is the text being worked on, exactly as saved.
type Draft struct {
	Name     string         `json:"name"`
	Text     string         `json:"-"`
	LastGood []byte         `json:"-"` // the last text that could be drawn, while this one cannot be
	ETag     string         `json:"etag"`
	Valid    bool           `json:"valid"`
	Errors   []flow.Problem `json:"errors"`
	Warnings []flow.Problem `json:"warnings"`
	By       string         `json:"by,omitempty"`
	At       time.Time      `json:"updatedAt"`
}

// Version is a published definition. Its content never changes; what is written beside it may.
type Version struct {
	Workflow    string    `json:"workflow"`
	Version     int       `json:"version"`
	ContentHash string    `json:"contentHash"`
	Label       string    `json:"label,omitempty"` // metadata.version
	Message     string    `json:"message,omitempty"`
	By          string    `json:"publishedBy,omitempty"`
	At          time.Time `json:"publishedAt"`
	Text        string    `json:"-"`
}

// Diff is what changes between two sides.
type Diff struct {
	From     string        `json:"from"`
	To       string        `json:"to"`
	Text     string        `json:"text"` // unified diff
	Changes  []flow.Change `json:"changes"`
	Affects  Affects       `json:"affects"`
	FromText string        `json:"-"`
	ToText   string        `json:"-"`
}

// Affects counts what runs on the workflow now.
type Affects struct {
	Running     int            `json:"running"`
	Waiting     int            `json:"waiting"`
	OpenTasks   int            `json:"openTasks"`
	Schedules   int            `json:"schedules"`
	PerActivity map[string]int `json:"perActivity"`
}

// PlanRequest asks which path an input takes. Mocks are written as in a WorkflowTest.
type PlanRequest struct {
	Definition string         `json:"definition"` // "" = the draft, else the published version
	Input      map[string]any `json:"input"`
	Mocks      map[string]any `json:"mocks"`
	StartedAt  time.Time      `json:"startedAt"` // what the clock shows; absent = the start of 2026
}

// TryRequest asks for one attempt of one activity, with its effects. What comes before it is rehearsed with the
// mocks, which are written as in a WorkflowTest.
type TryRequest struct {
	Definition string         `json:"definition"` // "" = the draft, else the published version
	Activity   string         `json:"activity"`
	Item       string         `json:"item,omitempty"` // of a loop; "" = its first one
	Input      map[string]any `json:"input"`
	Mocks      map[string]any `json:"mocks"`
	Before     []string       `json:"before,omitempty"` // activities before it that are tried for real too; the others give what is mocked
	Effects    bool           `json:"effects"`          // has to be true: whoever asks knows that something happens
}

// TriedStep is what an attempt came to. Its inputs and outputs are masked as in an execution.
type TriedStep struct {
	rehearse.PlannedStep
	Took string    `json:"took"`
	Log  []LogLine `json:"log"`
}

// Tried is what the activity came to that was asked for, by its attempt or by what was tried before it.
type Tried struct {
	TriedStep
	Before   []TriedStep      `json:"before,omitempty"`   // in the order in which they were tried
	Problems []rehearse.Fault `json:"problems,omitempty"` // why it was not reached after those
}

// EvaluateRequest asks what one expression gives at an activity: on what an execution of the workflow left, or
// else on what a plan with the input and the mocks leaves.
type EvaluateRequest struct {
	Expression string         `json:"expression"`
	Template   bool           `json:"template"`           // a text with ${{ }} in it, not a bare expression
	Activity   string         `json:"activity,omitempty"` // "" = the execution itself
	Item       string         `json:"item,omitempty"`     // of a loop; "" = its first one
	Execution  *uuid.UUID     `json:"execution,omitempty"`
	Definition string         `json:"definition,omitempty"` // of a plan; "" = the draft, else the published version
	Input      map[string]any `json:"input,omitempty"`
	Mocks      map[string]any `json:"mocks,omitempty"`
}

// Evaluated is the value of an expression, or why it has none. Sensitive values are masked before they are
// computed with.
type Evaluated struct {
	Value     any              `json:"value"`
	Kind      string           `json:"kind,omitempty"`      // null, boolean, number, text, list or object
	Truncated bool             `json:"truncated,omitempty"` // the value is too large to be shown: it is the beginning of its JSON
	Error     *ExpressionError `json:"error,omitempty"`
}

// ExpressionError is why an expression has no value; line and column count from 1 within the text that was sent.
type ExpressionError struct {
	Code      string `json:"code,omitempty"`
	Message   string `json:"message"`
	Hint      string `json:"hint,omitempty"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	EndLine   int    `json:"endLine,omitempty"`
	EndColumn int    `json:"endColumn,omitempty"`
}

// TestCase names a case of a WorkflowTest; Line is where it stands in the text.
type TestCase struct {
	Name string `json:"name"`
	Line int    `json:"line"`
}

// TestRequest asks for a run of test cases.
type TestRequest struct {
	Definition string `json:"definition"` // "" = the draft, else the published version
	Case       string `json:"case"`       // "" = all
	Replay     bool   `json:"replay"`     // fold the history anew after each move
}

// StartRequest starts one execution.
type StartRequest struct {
	Workflow       string            `json:"-"`
	Input          any               `json:"input"`
	Version        int               `json:"version,omitempty" least:"1"` // absent, here 0 = latest published
	CorrelationID  string            `json:"correlationId,omitempty"`
	Priority       string            `json:"priority,omitempty"`
	Deadline       *time.Time        `json:"deadline,omitempty"`
	StartAt        *time.Time        `json:"startAt,omitempty"`
	StartAfter     string            `json:"startAfter,omitempty"` // duration
	Labels         map[string]string `json:"labels,omitempty"`
	IdempotencyKey string            `json:"idempotencyKey,omitempty"`
	Trigger        map[string]any    `json:"-"` // {type: api, …}; nil = api
	Hidden         []string          `json:"-"` // inputs that are sensitive although the schema does not say so
	Sensitive      bool              `json:"-"` // the trigger holds a sensitive value
}

// Started answers a start. Skipped: the workflow's limit said skip, nothing was started.
type Started struct {
	ID       uuid.UUID `json:"id"`
	Workflow string    `json:"workflow"`
	Version  int       `json:"version"`
	Status   string    `json:"status"`
	Skipped  bool      `json:"skipped,omitempty"`
}

// ExecutionFilter narrows the list of executions, newest first.
type ExecutionFilter struct {
	PageRequest
	Workflow                                  string
	Status                                    []string
	Version                                   int
	CorrelationID                             string
	Labels                                    map[string]string
	StartedAfter, StartedBefore, UpdatedAfter *time.Time
	Sort                                      string
	Query                                     string
}

// ExecutionSummary is a line of the list.
type ExecutionSummary struct {
	ID            uuid.UUID         `json:"id"`
	Workflow      string            `json:"workflow"`
	Version       int               `json:"version"`
	Status        string            `json:"status"`
	CorrelationID string            `json:"correlationId,omitempty"`
	Labels        map[string]string `json:"labels"`
	Priority      string            `json:"priority"`
	StartedBy     string            `json:"startedBy"`
	Error         *execution.Error  `json:"error,omitempty"`
	StartedAt     time.Time         `json:"startedAt"`
	UpdatedAt     time.Time         `json:"updatedAt"`
	FinishedAt    *time.Time        `json:"finishedAt"`
	WaitsFor      []WaitSummary     `json:"waitsFor,omitempty"` // while it waits: people first, then events, then what ends by itself, the soonest first
}

// WaitSummary is one thing that an execution waits for; its snapshot says more.
type WaitSummary = execution.WaitBrief

// ExecutionDetail is the snapshot of one execution in the shape of the API. Its run part comes from the
// pure core (execution.Detail), the rest from the row.
type ExecutionDetail struct {
	ID          uuid.UUID   `json:"id"`
	Workflow    string      `json:"workflow"`
	Version     int         `json:"version"`
	Team        string      `json:"team"`
	Parent      *uuid.UUID  `json:"parent"`
	OwnerWorker *string     `json:"ownerWorker"`
	OwnerHost   string      `json:"ownerHost,omitempty"` // of the worker that drives it
	SavedAt     *time.Time  `json:"savedAt,omitempty"`   // while one does: when what it did was last stored
	ContentHash string      `json:"contentHash"`
	Quarantine  *Quarantine `json:"quarantine,omitempty"`
	execution.Detail
}

// Quarantine says that nobody drives an execution until a person releases it, since it brought down the processes
// that did.
type Quarantine struct {
	Since  time.Time `json:"since"`
	Reason string    `json:"reason"`
}

// EventPage is a part of a history.
type EventPage struct {
	Events   []execution.Event `json:"events"`
	LastSeq  int64             `json:"lastSeq"`
	Terminal bool              `json:"terminal"`
}

// PostedEvent is an event by business key.
type PostedEvent struct {
	Name        string `json:"name"`
	Correlation string `json:"correlation"`
	Payload     any    `json:"payload"`
	EventID     string `json:"eventId,omitempty"`
}

// PostedResult says how many waits and triggers it reached; Kept until is set when it reached none.
type PostedResult struct {
	Matched   int        `json:"matched"`
	ID        string     `json:"id"`
	KeptUntil *time.Time `json:"keptUntil,omitempty"`
}

// QueueRow is a line of the queue's depth.
type QueueRow struct {
	Key       string  `json:"key"`
	Depth     int     `json:"depth"`
	Leased    int     `json:"leased"`
	Unserved  int     `json:"unserved,omitempty"` // of depth: no worker that is alive takes them
	OldestAge float64 `json:"oldestReadySeconds"`
	Owner     string  `json:"owner,omitempty"`
}

// Worker is one member of the worker registry.
type Worker struct {
	ID            uuid.UUID         `json:"id"`
	Kind          string            `json:"kind"` // replica or remote
	Hostname      string            `json:"hostname"`
	Version       string            `json:"version"`
	State         string            `json:"state"` // offline, starting, registering, idle, busy, draining, stopped
	Region        string            `json:"region,omitempty"`
	Zone          string            `json:"zone,omitempty"`
	Architecture  string            `json:"architecture,omitempty"`
	CPU           int               `json:"cpu"`    // cores
	Memory        int64             `json:"memory"` // bytes
	Labels        map[string]string `json:"labels"`
	Activities    []string          `json:"activities"`      // what it can run
	Teams         []string          `json:"teams,omitempty"` // that it works for, by name; none = all, as with what follows
	Workflows     []string          `json:"workflows,omitempty"`
	Queues        []string          `json:"queues"`
	Concurrency   int               `json:"concurrency"`
	Active        int               `json:"activeExecutions"`
	Leases        int               `json:"leases"`
	QueueLength   int               `json:"queueLength"` // attempts that wait in it for a slot
	CPUUsage      float64           `json:"cpuUsage"`    // share of its cores, 0 to 1
	MemoryUsage   float64           `json:"memoryUsage"` // share of its memory, 0 to 1
	LastActivity  string            `json:"lastCompletedActivity,omitempty"`
	RegisteredBy  string            `json:"registeredBy,omitempty"` // of a remote worker
	StartedAt     time.Time         `json:"startedAt"`
	LastHeartbeat time.Time         `json:"lastHeartbeat"`
}

// TaskFilter narrows the inbox.
type TaskFilter struct {
	PageRequest
	Status    string
	Execution *uuid.UUID
	Assignee  string // "me" or a user
	Group     string
	Workflow  string
	Overdue   bool
	Query     string
}

// Task is a human task.
type Task struct {
	ID           uuid.UUID      `json:"id"`
	Execution    uuid.UUID      `json:"execution"`
	Workflow     string         `json:"workflow"`
	Activity     string         `json:"activity"`
	Item         string         `json:"item,omitempty"`
	Title        string         `json:"title"`
	Description  string         `json:"description"`
	Form         map[string]any `json:"form"` // JSON Schema or null
	Data         any            `json:"data"`
	Draft        any            `json:"draft,omitempty"`
	Status       string         `json:"status"` // open, done, expired, cancelled
	Outcome      string         `json:"outcome,omitempty"`
	Assignee     *string        `json:"assignee"`
	Candidates   Candidates     `json:"candidates"`
	Quorum       int            `json:"quorum"`
	Outcomes     []string       `json:"outcomes"`
	AllowComment bool           `json:"allowComment"`
	Decisions    []Decision     `json:"decisions"`
	Due          *time.Time     `json:"due"`
	ExpiresAt    *time.Time     `json:"expiresAt"`
	CreatedAt    time.Time      `json:"createdAt"`
	History      []TaskEvent    `json:"history"`
	Requester    string         `json:"requester"`
	MayDecide    bool           `json:"mayDecide"` // the asker may answer it now
	WhyNot       string         `json:"whyNot,omitempty"`
}

// Candidates may decide a task.
type Candidates struct {
	Users  []string `json:"users"`
	Groups []string `json:"groups"`
}

// Decision is one accepted vote.
type Decision struct {
	By       string    `json:"by"`
	Decision string    `json:"decision"`
	Form     any       `json:"form,omitempty"`
	Comment  string    `json:"comment,omitempty"`
	At       time.Time `json:"at"`
}

// TaskEvent is a line of a task's history: created, claimed, unclaimed, assigned, commented, voted, decided…
type TaskEvent struct {
	At   time.Time `json:"at"`
	Kind string    `json:"kind"`
	By   string    `json:"by,omitempty"`
	Text string    `json:"text,omitempty"`
}

// Answer decides a task.
type Answer struct {
	Decision string `json:"decision"`
	Form     any    `json:"form,omitempty"`
	Comment  string `json:"comment,omitempty"`
}
