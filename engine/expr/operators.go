package expr

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/expr-lang/expr/ast"
)

func (c *compiler) unary(n *ast.UnaryNode) evaluator {
	switch n.Operator {
	case "not", "!":
		cond := c.condition(n.Node, "what follows "+n.Operator)
		return func(f *frame) (any, error) {
			yes, err := cond(f)
			return !yes, err
		}
	case "-", "+":
		run, negate := c.node(n.Node), n.Operator == "-"
		return c.at(n, func(f *frame) (any, error) {
			value, err := run(f)
			if err != nil {
				return nil, err
			}
			return signed(value, negate)
		})
	}
	return c.fail(n, CodeSyntax, fmt.Sprintf("there is no operator %s", n.Operator), "")
}

func signed(value any, negate bool) (any, error) {
	switch v := value.(type) {
	case int64:
		if !negate {
			return v, nil
		}
		if v == math.MinInt64 {
			return nil, overflow()
		}
		return -v, nil
	case float64:
		if negate {
			v = -v
		}
		return v, nil
	}
	return nil, &Error{Code: CodeType, Message: "a sign needs a number, not " + article(value)}
}

func (c *compiler) binary(n *ast.BinaryNode) evaluator {
	switch n.Operator {
	case "and", "&&", "or", "||":
		return c.logical(n)
	case "??":
		return c.coalesce(n.Left, n.Right)
	case "matches":
		return c.matches(n)
	}
	operate, ok := binaries[n.Operator]
	if !ok {
		return c.fail(n, CodeSyntax, fmt.Sprintf("there is no operator %s", n.Operator), "")
	}
	left, right := c.node(n.Left), c.node(n.Right)
	return c.at(n, func(f *frame) (any, error) {
		a, err := left(f)
		if err != nil {
			return nil, err
		}
		b, err := right(f)
		if err != nil {
			return nil, err
		}
		return operate(f, a, b)
	})
}

var binaries = map[string]func(f *frame, a, b any) (any, error){
	"==":         func(f *frame, a, b any) (any, error) { return compareEqual(f, a, b) },
	"!=":         func(f *frame, a, b any) (any, error) { same, err := compareEqual(f, a, b); return !same, err },
	"<":          func(_ *frame, a, b any) (any, error) { n, err := order(a, b, "<"); return n < 0, err },
	"<=":         func(_ *frame, a, b any) (any, error) { n, err := order(a, b, "<="); return n <= 0, err },
	">":          func(_ *frame, a, b any) (any, error) { n, err := order(a, b, ">"); return n > 0, err },
	">=":         func(_ *frame, a, b any) (any, error) { n, err := order(a, b, ">="); return n >= 0, err },
	"+":          add,
	"-":          func(_ *frame, a, b any) (any, error) { return arithmetic("-", a, b) },
	"*":          func(_ *frame, a, b any) (any, error) { return arithmetic("*", a, b) },
	"/":          func(_ *frame, a, b any) (any, error) { return divide(a, b) },
	"%":          func(_ *frame, a, b any) (any, error) { return remainder(a, b) },
	"**":         func(_ *frame, a, b any) (any, error) { return power(a, b) },
	"^":          func(_ *frame, a, b any) (any, error) { return power(a, b) },
	"in":         member,
	"contains":   func(_ *frame, a, b any) (any, error) { return textTest("contains", strings.Contains, a, b) },
	"startsWith": func(_ *frame, a, b any) (any, error) { return textTest("startsWith", strings.HasPrefix, a, b) },
	"endsWith":   func(_ *frame, a, b any) (any, error) { return textTest("endsWith", strings.HasSuffix, a, b) },
}

func (c *compiler) logical(n *ast.BinaryNode) evaluator {
	what := "a side of " + n.Operator
	left, right := c.condition(n.Left, what), c.condition(n.Right, what)
	stop := n.Operator == "or" || n.Operator == "||"
	return func(f *frame) (any, error) {
		yes, err := left(f)
		if err != nil {
			return nil, err
		}
		if yes == stop {
			return stop, nil
		}
		yes, err = right(f)
		return yes, err
	}
}

func (c *compiler) coalesce(left, right ast.Node) evaluator {
	first, second := plain(c.path(left, lenient)), c.node(right)
	return func(f *frame) (any, error) {
		value, err := first(f)
		if err != nil || value != nil {
			return value, err
		}
		return second(f)
	}
}

func (c *compiler) matches(n *ast.BinaryNode) evaluator {
	left, right := c.node(n.Left), c.node(n.Right)
	var fixed *regexp.Regexp
	if pattern, ok := n.Right.(*ast.StringNode); ok {
		var err error
		if fixed, err = compilePattern(pattern.Value); err != nil {
			return c.fail(n.Right, CodeSyntax, err.Error(), "patterns are RE2 regular expressions")
		}
	}
	return c.at(n, func(f *frame) (any, error) {
		a, err := left(f)
		if err != nil {
			return nil, err
		}
		b, err := right(f)
		if err != nil {
			return nil, err
		}
		text, isText := a.(string)
		pattern, isPattern := b.(string)
		if !isText || !isPattern {
			return nil, mismatch("matches", a, b, "it compares a text with a pattern")
		}
		if err := f.spend(len(text) * (1 + len(pattern)/2)); err != nil {
			return nil, err
		}
		re := fixed
		if re == nil {
			if re, err = compilePattern(pattern); err != nil {
				return nil, err
			}
		}
		return re.MatchString(text), nil
	})
}

func compilePattern(pattern string) (*regexp.Regexp, error) {
	if len(pattern) > 1000 {
		return nil, &Error{Code: CodeLimit, Message: "the pattern is longer than 1000 bytes"}
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, &Error{Code: CodeType, Message: "the pattern cannot be read: " + err.Error()}
	}
	return re, nil
}

// mismatch is the error of an operator that does not take these types.
func mismatch(operator string, a, b any, hint string) *Error {
	for _, side := range []any{a, b} {
		if side == nil {
			return &Error{Code: CodeType, Message: fmt.Sprintf("a side of %s is null", operator), Hint: "give a value with ?? where it may be null"}
		}
	}
	if hint == "" {
		hint = "nothing is converted by itself; use int, float or string"
	}
	return &Error{Code: CodeType, Message: fmt.Sprintf("%s does not work on %s and %s", operator, article(a), article(b)), Hint: hint}
}

func textTest(name string, test func(a, b string) bool, a, b any) (any, error) {
	text, ok := a.(string)
	part, also := b.(string)
	if !ok || !also {
		hint := "it works on two texts"
		if _, list := a.([]any); list {
			hint = "for a list write: item in list"
		}
		return nil, mismatch(name, a, b, hint)
	}
	return test(text, part), nil
}

// member is the operator in: an item of a list, or a key of an object.
func member(f *frame, a, b any) (any, error) {
	switch in := b.(type) {
	case []any:
		if a == nil {
			break
		}
		for _, item := range in {
			same, err := equal(f, a, item, 0)
			if same || err != nil {
				return same, err
			}
		}
		return false, nil
	case map[string]any:
		if key, ok := a.(string); ok {
			_, found := in[key]
			return found, nil
		}
	}
	return nil, mismatch("in", a, b, "it looks for an item in a list, or for a key in an object")
}

// compareEqual is the operator ==: null compares with anything, otherwise both sides have one type.
func compareEqual(f *frame, a, b any) (bool, error) {
	if a == nil || b == nil {
		return a == nil && b == nil, nil
	}
	if typeWord(a) != typeWord(b) {
		return false, &Error{Code: CodeType, Message: fmt.Sprintf("%s and %s are compared", article(a), article(b)),
			Hint: "both sides must have one type; nothing is converted by itself"}
	}
	return equal(f, a, b, 0)
}

// equal compares values of any types deeply; different types are different.
func equal(f *frame, a, b any, depth int) (bool, error) {
	if depth > maxDepth {
		return false, &Error{Code: CodeLimit, Message: fmt.Sprintf("the data is nested deeper than %d", maxDepth)}
	}
	if err := f.spend(8); err != nil {
		return false, err
	}
	switch x := a.(type) {
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false, nil
		}
		for i := range x {
			if same, err := equal(f, x[i], y[i], depth+1); !same || err != nil {
				return false, err
			}
		}
		return true, nil
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false, nil
		}
		for key, value := range x {
			other, found := y[key]
			if !found {
				return false, nil
			}
			if same, err := equal(f, value, other, depth+1); !same || err != nil {
				return false, err
			}
		}
		return true, nil
	}
	if isNumber(a) && isNumber(b) {
		return compareNumbers(a, b) == 0, nil
	}
	switch b.(type) {
	case []any, map[string]any:
		return false, nil
	}
	return a == b, nil
}

// order compares two numbers or two texts.
func order(a, b any, operator string) (int, error) {
	if isNumber(a) && isNumber(b) {
		return compareNumbers(a, b), nil
	}
	x, ok := a.(string)
	y, also := b.(string)
	if !ok || !also {
		return 0, mismatch(operator, a, b, "it compares two numbers or two texts")
	}
	return strings.Compare(x, y), nil
}
