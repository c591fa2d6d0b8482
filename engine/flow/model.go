// Package flow owns the definition of a workflow: parsing with positions, validation with hints, the
// canonical form, the JSON Schema, the graph with its edges and ports, and the difference between two
// definitions. It is pure, and it must not know executions, storage or HTTP.
package flow

import (
	"cmp"
	"time"

	"weftline/engine/expr"
)

// Activity types.
const (
	TypeHTTP     = "http"
	TypeScript   = "script"
	TypeSQL      = "sql"
	TypeEmail    = "email"
	TypeHuman    = "human"
	TypeWait     = "wait"
	TypeEvent    = "event"
	TypeEmit     = "emit"
	TypeWorkflow = "workflow"
	TypeForEach  = "for_each"
	TypeSwitch   = "switch"
	TypeSet      = "set"
	TypeWorker   = "worker"
	TypeAI       = "ai"
	TypeFail     = "fail"
	TypeEnd      = "end"
)

// Built-in ports. Switch cases, human outcomes and event ports ("received", "timeout") are named beside them.
const (
	PortSuccess = "success"
	PortFailure = "failure"
	PortDone    = "done"
	PortSkipped = "skipped"
)

// Workflow is one valid definition, typed and compiled: durations parsed, expressions compiled, defaults
// and policies merged into the activities. It is immutable and safe to share between executions.
type Workflow struct {
	Name        string
	Version     string // metadata.version, a semantic version, or ""
	Description string
	Labels      map[string]string

	Input     *Schema // never nil; the default accepts only {}
	Variables []Named // in dependency order, templates over inputs, vars, trigger, execution

	Schedules []ScheduleTrigger
	Webhooks  []WebhookTrigger
	Events    []EventTrigger

	Limits       Limits
	Mode         Mode
	Affinity     *Affinity // of activities that have none of their own; nil = anywhere
	Compensation CompensationPolicy

	Graph   *Graph  // spec.activities
	Output  []Named // bare expressions; empty = {}
	OnError *Graph  // nil when there is none
	OnExit  *Graph

	ContentHash string // hex SHA-256 of the canonical form without comments and layout
}

// Named is a name with a compiled value, in the order written unless a field says otherwise.
type Named struct {
	Name  string
	Value *expr.Value
}

// Graph is a list of activities with its edges: the workflow itself, a loop body or a hook list.
// Activities keep the author's order; an activity's Index is its place in that order.
type Graph struct {
	Activities []*Activity
	ByID       map[string]*Activity
}

// Activity is one node. Exactly the block of its type is set, the others are nil.
type Activity struct {
	ID          string // "" for the single activity of a for_each body and for a compensation
	Index       int
	Name        string
	Description string
	Type        string

	In   []Edge // one per source activity: needs on several ports of one source are one edge
	Out  []int  // indexes of the activities with an edge from this one, ascending
	Join Join

	When       *expr.Program // nil = true
	SkipPasses bool          // onSkip: pass

	Inputs  *expr.Value // never nil; spec.defaults merged under
	Outputs []Named     // bare expressions over result; nil = the whole result

	Retry          Retry
	Timeout        time.Duration // one attempt (or the wait of an event); 0 = none
	TotalTimeout   time.Duration // all attempts, pauses and repeats; 0 = none
	QueueTimeout   time.Duration // ready but not started; 0 = none
	Repeat         *Repeat
	Continues      bool // onFailure: continue
	Compensate     *Activity
	Affinity       *Affinity
	Semaphore      *Semaphore
	Priority       string // "" = the execution's
	Once           bool
	Checkpoint     bool
	IdempotencyKey *expr.Value // nil = the default key

	Human    *Human
	Wait     *Wait
	Event    *Event
	Emit     *Emit
	Workflow *Child
	ForEach  *ForEach
	Switch   *Switch
	Fail     *Fail
	End      *End

	Pos Pos
}

// Edge joins a source activity to the one that holds it. It fires when any of its ports fires.
type Edge struct {
	From  int // index of the source in the same graph
	Ports []Port
	Plain bool // some need names the bare id: the good outcome
}

// Port is one named outcome of a source that an edge waits for.
type Port struct {
	Name   string
	Errors []string // for "failure": patterns, empty = every error
}

// JoinMode says when an activity with several edges runs.
type JoinMode string

// Join modes.
const (
	JoinAll   JoinMode = "all"
	JoinEvery JoinMode = "every"
	JoinDone  JoinMode = "done"
	JoinAny   JoinMode = "any"
	JoinNOfM  JoinMode = "n_of_m"
)

// Join is the rule over the edges of one activity.
type Join struct {
	Mode       JoinMode
	N          int // n_of_m only
	CancelRest bool
}

// Retry is the effective policy: Attempts ≥ 1 counts the first try.
type Retry struct {
	Attempts int
	Strategy string // fixed, linear, exponential
	Delay    time.Duration
	MaxDelay time.Duration
	Jitter   string // full, none
	Errors   []string
	Except   []string
}

// Repeat runs an activity again until its condition holds, at most Max times.
type Repeat struct {
	Until   *expr.Program // over self, iteration
	Every   *expr.Value   // duration
	Max     int
	Backoff string // fixed, linear, exponential
}

// Affinity says where an activity may (Labels) or should (Prefer) run.
type Affinity struct {
	Labels  map[string]string
	Prefer  map[string]string
	Queue   string
	WaitFor time.Duration
}

// DefaultQueue is the queue of what names none.
const DefaultQueue = "default"

// Queue is where executions of the workflow wait for a worker.
func (w *Workflow) Queue() string {
	if w.Affinity == nil || w.Affinity.Queue == "" {
		return DefaultQueue
	}
	return w.Affinity.Queue
}

// Region is where executions of the workflow should run; "" = anywhere.
func (w *Workflow) Region() string {
	if w.Affinity == nil {
		return ""
	}
	return cmp.Or(w.Affinity.Labels["region"], w.Affinity.Prefer["region"])
}

// Semaphore is a named count of permits shared by all executions of the team.
type Semaphore struct {
	Name    string
	Permits int
	Key     *expr.Value
}

// Human is a task for a person.
type Human struct {
	Title       *expr.Value
	Description *expr.Value
	Assignee    *expr.Value
	Users       *expr.Value // list of user names, nil = none
	Groups      *expr.Value // list of groups, nil = none
	Quorum      int
	NotActor    bool
	NotSameAs   []string
	Outcomes    []string       // the first is the good one
	Form        map[string]any // JSON Schema, nil = no form
	Due         *expr.Value    // duration or instant; nil = never
	OnDue       string         // an outcome, default "expired"
	Remind      []time.Duration
	Escalate    []Escalation
	Comment     bool // allowComment, default true
	Data        *expr.Value
}

// Escalation adds candidates After the creation of the task.
type Escalation struct {
	After  time.Duration
	Users  []string
	Groups []string
}

// Wait is a durable timer: exactly one of After and At is set.
type Wait struct {
	After    *expr.Value // duration
	At       *expr.Value // instant
	Timezone string
}

// Event waits for Count events (or signals) of a name and correlation.
type Event struct {
	Name        *expr.Value
	Correlation *expr.Program // nil = ""
	Where       *expr.Program
	Count       int
	Schema      *Schema // nil = any payload
}

// Emit sends an event to the executions and triggers of the team.
type Emit struct {
	Name    *expr.Value
	Key     *expr.Program
	Payload *expr.Value
}

// Child starts an execution of another workflow.
type Child struct {
	Name      string
	Version   string // "" latest, a number, or a range over metadata.version
	Wait      bool
	Abandon   bool // onCancel: abandon
	DedupeKey *expr.Value
}

// ForEach runs a body for each item.
type ForEach struct {
	Items           *expr.Value // a list, or an expression
	As              string      // "item" when nothing is said
	Key             *expr.Program
	MaxConcurrent   *expr.Value // whole number ≥ 1
	Stop            bool        // onItemFailure: stop
	TolerateCount   int
	TolerateShare   float64 // 0..1, used when TolerateIsShare
	TolerateIsShare bool
	Activity        *Activity // a body of one activity, else nil
	Body            *Graph    // a body of several, else nil
	Collect         []Named
}

// Switch takes the first case that is true.
type Switch struct {
	Cases   []Case
	Default string // "" = none
}

// Case is a named condition.
type Case struct {
	Name string
	When *expr.Program
}

// Gate reports whether the switch is a single case without default: true fires the plain edges.
func (s *Switch) Gate() bool { return len(s.Cases) == 1 && s.Default == "" }

// Fail ends the activity as failed with an error of the author's own.
type Fail struct {
	Error   *expr.Value
	Message *expr.Value
	Detail  *expr.Value
}

// End completes the execution.
type End struct {
	Output *expr.Value // map; nil = {}
}

// Limits of one workflow; zero means none unless a field says otherwise.
type Limits struct {
	MaxConcurrent    int
	ConcurrencyKey   *expr.Program
	OnLimit          string // queue, skip, replace, reject
	QueueMax         int    // 1000
	MaxParallel      int    // 50
	MaxPerSecond     float64
	MaxMemory        int64 // bytes
	Priority         string
	Timeout          time.Duration
	OnFailFast       string // finish, cancel
	FailFast         bool   // true
	HistoryRetention time.Duration
}

// Mode says who drives an execution and how often it commits.
type Mode struct {
	Mode          string // default, server, local_sync, local_async
	MaxActivities int
	FlushEvery    time.Duration
}

// CompensationPolicy says when and how completed work is undone.
type CompensationPolicy struct {
	OnFailure, OnTimeout, OnCancel bool
	Parallel                       bool
	Stop                           bool // onError: stop
	Retry                          Retry
}

// ScheduleTrigger, WebhookTrigger and EventTrigger start executions.
type ScheduleTrigger struct {
	Cron, At              string
	Every                 time.Duration
	Timezone              string
	Input                 *expr.Value // bare expressions per key; nil = {}
	Overlap               string
	CatchUp               string
	CatchUpLimit          int
	DSTGap                string
	DSTOverlap            string
	StartDeadline, Jitter time.Duration
	Paused                bool
	Calendar              string
	Pos                   Pos
}

// WebhookTrigger starts an execution by an HTTP request.
type WebhookTrigger struct {
	Path, Method string
	AuthType     string // none, bearer, basic, hmac_sha256
	Secret       string
	Header       string
	Input        *expr.Program
	When         *expr.Program
	DedupeKey    *expr.Program
	Respond      string // accepted, result

	PathPos, AuthPos Pos // AuthPos is that of the webhook when it has no auth
}

// EventTrigger starts an execution by an event of a name.
type EventTrigger struct {
	Name      string
	When      *expr.Program
	Input     *expr.Program
	DedupeKey *expr.Program
}

// Pos is a range in the text; lines and columns count from 1, columns in Unicode code points.
type Pos struct {
	Line      int `json:"line"`
	Column    int `json:"column"`
	EndLine   int `json:"endLine"`
	EndColumn int `json:"endColumn"`
}

// Edit replaces a range of the text.
type Edit struct {
	Pos
	Text string `json:"text"`
}

// Problem is one finding about a definition, in the shape of the API.
type Problem struct {
	Path string `json:"path"` // spec.activities[5].needs[0]
	Pos
	Code     string `json:"code"`     // E204
	Severity string `json:"severity"` // error, warning
	Message  string `json:"message"`  // what and why
	Hint     string `json:"hint,omitempty"`
	Edits    []Edit `json:"edits,omitempty"`
}

// NameOf is the name of an activity, hooks and bodies of loops included; "" when it has none.
func (w *Workflow) NameOf(id string) string {
	for _, graph := range []*Graph{w.Graph, w.OnError, w.OnExit} {
		if name := graph.nameOf(id); name != "" {
			return name
		}
	}
	return ""
}

func (g *Graph) nameOf(id string) string {
	if g == nil {
		return ""
	}
	if activity := g.ByID[id]; activity != nil {
		return activity.Name
	}
	for _, activity := range g.Activities {
		for loop := activity.ForEach; loop != nil; {
			if name := loop.Body.nameOf(id); name != "" {
				return name
			}
			if loop.Activity == nil {
				break
			}
			loop = loop.Activity.ForEach
		}
	}
	return ""
}
