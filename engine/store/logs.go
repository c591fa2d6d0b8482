package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"weftline/queries"
)

// LogKey names the log of one attempt. What undoes an activity x logs as x/compensate.
type LogKey struct {
	Execution      uuid.UUID
	Activity, Item string
	Attempt        int
}

// LogLine is a line that an attempt printed; N counts from 1.
type LogLine struct {
	N      int       `json:"n"`
	At     time.Time `json:"at"`
	Stream string    `json:"stream"` // stdout, stderr, system
	Line   string    `json:"line"`
}

// AppendLog stores lines, of which there is at least one. It answers false when a batch that begins with the
// same number is there: that one is left as it is.
func (s *Store) AppendLog(ctx context.Context, key LogKey, lines []LogLine) (stored bool, err error) {
	content, err := json.Marshal(lines)
	if err != nil {
		return false, fmt.Errorf("encode lines of a log: %w", err)
	}
	n, err := s.q.AppendLog(ctx, queries.AppendLogParams{ExecutionID: key.Execution, Activity: key.Activity, Item: clean(key.Item),
		Attempt: int32(key.Attempt), FirstLine: int32(lines[0].N), Lines: pack(content)})
	return n > 0, err
}

// Log reads the lines of an attempt after the line numbered after; attempt 0 is the last one that printed
// something. attempts are those that did.
func (s *Store) Log(ctx context.Context, key LogKey, after int) (lines []LogLine, attempts []int, err error) {
	rows, err := s.q.LogAttempts(ctx, key.Execution, key.Activity, clean(key.Item))
	if err != nil {
		return nil, nil, err
	}
	for _, attempt := range rows {
		attempts = append(attempts, int(attempt))
	}
	if key.Attempt == 0 && len(attempts) > 0 {
		key.Attempt = attempts[len(attempts)-1]
	}
	batches, err := s.q.LogBatches(ctx, key.Execution, key.Activity, clean(key.Item), int32(key.Attempt))
	if err != nil {
		return nil, nil, err
	}
	for _, batch := range batches {
		content, err := unpack(batch.Lines)
		if err != nil {
			return nil, nil, err
		}
		var some []LogLine
		if err := json.Unmarshal(content, &some); err != nil {
			return nil, nil, fmt.Errorf("read a log: %w", err)
		}
		for _, line := range some {
			if line.N > after {
				lines = append(lines, line)
			}
		}
	}
	return lines, attempts, nil
}
