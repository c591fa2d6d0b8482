package flow_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"weftline/engine/flow"
)

// merging describes what came of a merge: the changes against base, or the conflicts.
func merging(t *testing.T, base, published, proposed []byte, choices map[string]string) string {
	t.Helper()
	text, conflicts, err := flow.Merge(base, published, proposed, choices)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range conflicts {
		out = append(out, fmt.Sprintf("%s: %v | %v | %v", c.Path, c.Base, c.Published, c.Proposed))
	}
	if len(conflicts) > 0 {
		return strings.Join(out, "\n")
	}
	if !flow.Validate(text).Valid {
		t.Fatalf("the merged text is not valid: %+v\n%s", flow.Validate(text).Errors, text)
	}
	return told(t, base, text)
}

func TestMergeJoinsChangesByActivityAndField(t *testing.T) {
	const get = `type: http, inputs: {url: "http://x.test"}`
	base := activities(`{id: a, timeout: 5s, `+get+`}`, `{id: b, needs: [a], `+set+`}`)
	for _, c := range []struct {
		name                string
		published, proposed []byte
		choices             map[string]string
		want                string
	}{
		{"different fields", activities(`{id: a, timeout: 7s, `+get+`}`, `{id: b, needs: [a], `+set+`}`),
			activities(`{id: a, timeout: 5s, once: true, `+get+`}`, `{id: b, needs: [a], `+set+`}`), nil, "changed activity a once:<nil>→true timeout:5s→7s"},
		{"the same change", activities(`{id: a, timeout: 7s, `+get+`}`, `{id: b, needs: [a], `+set+`}`),
			activities(`{id: a, timeout: 7s, `+get+`}`, `{id: b, needs: [a], `+set+`}`), nil, "changed activity a timeout:5s→7s"},
		{"two added", activities(`{id: a, timeout: 5s, `+get+`}`, `{id: c, `+set+`}`, `{id: b, needs: [a, c], `+set+`}`),
			activities(`{id: a, timeout: 5s, `+get+`}`, `{id: d, `+set+`}`, `{id: b, needs: [a, d], `+set+`}`), nil,
			"added activity c outputs:<nil>→map[x:1 + 1] type:<nil>→set\nadded activity d outputs:<nil>→map[x:1 + 1] type:<nil>→set\nadded edge c → b\nadded edge d → b"},
		{"conflict", activities(`{id: a, timeout: 7s, `+get+`}`, `{id: b, needs: [a], `+set+`}`),
			activities(`{id: a, timeout: 9s, `+get+`}`, `{id: b, needs: [a], `+set+`}`), nil, "spec.activities[a].timeout: 5s | 7s | 9s"},
		{"conflict, decided", activities(`{id: a, timeout: 7s, `+get+`}`, `{id: b, needs: [a], `+set+`}`),
			activities(`{id: a, timeout: 9s, `+get+`}`, `{id: b, needs: [a], `+set+`}`), map[string]string{"spec.activities[a].timeout": flow.Proposed}, "changed activity a timeout:5s→9s"},
		{"removed and changed", activities(`{id: a, timeout: 5s, ` + get + `}`),
			activities(`{id: a, timeout: 5s, `+get+`}`, `{id: b, needs: [a], once: true, `+set+`}`), nil,
			"spec.activities[b]: map[id:b needs:[a] outputs:map[x:1 + 1] type:set] | <nil> | map[id:b needs:[a] once:true outputs:map[x:1 + 1] type:set]"},
		{"the same edge", activities(`{id: a, timeout: 5s, `+get+`}`, `{id: b, needs: [a.done], `+set+`}`),
			activities(`{id: a, timeout: 5s, `+get+`}`, `{id: b, needs: [a.failure], `+set+`}`), nil, "spec.activities[b].needs: [a] | [a.done] | [a.failure]"},
	} {
		if got := merging(t, base, c.published, c.proposed, c.choices); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// Where the lines allow it, the proposed text keeps its own form and comments.
func TestMergeKeepsTheText(t *testing.T) {
	base := definition("  activities:\n    # first\n    - {id: a, " + set + "}\n    - id:   b\n      type: set\n      outputs: {x: '1'}\n")
	published := []byte(strings.Replace(string(base), "outputs: {x: '1'}", "outputs: {x: '2'}", 1))
	proposed := []byte(strings.Replace(string(base), "# first", "# the very first\n    - {id: z, "+set+"}", 1))
	text, conflicts, err := flow.Merge(base, published, proposed, nil)
	if err != nil || len(conflicts) > 0 {
		t.Fatal(conflicts, err)
	}
	if !strings.Contains(string(text), "    - id:   b\n") || !strings.Contains(string(text), "# the very first") || !strings.Contains(string(text), "'2'") {
		t.Errorf("merged text\n%s", text)
	}
}

// Three people change a definition at random: whatever is merged holds every change of both sides, and
// whatever cannot be is a conflict, never a lost edit.
func TestMergeLosesNoEdit(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for round := range 400 {
		base := randomSteps(random, 6)
		published, proposed := mutate(random, base), mutate(random, base)
		render := func(steps []randomStep) []byte { return activities(renderSteps(steps)...) }
		text, conflicts, err := flow.Merge(render(base), render(published), render(proposed), nil)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		wanted, clash := mergedByHand(base, published, proposed)
		if clash != (len(conflicts) > 0) {
			t.Fatalf("round %d: conflicts %v, expected %v\n%s\n%s\n%s", round, conflicts, clash, render(base), render(published), render(proposed))
		}
		if clash {
			continue
		}
		got := map[string]map[string]any{}
		changes, err := flow.Compare(activities(`{id: none, `+set+`}`), text)
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range changes {
			if change.What == "activity" && change.Kind == "added" {
				got[change.ID] = map[string]any{}
				for _, field := range change.Fields {
					got[change.ID][field.Path] = field.To
				}
			}
		}
		for id, step := range wanted {
			if !reflect.DeepEqual(got[id]["timeout"], step["timeout"]) || !reflect.DeepEqual(got[id]["description"], step["description"]) {
				t.Fatalf("round %d: %s is %v, expected %v\n%s", round, id, got[id], step, text)
			}
		}
		if len(got) != len(wanted) {
			t.Fatalf("round %d: %d activities, expected %d\n%s", round, len(got), len(wanted), text)
		}
	}
}

type randomStep struct{ id, timeout, description string }

func randomSteps(random *rand.Rand, n int) []randomStep {
	steps := make([]randomStep, n)
	for i := range steps {
		steps[i] = randomStep{fmt.Sprintf("s%d", i), fmt.Sprintf("%ds", 1+random.IntN(9)), fmt.Sprintf("does %d", random.IntN(9))}
	}
	return steps
}

// mutate changes up to three fields, and adds or removes a step now and then.
func mutate(random *rand.Rand, steps []randomStep) []randomStep {
	steps = append([]randomStep{}, steps...)
	for range random.IntN(4) {
		at := random.IntN(len(steps))
		switch random.IntN(4) {
		case 0:
			steps[at].timeout = fmt.Sprintf("%ds", 11+random.IntN(40))
		case 1:
			steps[at].description = fmt.Sprintf("did %d", random.IntN(1000))
		case 2:
			steps = append(steps[:at], steps[at+1:]...)
		case 3:
			made := randomStep{fmt.Sprintf("n%d", random.IntN(100000)), "60s", "new"}
			steps = append(steps[:at:at], append([]randomStep{made}, steps[at:]...)...)
		}
	}
	return steps
}

func renderSteps(steps []randomStep) []string {
	var lines []string
	for _, s := range steps {
		lines = append(lines, fmt.Sprintf(`{id: %s, type: http, description: %s, timeout: %s, inputs: {url: "http://%s.test"}}`, s.id, s.description, s.timeout, s.id))
	}
	return lines
}

// mergedByHand says what a merge must come to, and whether it must be a conflict.
func mergedByHand(base, published, proposed []randomStep) (map[string]map[string]any, bool) {
	find := func(steps []randomStep, id string) *randomStep {
		for i := range steps {
			if steps[i].id == id {
				return &steps[i]
			}
		}
		return nil
	}
	field := func(b, p, r string) (string, bool) {
		switch {
		case p == r, b == r:
			return p, false
		case b == p:
			return r, false
		}
		return "", true
	}
	merged := map[string]map[string]any{}
	for _, step := range append(append(append([]randomStep{}, base...), published...), proposed...) {
		b, p, r := find(base, step.id), find(published, step.id), find(proposed, step.id)
		switch {
		case p == nil && r == nil, b != nil && p == nil && *r == *b, b != nil && r == nil && *p == *b:
			continue
		case b != nil && (p == nil || r == nil):
			return nil, true
		case b == nil && p == nil:
			p = r
		case b == nil && r == nil:
			r = p
		}
		if b == nil {
			b = p
		}
		timeout, clash := field(b.timeout, p.timeout, r.timeout)
		description, other := field(b.description, p.description, r.description)
		if clash || other {
			return nil, true
		}
		merged[step.id] = map[string]any{"timeout": timeout, "description": description}
	}
	return merged, false
}
