package queue

import "slices"

// States of a worker. Offline is not stored: it is a worker whose heartbeat is older than the lease. Starting
// is a process before it reaches the database; nobody but itself sees it.
const (
	StateOffline     = "offline"
	StateStarting    = "starting"
	StateRegistering = "registering"
	StateIdle        = "idle"
	StateBusy        = "busy"
	StateDraining    = "draining"
	StateStopped     = "stopped"
)

// moves says which state may follow which; nothing follows stopped, a new start is a new worker.
var moves = map[string][]string{
	StateOffline:     {StateStarting, StateIdle, StateBusy, StateDraining, StateStopped},
	StateStarting:    {StateRegistering, StateStopped},
	StateRegistering: {StateIdle, StateBusy, StateDraining, StateStopped, StateOffline},
	StateIdle:        {StateBusy, StateDraining, StateStopped, StateOffline},
	StateBusy:        {StateIdle, StateDraining, StateStopped, StateOffline},
	StateDraining:    {StateStopped, StateOffline},
	StateStopped:     {},
}

// MayMove reports whether a worker may go from one state to another; staying is always allowed, except that a
// stopped worker says nothing any more.
func MayMove(from, to string) bool {
	return from == to && from != StateStopped || slices.Contains(moves[from], to)
}

// Working is the state of a worker that is alive and has been asked to stop or not.
func Working(active int, draining bool) string {
	switch {
	case draining:
		return StateDraining
	case active > 0:
		return StateBusy
	}
	return StateIdle
}
