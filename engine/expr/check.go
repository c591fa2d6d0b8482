package expr

import (
	"fmt"
	"slices"

	"github.com/expr-lang/expr/ast"
)

// Check looks for names and types that cannot work, without evaluating. It gives the type of the result
// as far as it is known. Codes: E302, E303, E305, and what the scope's explanations say.
func (p *Program) Check(scope *Scope) (*Type, []*Error) {
	c := &typing{source: p.source, scope: scope}
	return c.node(p.root), c.errors
}

type typing struct {
	source string
	scope  *Scope
	locals []typedName
	item   *Type // of # in a predicate
	acc    *Type
	errors []*Error
}

type typedName struct {
	name string
	t    *Type
}

func (c *typing) fail(node ast.Node, code, hint, format string, args ...any) {
	at := node.Location()
	c.errors = append(c.errors, (&Error{Code: code, Message: fmt.Sprintf(format, args...), Hint: hint}).locate(c.source, at.From, at.To))
}

func (c *typing) node(node ast.Node) *Type {
	switch n := node.(type) {
	case *ast.NilNode:
		return Of(Null)
	case *ast.BoolNode:
		return Of(Boolean)
	case *ast.IntegerNode, *ast.FloatNode:
		return Of(Number)
	case *ast.StringNode:
		return Of(Text)
	case *ast.IdentifierNode:
		return c.identifier(n)
	case *ast.PointerNode:
		return c.pointer(n)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.ChainNode:
		return c.path(n, strict)
	case *ast.MemberNode:
		return c.path(n, strict)
	case *ast.SliceNode:
		for _, end := range []ast.Node{n.From, n.To} {
			if end != nil {
				c.want(end, Number, "an end of a slice")
			}
		}
		return c.want(n.Node, List|Text, "what is sliced")
	case *ast.ConditionalNode:
		c.want(n.Cond, Boolean, "the condition")
		return either(c.node(n.Exp1), c.node(n.Exp2))
	case *ast.VariableDeclaratorNode:
		c.locals = append(c.locals, typedName{n.Name, c.node(n.Value)})
		t := c.node(n.Expr)
		c.locals = c.locals[:len(c.locals)-1]
		return t
	case *ast.SequenceNode:
		var t *Type
		for _, part := range n.Nodes {
			t = c.node(part)
		}
		return t
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
	}
	return nil
}

// want checks a part that must be of one of the kinds; what names it.
func (c *typing) want(node ast.Node, kind Kind, what string) *Type {
	t := c.node(node)
	if t.never(kind) {
		hint := ""
		if kind == Boolean {
			hint = "compare it with something, there is no truthiness"
		}
		c.fail(node, CodeType, hint, "%s is a %s, not a %s", what, t.kind(), kind)
	}
	return t
}

// identifier is a name that stands by itself.
func (c *typing) identifier(n *ast.IdentifierNode) *Type {
	t := c.root(n)
	if t != nil && t.Named {
		c.fail(n, CodeMember, fmt.Sprintf("write %s.<name>", n.Value), "%s cannot be read as a whole, only by name", n.Value)
	}
	return t
}

func (c *typing) root(n *ast.IdentifierNode) *Type {
	for i := len(c.locals) - 1; i >= 0; i-- {
		if c.locals[i].name == n.Value {
			return c.locals[i].t
		}
	}
	if n.Value == "null" {
		return Of(Null)
	}
	if t, known := c.scope.Roots[n.Value]; known {
		return t
	}
	if c.scope.Absent != nil {
		if code, message, hint := c.scope.Absent(n.Value); code != "" {
			c.fail(n, code, hint, "%s", message)
			return nil
		}
	}
	c.fail(n, CodeName, c.nameHint(n.Value), "%q is not known here", n.Value)
	return nil
}

func (c *typing) nameHint(name string) string {
	roots := sortedTypes(c.scope.Roots)
	if near := Nearest(name, roots); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if slices.Contains(FunctionNames(), name) {
		return fmt.Sprintf("%s is a function: %s(…)", name, name)
	}
	if slices.Contains(impure, name) {
		return pureAdvice
	}
	return fmt.Sprintf("put a text in quotes: %q", name)
}

func sortedTypes(m map[string]*Type) []string {
	return (&Type{Fields: m}).names()
}

func (c *typing) pointer(n *ast.PointerNode) *Type {
	switch n.Name {
	case "":
		return c.item
	case "index":
		return Of(Number)
	}
	return c.acc
}

func (c *typing) unary(n *ast.UnaryNode) *Type {
	if n.Operator == "not" || n.Operator == "!" {
		c.want(n.Node, Boolean, "what follows "+n.Operator)
		return Of(Boolean)
	}
	c.want(n.Node, Number, "what follows "+n.Operator)
	return Of(Number)
}

func (c *typing) binary(n *ast.BinaryNode) *Type {
	switch n.Operator {
	case "and", "&&", "or", "||":
		c.want(n.Left, Boolean, "a side of "+n.Operator)
		c.want(n.Right, Boolean, "a side of "+n.Operator)
		return Of(Boolean)
	case "??":
		left := c.path(n.Left, lenient)
		return either(withoutNull(left), c.node(n.Right))
	case "==", "!=":
		left, right := c.node(n.Left), c.node(n.Right)
		if left.never(right.kind()|Null) && right.never(left.kind()|Null) {
			c.fail(n, CodeType, "both sides must have one type; nothing is converted by itself", "a %s and a %s are compared", left.kind(), right.kind())
		}
		return Of(Boolean)
	case "in":
		c.node(n.Left)
		c.want(n.Right, List|Object, "the right side of in")
		return Of(Boolean)
	case "contains", "startsWith", "endsWith", "matches":
		c.want(n.Left, Text, "the left side of "+n.Operator)
		c.want(n.Right, Text, "the right side of "+n.Operator)
		return Of(Boolean)
	case "<", "<=", ">", ">=":
		c.pair(n, Number|Text)
		return Of(Boolean)
	case "+":
		return Of(c.pair(n, Number|Text))
	}
	c.pair(n, Number)
	return Of(Number)
}

// pair checks two sides that must be of one kind out of allowed, and gives the kinds that remain.
func (c *typing) pair(n *ast.BinaryNode, allowed Kind) Kind {
	left, right := c.node(n.Left), c.node(n.Right)
	if common := left.kind() & right.kind() & allowed; common != 0 {
		return common
	}
	hint := "nothing is converted by itself; use int, float or string"
	if (left.kind()|right.kind())&^Null == 0 || left.kind() == Null || right.kind() == Null {
		hint = "give a value with ?? where it may be null"
	}
	c.fail(n, CodeType, hint, "%s does not work on a %s and a %s", n.Operator, left.kind(), right.kind())
	return allowed
}

func (c *typing) array(n *ast.ArrayNode) *Type {
	var elem *Type
	for i, part := range n.Nodes {
		t := c.node(part)
		if i == 0 {
			elem = t
		} else {
			elem = either(elem, t)
		}
	}
	return ListOfType(elem)
}

func (c *typing) object(n *ast.MapNode) *Type {
	t := &Type{Kind: Object, Fields: map[string]*Type{}}
	for _, node := range n.Pairs {
		pair := node.(*ast.PairNode)
		value := c.node(pair.Value)
		if key, ok := pair.Key.(*ast.StringNode); ok {
			t.Fields[key.Value] = value
			continue
		}
		c.want(pair.Key, Text, "a key of an object")
		t.Open = true
	}
	return t
}

// path follows member access with the leniency the place allows.
func (c *typing) path(node ast.Node, mode leniency) *Type {
	switch n := node.(type) {
	case *ast.ChainNode:
		return c.path(n.Node, mode)
	case *ast.MemberNode:
		before := strict
		switch {
		case mode == lenient:
			before = lenient
		case n.Optional:
			before = nullable
		}
		base := c.base(n, before)
		t := c.member(n, base, mode != strict || n.Optional)
		if (n.Optional || mode != strict) && t != nil {
			return withNull(t)
		}
		return t
	}
	return c.node(node)
}

// base is what a step is taken from; a step with a fixed name may begin at any root.
func (c *typing) base(n *ast.MemberNode, mode leniency) *Type {
	root, isRoot := n.Node.(*ast.IdentifierNode)
	if _, fixed := n.Property.(*ast.StringNode); isRoot && fixed {
		return c.root(root)
	}
	return c.path(n.Node, mode)
}

func (c *typing) member(n *ast.MemberNode, base *Type, mayBeAbsent bool) *Type {
	key, isText := n.Property.(*ast.StringNode)
	if !isText {
		return c.index(n, base)
	}
	if base.never(Object) {
		if !base.never(List) {
			c.fail(n.Property, CodeType, "take one item with [0], or use map(list, ."+key.Value+")", "a list has no key %q", key.Value)
		} else if base.kind() != Null {
			c.fail(n.Property, CodeType, "", "a %s has no key %q", base.kind(), key.Value)
		}
		return nil
	}
	if base != nil && base.Doubt != "" && !mayBeAbsent {
		c.fail(key, CodeDoubt, "write "+describe(n.Node)+"?."+key.Value+", or give a value with ??", "%s", base.Doubt)
	}
	if base == nil || base.Fields == nil && base.Missing == nil {
		return nil
	}
	if t, known := base.Fields[key.Value]; known {
		return t
	}
	if base.Lookup != nil {
		if t, known := base.Lookup(key.Value); known {
			return t
		}
	}
	if base.Open || base.Loose && mayBeAbsent {
		return nil
	}
	c.absent(n, key, base)
	return nil
}

func (c *typing) index(n *ast.MemberNode, base *Type) *Type {
	key := c.node(n.Property)
	if base.never(List | Object) {
		if base.kind() != Null {
			c.fail(n.Property, CodeType, "", "a %s has no items", base.kind())
		}
		return nil
	}
	if base.never(Object) && key.never(Number) {
		c.fail(n.Property, CodeType, "an item of a list has a number: [0]", "a list has no key that is a %s", key.kind())
	}
	if base != nil && base.Kind == List {
		return base.Elem
	}
	return nil
}

func (c *typing) absent(n *ast.MemberNode, key *ast.StringNode, base *Type) {
	if base.Missing != nil {
		code, message, hint := base.Missing(key.Value)
		c.fail(key, code, hint, "%s", message)
		return
	}
	hint := ""
	names := base.names()
	if near := Nearest(key.Value, names); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	} else if len(names) > 0 && len(names) <= 15 {
		hint = "it has " + joinWords(names)
	}
	c.fail(key, CodeMember, hint, "%s has no key %q", describe(n.Node), key.Value)
}

func joinWords(words []string) string {
	out := ""
	for i, word := range words {
		if i > 0 {
			out += ", "
		}
		out += word
	}
	return out
}

func (c *typing) call(n ast.Node, name string, args []ast.Node) *Type {
	if predicates[name] != nil {
		return c.predicate(name, args)
	}
	if name == "default" && len(args) == 2 {
		return either(withoutNull(c.path(args[0], lenient)), c.node(args[1]))
	}
	if _, ok := operatorOf[name]; ok {
		for _, arg := range args {
			c.want(arg, Text, "an argument of "+operatorOf[name])
		}
		return Of(Boolean)
	}
	fn, ok := functions[name]
	if !ok {
		return nil
	}
	var first *Type
	for i, arg := range args {
		t := c.node(arg)
		if i == 0 {
			first = t
		}
		if want := fn.param(i); t.never(want) {
			c.fail(arg, CodeType, "", "argument %d of %s is a %s, not a %s", i+1, name, t.kind(), want)
		}
	}
	if elementWise[name] && first != nil && first.Kind == List {
		return c.elementWise(name, first)
	}
	if fn.result == Any {
		return nil
	}
	return Of(fn.result)
}

// elementWise are the functions whose result is made of the items of their list.
var elementWise = map[string]bool{"first": true, "last": true, "take": true, "uniq": true, "sort": true, "reverse": true}

func (c *typing) elementWise(name string, list *Type) *Type {
	if name == "first" || name == "last" {
		if list.Elem == nil {
			return nil
		}
		return withNull(list.Elem)
	}
	return list
}

func (c *typing) predicate(name string, args []ast.Node) *Type {
	list := c.node(args[0])
	if list.never(List) {
		c.fail(args[0], CodeType, "", "argument 1 of %s is a %s, not a list", name, list.kind())
	}
	var elem, result *Type
	if list != nil {
		elem = list.Elem
	}
	for _, extra := range args[min(2, len(args)):] {
		c.node(extra)
	}
	if len(args) > 1 {
		item, acc := c.item, c.acc
		c.item, c.acc = elem, nil
		if body, ok := args[1].(*ast.PredicateNode); ok {
			result = c.body(name, body.Node)
		}
		c.item, c.acc = item, acc
	}
	switch name {
	case "map":
		return ListOfType(result)
	case "filter", "sortBy":
		return ListOfType(elem)
	case "find":
		if elem == nil {
			return nil
		}
		return withNull(elem)
	case "findIndex", "count", "sum":
		return Of(Number)
	case "groupBy":
		return Of(Object)
	case "reduce":
		return nil
	}
	return Of(Boolean)
}

func (c *typing) body(name string, node ast.Node) *Type {
	switch name {
	case "map", "reduce":
		return c.node(node)
	case "sum":
		return c.want(node, Number, "what is summed")
	case "sortBy":
		return c.want(node, Number|Text, "the key of sortBy")
	case "groupBy":
		return c.want(node, Number|Text|Boolean, "the key of groupBy")
	}
	return c.want(node, Boolean, "the predicate of "+name)
}
