package expr

import (
	"slices"

	"github.com/expr-lang/expr/ast"
)

// passing are functions whose result tells their first argument.
var passing = []string{"string", "upper", "lower", "trim", "toJSON"}

// Carries reports whether the result surely tells a value that the predicate marks by its path, such as
// inputs, person, name; at is where that path stands. A result that only depends on it, as a comparison
// does, does not count.
func (p *Program) Carries(marked func(path []string) bool) (at *Error, carries bool) {
	node := carrier(p.root, marked)
	if node == nil {
		return nil, false
	}
	from := node.Location().From
	return (&Error{}).locate(p.source, from, node.Location().To), true
}

func carrier(node ast.Node, marked func([]string) bool) ast.Node {
	switch n := node.(type) {
	case *ast.ChainNode:
		return carrier(n.Node, marked)
	case *ast.MemberNode, *ast.IdentifierNode:
		if path, plain := pathOf(node); plain && marked(path) {
			return first(node)
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "+":
			if found := carrier(n.Left, marked); found != nil {
				return found
			}
			return carrier(n.Right, marked)
		case "??":
			return carrier(n.Left, marked)
		}
	case *ast.BuiltinNode:
		return passed(n.Name, n.Arguments, marked)
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
			return passed(callee.Value, n.Arguments, marked)
		}
	case *ast.ArrayNode:
		for _, item := range n.Nodes {
			if found := carrier(item, marked); found != nil {
				return found
			}
		}
	}
	return nil
}

// AnyPlace stands in a path for the place of an item in a list.
const AnyPlace = "[]"

// Path is the way to the value when the expression is nothing but that, as inputs.person.name or inputs.list[0].
func (p *Program) Path() (path []string, plain bool) { return pathOf(p.root) }

func passed(function string, arguments []ast.Node, marked func([]string) bool) ast.Node {
	if len(arguments) == 0 || !slices.Contains(passing, function) {
		return nil
	}
	return carrier(arguments[0], marked)
}

// pathOf is a chain of members with constant names, from its root on.
func pathOf(node ast.Node) (path []string, plain bool) {
	switch n := node.(type) {
	case *ast.IdentifierNode:
		return []string{n.Value}, true
	case *ast.ChainNode:
		return pathOf(n.Node)
	case *ast.MemberNode:
		before, plain := pathOf(n.Node)
		switch key := n.Property.(type) {
		case *ast.StringNode:
			return append(before, key.Value), plain
		case *ast.IntegerNode:
			return append(before, AnyPlace), plain
		}
	}
	return nil, false
}

// first is where a path begins.
func first(node ast.Node) ast.Node {
	switch n := node.(type) {
	case *ast.MemberNode:
		return first(n.Node)
	case *ast.ChainNode:
		return first(n.Node)
	}
	return node
}
