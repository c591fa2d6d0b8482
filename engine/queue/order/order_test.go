package order

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func id(n byte) uuid.UUID { return uuid.UUID{15: n} }

// entry n of a team, ready for some seconds.
func entry(n, team byte, priority string, waited int) Entry {
	return Entry{Execution: id(n), Team: id(team), Priority: priority, Since: noon.Add(-time.Duration(waited) * time.Second)}
}

func due(e Entry, in int) Entry {
	e.Deadline = noon.Add(time.Duration(in) * time.Second)
	return e
}

func weighing(e Entry, weight int) Entry {
	e.Weight = weight
	return e
}

func TestPolicies(t *testing.T) {
	for name, c := range map[string]struct {
		policy  string
		entries []Entry
		running map[uuid.UUID]int
		line    []byte
	}{
		"fifo takes the longest wait":                 {"fifo", []Entry{entry(1, 1, "critical", 1), entry(2, 1, "low", 5), entry(3, 1, "low", 5)}, nil, []byte{2, 3, 1}},
		"priority before age":                         {"priority", []Entry{entry(1, 1, "low", 20), entry(2, 1, "normal", 1), entry(3, 1, "critical", 0), entry(4, 1, "high", 0)}, nil, []byte{3, 4, 2, 1}},
		"low rises until it is above a new critical":  {"priority", []Entry{entry(1, 1, "critical", 0), entry(2, 1, "low", 120)}, nil, []byte{2, 1}},
		"of one priority the earliest deadline":       {"priority", []Entry{entry(1, 1, "high", 0), due(entry(2, 1, "high", 0), 60), due(entry(3, 1, "high", 0), 30)}, nil, []byte{3, 2, 1}},
		"then the oldest execution":                   {"priority", []Entry{entry(9, 1, "high", 5), entry(4, 1, "high", 3)}, nil, []byte{4, 9}},
		"deadline before priority":                    {"deadline", []Entry{entry(1, 1, "critical", 0), due(entry(2, 1, "low", 0), 60), due(entry(3, 1, "low", 0), 30)}, nil, []byte{3, 2, 1}},
		"teams take turns":                            {"tenant_aware", []Entry{entry(1, 1, "normal", 9), entry(2, 1, "normal", 9), entry(3, 1, "normal", 9), entry(4, 2, "normal", 0)}, nil, []byte{1, 4, 2, 3}},
		"who has much running waits":                  {"tenant_aware", []Entry{entry(1, 1, "critical", 0), entry(2, 2, "low", 0), entry(3, 2, "low", 0)}, map[uuid.UUID]int{id(1): 2}, []byte{2, 3, 1}},
		"within a team priority counts":               {"tenant_aware", []Entry{entry(1, 1, "low", 0), entry(2, 1, "high", 0)}, nil, []byte{2, 1}},
		"turns are in proportion to weights":          {"weighted_fair", []Entry{weighing(entry(1, 1, "normal", 0), 1), weighing(entry(2, 1, "normal", 0), 1), weighing(entry(3, 2, "normal", 0), 3), weighing(entry(4, 2, "normal", 0), 3), weighing(entry(5, 2, "normal", 0), 3)}, nil, []byte{3, 4, 1, 5, 2}},
		"without weights weighted_fair is fair turns": {"weighted_fair", []Entry{entry(1, 1, "normal", 0), entry(2, 1, "normal", 0), entry(3, 2, "normal", 0)}, nil, []byte{1, 3, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			policy, err := Named(c.policy)
			if err != nil {
				t.Fatal(err)
			}
			if got := numbers(policy(c.entries, c.running, noon)); !slices.Equal(got, c.line) {
				t.Errorf("the line is %v, expected %v", got, c.line)
			}
		})
	}
}

func numbers(line []Entry) []byte {
	var n []byte
	for _, e := range line {
		n = append(n, e.Execution[15])
	}
	return n
}

// In whatever order entries come, the line is the same, and everybody is in it once.
func TestTheLineDoesNotDependOnTheOrderOfArrival(t *testing.T) {
	priorities := []string{"low", "normal", "high", "critical"}
	dice := rand.New(rand.NewPCG(1, 2))
	for _, name := range Names() {
		policy, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		for range 200 {
			entries := make([]Entry, 40)
			for i := range entries {
				entries[i] = weighing(entry(byte(i), byte(dice.IntN(4)), priorities[dice.IntN(4)], dice.IntN(100)), dice.IntN(4))
				if dice.IntN(3) == 0 {
					entries[i] = due(entries[i], dice.IntN(50))
				}
			}
			running := map[uuid.UUID]int{id(0): dice.IntN(5), id(2): dice.IntN(5)}
			before := slices.Clone(entries)
			line := numbers(policy(entries, running, noon))
			if !slices.Equal(entries, before) {
				t.Fatalf("%s changed what it was given", name)
			}
			dice.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
			if again := numbers(policy(entries, running, noon)); !slices.Equal(line, again) {
				t.Fatalf("%s gives two lines: %v and %v", name, line, again)
			}
			slices.Sort(line)
			if len(slices.Compact(line)) != len(entries) {
				t.Fatalf("%s lost somebody", name)
			}
		}
	}
}

func TestAnUnknownPolicyIsRefused(t *testing.T) {
	if _, err := Named("random"); err == nil {
		t.Error("random is a policy")
	}
}

func TestAPolicyOfOnesOwnIsFoundByItsName(t *testing.T) {
	before := Names()
	Extend("newest", func(entries []Entry, _ map[uuid.UUID]int, _ time.Time) []Entry {
		return sorted(entries, func(a, b Entry) int { return b.Since.Compare(a.Since) })
	})
	t.Cleanup(func() { delete(policies, "newest"); names = before })
	policy, err := Named("newest")
	if err != nil || !slices.Equal(Names(), append(before, "newest")) {
		t.Fatalf("%v, %v", Names(), err)
	}
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	line := policy([]Entry{{Since: noon}, {Since: noon.Add(time.Hour)}}, nil, noon)
	if !line[0].Since.After(line[1].Since) {
		t.Errorf("the line is %v", line)
	}
}
