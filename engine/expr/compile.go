package expr

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
)

// The grammar is expr-lang's; evaluation is a tree of closures of our own, because the strict rules (an
// absent key is an error, no truthiness, no coercion, exact whole numbers, bounded work, no map order)
// touch every kind of node.

type evaluator func(*frame) (any, error)

// frame is the state of one evaluation.
type frame struct {
	env    Env
	source string
	locals []any // values of let, by slot

	item  any // # of the innermost predicate
	index int // #index
	acc   any // #acc of reduce

	turns int // predicate bodies so far
	work  int // bytes built or walked so far

	hollow bool // something measured is not Solid
}

// turn counts one evaluation of a predicate body; a large body counts more than once.
func (f *frame) turn(weight int) error {
	f.turns += weight
	if f.turns > maxTurns {
		return &Error{Code: CodeLimit, Message: fmt.Sprintf("the expression went through more than %d items", maxTurns),
			Hint: "do the loop in a for_each or script activity"}
	}
	return nil
}

// spend counts bytes built or walked.
func (f *frame) spend(bytes int) error {
	f.work += bytes
	if bytes < 0 || f.work > maxWork {
		return &Error{Code: CodeLimit, Message: "the expression handles more data than the memory budget allows",
			Hint: "do it in a script activity"}
	}
	return nil
}

// measure walks a value and fails when it is too deep or, written out, too large.
func (f *frame) measure(value any, depth int) error {
	if depth > maxDepth {
		return &Error{Code: CodeLimit, Message: fmt.Sprintf("the data is nested deeper than %d", maxDepth)}
	}
	if err := f.spend(8); err != nil {
		return err
	}
	switch v := value.(type) {
	case string:
		f.hollow = f.hollow || !utf8.ValidString(v)
		return f.spend(len(v))
	case []any:
		f.hollow = f.hollow || v == nil
		for _, item := range v {
			if err := f.measure(item, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		f.hollow = f.hollow || v == nil
		for key, item := range v {
			f.hollow = f.hollow || !utf8.ValidString(key)
			if err := f.spend(len(key)); err != nil {
				return err
			}
			if err := f.measure(item, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// compiler turns syntax into closures; the first error wins.
type compiler struct {
	source string
	err    *Error
	scope  []local
	most   int // slots needed
	builds bool
}

type local struct {
	name string
	slot int
}

func (c *compiler) fail(node ast.Node, code, message, hint string) evaluator {
	if c.err == nil {
		at := node.Location()
		c.err = (&Error{Code: code, Message: message, Hint: hint}).locate(c.source, at.From, at.To)
	}
	return func(*frame) (any, error) { return nil, c.err }
}

// at gives errors of run their place.
func (c *compiler) at(node ast.Node, run evaluator) evaluator {
	place := node.Location()
	return func(f *frame) (any, error) {
		value, err := run(f)
		if err != nil {
			return nil, placed(err, f.source, place.From, place.To)
		}
		return value, nil
	}
}

// placed keeps the place of an inner error.
func placed(err error, source string, from, to int) error {
	e, ok := err.(*Error)
	if !ok {
		e = &Error{Code: CodeType, Message: err.Error()}
	}
	if e.Source == "" {
		e.locate(source, from, to)
	}
	return e
}

func constant(value any) evaluator {
	return func(*frame) (any, error) { return value, nil }
}

func (c *compiler) node(node ast.Node) evaluator {
	switch n := node.(type) {
	case *ast.NilNode:
		return constant(nil)
	case *ast.BoolNode:
		return constant(n.Value)
	case *ast.IntegerNode:
		return constant(int64(n.Value))
	case *ast.FloatNode:
		return constant(n.Value)
	case *ast.StringNode:
		return constant(n.Value)
	case *ast.IdentifierNode, *ast.MemberNode, *ast.ChainNode:
		return plain(c.path(n, strict))
	case *ast.PointerNode:
		return c.pointer(n)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.SliceNode:
		return c.slice(n)
	case *ast.ConditionalNode:
		return c.conditional(n)
	case *ast.VariableDeclaratorNode:
		return c.let(n)
	case *ast.SequenceNode:
		return c.sequence(n)
	case *ast.ArrayNode:
		return c.array(n)
	case *ast.MapNode:
		return c.object(n)
	case *ast.BuiltinNode:
		return c.call(n, n.Name, n.Arguments)
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
			return c.call(n, callee.Value, n.Arguments)
		}
		return c.fail(n, CodeFunction, "values have no methods", "call a function: upper(x) instead of x.upper()")
	}
	return c.fail(node, CodeSyntax, fmt.Sprintf("%s is not part of the language", kindOf(node)), "")
}

func kindOf(node ast.Node) string {
	return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", node), "*ast."), "Node"))
}

func (c *compiler) identifier(n *ast.IdentifierNode) evaluator {
	name := n.Value
	if name == "null" {
		return constant(nil)
	}
	for i := len(c.scope) - 1; i >= 0; i-- {
		if c.scope[i].name == name {
			slot := c.scope[i].slot
			return func(f *frame) (any, error) { return f.locals[slot], nil }
		}
	}
	place := n.Location()
	return func(f *frame) (any, error) {
		value, ok := f.env.Root(name)
		if !ok {
			e := &Error{Code: CodeName, Message: fmt.Sprintf("%q is not known here", name)}
			return nil, e.locate(f.source, place.From, place.To)
		}
		return value, nil
	}
}

func (c *compiler) pointer(n *ast.PointerNode) evaluator {
	switch n.Name {
	case "":
		return func(f *frame) (any, error) { return f.item, nil }
	case "index":
		return func(f *frame) (any, error) { return int64(f.index), nil }
	case "acc":
		return func(f *frame) (any, error) { return f.acc, nil }
	}
	return c.fail(n, CodeName, fmt.Sprintf("#%s does not exist", n.Name), "there are #, #index and, in reduce, #acc")
}

func (c *compiler) conditional(n *ast.ConditionalNode) evaluator {
	cond, then, otherwise := c.condition(n.Cond, "the condition"), c.node(n.Exp1), c.node(n.Exp2)
	return func(f *frame) (any, error) {
		yes, err := cond(f)
		if err != nil {
			return nil, err
		}
		if yes {
			return then(f)
		}
		return otherwise(f)
	}
}

// condition compiles a node that must be true or false; what names it in the error.
func (c *compiler) condition(node ast.Node, what string) func(*frame) (bool, error) {
	run, place := c.node(node), node.Location()
	return func(f *frame) (bool, error) {
		value, err := run(f)
		if err != nil {
			return false, err
		}
		if b, ok := value.(bool); ok {
			return b, nil
		}
		e := &Error{Code: CodeType, Message: fmt.Sprintf("%s is %s, not true or false", what, article(value)),
			Hint: "compare it with something, there is no truthiness"}
		return false, e.locate(f.source, place.From, place.To)
	}
}

func (c *compiler) let(n *ast.VariableDeclaratorNode) evaluator {
	value := c.node(n.Value)
	slot := len(c.scope)
	c.scope = append(c.scope, local{n.Name, slot})
	c.most = max(c.most, slot+1)
	body := c.node(n.Expr)
	c.scope = c.scope[:slot]
	return func(f *frame) (any, error) {
		v, err := value(f)
		if err != nil {
			return nil, err
		}
		f.locals[slot] = v
		return body(f)
	}
}

func (c *compiler) sequence(n *ast.SequenceNode) evaluator {
	parts := c.nodes(n.Nodes)
	return func(f *frame) (value any, err error) {
		for _, part := range parts {
			if value, err = part(f); err != nil {
				return nil, err
			}
		}
		return value, nil
	}
}

func (c *compiler) nodes(nodes []ast.Node) []evaluator {
	out := make([]evaluator, len(nodes))
	for i, node := range nodes {
		out[i] = c.node(node)
	}
	return out
}

func (c *compiler) array(n *ast.ArrayNode) evaluator {
	c.builds = true
	parts := c.nodes(n.Nodes)
	return c.at(n, func(f *frame) (any, error) {
		if err := f.spend(16 * len(parts)); err != nil {
			return nil, err
		}
		return evalAll(f, parts)
	})
}

func evalAll(f *frame, parts []evaluator) ([]any, error) {
	list := make([]any, len(parts))
	for i, part := range parts {
		value, err := part(f)
		if err != nil {
			return nil, err
		}
		list[i] = value
	}
	return list, nil
}

func (c *compiler) object(n *ast.MapNode) evaluator {
	c.builds = true
	keys, values := make([]evaluator, len(n.Pairs)), make([]evaluator, len(n.Pairs))
	for i, node := range n.Pairs {
		pair := node.(*ast.PairNode)
		keys[i], values[i] = c.node(pair.Key), c.node(pair.Value)
	}
	return c.at(n, func(f *frame) (any, error) {
		if err := f.spend(32 * len(keys)); err != nil {
			return nil, err
		}
		object := make(map[string]any, len(keys))
		for i := range keys {
			key, err := keys[i](f)
			if err != nil {
				return nil, err
			}
			name, ok := key.(string)
			if !ok {
				return nil, &Error{Code: CodeType, Message: "a key of an object is " + article(key) + ", not a text"}
			}
			if object[name], err = values[i](f); err != nil {
				return nil, err
			}
		}
		return object, nil
	})
}
