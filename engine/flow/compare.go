package flow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// Compare tells what changed between two definitions, by activity and by field; layout, comments and the
// order of keys do not matter. An activity under a new id with the same content is renamed; one at another
// place among its kept neighbours is moved. Tests beside the workflow come last, case by case. Texts that do not
// parse are an error.
func Compare(from, to []byte) ([]Change, error) {
	a, err := readSide(from)
	if err != nil {
		return nil, fmt.Errorf("the older text: %w", err)
	}
	b, err := readSide(to)
	if err != nil {
		return nil, fmt.Errorf("the newer text: %w", err)
	}
	d := &differ{}
	d.activities(a.activities, b.activities, "activity")
	d.hooks(a.spec, b.spec)
	d.rest(a, b)
	d.tests(a.tests, b.tests)
	return d.changes, nil
}

// side is one of the two definitions as plain values.
type side struct {
	metadata   map[string]any
	spec       map[string]any
	activities []*step
	tests      []testPart
}

// step is an activity with its edges apart.
type step struct {
	id     string
	fields map[string]any
	needs  []string // in a form that compares: id, id.port, id.failure[http.404]
}

func readSide(text []byte) (*side, error) {
	ps := &problems{}
	doc, beside := documentsOf(text, ps)
	if doc == nil || doc.root.get("spec") == nil {
		return nil, &LoadError{ps.report("")}
	}
	c := newChecker(&problems{source: ps.source, muted: true})
	c.specDefaults(doc.root.at("spec", "defaults"))
	c.check(doc.root, group(workflowObject))
	plain, _ := c.canonical(doc.root).(map[string]any)
	s := &side{}
	s.metadata, _ = plain["metadata"].(map[string]any)
	s.spec, _ = plain["spec"].(map[string]any)
	s.activities = steps(s.spec["activities"])
	s.tests = testParts(c, beside)
	return s, nil
}

// steps reads a list of activities; those inside loops come as activities of their own after the loop.
func steps(value any) []*step {
	var all []*step
	items, _ := value.([]any)
	for _, item := range items {
		fields, ok := item.(map[string]any)
		if !ok {
			continue
		}
		fields = maps.Clone(fields)
		s := &step{fields: fields}
		s.id, _ = fields["id"].(string)
		needs, _ := fields["needs"].([]any)
		for _, each := range needs {
			s.needs = append(s.needs, needText(each))
		}
		delete(fields, "id")
		delete(fields, "needs")
		inner := takeBody(fields)
		all = append(append(all, s), inner...)
	}
	return all
}

func needText(need any) string {
	if text, ok := need.(string); ok {
		return text
	}
	m, _ := need.(map[string]any)
	text, _ := m["id"].(string)
	if port, ok := m["port"].(string); ok {
		text += "." + port
	}
	if errors, ok := m["errors"]; ok {
		text += fmt.Sprint(errors)
	}
	return text
}

// takeBody takes the activities of a loop body out of its fields.
func takeBody(fields map[string]any) []*step {
	loop, ok := fields[TypeForEach].(map[string]any)
	if !ok || loop["activities"] == nil {
		return nil
	}
	loop = maps.Clone(loop)
	inner := steps(loop["activities"])
	delete(loop, "activities")
	fields[TypeForEach] = loop
	return inner
}

type differ struct{ changes []Change }

func (d *differ) add(kind, what, id string, fields []FieldChange) {
	if fields == nil {
		fields = []FieldChange{}
	}
	d.changes = append(d.changes, Change{Kind: kind, What: what, ID: id, Fields: fields})
}

func (d *differ) activities(from, to []*step, what string) {
	before, after := byID(from), byID(to)
	renamed := renames(from, to, before, after)
	for _, old := range from {
		if after[old.id] == nil && renamed[old.id] == "" {
			d.add("removed", what, old.id, fieldChanges("", old.fields, nil))
		}
	}
	moved := movedSteps(from, to)
	for _, now := range to {
		old := before[now.id]
		if id := oldName(renamed, now.id); id != "" {
			old = before[id]
			d.add("renamed", what, now.id, []FieldChange{{Path: "id", From: id, To: now.id}})
		}
		if old == nil {
			d.add("added", what, now.id, fieldChanges("", nil, now.fields))
			d.edges(nil, now, renamed)
			continue
		}
		if fields := fieldChanges("", old.fields, now.fields); len(fields) > 0 {
			d.add("changed", what, now.id, fields)
		}
		if moved[now.id] {
			d.add("moved", what, now.id, nil)
		}
		d.edges(old, now, renamed)
	}
}

func byID(list []*step) map[string]*step {
	all := map[string]*step{}
	for _, s := range list {
		all[s.id] = s
	}
	return all
}

// renames pairs removed and added activities that are the same but for their id.
func renames(from, to []*step, before, after map[string]*step) map[string]string {
	renamed := map[string]string{}
	used := map[string]bool{}
	for _, old := range from {
		if after[old.id] != nil {
			continue
		}
		for _, now := range to {
			if before[now.id] == nil && !used[now.id] && sameContent(old, now) {
				renamed[old.id], used[now.id] = now.id, true
				break
			}
		}
	}
	return renamed
}

// sameContent compares all but the id; a name that only repeats the id does not count.
func sameContent(a, b *step) bool {
	return reflect.DeepEqual(a.fields, b.fields) && len(a.needs) == len(b.needs)
}

func oldName(renamed map[string]string, id string) string {
	for before, now := range renamed {
		if now == id {
			return before
		}
	}
	return ""
}

// edges reports needs that came or went; a renamed source is the same edge.
func (d *differ) edges(old, now *step, renamed map[string]string) {
	var before []string
	if old != nil {
		for _, need := range old.needs {
			before = append(before, rename(need, renamed))
		}
	}
	for _, need := range before {
		if !slices.Contains(now.needs, need) {
			d.add("removed", "edge", need+" → "+now.id, nil)
		}
	}
	for _, need := range now.needs {
		if !slices.Contains(before, need) {
			d.add("added", "edge", need+" → "+now.id, nil)
		}
	}
}

func rename(need string, renamed map[string]string) string {
	end := 0
	for end < len(need) && need[end] != '.' && need[end] != '[' {
		end++
	}
	if now := renamed[need[:end]]; now != "" {
		return now + need[end:]
	}
	return need
}

// movedSteps are the activities outside of the longest run that kept its order.
func movedSteps(from, to []*step) map[string]bool {
	place := map[string]int{}
	for i, s := range from {
		place[s.id] = i
	}
	var kept []*step
	for _, s := range to {
		if _, known := place[s.id]; known {
			kept = append(kept, s)
		}
	}
	best, previous := make([]int, len(kept)), make([]int, len(kept))
	last := -1
	for i := range kept {
		best[i], previous[i] = 1, -1
		for j := range i {
			if place[kept[j].id] < place[kept[i].id] && best[j]+1 > best[i] {
				best[i], previous[i] = best[j]+1, j
			}
		}
		if last < 0 || best[i] > best[last] {
			last = i
		}
	}
	moved := map[string]bool{}
	for _, s := range kept {
		moved[s.id] = true
	}
	for i := last; i >= 0; i = previous[i] {
		delete(moved, kept[i].id)
	}
	return moved
}

func (d *differ) hooks(a, b map[string]any) {
	for _, key := range []string{"onError", "onExit"} {
		d.activities(steps(a[key]), steps(b[key]), "hook")
	}
}

// sections are the parts of spec beside the activities, with the word for each.
var sections = []struct{ key, what string }{
	{"input", "input"}, {"variables", "policy"}, {"defaults", "policy"}, {"schedule", "schedule"}, {"webhooks", "trigger"},
	{"events", "trigger"}, {"retry", "policy"}, {"limits", "policy"}, {"affinity", "policy"}, {"execution", "policy"},
	{"compensation", "policy"}, {"output", "output"},
}

func (d *differ) rest(a, b *side) {
	d.section("metadata", "metadata", a.metadata, b.metadata)
	for _, s := range sections {
		d.section(s.what, s.key, a.spec[s.key], b.spec[s.key])
	}
}

func (d *differ) section(what, key string, from, to any) {
	if m, ok := from.(map[string]any); ok && m == nil {
		from = nil
	}
	if m, ok := to.(map[string]any); ok && m == nil {
		to = nil
	}
	fields := fieldChanges("", from, to)
	switch {
	case len(fields) == 0:
	case from == nil:
		d.add("added", what, key, fields)
	case to == nil:
		d.add("removed", what, key, fields)
	default:
		d.add("changed", what, key, fields)
	}
}

// fieldChanges compares two values down to their leaves, in the order of paths.
func fieldChanges(path string, from, to any) []FieldChange {
	a, aMap := from.(map[string]any)
	b, bMap := to.(map[string]any)
	if (aMap || from == nil) && (bMap || to == nil) && (aMap || bMap) && (path == "" || aMap && bMap) {
		all := map[string]bool{}
		for key := range a {
			all[key] = true
		}
		for key := range b {
			all[key] = true
		}
		var changes []FieldChange
		for _, key := range slices.SortedFunc(maps.Keys(all), cmp.Compare[string]) {
			at := key
			if path != "" {
				at = path + "." + key
			}
			changes = append(changes, fieldChanges(at, a[key], b[key])...)
		}
		return changes
	}
	if x, y := from, to; sameJSON(x, y) {
		return nil
	}
	return []FieldChange{{Path: path, From: from, To: to}}
}

func sameJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// Unified is the line diff of two texts in unified form, with 3 lines around each change; "" when equal.
func Unified(from, to, fromName, toName string) string {
	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = 0
	a, b, lines := dmp.DiffLinesToChars(from, to)
	diffs := dmp.DiffCharsToLines(dmp.DiffMain(a, b, false), lines)
	return unified(diffs, fromName, toName)
}
