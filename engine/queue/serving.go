package queue

import (
	"fmt"
	"slices"
	"strings"
)

// Serving is what a pool works for. Teams (by their names), Workflows and Queues empty are all of them; an
// execution must be of each.
type Serving struct {
	Partitions []int16 // that it claims executions from
	Teams      []string
	Workflows  []string
	Queues     []string
	Every      bool // Partitions are all that there are
}

// All reports whether it is everything.
func (s Serving) All() bool {
	return s.Every && len(s.Teams)+len(s.Workflows)+len(s.Queues) == 0
}

// Lane is what a Serving looks at of an execution.
type Lane struct {
	Partition             int16
	Team, Workflow, Queue string
}

// Takes reports whether a pool drives the executions of a lane.
func (s Serving) Takes(l Lane) bool {
	return slices.Contains(s.Partitions, l.Partition) && anyOrNamed(s.Teams, l.Team) && anyOrNamed(s.Workflows, l.Workflow) && anyOrNamed(s.Queues, l.Queue)
}

func anyOrNamed(names []string, name string) bool {
	return len(names) == 0 || slices.Contains(names, name)
}

// pool is the same text for all workers that serve the same.
func (s Serving) pool() string {
	var parts []string
	for _, names := range [][]string{s.Teams, s.Workflows, s.Queues} {
		parts = append(parts, fmt.Sprintf("%q", slices.Sorted(slices.Values(names))))
	}
	return fmt.Sprint(strings.Join(parts, " "), slices.Sorted(slices.Values(s.Partitions)))
}

// list is a parameter of a statement: never null.
func list(names []string) []string { return append([]string{}, names...) }
