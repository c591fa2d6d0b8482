package flow

import (
	"fmt"
	"strings"

	"weftline/engine/expr"
)

// activity checks one activity: the keys of all types by the table, inputs and block by its own type.
func (c *checker) activity(n *node, o *object) {
	c.keys(n, o)
	kind := n.get("type").text()
	for i := range n.entries {
		e := &n.entries[i]
		known := o.field(e.name)
		switch {
		case known == nil:
		case blockOf[e.name] != nil && e.name != kind:
			if contains(activityTypes, kind) {
				c.ps.add("E407", e.key, "remove it, or change the type", "the block %q does not belong to an activity of type %s", e.name, kind)
			}
		case e.name == "inputs":
			c.inputs(n, e, kind)
		default:
			c.check(e.value, known.shape)
		}
	}
	c.required(n, o, nil)
	if contains(activityTypes, kind) {
		c.missingParts(n, kind)
	}
}

func (c *checker) inputs(n *node, e *entry, kind string) {
	fixed := inputsOf[kind]
	switch {
	case fixed != nil && e.value.kind == mapNode:
		c.keys(e.value, fixed)
		for i := range e.value.entries {
			if known := fixed.field(e.value.entries[i].name); known != nil {
				c.check(e.value.entries[i].value, known.shape)
			}
		}
	case kind == TypeWorkflow || fixed != nil || !contains(activityTypes, kind):
		if e.value.kind != mapNode && !(e.value.kind == textNode && strings.Contains(e.value.raw, "${{")) {
			c.ps.add("E403", e.value, "", "inputs must be a map, here is %s", e.value.word())
			return
		}
		c.value(e.value)
	default:
		c.ps.add("E407", e.key, "remove them", "an activity of type %s has no inputs", kind)
	}
}

// missingParts reports what the type needs and the activity does not have.
func (c *checker) missingParts(n *node, kind string) {
	if fixed := inputsOf[kind]; fixed != nil {
		at, given := n, n.get("inputs")
		if given != nil {
			at = given
		}
		if given == nil || given.kind == mapNode {
			c.requiredInputs(at, given, fixed, kind, n)
		}
	}
	if blockRequired(kind) && n.get(kind) == nil {
		c.ps.add("E402", n, fmt.Sprintf("add %s: {…}", kind), "an activity of type %s needs the block %q", kind, kind)
	}
	if kind == TypeSet && n.get("outputs") == nil {
		c.ps.add("E402", n, "add outputs: {total: inputs.a + inputs.b}", "an activity of type set needs %q", "outputs")
	}
}

func (c *checker) requiredInputs(at, given *node, fixed *object, kind string, activity *node) {
	for i := range fixed.fields {
		each := &fixed.fields[i]
		if each.required && given.get(each.key) == nil && c.defaults.get(kind).get(each.key) == nil {
			c.ps.add("E402", at, example(each), "%s of type %s needs the input %q", describe(activity, activityObject), kind, each.key)
		}
	}
}

// specDefaults checks spec.defaults: the inputs of a type without its required keys.
func (c *checker) specDefaults(n *node) {
	c.defaults = n
	if n == nil || n.kind != mapNode {
		return
	}
	c.keys(n, defaultsObject)
	for _, e := range n.entries {
		fixed := inputsOf[e.name]
		if fixed == nil || e.value.kind != mapNode {
			continue
		}
		c.keys(e.value, fixed)
		for _, input := range e.value.entries {
			if known := fixed.field(input.name); known != nil {
				c.check(input.value, known.shape)
			}
		}
	}
}

// valueOf composes the compiled value of a node from the texts below it.
func (c *checker) valueOf(n *node) *expr.Value {
	if n == nil {
		return expr.Constant(nil)
	}
	if v := c.values[n]; v != nil {
		return v
	}
	if p := c.programs[n]; p != nil {
		return expr.Expression(p)
	}
	switch n.kind {
	case listNode:
		items := make([]*expr.Value, len(n.items))
		for i, item := range n.items {
			items[i] = c.valueOf(item)
		}
		return expr.ListOf(items)
	case mapNode:
		fields := make(map[string]*expr.Value, len(n.entries))
		for _, e := range n.entries {
			fields[e.name] = c.valueOf(e.value)
		}
		return expr.ObjectOf(fields)
	}
	return expr.Constant(n.value)
}
