package execution

import "time"

// Detail is what the API, the pages and the live protocol show of one execution: a query over its state.
type Detail struct {
	Status        string                               `json:"status"`
	Input         any                                  `json:"input"`
	Output        any                                  `json:"output"`
	Error         *Error                               `json:"error"`
	Errors        []Error                              `json:"errors"`
	Note          string                               `json:"note,omitempty"` // "nothing ran"
	Compensation  string                               `json:"compensation"`   // none, running, complete, incomplete
	Variables     map[string]any                       `json:"variables"`
	Usage         *Usage                               `json:"usage,omitempty"` // tokens of all ai activities
	CorrelationID string                               `json:"correlationId"`
	Labels        map[string]string                    `json:"labels"`
	Priority      string                               `json:"priority"`
	Deadline      *time.Time                           `json:"deadline"`
	Mode          string                               `json:"mode"`
	StartedBy     string                               `json:"startedBy"`
	Trigger       map[string]any                       `json:"trigger"`
	StartedAt     *time.Time                           `json:"startedAt"`
	UpdatedAt     time.Time                            `json:"updatedAt"`
	FinishedAt    *time.Time                           `json:"finishedAt"`
	LastSeq       int64                                `json:"lastSeq"`
	Activities    map[string]ActivityDetail            `json:"activities"`
	Hooks         map[string]map[string]ActivityDetail `json:"hooks"` // onError, onExit
	Waits         []WaitDetail                         `json:"waits"`
}

// ActivityDetail is one activity (or one item of a loop body).
type ActivityDetail struct {
	Status     string       `json:"status"`
	Attempt    int          `json:"attempt"`
	StartedAt  *time.Time   `json:"startedAt"`
	FinishedAt *time.Time   `json:"finishedAt"`
	Output     any          `json:"output"`
	Outcome    string       `json:"outcome,omitempty"`
	Error      *Error       `json:"error,omitempty"`
	SkipReason string       `json:"skipReason,omitempty"`
	Input      any          `json:"input,omitempty"`
	Items      *ItemsDetail `json:"items,omitempty"`

	Compensation *CompensationDetail `json:"compensation,omitempty"`
}

// CompensationDetail is the activity that undoes another.
type CompensationDetail struct {
	Status     string     `json:"status"`
	Attempt    int        `json:"attempt"`
	StartedAt  *time.Time `json:"startedAt"`
	FinishedAt *time.Time `json:"finishedAt"`
	Error      *Error     `json:"error,omitempty"`
}

// ItemsDetail sums up a for_each: counts, and the items that are not simply completed.
type ItemsDetail struct {
	Total     int          `json:"total"`
	Completed int          `json:"completed"`
	Failed    int          `json:"failed"`
	Running   int          `json:"running"`
	Waiting   int          `json:"waiting"`
	List      []ItemDetail `json:"list"` // at most 100
}

// ItemDetail is one item of a for_each.
type ItemDetail struct {
	Key        string                    `json:"key"`
	Index      int                       `json:"index"`
	Status     string                    `json:"status"`
	Error      *Error                    `json:"error,omitempty"`
	Activities map[string]ActivityDetail `json:"activities,omitempty"`
}

// WaitDetail says what is parked, why, since when and until when.
type WaitDetail struct {
	Activity  string     `json:"activity"`
	Item      string     `json:"item,omitempty"`
	Kind      string     `json:"kind"` // timer, event, human, child, retry, limit, queue
	Since     time.Time  `json:"since"`
	Until     *time.Time `json:"until,omitempty"`
	Name      string     `json:"name,omitempty"`
	Key       string     `json:"key,omitempty"`
	Task      string     `json:"task,omitempty"`
	Execution string     `json:"execution,omitempty"`
	Position  int64      `json:"position,omitempty"` // of kind queue: place in the line of the team, from 1
	Reason    string     `json:"reason"`
}
