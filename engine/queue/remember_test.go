package queue

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/queries"
)

// Whoever was left in line is found by the next claim, however far the others have got.
func TestALineIsDoneUpToTheFirstWhoWasLeft(t *testing.T) {
	q, noon := New(nil, uuid.New(), Serving{}, nil, nil), time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	one, other := uuid.New(), uuid.New()
	row := func(team uuid.UUID, minute int) queries.ClaimReadyRow {
		return queries.ClaimReadyRow{ExecutionID: uuid.New(), TeamID: team, Turn: noon.Add(time.Duration(minute) * time.Minute)}
	}
	rows := []queries.ClaimReadyRow{row(one, 1), row(one, 2), row(one, 9), row(other, 3), row(other, 4)}
	q.remember(rows, []Claim{{Execution: rows[0].ExecutionID}, {Execution: rows[2].ExecutionID}, {Execution: rows[3].ExecutionID}, {Execution: rows[4].ExecutionID}})
	if got := q.done[one].Sub(noon); got != 2*time.Minute {
		t.Errorf("a line with somebody left at minute 2 is done up to %s", got)
	}
	if got := q.done[other].Sub(noon); got != 4*time.Minute {
		t.Errorf("a line of which all were taken up to minute 4 is done up to %s", got)
	}
}
