// Package workers owns the page of the fleet and the queue. It must not know how either is measured.
package workers

import (
	"strings"
	"time"

	"weftline/views/state"
)

// View is the page.
type View struct {
	Now     time.Time
	Workers []Worker
	By      string // what the queue is grouped by
	Queue   []Lane
}

// Worker is one member of the fleet.
type Worker struct {
	Name, Version, Place string // host, build, region and zone
	Look                 state.Look
	Remote               bool // it polls over HTTP
	Active, Concurrency  int
	Leases, Waiting      int // what it holds; attempts that wait in it for a slot
	Machine, Usage       string
	Serves               []Names // none = everything
	Activities           []string
	Labels               []string
	SeenAt               time.Time
}

// Names are the teams, workflows or queues that alone a worker works for.
type Names struct {
	Of    string // the kind, in the plural
	Names []string
}

// Lane is one line of the queue.
type Lane struct {
	Key, Owner    string
	Depth, Leased int
	Unserved      int    // of depth: no worker that is alive takes them
	Oldest        string // "" when nothing waits
}

// Groupings are what the queue can be grouped by.
var Groupings = []string{"workflow", "partition", "priority", "queue", "team"}

// Heading is the head of the column that the queue is grouped by.
func (v View) Heading() string { return strings.ToUpper(v.By[:1]) + v.By[1:] }
