package engine

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"weftline/engine/store"
)

// LogRequest chooses lines of an activity's log. Attempt 0 is the last one that printed something; After is the
// number of the last line that is known.
type LogRequest struct {
	Item    string
	Attempt int
	After   int
}

// LogLine is a line that an attempt printed; N counts from 1.
type LogLine = store.LogLine

// ActivityLog is what one attempt printed: at most 64 KiB, the last line says when there was more.
type ActivityLog struct {
	Activity string    `json:"activity"`
	Item     string    `json:"item,omitempty"`
	Attempt  int       `json:"attempt"`
	Attempts []int     `json:"attempts"` // those that printed something
	Lines    []LogLine `json:"lines"`
	Last     int       `json:"last"` // number of the last line; what comes later is after it
}

// ActivityLog reads what an attempt of an activity printed.
func (r *runs) ActivityLog(ctx context.Context, who Who, id uuid.UUID, activity string, request LogRequest) (ActivityLog, error) {
	if _, err := r.row(ctx, who, id); err != nil {
		return ActivityLog{}, err
	}
	key := store.LogKey{Execution: id, Activity: activity, Item: request.Item, Attempt: request.Attempt}
	lines, attempts, err := r.store.Log(ctx, key, request.After)
	if err != nil {
		return ActivityLog{}, fmt.Errorf("read the log of %s: %w", activity, err)
	}
	log := ActivityLog{Activity: activity, Item: request.Item, Attempt: request.Attempt, Attempts: attempts, Lines: lines, Last: request.After}
	if log.Attempt == 0 && len(attempts) > 0 {
		log.Attempt = attempts[len(attempts)-1]
	}
	if len(lines) > 0 {
		log.Last = lines[len(lines)-1].N
	}
	if log.Attempts == nil {
		log.Attempts = []int{}
	}
	if log.Lines == nil {
		log.Lines = []LogLine{}
	}
	return log, nil
}
