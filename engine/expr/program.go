package expr

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// Bounds of one expression and of one evaluation.
const (
	MaxSource = 4 << 10 // bytes
	MaxNodes  = 1000
	maxTurns  = 100_000  // predicate bodies evaluated
	maxWork   = 32 << 20 // bytes built or walked
	maxDepth  = 500      // of data that is walked
)

// Program is a compiled expression. It is immutable and safe for concurrent use.
type Program struct {
	source string
	root   ast.Node
	run    evaluator
	locals int
	builds bool // makes lists or objects, so that the result has to be measured
	refs   References
	origin Origin
}

// Origin is where an expression begins in the definition's text, from 1; further lines of it begin at
// Indent. The zero Origin is unknown.
type Origin struct{ Line, Column, Indent int }

// Place tells the program its origin. It must be called before the program is shared.
func (p *Program) Place(at Origin) { p.origin = at }

// References are what an expression reads, each list sorted and without repeats.
type References struct {
	Roots      []string // inputs, vars, item…
	Activities []string // x of activities.x
	Secrets    []string // Y of secrets.Y
	Variables  []string // z of vars.z
}

// Compile reads one bare expression. The error is an *Error.
func Compile(text string) (*Program, error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	c := &compiler{source: text}
	run := c.node(root)
	if c.err != nil {
		return nil, c.err
	}
	return &Program{source: text, root: root, run: run, locals: c.most, builds: c.builds, refs: references(root)}, nil
}

// Source is the text the program was compiled from.
func (p *Program) Source() string { return p.source }

// Names are the roots the expression reads.
func (p *Program) Names() []string { return p.refs.Roots }

// References are the roots, activities, variables and secrets the expression reads.
func (p *Program) References() References { return p.refs }

// Eval computes the expression. The error is an *Error; nothing that env holds makes it panic or run
// longer than the bounds. env is only read; the result may share parts with it. The result is Solid.
func (p *Program) Eval(env Env) (any, error) {
	f := frame{env: env, source: p.source}
	if p.locals > 0 {
		f.locals = make([]any, p.locals)
	}
	result, err := p.run(&f)
	if err == nil && p.builds {
		err = f.measure(result, 0)
	}
	if err != nil {
		return nil, p.asError(err)
	}
	if p.builds && !f.hollow {
		return result, nil
	}
	return Solid(result), nil
}

// EvalBool computes an expression that must be true or false; there is no truthiness.
func (p *Program) EvalBool(env Env) (bool, error) {
	result, err := p.Eval(env)
	if err != nil {
		return false, err
	}
	b, ok := result.(bool)
	if !ok {
		e := &Error{Code: CodeType, Message: "the condition is " + article(result) + ", not true or false",
			Hint: "compare it with something, there is no truthiness"}
		return false, p.asError(e)
	}
	return b, nil
}

func (p *Program) asError(err error) *Error {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Code: CodeType, Message: err.Error()}
	}
	if e.Source == "" {
		e.locate(p.source, 0, utf8.RuneCountInString(p.source))
	}
	if p.origin.Line > 0 {
		e.DefinitionLine, e.DefinitionColumn = p.origin.Line+e.Line-1, p.origin.Column+e.Column-1
		if e.Line > 1 {
			e.DefinitionColumn = p.origin.Indent + e.Column - 1
		}
	}
	return e
}

// parse gives the syntax tree of text, within the bounds of size.
func parse(text string) (root ast.Node, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, (&Error{Code: CodeSyntax, Message: "the expression is empty"}).locate(text, 0, 1)
	}
	if len(text) > MaxSource {
		e := &Error{Code: CodeLimit, Message: fmt.Sprintf("the expression has %d bytes, at most %d are allowed", len(text), MaxSource),
			Hint: "move a part of it into spec.variables or a set activity"}
		return nil, e.locate(clip(text, 200), 0, 1)
	}
	if !utf8.ValidString(text) {
		return nil, (&Error{Code: CodeSyntax, Message: "the expression is not UTF-8"}).locate("", 0, 1)
	}
	defer func() { // the parser is not ours: a fault in it is an error of this text, not of the server
		if fault := recover(); fault != nil {
			root, err = nil, (&Error{Code: CodeSyntax, Message: "the expression cannot be read"}).locate(text, 0, 1)
		}
	}()
	tree, failed := parser.ParseWithConfig(operatorCalls(text), &conf.Config{MaxNodes: MaxNodes})
	if failed != nil {
		return nil, syntaxError(text, failed)
	}
	if left := MaxNodes * 2; !within(tree.Node, &left) {
		return nil, tooManyParts().locate(text, 0, 1)
	}
	return tree.Node, nil
}

// within counts visits down to the leaves. A chain of comparisons shares its middle operands, so that a
// small tree can take exponentially many visits.
func within(node ast.Node, left *int) bool {
	*left--
	if *left < 0 {
		return false
	}
	for _, child := range parts(node) {
		if child != nil && !within(child, left) {
			return false
		}
	}
	return true
}

// parts are all nodes below a node, those of calls and members too.
func parts(node ast.Node) []ast.Node {
	switch n := node.(type) {
	case *ast.MemberNode:
		return []ast.Node{n.Node, n.Property}
	case *ast.CallNode:
		return n.Arguments
	case *ast.VariableDeclaratorNode:
		return []ast.Node{n.Value, n.Expr}
	}
	return children(node)
}

func tooManyParts() *Error {
	return &Error{Code: CodeLimit, Message: fmt.Sprintf("the expression has more than %d parts", MaxNodes),
		Hint: "move a part of it into spec.variables or a set activity"}
}

func syntaxError(text string, failed error) *Error {
	e := &Error{Code: CodeSyntax, Message: failed.Error()}
	var at *file.Error
	if !errors.As(failed, &at) {
		return e.locate(text, 0, 1)
	}
	e.Message = at.Message
	if strings.Contains(e.Message, "maximum allowed nodes") {
		e = tooManyParts()
	} else {
		e.Message, e.Hint = plainSyntax(text, e.Message)
	}
	return e.locate(text, at.From, at.To)
}

// plainSyntax says a parser's message in the words of the language.
func plainSyntax(text, message string) (plain, hint string) {
	message = strings.ReplaceAll(message, "unexpected token EOF", "the expression ends too early")
	switch {
	case strings.Contains(message, `Operator("=")`):
		return message, `compare with "=="`
	case strings.Contains(message, "coalesce"):
		return message, "put the ?? part in parentheses: (a ?? b) == c"
	case strings.Contains(message, "ends too early"), strings.Contains(message, "literal not terminated"):
		return message, "close every bracket and quote; in YAML, quote a text that holds \": \" or \" #\""
	case strings.Contains(text, "$"):
		return message, "this field is a bare expression: write it without ${{ }}"
	}
	return message, ""
}

type rootVisitor struct {
	refs  References
	bound map[string]int
}

// references collects what a tree reads; names bound by let do not count.
func references(root ast.Node) References {
	v := &rootVisitor{bound: map[string]int{}}
	walkNames(root, v)
	for _, list := range []*[]string{&v.refs.Roots, &v.refs.Activities, &v.refs.Secrets, &v.refs.Variables} {
		slices.SortFunc(*list, cmp.Compare[string])
		*list = slices.Compact(*list)
	}
	return v.refs
}

func walkNames(node ast.Node, v *rootVisitor) {
	switch n := node.(type) {
	case nil:
	case *ast.IdentifierNode:
		if v.bound[n.Value] == 0 && n.Value != "null" {
			v.refs.Roots = append(v.refs.Roots, n.Value)
		}
	case *ast.MemberNode:
		v.member(n)
		walkNames(n.Node, v)
		walkNames(n.Property, v)
	case *ast.CallNode:
		walkAll(v, n.Arguments)
	case *ast.VariableDeclaratorNode:
		walkNames(n.Value, v)
		v.bound[n.Name]++
		walkNames(n.Expr, v)
		v.bound[n.Name]--
	default:
		walkAll(v, children(node))
	}
}

func walkAll(v *rootVisitor, nodes []ast.Node) {
	for _, child := range nodes {
		walkNames(child, v)
	}
}

// member notes the x of activities.x, vars.x and secrets.x.
func (v *rootVisitor) member(n *ast.MemberNode) {
	root, ok := unchain(n.Node).(*ast.IdentifierNode)
	key, isText := n.Property.(*ast.StringNode)
	if !ok || !isText || v.bound[root.Value] > 0 {
		return
	}
	switch root.Value {
	case "activities":
		v.refs.Activities = append(v.refs.Activities, key.Value)
	case "secrets":
		v.refs.Secrets = append(v.refs.Secrets, key.Value)
	case "vars":
		v.refs.Variables = append(v.refs.Variables, key.Value)
	}
}

func unchain(node ast.Node) ast.Node {
	if chain, ok := node.(*ast.ChainNode); ok {
		return chain.Node
	}
	return node
}

// children are the direct parts of a node, in order.
func children(node ast.Node) []ast.Node {
	switch n := node.(type) {
	case *ast.UnaryNode:
		return []ast.Node{n.Node}
	case *ast.BinaryNode:
		return []ast.Node{n.Left, n.Right}
	case *ast.ChainNode:
		return []ast.Node{n.Node}
	case *ast.SliceNode:
		return []ast.Node{n.Node, n.From, n.To}
	case *ast.BuiltinNode:
		return n.Arguments
	case *ast.PredicateNode:
		return []ast.Node{n.Node}
	case *ast.ConditionalNode:
		return []ast.Node{n.Cond, n.Exp1, n.Exp2}
	case *ast.SequenceNode:
		return n.Nodes
	case *ast.ArrayNode:
		return n.Nodes
	case *ast.MapNode:
		return n.Pairs
	case *ast.PairNode:
		return []ast.Node{n.Key, n.Value}
	}
	return nil
}
