package execution

import "fmt"

// Statuses of an execution.
const (
	StatusCreated      = "created"
	StatusValidated    = "validated"
	StatusScheduled    = "scheduled"
	StatusRunning      = "running"
	StatusWaiting      = "waiting"
	StatusPaused       = "paused"
	StatusCompensating = "compensating"
	StatusCompleted    = "completed"
	StatusFailed       = "failed"
	StatusCancelled    = "cancelled"
	StatusCompensated  = "compensated"
	StatusTimedOut     = "timed_out"
)

// Statuses are all of them, in the order of a life.
var Statuses = []string{StatusCreated, StatusValidated, StatusScheduled, StatusRunning, StatusWaiting, StatusPaused, StatusCompensating,
	StatusCompleted, StatusFailed, StatusCancelled, StatusCompensated, StatusTimedOut}

// IsTerminal reports whether an execution of this status has ended.
func IsTerminal(status string) bool {
	switch status {
	case StatusCompleted, StatusFailed, StatusCancelled, StatusCompensated, StatusTimedOut:
		return true
	}
	return false
}

// phase is the status of one activity.
type phase uint8

const (
	pending phase = iota
	ready
	dispatched
	running
	waiting
	retrying
	completed
	failed
	timedOut
	skipped
	cancelled
	compensated
	compensationFailed
)

var phaseNames = [...]string{"pending", "ready", "dispatched", "running", "waiting", "retrying",
	"completed", "failed", "timed_out", "skipped", "cancelled", "compensated", "compensation_failed"}

func (p phase) String() string { return phaseNames[p] }

func (p phase) over() bool   { return p >= completed }
func (p phase) active() bool { return p > pending && p < completed }

// inFlight: a worker has it, or is about to.
func (p phase) inFlight() bool { return p == dispatched || p == running }

// parked: it waits for something from outside or for a timer.
func (p phase) parked() bool { return p == waiting || p == retrying }

func (p phase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

func (p *phase) UnmarshalText(text []byte) error {
	for i, name := range phaseNames {
		if name == string(text) {
			*p = phase(i)
			return nil
		}
	}
	return fmt.Errorf("unknown activity status %q", text)
}
