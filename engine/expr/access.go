package expr

import (
	"fmt"

	"github.com/expr-lang/expr/ast"
)

// A step of a path that leads nowhere is an error that names the key, unless the author allowed it.
type leniency int

const (
	strict   leniency = iota
	nullable          // before a ?. step: the last step may give null
	lenient           // left of ?? and in default(): every step may give null
)

// absent marks, inside a chain, that a ?. step found null: the rest of the chain is skipped.
type absent struct{}

// path compiles a node that may be a path. What it leads to may be a view.
func (c *compiler) path(node ast.Node, mode leniency) evaluator {
	switch n := node.(type) {
	case *ast.IdentifierNode:
		return c.identifier(n)
	case *ast.ChainNode:
		return c.chain(n, mode)
	case *ast.MemberNode:
		return c.member(n, mode)
	}
	return c.node(node)
}

// plain ends a path: what goes on from there is plain.
func plain(path evaluator) evaluator {
	return func(f *frame) (any, error) {
		value, err := path(f)
		if view, ok := value.(View); ok {
			return view.Whole(), err
		}
		return value, err
	}
}

func (c *compiler) chain(n *ast.ChainNode, mode leniency) evaluator {
	inner := c.path(n.Node, mode)
	return func(f *frame) (any, error) {
		value, err := inner(f)
		if _, nothing := value.(absent); nothing {
			return nil, err
		}
		return value, err
	}
}

func (c *compiler) member(n *ast.MemberNode, mode leniency) evaluator {
	before := strict
	switch {
	case mode == lenient:
		before = lenient
	case n.Optional:
		before = nullable
	}
	base := c.path(n.Node, before)
	place := n.Property.Location()
	fetch := c.fetch(n)
	return func(f *frame) (any, error) {
		value, err := base(f)
		if err != nil {
			return nil, err
		}
		if _, nothing := value.(absent); nothing {
			return value, nil
		}
		if value == nil && n.Optional {
			return absent{}, nil
		}
		got, found, err := fetch(f, value)
		if err == nil && !found {
			if mode != strict || n.Optional {
				return nil, nil
			}
			err = missing(n, value, got)
		}
		if err != nil {
			return nil, placed(err, f.source, place.From, place.To)
		}
		return got, nil
	}
}

// fetch gives a function that takes one step into a value; found is false when the step leads nowhere,
// and then the value it gives is the key.
func (c *compiler) fetch(n *ast.MemberNode) func(*frame, any) (any, bool, error) {
	if name, ok := n.Property.(*ast.StringNode); ok {
		key := name.Value
		return func(_ *frame, base any) (any, bool, error) {
			if value, found := inside(base, key); found {
				return value, true, nil
			}
			return step(base, key)
		}
	}
	property := c.node(n.Property)
	return func(f *frame, base any) (any, bool, error) {
		key, err := property(f)
		if err != nil {
			return nil, false, err
		}
		return step(base, key)
	}
}

func step(base, key any) (any, bool, error) {
	switch b := base.(type) {
	case nil:
		return key, false, nil
	case map[string]any, View:
		name, ok := key.(string)
		if !ok {
			return nil, false, &Error{Code: CodeType, Message: "a key of an object is a text, not " + article(key)}
		}
		value, found := inside(b, name)
		if !found {
			return key, false, nil
		}
		return value, true, nil
	case []any:
		i, ok := key.(int64)
		if !ok {
			return nil, false, &Error{Code: CodeType, Message: fmt.Sprintf("a list has no key %s", quote(key)),
				Hint: "take one item with [0], or use map(list, .key)"}
		}
		if i < 0 {
			i += int64(len(b))
		}
		if i < 0 || i >= int64(len(b)) {
			return key, false, nil
		}
		return b[i], true, nil
	}
	return nil, false, &Error{Code: CodeType, Message: fmt.Sprintf("%s has no key %s", article(base), quote(key))}
}

// inside gives what stands under a key, if the value is an object that has it.
func inside(base any, key string) (value any, found bool) {
	switch object := base.(type) {
	case map[string]any:
		value, found = object[key]
	case View:
		value, found = object.Key(key)
	}
	return value, found
}

// missing is the error of a step that leads nowhere.
func missing(n *ast.MemberNode, base, key any) *Error {
	of := describe(n.Node)
	if view, ok := base.(View); ok {
		base = view.Whole()
	}
	hint := "write ?. or ?? if it may be absent"
	switch b := base.(type) {
	case nil:
		return &Error{Code: CodeMember, Message: fmt.Sprintf("%s is null, it has no key %s", of, quote(key)), Hint: hint}
	case []any:
		return &Error{Code: CodeMember, Message: fmt.Sprintf("%s has %d items, there is no item %s", of, len(b), quote(key)), Hint: hint}
	case map[string]any:
		if name, ok := key.(string); ok {
			if near := Nearest(name, sortedKeys(b)); near != "" {
				hint = fmt.Sprintf("did you mean %q? %s", near, hint)
			}
		}
	}
	return &Error{Code: CodeMember, Message: fmt.Sprintf("%s has no key %s", of, quote(key)), Hint: hint}
}

// describe is the text of a path for messages.
func describe(node ast.Node) string {
	if text := clip(node.String(), 60); text != "" {
		return text
	}
	return "it"
}

func quote(key any) string {
	if text, ok := key.(string); ok {
		return fmt.Sprintf("%q", clip(text, 60))
	}
	return fmt.Sprintf("%v", key)
}

func (c *compiler) slice(n *ast.SliceNode) evaluator {
	c.builds = true
	base := c.node(n.Node)
	from, to := c.bound(n.From), c.bound(n.To)
	return c.at(n, func(f *frame) (any, error) {
		value, err := base(f)
		if err != nil {
			return nil, err
		}
		switch v := value.(type) {
		case []any:
			a, b, err := bounds(f, from, to, len(v))
			if err != nil {
				return nil, err
			}
			return v[a:b:b], nil
		case string:
			runes := []rune(v)
			a, b, err := bounds(f, from, to, len(runes))
			if err != nil {
				return nil, err
			}
			return string(runes[a:b]), f.spend(len(v))
		}
		return nil, &Error{Code: CodeType, Message: "only a list or a text can be sliced, not " + article(value)}
	})
}

func (c *compiler) bound(node ast.Node) evaluator {
	if node == nil {
		return nil
	}
	return c.node(node)
}

// bounds evaluates the ends of a slice, counts negative ones from the end and keeps both in range.
func bounds(f *frame, from, to evaluator, size int) (a, b int, err error) {
	ends := [2]int{0, size}
	for i, run := range [2]evaluator{from, to} {
		if run == nil {
			continue
		}
		value, err := run(f)
		if err != nil {
			return 0, 0, err
		}
		n, ok := value.(int64)
		if !ok {
			return 0, 0, &Error{Code: CodeType, Message: "an end of a slice is a whole number, not " + article(value)}
		}
		if n < 0 {
			n += int64(size)
		}
		ends[i] = int(min(max(n, 0), int64(size)))
	}
	return ends[0], max(ends[0], ends[1]), nil
}
