package flow

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Format writes a text in canonical form: keys in the order of the tables, two spaces, block style, quotes
// only where needed, edges as needs, comments kept. It is idempotent and changes no meaning. A text that is
// not YAML is a *LoadError; one that is YAML but no valid definition is formatted as far as it is understood.
func Format(text []byte) ([]byte, error) {
	ps := &problems{}
	documents := parse(text, ps)
	if ps.hasErrors() {
		return nil, &LoadError{ps.report("")}
	}
	if len(documents) == 0 {
		return nil, errors.New("the text is empty")
	}
	var out bytes.Buffer
	for i, d := range documents {
		if i > 0 {
			out.WriteString("---\n")
		}
		out.Write(formatDocument(d, ps.source))
	}
	if err := sameMeaning(documents, out.Bytes()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// formatDocument writes one document.
func formatDocument(d *document, s *source) []byte {
	c := newChecker(&problems{source: s, muted: true})
	c.document(d)
	f := formatter{checker: c}
	top := f.build(d.syntax.Content[0], d.root, false)
	top.edgesToNeeds()
	top.liftComment(true)
	top.head = joinComments(d.syntax.HeadComment, top.head)
	top.foot = joinComments(top.foot, d.syntax.FootComment)
	p := &printer{}
	p.document(top)
	return p.bytes()
}

// document checks a document by its kind, for the order and spelling of its keys.
func (c *checker) document(d *document) {
	switch {
	case d.root.kind != mapNode:
	case d.root.get("kind").text() == "Workflow":
		c.specDefaults(d.root.at("spec", "defaults"))
		c.check(d.root, group(workflowObject))
	case d.root.get("kind").given():
		c.besides([]*document{d})
	}
}

// sameMeaning compares what was read with what was written, so that a fault of the printer never changes a
// definition.
func sameMeaning(before []*document, written []byte) error {
	ps := &problems{}
	after := parse(written, ps)
	if ps.hasErrors() || len(after) != len(before) {
		return errors.New("the text cannot be formatted without changing it; please report this file")
	}
	for i := range before {
		if !bytes.Equal(meaning(before[i]), meaning(after[i])) {
			return errors.New("the text cannot be formatted without changing it; please report this file")
		}
	}
	return nil
}

func meaning(d *document) []byte {
	c := newChecker(&problems{source: newSource(""), muted: true})
	c.document(d)
	return c.canonicalJSON(d.root)
}

// tree is what is printed: values in canonical spelling and order, with their comments.
type tree struct {
	head, line, foot string // comments
	anchor, alias    string
	kind             nodeKind
	text             string
	keys             []*tree
	values           []*tree // of a map, beside keys; of a list, the items
	inline           bool    // on one line if it fits
	spaced           bool    // blank lines between the items
}

type formatter struct {
	*checker
	written bool // aliases are written out
}

// build pairs the syntax with what is known about it. Inside a JSON Schema, small maps are inline.
func (f formatter) build(y *yaml.Node, n *node, schema bool) *tree {
	t := &tree{head: y.HeadComment, line: y.LineComment, foot: y.FootComment, anchor: y.Anchor, kind: n.kind}
	if f.written {
		t.anchor = ""
	}
	if y.Kind == yaml.AliasNode && f.written {
		return f.build(y.Alias, n, schema)
	}
	if y.Kind == yaml.AliasNode {
		t.alias = y.Value
		return t
	}
	switch n.kind {
	case listNode:
		for i, item := range n.items {
			t.values = append(t.values, f.build(y.Content[i], item, schema))
		}
		t.liftComment(false)
		t.inline = !slices.ContainsFunc(t.values, func(v *tree) bool { return v.kind >= listNode })
	case mapNode:
		f.buildMap(t, y, n, schema)
	case textNode:
		t.text = f.normalText(n)
	default:
		t.text = n.raw
	}
	return t
}

func (f formatter) buildMap(t *tree, y *yaml.Node, n *node, schema bool) {
	o := f.tables[n]
	t.inline = o == needObject
	leaf := true
	for i, e := range n.entries {
		key := f.build(y.Content[2*i], e.key, false)
		if e.key.kind == textNode {
			key.text = e.name
		}
		inSchema := schema || f.schemas[e.value] != nil
		value := f.build(y.Content[2*i+1], e.value, inSchema)
		if o != nil {
			if known := o.field(e.name); known != nil {
				value.inline = value.inline || known.inline
				value.spaced = known.shape == activityList
			}
		}
		leaf = leaf && value.kind != mapNode && (value.kind != listNode || value.inline)
		t.keys, t.values = append(t.keys, key), append(t.values, value)
	}
	t.inline = t.inline || schema && leaf
	if o != nil {
		t.sort(o)
	}
}

// sort puts the keys into the order of the table; keys of the authors' own come last, as they were.
func (t *tree) sort(o *object) {
	order := map[string]int{}
	for i, key := range o.keys() {
		order[key] = i + 1
	}
	rank := func(i int) int { return cmp.Or(order[t.keys[i].text], len(order)+1) }
	places := make([]int, len(t.keys))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return rank(a) - rank(b) })
	keys, values := make([]*tree, len(places)), make([]*tree, len(places))
	for i, from := range places {
		keys[i], values[i] = t.keys[from], t.values[from]
	}
	t.keys, t.values = keys, values
}

func (t *tree) get(name string) *tree {
	if t == nil || t.kind != mapNode {
		return nil
	}
	for i, key := range t.keys {
		if key.text == name {
			return t.values[i]
		}
	}
	return nil
}

// edgesToNeeds moves spec.transitions into the needs of their targets, if all of them have one.
func (t *tree) edgesToNeeds() {
	spec := t.get("spec")
	transitions, activities := spec.get("transitions"), spec.get("activities")
	if transitions == nil || activities == nil || transitions.kind != listNode || activities.kind != listNode {
		return
	}
	targets := map[string]*tree{}
	for _, a := range activities.values {
		if id := a.get("id"); id != nil {
			targets[id.text] = a
		}
	}
	for _, each := range transitions.values {
		if to := each.get("to"); to == nil || targets[to.text] == nil || each.get("from") == nil {
			return
		}
	}
	for _, each := range transitions.values {
		targets[each.get("to").text].need(each.get("from").text, joinComments(each.head, each.line))
		transitions.foot = joinComments(transitions.foot, each.foot)
	}
	at := slices.Index(spec.values, transitions)
	key := spec.keys[at]
	spec.keys, spec.values = slices.Delete(spec.keys, at, at+1), slices.Delete(spec.values, at, at+1)
	left := joinComments(joinComments(key.head, key.line), joinComments(transitions.line, joinComments(key.foot, transitions.foot)))
	spec.keys[len(spec.keys)-1].foot = joinComments(spec.keys[len(spec.keys)-1].foot, left)
}

// need adds an entry to the needs of an activity.
func (t *tree) need(from, comment string) {
	needs := t.get("needs")
	if needs == nil {
		needs = &tree{kind: listNode, inline: true}
		t.keys, t.values = append(t.keys, &tree{kind: textNode, text: "needs"}), append(t.values, needs)
		t.sort(activityObject)
	}
	needs.values = append(needs.values, &tree{kind: textNode, text: from})
	needs.head = joinComments(needs.head, comment)
}

// liftComment gives a list the comment below its last item when that ends with an empty value, or the list is all
// there is: so it is read when it was printed.
func (t *tree) liftComment(whole bool) {
	if n := len(t.values); n > 0 && t.kind == listNode && (whole || t.values[n-1].endsEmpty()) {
		t.foot = joinComments(t.values[n-1].foot, t.foot)
		t.values[n-1].foot = ""
	}
}

func (t *tree) endsEmpty() bool {
	if n := len(t.values); n > 0 {
		return t.values[n-1].endsEmpty()
	}
	return t.kind < listNode && t.text == ""
}

func joinComments(a, b string) string {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}
