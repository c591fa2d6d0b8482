package flow

import (
	"slices"
	"time"

	"weftline/engine/expr"
)

// builder makes the Workflow out of a document that was checked. Parts that do not fit were reported and
// come out empty, so that the checks of the whole can still run over the rest.
type builder struct {
	*checker
	where     map[*Activity]*node // for messages about a built activity
	listOf    map[*Graph]*listed
	retry     *node // spec.retry
	affinity  *node
	elsewhere map[string]string // id → the list it stands in
	first     map[string]*node  // id → the activity that has it first
}

func (b *builder) workflow(root *node) *Workflow {
	meta, spec := root.get("metadata"), root.get("spec")
	b.retry, b.affinity = spec.get("retry"), spec.get("affinity")
	w := &Workflow{
		Name: meta.get("name").text(), Version: meta.get("version").text(),
		Description: meta.get("description").text(), Labels: textMap(meta.get("labels")),
		Input: b.schemas[spec.get("input")], Variables: b.variables(spec.get("variables")),
		Limits: b.limits(spec.get("limits")), Mode: mode(spec.get("execution")), Affinity: b.affinityOf(spec.get("affinity")),
		Compensation: b.compensation(spec.get("compensation")), Output: b.named(spec.get("output")),
	}
	if w.Input == nil {
		w.Input = emptyInput()
	}
	b.triggers(w, spec)
	b.graphs(w, spec)
	return w
}

// graphs reads the three lists of activities. Hooks may need each other only.
func (b *builder) graphs(w *Workflow, spec *node) {
	for _, part := range []struct {
		key   string
		graph **Graph
	}{{"activities", &w.Graph}, {"onError", &w.OnError}, {"onExit", &w.OnExit}} {
		n := spec.get(part.key)
		if n == nil && part.key != "activities" {
			continue
		}
		b.collectIDs(n, "spec."+part.key)
		l := b.readList(n, "")
		if part.key == "activities" {
			b.transitions(spec, l)
		}
		*part.graph = b.graph(l, 0, w.Compensation)
	}
}

// collectIDs notes where each id stands, and reports those that stand twice: ids are unique in the file.
func (b *builder) collectIDs(n *node, where string) {
	if n == nil {
		return
	}
	for _, item := range n.items {
		if id := item.get("id"); id.text() != "" {
			if first := b.first[id.raw]; first != nil {
				b.ps.add("E201", id, "give it an id of its own", "the id %q is used twice, first in line %d", id.raw, first.pos.Line)
			} else {
				b.first[id.raw], b.elsewhere[id.raw] = id, where
			}
		}
		b.collectIDs(item.at("for_each", "activities"), "the loop \""+item.get("id").text()+"\"")
		b.collectIDs(item.at("for_each", "activity", "for_each", "activities"), "the loop \""+item.get("id").text()+"\"")
	}
}

// graph builds the activities of a list and their edges.
func (b *builder) graph(l *listed, depth int, policy CompensationPolicy) *Graph {
	activities := make([]*Activity, len(l.nodes))
	for i, n := range l.nodes {
		activities[i] = b.activity(n, depth, policy)
	}
	elsewhere := map[string]string{}
	for id, where := range b.elsewhere {
		if _, here := l.index[id]; !here {
			elsewhere[id] = where
		}
	}
	b.resolveNeeds(l, elsewhere)
	if b.cycles(l) {
		l.needs = make([][]need, len(l.nodes)) // go on without edges: the circle was reported
	}
	g := l.buildGraph(activities)
	b.listOf[g] = l
	return g
}

func (b *builder) named(n *node) []Named {
	if n == nil || n.kind != mapNode {
		return nil
	}
	all := make([]Named, 0, len(n.entries))
	for _, e := range n.entries {
		all = append(all, Named{e.name, b.valueOf(e.value)})
	}
	return all
}

// variables come in dependency order; those in a circle were reported and are left out.
func (b *builder) variables(n *node) []Named {
	all := b.named(n)
	byName := map[string]*expr.Value{}
	for _, v := range all {
		byName[v.Name] = v.Value
	}
	var ordered []Named
	state := map[string]int{} // 1 = open, 2 = done
	var visit func(v Named, path []string)
	visit = func(v Named, path []string) {
		state[v.Name] = 1
		path = append(path, v.Name)
		for _, name := range v.Value.References().Variables {
			other, known := byName[name]
			if known && state[name] == 1 {
				b.ps.add("E315", n.get(v.Name), "compute one of them without the other", "the variables need each other in a circle: %s",
					arrows(append(path[slices.Index(path, name):], name)))
			}
			if known && state[name] == 0 {
				visit(Named{name, other}, path)
			}
		}
		state[v.Name] = 2
		ordered = append(ordered, v)
	}
	for _, v := range all {
		if state[v.Name] == 0 {
			visit(v, nil)
		}
	}
	return ordered
}

func arrows(words []string) string {
	out := words[0]
	for _, word := range words[1:] {
		out += " → " + word
	}
	return out
}

func textMap(n *node) map[string]string {
	if n == nil || len(n.entries) == 0 {
		return nil
	}
	all := map[string]string{}
	for _, e := range n.entries {
		all[e.name] = e.value.text()
	}
	return all
}

func durationOf(n *node, otherwise time.Duration) time.Duration {
	if n.text() == "" {
		return otherwise
	}
	d, err := expr.ParseDuration(n.raw)
	if err != nil {
		return otherwise
	}
	return d
}

func textOr(n *node, otherwise string) string {
	if text := n.text(); text != "" {
		return text
	}
	return otherwise
}

func durations(n *node) []time.Duration {
	var all []time.Duration
	for _, text := range n.texts() {
		if d, err := expr.ParseDuration(text); err == nil {
			all = append(all, d)
		}
	}
	return all
}

// textsOr is a list of texts, or otherwise when nothing was given.
func textsOr(n *node, otherwise ...string) []string {
	if n.given() {
		return n.texts()
	}
	return otherwise
}
