package flow

import (
	"maps"
	"slices"
	"strings"
)

// The names in a test that stands beside its workflow are checked when both are saved. They advise only: a
// test that has fallen behind must not keep a correction from being published.

// checkTests looks for names that the workflow does not have.
func (b *builder) checkTests(others []*document) {
	known := map[string]string{} // id → type
	for a, n := range b.where {
		if a.ID != "" {
			known[a.ID] = n.get("type").text()
		}
	}
	ids := slices.Sorted(maps.Keys(known))
	for _, d := range others {
		if d.root.get("kind").text() != "WorkflowTest" || d.root.at("spec", "workflow") != nil {
			continue
		}
		for _, c := range items(d.root.at("spec", "cases")) {
			b.checkCase(c, known, ids)
		}
	}
}

func (b *builder) checkCase(c *node, known map[string]string, ids []string) {
	unknown := func(n *node) {
		if n == nil || n.raw == "" {
			return
		}
		id := nameInTest(n.raw)
		if _, found := known[id]; !found {
			b.ps.add("W712", n, "", "the test names %q, and the workflow has no such activity", id).
				suggest(&node{raw: id, pos: n.pos, quoted: n.quoted || id != n.raw}, ids)
		}
	}
	keys := func(n *node) {
		if n != nil {
			for _, e := range n.entries {
				unknown(e.key)
			}
		}
	}
	keys(c.get("mocks"))
	expect := c.get("expect")
	keys(expect.get("attempts"))
	keys(expect.get("inputs"))
	for _, each := range slices.Concat(items(expect.get("path")), items(expect.get("skipped"))) {
		unknown(each)
	}
	for _, step := range items(c.get("script")) {
		unknown(step.get("human"))
		b.checkTask(step, known)
	}
}

// checkTask: only a task of a person can be decided, by one of its outcomes.
func (b *builder) checkTask(step *node, known map[string]string) {
	id := step.get("human").text()
	kind, found := known[id]
	if !found {
		return
	}
	if kind != TypeHuman {
		b.ps.add("W712", step.get("human"), "name a human activity", "the test decides a task of %q, which is of type %s and has none", id, kind)
		return
	}
	outcome := step.get("outcome")
	for a, n := range b.where {
		if a.ID == id && outcome.given() && !contains(outcomesOf(n), outcome.raw) {
			b.ps.add("W712", outcome, "", "%q is no outcome of %q", outcome.raw, id).suggest(outcome, outcomesOf(n))
		}
	}
}

// nameInTest is the activity of a name in a test: load, load[b], load/compensate, child/inner.
func nameInTest(name string) string {
	if at := strings.IndexAny(name, "/["); at >= 0 {
		return name[:at]
	}
	return name
}
