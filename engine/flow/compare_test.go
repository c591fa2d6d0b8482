package flow_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"weftline/engine/flow"
)

func told(t *testing.T, from, to []byte) string {
	t.Helper()
	changes, err := flow.Compare(from, to)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range changes {
		line := c.Kind + " " + c.What + " " + c.ID
		for _, f := range c.Fields {
			line += fmt.Sprintf(" %s:%v→%v", f.Path, f.From, f.To)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func TestChangesAreToldByActivityAndField(t *testing.T) {
	const call = `type: http, inputs: {url: "http://x.test", headers: {A: "1"}}`
	for _, c := range []struct {
		name     string
		from, to []byte
		want     string
	}{
		{"nothing", activities(`{id: a, ` + call + `}`), activities(`{type: http, id: a, inputs: {headers: {A: "1"}, url: 'http://x.test'}} # note`), ""},
		{"field", activities(`{id: a, timeout: 5s, ` + call + `}`), activities(`{id: a, timeout: 7s, once: true, ` + call + `}`), "changed activity a once:<nil>→true timeout:5s→7s"},
		{"deep field", activities(`{id: a, ` + call + `}`), activities(`{id: a, type: http, inputs: {url: "http://x.test", headers: {A: "2"}}}`), "changed activity a inputs.headers.A:1→2"},
		{"added", activities(`{id: a, ` + set + `}`), activities(`{id: a, `+set+`}`, `{id: b, needs: [a], `+set+`}`), "added activity b outputs:<nil>→map[x:1 + 1] type:<nil>→set\nadded edge a → b"},
		{"removed", activities(`{id: a, `+set+`}`, `{id: b, `+set+`}`), activities(`{id: a, ` + set + `}`), "removed activity b outputs:map[x:1 + 1]→<nil> type:set→<nil>"},
		{"edge", activities(`{id: a, `+set+`}`, `{id: b, needs: [a], `+set+`}`), activities(`{id: a, `+set+`}`, `{id: b, needs: [a.done], `+set+`}`), "removed edge a → b\nadded edge a.done → b"},
		{"renamed", activities(`{id: a, `+set+`}`, `{id: b, needs: [a], `+call+`}`), activities(`{id: first, `+set+`}`, `{id: b, needs: [first], `+call+`}`), "renamed activity first id:a→first"},
		{"moved", activities(`{id: a, `+set+`}`, `{id: b, `+call+`}`, `{id: c, type: fail, fail: {error: x.y}}`), activities(`{id: c, type: fail, fail: {error: x.y}}`, `{id: a, `+set+`}`, `{id: b, `+call+`}`), "moved activity c"},
		{"in a loop", activities(`{id: l, type: for_each, for_each: {items: [1], activities: [{id: i, ` + set + `}]}}`), activities(`{id: l, type: for_each, for_each: {items: [2], activities: [{id: i, once: true, ` + set + `}]}}`),
			"changed activity l for_each.items:[1]→[2]\nchanged activity i once:<nil>→true"},
		{"policy", definition("  limits: {timeout: 1h}\n  activities:\n    - {id: a, " + set + "}\n"), definition("  activities:\n    - {id: a, " + set + "}\n"), "removed policy limits timeout:1h→<nil>"},
		{"transition", activities(`{id: a, `+set+`}`, `{id: b, needs: [a], `+set+`}`), append(activities(`{id: a, `+set+`}`, `{id: b, `+set+`}`), "  transitions: [{from: a, to: b}]\n"...), ""},
		{"hook", activities(`{id: a, ` + set + `}`), append(activities(`{id: a, `+set+`}`), "  onExit: [{id: h, "+set+"}]\n"...), "added hook h outputs:<nil>→map[x:1 + 1] type:<nil>→set"},
	} {
		if got := told(t, c.from, c.to); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	cases := func(list string) []byte {
		return append(activities(`{id: a, `+set+`}`), "---\napiVersion: weftline/v1\nkind: WorkflowTest\nmetadata: {name: t}\nspec: {cases: ["+list+"]}\n"...)
	}
	none, plain := activities(`{id: a, `+set+`}`), `{name: plain, input: {n: 1}, expect: {status: completed}}`
	for _, c := range []struct {
		name     string
		from, to []byte
		want     string
	}{
		{"test added", none, cases(plain), "added test plain expect:<nil>→map[status:completed] input:<nil>→map[n:1]"},
		{"test removed", cases(plain), none, "removed test plain expect:map[status:completed]→<nil> input:map[n:1]→<nil>"},
		{"test changed", cases(plain), cases(`{name: plain, input: {n: 2}, expect: {status: completed}}`), "changed test plain input.n:1→2"},
		{"test renamed", cases(plain), cases(`{name: other, input: {n: 1}, expect: {status: completed}}`), "renamed test other name:plain→other"},
		{"another order", cases(plain + `, {name: b}`), cases(`{name: b}, ` + plain), ""},
		{"two of one name", cases(plain), cases(plain + `, {name: plain}`), "added test plain (2)"},
	} {
		if got := told(t, c.from, c.to); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	if _, err := flow.Compare([]byte("a: ["), activities(`{id: a, `+set+`}`)); err == nil {
		t.Error("a text that is not YAML is compared")
	}
}

// A unified diff, applied to the old text, gives the new one.
func TestUnifiedDiffLeadsFromOneTextToTheOther(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		from := make([]string, random.IntN(40))
		for i := range from {
			from[i] = fmt.Sprintf("line %d\n", random.IntN(60))
		}
		to := append([]string{}, from...)
		for range random.IntN(6) {
			at := random.IntN(len(to) + 1)
			to = append(to[:at:at], append([]string{fmt.Sprintf("new %d\n", random.IntN(9))}, to[min(len(to), at+random.IntN(3)):]...)...)
		}
		a, b := strings.Join(from, ""), strings.Join(to, "")
		diff := flow.Unified(a, b, "a", "b")
		if got := patched(t, a, diff); got != b {
			t.Fatalf("from\n%s\ndiff\n%s\ngot\n%s\nwant\n%s", a, diff, got, b)
		}
	}
	if flow.Unified("x\n", "x\n", "a", "b") != "" {
		t.Error("equal texts differ")
	}
}

func patched(t *testing.T, text, diff string) string {
	t.Helper()
	old := strings.SplitAfter(text, "\n")
	var out strings.Builder
	at := 0
	for _, line := range strings.SplitAfter(diff, "\n") {
		var from, count int
		switch {
		case line == "" || strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ "):
		case strings.HasPrefix(line, "@@"):
			if _, err := fmt.Sscanf(line, "@@ -%d,%d", &from, &count); err != nil {
				t.Fatal(err)
			}
			if count == 0 {
				from++
			}
			for at < from-1 {
				out.WriteString(old[at])
				at++
			}
		case line[0] == '+':
			out.WriteString(line[1:])
		default:
			if old[at] != line[1:] {
				t.Fatalf("the diff says %q, the text has %q", line[1:], old[at])
			}
			if line[0] == ' ' {
				out.WriteString(old[at])
			}
			at++
		}
	}
	return out.String() + strings.Join(old[at:], "")
}
