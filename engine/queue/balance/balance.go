// Package balance decides who takes what waits: each policy is one pure function from the table of workers to
// their quotas. All workers deal the same entries over the same table, so each finds its own part without asking
// the others. It must not know where the table comes from.
package balance

import (
	"bytes"
	"cmp"
	"container/heap"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// Worker is a line of the table: a pool that is alive and may take any of what is dealt.
type Worker struct {
	ID     uuid.UUID
	Region string
	Slots  int     // attempts that it runs at one time
	Room   int     // executions that it may own beside the active ones
	Active int     // executions that it owns
	Urgent int     // those of them with the priority high or critical
	Queued int     // attempts in it that wait for a slot
	CPU    float64 // share of its machine's cores in use, 0 to 1
	Memory float64 // share of its machine's memory in use, 0 to 1
}

// Policy says how many of n executions of a region each worker may take: one quota a line of the table, never
// more than its Room, together at most n. Region is "" where the work may run anywhere alike.
type Policy func(table []Worker, region string, n int) []int

// policies by their names in the configuration.
var policies = map[string]Policy{
	"least_loaded":   LeastLoaded,
	"least_active":   LeastActive,
	"round_robin":    RoundRobin,
	"resource_aware": ResourceAware,
	"priority_aware": PriorityAware,
	"locality_aware": LocalityAware,
}

// Default is the policy of a worker that names none.
const Default = "least_loaded"

// Extend adds a policy of one's own under a name that --balance then takes. It is called before the
// configuration is read, as from an init function.
func Extend(name string, policy Policy) { policies[name] = policy }

// Names lists the policies, the default first.
func Names() []string {
	names := slices.Sorted(maps.Keys(policies))
	i := slices.Index(names, Default)
	return append([]string{Default}, slices.Delete(names, i, i+1)...)
}

// Named finds a policy.
func Named(name string) (Policy, error) {
	if policy, ok := policies[name]; ok {
		return policy, nil
	}
	return nil, fmt.Errorf("there is no balancing policy %q: choose one of %s", name, strings.Join(Names(), ", "))
}

// LeastLoaded fills up the workers with the smallest share of their slots in use.
func LeastLoaded(table []Worker, _ string, n int) []int {
	return fill(table, n, everyone, func(w Worker) float64 { return perSlot(w, w.Active+w.Queued) })
}

// LeastActive fills up the workers with the fewest executions, whatever their size.
func LeastActive(table []Worker, _ string, n int) []int {
	return fill(table, n, everyone, func(w Worker) float64 { return float64(w.Active) })
}

// RoundRobin gives all the same, whatever they do already.
func RoundRobin(table []Worker, _ string, n int) []int {
	blank := make([]Worker, len(table))
	for i, w := range table {
		blank[i] = Worker{ID: w.ID, Slots: w.Slots, Room: w.Room}
	}
	return LeastActive(blank, "", n)
}

// ResourceAware fills up the workers whose machines have the most left: the scarcer of processor and memory
// counts, and what a worker is given counts as if each slot took an equal share of its machine.
func ResourceAware(table []Worker, _ string, n int) []int {
	before := make(map[uuid.UUID]int, len(table))
	for _, w := range table {
		before[w.ID] = w.Active
	}
	return fill(table, n, everyone, func(w Worker) float64 { return max(w.CPU, w.Memory) + perSlot(w, w.Active-before[w.ID]) })
}

// urgentWeight is how many executions an urgent one counts for: it does not give way, the others do.
const urgentWeight = 4

// PriorityAware fills up the workers with the least urgent work: what is there of lower priority gives way.
func PriorityAware(table []Worker, _ string, n int) []int {
	return fill(table, n, everyone, func(w Worker) float64 { return perSlot(w, w.Active+(urgentWeight-1)*w.Urgent) })
}

// LocalityAware gives work of a region to the workers there as long as they have room, and the rest to the least
// loaded of all.
func LocalityAware(table []Worker, region string, n int) []int {
	load := func(w Worker) float64 { return perSlot(w, w.Active+w.Queued) }
	near := fill(table, n, func(w Worker) bool { return region != "" && w.Region == region }, load)
	rest := fill(given(table, near), n-sum(near), everyone, load)
	for i := range near {
		near[i] += rest[i]
	}
	return near
}

// fill gives n executions one by one to whoever may have them, has room and the least load; ids decide between
// equals.
func fill(table []Worker, n int, may func(Worker) bool, load func(Worker) float64) []int {
	quotas := make([]int, len(table))
	line := &line{load: load}
	for i, w := range table {
		if w.Room > 0 && may(w) {
			line.places = append(line.places, place{w, i})
		}
	}
	heap.Init(line)
	for ; n > 0 && line.Len() > 0; n-- {
		next := &line.places[0]
		quotas[next.at]++
		next.Active++
		if next.Room--; next.Room == 0 {
			heap.Pop(line)
		} else {
			heap.Fix(line, 0)
		}
	}
	return quotas
}

// line is a heap of workers, the least loaded first.
type line struct {
	places []place
	load   func(Worker) float64
}

type place struct {
	Worker
	at int // in the table
}

func (l *line) Len() int      { return len(l.places) }
func (l *line) Swap(i, j int) { l.places[i], l.places[j] = l.places[j], l.places[i] }
func (l *line) Push(any)      {} // nobody comes later
func (l *line) Pop() any {
	last := l.places[len(l.places)-1]
	l.places = l.places[:len(l.places)-1]
	return last
}

func (l *line) Less(i, j int) bool {
	a, b := l.places[i], l.places[j]
	return cmp.Or(cmp.Compare(l.load(a.Worker), l.load(b.Worker)), bytes.Compare(a.ID[:], b.ID[:])) < 0
}

// given is the table after workers took their quotas.
func given(table []Worker, quotas []int) []Worker {
	after := slices.Clone(table)
	for i, quota := range quotas {
		after[i].Active += quota
		after[i].Room -= quota
	}
	return after
}

func everyone(Worker) bool { return true }

func perSlot(w Worker, n int) float64 { return float64(n) / float64(max(1, w.Slots)) }

func sum(quotas []int) (total int) {
	for _, quota := range quotas {
		total += quota
	}
	return total
}

// Nobody is dealt what no worker has room for.
const Nobody = -1

// Deal gives each entry of a line, of which it sees the region, to a line of the table, or to Nobody. Quotas are
// served in turns, so that everybody gets of what is first in the line.
func Deal(policy Policy, table []Worker, regions []string) []int {
	waiting := map[string]int{}
	for _, region := range regions {
		waiting[region]++
	}
	quotas := make(map[string][]int, len(waiting))
	for _, region := range slices.Sorted(maps.Keys(waiting)) {
		quotas[region] = policy(table, region, waiting[region])
		table = given(table, quotas[region])
	}
	dealt := make([]int, len(regions))
	for i, region := range regions {
		dealt[i] = mostLeft(quotas[region])
		if dealt[i] != Nobody {
			quotas[region][dealt[i]]--
		}
	}
	return dealt
}

func mostLeft(quotas []int) int {
	most := Nobody
	for i, quota := range quotas {
		if quota > 0 && (most == Nobody || quota > quotas[most]) {
			most = i
		}
	}
	return most
}
