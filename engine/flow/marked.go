package flow

import (
	"slices"

	"weftline/engine/expr"
)

// marked knows which paths of expressions surely lead to a value that a schema marks as sensitive: inputs, forms,
// and what variables, outputs and items of loops make of them.
type marked struct {
	workflow *Workflow
	byID     map[string]*Activity
	around   map[*Activity][]*Activity // the loops that an activity is in, innermost first
	asked    map[*expr.Value]bool      // being followed, so that a circle ends
}

// reading is where an expression stands.
type reading struct {
	loops  []*Activity // innermost first
	result *Activity   // whose result it may read, nil = nobody's
}

func newMarked(w *Workflow, all map[*Activity]*node) marked {
	m := marked{workflow: w, byID: map[string]*Activity{}, around: map[*Activity][]*Activity{}, asked: map[*expr.Value]bool{}}
	for a := range all {
		if a.ID != "" {
			m.byID[a.ID] = a
		}
	}
	for _, g := range []*Graph{w.Graph, w.OnError, w.OnExit} {
		m.enter(g, nil)
	}
	return m
}

// enter notes the loops around everything in a list of activities.
func (m marked) enter(g *Graph, loops []*Activity) {
	if g == nil {
		return
	}
	for _, a := range g.Activities {
		m.enterOne(a, loops)
	}
}

func (m marked) enterOne(a *Activity, loops []*Activity) {
	if a == nil {
		return
	}
	m.around[a] = loops
	m.enterOne(a.Compensate, loops)
	if a.ForEach != nil {
		inside := append([]*Activity{a}, loops...)
		m.enterOne(a.ForEach.Activity, inside)
		m.enter(a.ForEach.Body, inside)
	}
}

func (m marked) sensitive(here reading, path []string) bool {
	for i, loop := range here.loops {
		if path[0] == loop.ForEach.As {
			return m.tells(loop.ForEach.Items, reading{loops: here.loops[i+1:]}, append([]string{expr.AnyPlace}, path[1:]...))
		}
	}
	switch {
	case path[0] == "inputs":
		return marksAt(m.workflow.Input.Source, path[1:])
	case path[0] == "execution" && len(path) > 1 && path[1] == "input":
		return marksAt(m.workflow.Input.Source, path[2:])
	case path[0] == "result" && here.result != nil:
		return m.result(here.result, path[1:])
	case path[0] == "vars" && len(path) > 1:
		return m.named(m.workflow.Variables, reading{}, path[1:])
	case path[0] == "activities" && len(path) > 3 && (path[2] == "output" || path[2] == "outputs"):
		return m.output(m.byID[path[1]], path[3:])
	}
	return false
}

// output is one of the outputs of an activity, or, when it names none, of its result.
func (m marked) output(a *Activity, path []string) bool {
	switch {
	case a == nil:
		return false
	case len(a.Outputs) > 0:
		return m.named(a.Outputs, reading{loops: m.around[a], result: a}, path)
	}
	return m.result(a, path)
}

func (m marked) result(a *Activity, path []string) bool {
	switch {
	case len(path) == 0:
		return false
	case a.Human != nil && path[0] == "form":
		return marksAt(a.Human.Form, path[1:])
	case a.ForEach != nil && len(path) > 2 && path[0] == "results" && path[1] == expr.AnyPlace:
		return m.itemResult(a, path[2:])
	}
	return false
}

// itemResult is what one item of a loop came to.
func (m marked) itemResult(loop *Activity, path []string) bool {
	if len(loop.ForEach.Collect) > 0 {
		return m.named(loop.ForEach.Collect, reading{loops: append([]*Activity{loop}, m.around[loop]...), result: loop.ForEach.Activity}, path)
	}
	return m.output(loop.ForEach.Activity, path)
}

func (m marked) named(all []Named, here reading, path []string) bool {
	at := slices.IndexFunc(all, func(n Named) bool { return n.Name == path[0] })
	return at >= 0 && m.tells(all[at].Value, here, path[1:])
}

// tells reports whether what is at a path of a value is sensitive.
func (m marked) tells(v *expr.Value, here reading, rest []string) bool {
	if v == nil || m.asked[v] {
		return false
	}
	m.asked[v] = true
	defer delete(m.asked, v)
	sensitive := func(path []string) bool { return m.sensitive(here, path) }
	switch whole := v.Whole(); {
	case whole != nil:
		if path, plain := whole.Path(); plain {
			return sensitive(append(slices.Clone(path), rest...))
		}
	case v.Fields() != nil:
		return len(rest) > 0 && m.tells(v.Fields()[rest[0]], here, rest[1:])
	}
	return len(rest) == 0 && slices.ContainsFunc(v.Programs(), func(p *expr.Program) bool {
		_, carries := p.Carries(sensitive)
		return carries
	})
}

// marksAt reports whether a schema marks the value at a path, or a value above it.
func marksAt(schema map[string]any, path []string) bool {
	if on, _ := schema["x-sensitive"].(bool); on {
		return true
	}
	if len(path) == 0 || schema == nil {
		return false
	}
	properties, _ := schema["properties"].(map[string]any)
	below, _ := properties[path[0]].(map[string]any)
	if path[0] == expr.AnyPlace {
		below, _ = schema["items"].(map[string]any)
	}
	return below != nil && marksAt(below, path[1:])
}
