package flow

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
	marks := newMarked(w, b.where)
	for a, n := range b.where {
		for _, place := range plainPlaces {
			at := n.at(place.path...)
			if at == nil {
				continue
			}
			here := reading{loops: marks.around[a]}
			if place.path[0] == "for_each" {
				here.loops = append([]*Activity{a}, here.loops...)
			}
			b.carriedInto(at, place.what, func(path []string) bool { return marks.sensitive(here, path) })
		}
	}
}

func (b *builder) carriedInto(n *node, what string, sensitive func(path []string) bool) {
	n.walk(func(each *node) bool {
		for _, p := range b.places[each] {
			if at, carries := p.program.Carries(sensitive); carries {
				b.ps.inside(each, p.offset, at, "E503", what+" is stored as it is, and this puts a sensitive value there",
					"use an id that is not sensitive, such as execution.id")
			}
		}
		return true
	})
}
