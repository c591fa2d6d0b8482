package flow

import (
	"strconv"

	"go.yaml.in/yaml/v4"
)

// nodeKind is the type of a node after YAML 1.2 core-schema resolution.
type nodeKind int

const (
	nullNode nodeKind = iota
	boolNode
	intNode
	floatNode
	textNode
	listNode
	mapNode
)

// node is one value of a text with its place. Anchors are resolved: an alias is the same node again.
type node struct {
	kind    nodeKind
	value   any    // of a scalar: nil, bool, int64, float64 or string
	raw     string // of a scalar: the text without quotes
	quoted  bool   // written with quotes or as a block
	aliased bool   // stands here through an alias
	items   []*node
	entries []entry
	pos     Pos
	path    string // spec.activities[5].needs[0]
}

// entry is a key of a map with its value; key is always a scalar.
type entry struct {
	key   *node
	name  string // the key in camelCase, as the tables know it
	value *node
}

// document is one YAML document of a text.
type document struct {
	root   *node
	syntax *yaml.Node // with comments
}

// get finds the value of a key, nil when it is absent. A nil node has no keys.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	for i := range n.entries {
		if n.entries[i].name == name {
			return n.entries[i].value
		}
	}
	return nil
}

// at walks down by keys.
func (n *node) at(names ...string) *node {
	for _, name := range names {
		n = n.get(name)
	}
	return n
}

// keyNode finds the key itself, for messages about it.
func (n *node) keyNode(name string) *node {
	if n == nil {
		return nil
	}
	for i := range n.entries {
		if n.entries[i].name == name {
			return n.entries[i].key
		}
	}
	return nil
}

// given reports whether a value was written; null counts as not.
func (n *node) given() bool { return n != nil && n.kind != nullNode }

// text is the value of a text node, else "".
func (n *node) text() string {
	if n == nil || n.kind != textNode {
		return ""
	}
	return n.raw
}

// texts are the text items of a list.
func (n *node) texts() []string {
	if n == nil {
		return nil
	}
	var all []string
	for _, item := range n.items {
		if item.kind == textNode {
			all = append(all, item.raw)
		}
	}
	return all
}

func (n *node) bool(otherwise bool) bool {
	if n != nil && n.kind == boolNode {
		return n.value.(bool)
	}
	return otherwise
}

func (n *node) int(otherwise int) int {
	if n != nil && n.kind == intNode {
		return int(n.value.(int64))
	}
	return otherwise
}

// plain is the node as a JSON value.
func (n *node) plain() any {
	if n == nil {
		return nil
	}
	switch n.kind {
	case listNode:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			list[i] = item.plain()
		}
		return list
	case mapNode:
		object := make(map[string]any, len(n.entries))
		for _, e := range n.entries {
			object[e.name] = e.value.plain()
		}
		return object
	}
	return n.value
}

func (n *node) plainMap() map[string]any {
	object, _ := n.plain().(map[string]any)
	return object
}

// walk visits a node and all below it, in order, until f says no.
func (n *node) walk(f func(*node) bool) {
	if n == nil || !f(n) {
		return
	}
	for _, item := range n.items {
		item.walk(f)
	}
	for _, e := range n.entries {
		e.value.walk(f)
	}
}

// setPaths gives every node its path from the root.
func (n *node) setPaths(path string) {
	n.path = path
	for i, item := range n.items {
		item.setPaths(path + "[" + strconv.Itoa(i) + "]")
	}
	for _, e := range n.entries {
		at := e.name
		if path != "" {
			at = path + "." + e.name
		}
		e.key.path = at
		e.value.setPaths(at)
	}
}

// word names the type of a node in messages.
func (n *node) word() string {
	return [...]string{"null", "a boolean", "a number", "a number", "a text", "a list", "a map"}[n.kind]
}
