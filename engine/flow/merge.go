package flow

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// Sides of a conflict, as choices name them.
const (
	Published = "published" // what others published meanwhile
	Proposed  = "proposed"  // the change that is to be published
)

// Conflict is a field that both sides changed, each otherwise. The values are plain JSON, nil where the field
// is absent.
type Conflict struct {
	Path      string `json:"path"`               // spec.activities[pay].inputs.url
	Activity  string `json:"activity,omitempty"` // "" outside of activities
	Field     string `json:"field"`              // within the activity; "" = the whole of it
	Base      any    `json:"base"`
	Published any    `json:"published"`
	Proposed  any    `json:"proposed"`
}

// Merge carries a change of base over to what was published meanwhile, by activity and by field. choices says
// for the path of a conflict which side wins; conflicts without a choice are answered, and then there is no
// text. The proposed text is changed as little as its lines allow; where they do not, the merged text is in
// the form of Format, with the comments of both sides.
func Merge(base, published, proposed []byte, choices map[string]string) (text []byte, conflicts []Conflict, err error) {
	var sides [3]*document
	var trees [3]*tree
	for i, each := range [][]byte{base, published, proposed} {
		if sides[i], trees[i], err = mergeable(each); err != nil {
			return nil, nil, fmt.Errorf("the %s text: %w", []string{"base", Published, Proposed}[i], err)
		}
	}
	m := &merger{choices: choices}
	merged := m.merge(spot{}, trees[0], trees[1], trees[2])
	if len(m.conflicts) > 0 {
		return nil, m.conflicts, nil
	}
	if trees[1].same(merged) {
		return published, nil, nil
	}
	p := &printer{}
	p.document(merged)
	written, err := Format(withOthers(p.bytes(), proposed))
	if err != nil {
		return nil, nil, fmt.Errorf("the merged text: %w", err)
	}
	if byLines := patched(base, published, proposed); means(byLines, merged) {
		return byLines, nil, nil
	}
	return written, nil, nil
}

// mergeable reads the Workflow document of a text with its aliases written out.
func mergeable(text []byte) (*document, *tree, error) {
	ps := &problems{}
	doc, _ := documentsOf(text, ps)
	if doc == nil || ps.hasErrors() || doc.root.kind != mapNode {
		return nil, nil, &LoadError{ps.report("")}
	}
	c := newChecker(&problems{source: ps.source, muted: true})
	c.document(doc)
	top := formatter{checker: c, written: true}.build(doc.syntax.Content[0], doc.root, false)
	top.edgesToNeeds()
	return doc, top, nil
}

// withOthers adds the documents beside the Workflow, tests and layout, of another text.
func withOthers(workflow, text []byte) []byte {
	out := bytes.NewBuffer(workflow)
	for _, d := range parse(text, &problems{}) {
		if d.root.kind == mapNode && d.root.get("kind").text() != "Workflow" {
			out.WriteString("---\n")
			out.Write(formatDocument(d, newSource(string(text))))
		}
	}
	return out.Bytes()
}

// patched tries the change of base on the published lines; what does not fit anywhere is left out, so the
// result must be compared with what is meant.
func patched(base, published, proposed []byte) []byte {
	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = 0
	text, _ := dmp.PatchApply(dmp.PatchMake(string(base), string(proposed)), string(published))
	return []byte(text)
}

// means reports whether a text is a valid definition with the content of a tree.
func means(text []byte, meant *tree) bool {
	if !Validate(text).Valid {
		return false
	}
	_, is, err := mergeable(text)
	return err == nil && is.same(meant)
}

// spot is where a value stands.
type spot struct{ path, activity, field string }

func (p spot) key(name string) spot {
	if p.path == "" {
		return spot{path: name}
	}
	at := spot{path: p.path + "." + name, activity: p.activity}
	if at.activity != "" {
		at.field = strings.TrimPrefix(p.field+"."+name, ".")
	}
	return at
}

func (p spot) item(id string) spot { return spot{path: p.path + "[" + id + "]", activity: id} }

type merger struct {
	choices   map[string]string
	conflicts []Conflict
}

// merge decides about one value; nil is an absent one.
func (m *merger) merge(at spot, base, published, proposed *tree) *tree {
	switch {
	case published.same(proposed), base.same(proposed):
		return published
	case base.same(published):
		return proposed
	case published.isMap() && proposed.isMap() && (base == nil || base.isMap()):
		return m.maps(at, base, published, proposed)
	case published.byID() && proposed.byID() && (base == nil || base.byID()):
		return m.activities(at, base, published, proposed)
	case strings.HasSuffix(at.path, ".needs"):
		if merged := mergedNeeds(base, published, proposed); merged != nil {
			return merged
		}
	}
	return m.conflict(at, base, published, proposed)
}

func (m *merger) conflict(at spot, base, published, proposed *tree) *tree {
	switch m.choices[at.path] {
	case Published:
		return published
	case Proposed:
		return proposed
	}
	m.conflicts = append(m.conflicts, Conflict{Path: at.path, Activity: at.activity, Field: at.field,
		Base: base.plain(), Published: published.plain(), Proposed: proposed.plain()})
	return published
}

// maps merges key by key, in the order of the published side.
func (m *merger) maps(at spot, base, published, proposed *tree) *tree {
	merged := *published
	merged.keys, merged.values = nil, nil
	for _, key := range slices.Concat(published.keys, proposed.keys) {
		if merged.get(key.text) != nil || key != published.key(key.text) && published.key(key.text) != nil {
			continue
		}
		value := m.merge(at.key(key.text), base.get(key.text), published.get(key.text), proposed.get(key.text))
		if value != nil {
			merged.keys, merged.values = append(merged.keys, key), append(merged.values, value)
		}
	}
	return &merged
}

// activities merges a list whose items have ids.
func (m *merger) activities(at spot, base, published, proposed *tree) *tree {
	merged := *published
	merged.values = nil
	order := weave(published.ids(), proposed.ids())
	if slices.Equal(common(base.ids(), published.ids()), common(published.ids(), base.ids())) {
		order = weave(proposed.ids(), published.ids()) // only the proposal moved anything
	}
	for _, id := range order {
		if value := m.merge(at.item(id), base.withID(id), published.withID(id), proposed.withID(id)); value != nil {
			merged.values = append(merged.values, value)
		}
	}
	return &merged
}

// common lists the entries of a that are in b too, in the order of a.
func common(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(id string) bool { return !slices.Contains(b, id) })
}

// weave adds to a list what only another one has, each behind what it follows there.
func weave(list, other []string) []string {
	woven := slices.Clone(list)
	at := 0
	for _, id := range other {
		if known := slices.Index(woven, id); known >= 0 {
			at = known + 1
			continue
		}
		woven = slices.Insert(woven, at, id)
		at++
	}
	return woven
}

// mergedNeeds joins what both sides did to the needs of an activity; nil when both changed the edges from the
// same source.
func mergedNeeds(base, published, proposed *tree) *tree {
	ours, theirs := changedSources(base, proposed), changedSources(base, published)
	for source := range ours {
		if theirs[source] {
			return nil
		}
	}
	merged := &tree{kind: listNode, inline: true}
	for _, need := range published.items() {
		if !ours[need.source()] {
			merged.values = append(merged.values, need)
		}
	}
	for _, need := range proposed.items() {
		if ours[need.source()] {
			merged.values = append(merged.values, need)
		}
	}
	return merged
}

// changedSources are the activities whose edges to this one differ between two lists of needs.
func changedSources(from, to *tree) map[string]bool {
	bySource := func(t *tree) map[string]string {
		all := map[string]string{}
		for _, need := range t.items() {
			all[need.source()] += need.meaning() + "\n"
		}
		return all
	}
	before, after := bySource(from), bySource(to)
	changed := map[string]bool{}
	for source, edges := range before {
		if after[source] != edges {
			changed[source] = true
		}
	}
	for source := range after {
		if _, known := before[source]; !known {
			changed[source] = true
		}
	}
	return changed
}
