package flow

import (
	"slices"
	"strconv"
	"strings"
)

// What a tree means: its values without comments, order of keys and looks. A nil tree is an absent value.

func (t *tree) isMap() bool { return t != nil && t.kind == mapNode }

// byID reports whether a tree is a list of maps that each have an id, such as activities.
func (t *tree) byID() bool {
	return t != nil && t.kind == listNode && len(t.values) > 0 &&
		!slices.ContainsFunc(t.values, func(item *tree) bool { return item.get("id") == nil })
}

func (t *tree) items() []*tree {
	if t == nil || t.kind != listNode {
		return nil
	}
	return t.values
}

func (t *tree) ids() []string {
	var ids []string
	for _, item := range t.items() {
		ids = append(ids, item.get("id").text)
	}
	return ids
}

func (t *tree) withID(id string) *tree {
	for _, item := range t.items() {
		if item.get("id").text == id {
			return item
		}
	}
	return nil
}

func (t *tree) key(name string) *tree {
	for _, key := range t.keys {
		if key.text == name {
			return key
		}
	}
	return nil
}

// source is the activity that an entry of needs names.
func (t *tree) source() string {
	text := t.text
	if id := t.get("id"); id != nil {
		text = id.text
	}
	source, _, _ := strings.Cut(text, ".")
	return source
}

func (t *tree) same(other *tree) bool {
	return (t == nil) == (other == nil) && t.meaning() == other.meaning()
}

// meaning is a text that two trees share when they mean the same.
func (t *tree) meaning() string {
	if t == nil {
		return ""
	}
	var parts []string
	for i, value := range t.values {
		part := value.meaning()
		if t.kind == mapNode {
			part = strconv.Quote(t.keys[i].text) + ":" + part
		}
		parts = append(parts, part)
	}
	switch t.kind {
	case mapNode:
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	case listNode:
		return "[" + strings.Join(parts, ",") + "]"
	case textNode:
		return strconv.Quote(t.text)
	}
	return t.text
}

// plain is a tree as a JSON value.
func (t *tree) plain() any {
	switch {
	case t == nil:
		return nil
	case t.kind == mapNode:
		object := map[string]any{}
		for i, key := range t.keys {
			object[key.text] = t.values[i].plain()
		}
		return object
	case t.kind == listNode:
		list := make([]any, len(t.values))
		for i, item := range t.values {
			list[i] = item.plain()
		}
		return list
	case t.kind == textNode:
		return t.text
	}
	_, value := resolve(t.text)
	return value
}
