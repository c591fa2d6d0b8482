// Package order decides who is next: each policy is one pure function from what waits to a line. The same
// entries at the same instant give the same line on every replica. It must not know where entries come from.
package order

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Entry is an execution that is ready and has no owner.
type Entry struct {
	Execution uuid.UUID // of version 7: ids are in the order in which executions were created
	Team      uuid.UUID
	Priority  string
	Since     time.Time // since when it is ready
	Deadline  time.Time // zero = none
	Weight    int       // of its team, for WeightedFair; 0 counts as 1
	Region    string    // where it should run, "" = anywhere; for balancing alone
}

// Policy puts entries in line. running is how many executions of each team are being driven already.
type Policy func(entries []Entry, running map[uuid.UUID]int, now time.Time) []Entry

// policies by their names in the configuration.
var policies = map[string]Policy{
	"fifo":          FIFO,
	"priority":      Priority,
	"deadline":      Deadline,
	"weighted_fair": WeightedFair,
	"tenant_aware":  TenantAware,
}

// names are those of the policies, the default first.
var names = []string{"tenant_aware", "weighted_fair", "priority", "deadline", "fifo"}

// Extend adds a policy of one's own under a name that --scheduling then takes. It is called before the
// configuration is read, as from an init function.
func Extend(name string, policy Policy) {
	policies[name] = policy
	names = append(names, name)
}

// Names lists the policies.
func Names() []string { return slices.Clone(names) }

// Named finds a policy.
func Named(name string) (Policy, error) {
	if policy, ok := policies[name]; ok {
		return policy, nil
	}
	return nil, fmt.Errorf("there is no scheduling policy %q: choose one of %s", name, strings.Join(Names(), ", "))
}

// FIFO takes whoever has been ready longest.
func FIFO(entries []Entry, _ map[uuid.UUID]int, _ time.Time) []Entry {
	return sorted(entries, func(a, b Entry) int { return a.Since.Compare(b.Since) })
}

// Priority takes the highest aged priority, then the earliest deadline, then the oldest execution.
func Priority(entries []Entry, _ map[uuid.UUID]int, now time.Time) []Entry {
	return sorted(entries, byUrgency(now))
}

// Deadline takes the earliest deadline; what has none comes after all that has, by aged priority.
func Deadline(entries []Entry, _ map[uuid.UUID]int, now time.Time) []Entry {
	urgency := byUrgency(now)
	return sorted(entries, func(a, b Entry) int { return cmp.Or(byDeadline(a, b), urgency(a, b)) })
}

// TenantAware gives teams turns: first whoever has the fewest executions running. Within a team it is Priority.
func TenantAware(entries []Entry, running map[uuid.UUID]int, now time.Time) []Entry {
	return inTurns(entries, running, now, func(Entry) int { return 1 })
}

// WeightedFair gives teams turns in proportion to their weights. Within a team it is Priority.
func WeightedFair(entries []Entry, running map[uuid.UUID]int, now time.Time) []Entry {
	return inTurns(entries, running, now, func(e Entry) int { return max(1, e.Weight) })
}

// inTurns orders by the share that a team would have with this entry: the turns it had, this one included, for
// each unit of its weight.
func inTurns(entries []Entry, running map[uuid.UUID]int, now time.Time, weight func(Entry) int) []Entry {
	line := Priority(entries, nil, now)
	turns := make(map[uuid.UUID]int, len(running))
	share := make(map[uuid.UUID]float64, len(line))
	for _, e := range line {
		turns[e.Team]++
		share[e.Execution] = float64(running[e.Team]+turns[e.Team]) / float64(weight(e))
	}
	urgency := byUrgency(now)
	return sorted(line, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(share[a.Execution], share[b.Execution]), urgency(a, b))
	})
}

// sorted is a new slice in an order that ends with the id, so that no two entries are equal.
func sorted(entries []Entry, compare func(a, b Entry) int) []Entry {
	line := slices.Clone(entries)
	slices.SortFunc(line, func(a, b Entry) int {
		return cmp.Or(compare(a, b), bytes.Compare(a.Execution[:], b.Execution[:]))
	})
	return line
}

func byUrgency(now time.Time) func(a, b Entry) int {
	return func(a, b Entry) int {
		return cmp.Or(cmp.Compare(Level(b.Priority, b.Since, now), Level(a.Priority, a.Since, now)), byDeadline(a, b))
	}
}

func byDeadline(a, b Entry) int {
	switch {
	case a.Deadline.IsZero() && b.Deadline.IsZero():
		return 0
	case a.Deadline.IsZero():
		return 1
	case b.Deadline.IsZero():
		return -1
	}
	return a.Deadline.Compare(b.Deadline)
}

// agesBy is how long something waits for each level that it rises. Nothing starves: in two minutes the lowest
// is above what has just come, whatever its priority.
const agesBy = 30 * time.Second

// Level is a priority as it counts after waiting: 0 for low to 3 for critical, and one more for each agesBy.
func Level(priority string, since, now time.Time) int {
	level := 1
	switch priority {
	case "critical":
		level = 3
	case "high":
		level = 2
	case "low":
		level = 0
	}
	return level + max(0, int(now.Sub(since)/agesBy))
}

// ownedPerSlot bounds the executions that a worker owns at once: most of them wait for a commit or for their
// activity, not for a slot.
const ownedPerSlot = 8

// Room is how many executions a worker of so many slots may own beside those that it owns already.
func Room(slots, owned int) int { return max(0, slots*ownedPerSlot-owned) }

// RoomForLost is likewise for what a lost worker leaves. It is a quarter more: in a fleet that is full, whatever
// ends makes room for something new at once, and what was lost would not find any.
func RoomForLost(slots, owned int) int { return max(0, slots*ownedPerSlot*5/4-owned) }
