package flow

import (
	"slices"

	"weftline/engine/expr"
)

// plainPlaces are what others find an execution, a task or an event by. They are stored as they are, so a
// sensitive value there fails the activity when it runs; where that is sure to happen, it is said before.
var plainPlaces = []struct {
	path []string
	what string
}{
	{[]string{"event", "name"}, "the name of an event"},
	{[]string{"event", "correlation"}, "the correlation of an event"},
	{[]string{"emit", "name"}, "the name of an event"},
	{[]string{"emit", "key"}, "the key of an event"},
	{[]string{"for_each", "key"}, "the key of an item"},
	{[]string{"human", "assignee"}, "the assignee of a task"},
	{[]string{"human", "candidates"}, "the candidates of a task"},
	{[]string{"workflow", "dedupeKey"}, "the key of a child"},
	{[]string{"semaphore", "key"}, "the key of a semaphore"},
	{[]string{"fail", "error"}, "the type of an error"},
}

// sensitiveInPlain reports sensitive values in plain places. It is no part of loading: what was published
// before goes on to run, and such activities to fail.
func (b *builder) sensitiveInPlain(w *Workflow) {
	marks := marked{workflow: w, human: map[string]*Activity{}}
	for a := range b.where {
		if a.Human != nil && len(a.Outputs) == 0 {
			marks.human[a.ID] = a
		}
	}
	for _, n := range b.where {
		for _, place := range plainPlaces {
			if at := n.at(place.path...); at != nil {
				b.carriedInto(at, place.what, marks)
			}
		}
	}
}

func (b *builder) carriedInto(n *node, what string, marks marked) {
	n.walk(func(each *node) bool {
		for _, p := range b.places[each] {
			if at, carries := p.program.Carries(marks.sensitive); carries {
				b.ps.inside(each, p.offset, at, "E503", what+" is stored as it is, and this puts a sensitive value there",
					"use an id that is not sensitive, such as execution.id")
			}
		}
		return true
	})
}

// marked knows which paths of expressions lead to values that are marked as sensitive.
type marked struct {
	workflow *Workflow
	human    map[string]*Activity // whose form others read as it is, by id
}

func (m marked) sensitive(path []string) bool {
	switch {
	case path[0] == "inputs":
		return marksAt(m.workflow.Input.Source, path[1:])
	case path[0] == "execution" && len(path) > 1 && path[1] == "input":
		return marksAt(m.workflow.Input.Source, path[2:])
	case path[0] == "vars" && len(path) == 2:
		return m.variable(path[1])
	case path[0] == "activities" && len(path) > 3 && (path[2] == "output" || path[2] == "outputs") && path[3] == "form":
		task := m.human[path[1]]
		return task != nil && marksAt(task.Human.Form, path[4:])
	}
	return false
}

// variable: the whole of a variable that is a text. Variables are in the order of their dependencies.
func (m marked) variable(name string) bool {
	at := slices.IndexFunc(m.workflow.Variables, func(v Named) bool { return v.Name == name })
	if at < 0 || m.workflow.Variables[at].Value.Fields() != nil {
		return false
	}
	return slices.ContainsFunc(m.workflow.Variables[at].Value.Programs(), func(p *expr.Program) bool {
		_, carries := p.Carries(m.sensitive)
		return carries
	})
}

// marksAt reports whether a schema marks the value at a path, or a value above it.
func marksAt(schema map[string]any, path []string) bool {
	if on, _ := schema["x-sensitive"].(bool); on {
		return true
	}
	if len(path) == 0 {
		return false
	}
	properties, _ := schema["properties"].(map[string]any)
	below, _ := properties[path[0]].(map[string]any)
	return below != nil && marksAt(below, path[1:])
}
