package flow

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"weftline/engine/expr"
)

// The canonical form of a definition: keys in camelCase, expressions bare, durations in one style, edges as
// needs. Comments, layout, quotes and the order of keys are not part of it.

// normalText is the canonical spelling of a text, by what it stands for.
func (c *checker) normalText(n *node) string {
	if text, ok := c.spelling[n]; ok {
		return text
	}
	return n.raw
}

// canonical is a checked tree as a plain value in canonical form.
func (c *checker) canonical(n *node) any {
	switch n.kind {
	case textNode:
		return c.normalText(n)
	case listNode:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			list[i] = c.canonical(item)
		}
		return list
	case mapNode:
		object := make(map[string]any, len(n.entries))
		for _, e := range n.entries {
			object[e.name] = c.canonical(e.value)
		}
		if object["transitions"] != nil {
			moveTransitions(object)
		}
		return object
	}
	return n.value
}

// moveTransitions turns the transitions of a spec into needs.
func moveTransitions(spec map[string]any) {
	transitions, _ := spec["transitions"].([]any)
	activities, ok := spec["activities"].([]any)
	if !ok {
		return
	}
	delete(spec, "transitions")
	for _, t := range transitions {
		edge, _ := t.(map[string]any)
		for _, each := range activities {
			if a, ok := each.(map[string]any); ok && a["id"] == edge["to"] {
				needs, _ := a["needs"].([]any)
				a["needs"] = append(needs, edge["from"])
			}
		}
	}
}

// canonicalJSON is the canonical form of a valid definition as JSON with sorted keys: what the content hash is
// computed from.
func (c *checker) canonicalJSON(root *node) []byte {
	text, err := json.Marshal(c.canonical(root))
	if err != nil {
		panic(err) // a checked tree holds plain JSON values only
	}
	return text
}

func (c *checker) contentHash(root *node) string {
	sum := sha256.Sum256(c.canonicalJSON(root))
	return hex.EncodeToString(sum[:])
}

// spellDuration is a duration in Go style.
func spellDuration(text string) string {
	if !strings.HasPrefix(text, "P") {
		return text
	}
	if d, err := expr.ParseDuration(text); err == nil {
		return expr.FormatDuration(d)
	}
	return text
}
