package balance

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/uuid"
)

// worker n with ten slots, room for eighty, and so many executions.
func worker(n byte, active int) Worker {
	return Worker{ID: uuid.UUID{15: n}, Slots: 10, Room: 80 - active, Active: active}
}

func with(w Worker, change func(*Worker)) Worker {
	change(&w)
	return w
}

func TestPolicies(t *testing.T) {
	idle, busy := worker(1, 0), worker(2, 20)
	large := with(worker(3, 20), func(w *Worker) { w.Slots = 40 })
	for name, c := range map[string]struct {
		policy string
		table  []Worker
		region string
		n      int
		quotas []int
	}{
		"an idle worker gets what a busy one does not":  {"least_loaded", []Worker{idle, busy}, "", 10, []int{10, 0}},
		"and then both the same":                        {"least_loaded", []Worker{idle, busy}, "", 30, []int{25, 5}},
		"load is of the slots":                          {"least_loaded", []Worker{busy, large}, "", 30, []int{0, 30}},
		"attempts that wait are load":                   {"least_loaded", []Worker{with(idle, func(w *Worker) { w.Queued = 9 }), worker(4, 1)}, "", 4, []int{0, 4}},
		"least_active counts executions alone":          {"least_active", []Worker{busy, large}, "", 30, []int{15, 15}},
		"round_robin does not look at load":             {"round_robin", []Worker{idle, busy, large}, "", 7, []int{3, 2, 2}},
		"nobody gets more than there is room for":       {"round_robin", []Worker{with(idle, func(w *Worker) { w.Room = 1 }), busy}, "", 6, []int{1, 5}},
		"what nobody has room for stays":                {"least_loaded", []Worker{with(idle, func(w *Worker) { w.Room = 2 })}, "", 6, []int{2}},
		"the machine with more left":                    {"resource_aware", []Worker{with(idle, func(w *Worker) { w.CPU = 0.9 }), with(busy, func(w *Worker) { w.Memory = 0.3 })}, "", 5, []int{0, 5}},
		"until it has less":                             {"resource_aware", []Worker{with(idle, func(w *Worker) { w.CPU = 0.5 }), with(busy, func(w *Worker) { w.CPU = 0.25 })}, "", 5, []int{1, 4}},
		"urgent work weighs more":                       {"priority_aware", []Worker{with(worker(1, 8), func(w *Worker) { w.Urgent = 8 }), worker(2, 20)}, "", 12, []int{0, 12}},
		"work of a region goes there":                   {"locality_aware", []Worker{idle, with(busy, func(w *Worker) { w.Region = "eu" })}, "eu", 5, []int{0, 5}},
		"and elsewhere when the region has no room":     {"locality_aware", []Worker{idle, with(busy, func(w *Worker) { w.Region, w.Room = "eu", 2 })}, "eu", 5, []int{3, 2}},
		"and to the least loaded where nobody is there": {"locality_aware", []Worker{idle, busy}, "moon", 5, []int{5, 0}},
		"equals by id":                                  {"least_loaded", []Worker{worker(9, 0), worker(1, 0)}, "", 3, []int{1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			policy, err := Named(c.policy)
			if err != nil {
				t.Fatal(err)
			}
			if quotas := policy(c.table, c.region, c.n); !slices.Equal(quotas, c.quotas) {
				t.Errorf("%v, expected %v", quotas, c.quotas)
			}
		})
	}
}

// Whatever the table: quotas keep to the room, all is given that there is room for, the table is left alone, and
// a table in another order gives every worker the same.
func TestQuotasOfRandomTables(t *testing.T) {
	dice := rand.New(rand.NewPCG(7, 1))
	for range 300 {
		table := make([]Worker, 1+dice.IntN(6))
		room := 0
		for i := range table {
			table[i] = Worker{ID: uuid.UUID{15: byte(i)}, Region: []string{"", "eu", "us"}[dice.IntN(3)], Slots: 1 + dice.IntN(20), Room: dice.IntN(30),
				Active: dice.IntN(40), Urgent: dice.IntN(5), Queued: dice.IntN(5), CPU: dice.Float64(), Memory: dice.Float64()}
			room += table[i].Room
		}
		n := dice.IntN(100)
		shuffled := slices.Clone(table)
		dice.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		for _, name := range Names() {
			policy, _ := Named(name)
			before := slices.Clone(table)
			quotas, again := policy(table, "eu", n), policy(shuffled, "eu", n)
			if sum(quotas) != min(n, room) || !slices.Equal(table, before) {
				t.Fatalf("%s gave %v of %d over %+v", name, quotas, n, table)
			}
			for i, w := range table {
				if quotas[i] > w.Room {
					t.Fatalf("%s gave %v over %+v", name, quotas, table)
				}
				if j := slices.IndexFunc(shuffled, func(o Worker) bool { return o.ID == w.ID }); again[j] != quotas[i] {
					t.Fatalf("%s depends on the order of the table: %v and %v", name, quotas, again)
				}
			}
		}
	}
}

func TestDealing(t *testing.T) {
	table := []Worker{with(worker(1, 0), func(w *Worker) { w.Region = "eu" }), with(worker(2, 0), func(w *Worker) { w.Region, w.Room = "us", 3 })}
	for name, c := range map[string]struct {
		policy  Policy
		regions []string
		dealt   []int
	}{
		"in turns":              {LeastLoaded, []string{"", "", "", ""}, []int{0, 1, 0, 1}},
		"by region":             {LocalityAware, []string{"us", "eu", "us", "eu"}, []int{1, 0, 1, 0}},
		"beyond a region":       {LocalityAware, []string{"us", "us", "us", "us"}, []int{1, 1, 0, 1}},
		"all regions together":  {LeastLoaded, []string{"a", "b", "c", "d"}, []int{0, 1, 0, 1}},
		"more than anybody may": {LeastLoaded, make([]string, 84), nil},
	} {
		t.Run(name, func(t *testing.T) {
			dealt := Deal(c.policy, table, c.regions)
			if c.dealt == nil {
				if last := dealt[len(dealt)-1]; last != Nobody {
					t.Errorf("the last one was dealt to %d", last)
				}
				return
			}
			if !slices.Equal(dealt, c.dealt) {
				t.Errorf("%v, expected %v", dealt, c.dealt)
			}
		})
	}
}

func TestAPolicyOfOnesOwn(t *testing.T) {
	Extend("first_takes_all", func(table []Worker, _ string, n int) []int {
		quotas := make([]int, len(table))
		quotas[0] = min(n, table[0].Room)
		return quotas
	})
	t.Cleanup(func() { delete(policies, "first_takes_all") })
	policy, err := Named("first_takes_all")
	if err != nil || !slices.Contains(Names(), "first_takes_all") || Names()[0] != Default {
		t.Fatalf("%v, %v", Names(), err)
	}
	if dealt := Deal(policy, []Worker{worker(1, 0), worker(2, 0)}, []string{"", ""}); !slices.Equal(dealt, []int{0, 0}) {
		t.Errorf("%v", dealt)
	}
	if _, err := Named("nothing"); err == nil {
		t.Error("an unknown policy is found")
	}
}
