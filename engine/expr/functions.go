package expr

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// function is one entry of the allow list. All are pure, and none depends on the order of a map.
type function struct {
	params []Kind // the last one repeats when variadic
	least  int    // arguments that must be given
	many   bool   // variadic
	result Kind
	call   func(f *frame, args []any) (any, error)
}

// functions are all functions without a predicate; predicates are those with one.
var functions = merge(textFunctions, numberFunctions, listFunctions, dataFunctions, timeFunctions)

func merge(tables ...map[string]function) map[string]function {
	all := map[string]function{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

// impure are names people ask for that a repeatable expression cannot have.
var impure = []string{"now", "date", "today", "timestamp", "time", "random", "rand", "uuid", "uuid4", "env", "getenv", "hostname"}

const pureAdvice = "use execution.startedAt, trigger.scheduledAt, activities.x.endedAt, uuid5(namespace, name), or a step"

// FunctionNames lists every function, sorted.
func FunctionNames() []string {
	names := append(sortedFunctions(), "default", "contains", "startsWith", "endsWith", "matches")
	slices.Sort(names)
	return names
}

func sortedFunctions() []string {
	names := slices.Concat(slices.Collect(maps.Keys(functions)), slices.Collect(maps.Keys(predicates)))
	slices.Sort(names)
	return names
}

func (c *compiler) call(n ast.Node, name string, args []ast.Node) evaluator {
	switch {
	case predicates[name] != nil:
		return c.predicate(n, name, args)
	case name == "default":
		if len(args) != 2 {
			return c.fail(n, CodeFunction, "default takes a value and what to use instead of null", "default(x, 0), or x ?? 0")
		}
		return c.coalesce(args[0], args[1])
	}
	if operator, ok := operatorOf[name]; ok {
		if len(args) != 2 {
			return c.fail(n, CodeFunction, fmt.Sprintf("%s takes two texts", operator), "")
		}
		node := &ast.BinaryNode{Operator: operator, Left: args[0], Right: args[1]}
		node.SetLocation(n.Location())
		return c.binary(node)
	}
	fn, ok := functions[name]
	if !ok {
		return c.unknownFunction(n, name)
	}
	if len(args) < fn.least || !fn.many && len(args) > len(fn.params) {
		return c.fail(n, CodeFunction, fmt.Sprintf("%s takes %s, here are %d", name, fn.arity(), len(args)), "")
	}
	if fn.result&(List|Object) != 0 {
		c.builds = true
	}
	parts := c.nodes(args)
	return c.at(n, func(f *frame) (any, error) {
		values, err := evalAll(f, parts)
		if err != nil {
			return nil, err
		}
		for i, value := range values {
			if want := fn.param(i); KindOf(value)&want == 0 {
				return nil, wrongArgument(name, i, want, value)
			}
		}
		return fn.call(f, values)
	})
}

func (c *compiler) unknownFunction(n ast.Node, name string) evaluator {
	if slices.Contains(impure, name) {
		return c.fail(n, CodeImpure, name+"() is not repeatable, so it does not exist here", pureAdvice)
	}
	hint := "docs: the list of functions"
	if near := Nearest(name, FunctionNames()); near != "" {
		hint = fmt.Sprintf("did you mean %s()?", near)
	}
	return c.fail(n, CodeFunction, fmt.Sprintf("there is no function %s()", name), hint)
}

// param is what the i-th argument may be.
func (fn function) param(i int) Kind { return fn.params[min(i, len(fn.params)-1)] }

func (fn function) arity() string {
	switch {
	case fn.many:
		return fmt.Sprintf("at least %d arguments", fn.least)
	case fn.least == len(fn.params) && fn.least == 1:
		return "1 argument"
	case fn.least == len(fn.params):
		return fmt.Sprintf("%d arguments", fn.least)
	}
	return fmt.Sprintf("%d to %d arguments", fn.least, len(fn.params))
}

func wrongArgument(name string, i int, want Kind, got any) *Error {
	hint := ""
	switch {
	case got == nil:
		hint = "give a value with ?? where it may be null"
	case want == List && KindOf(got) == Object:
		hint = "use values(x) or toPairs(x) to get a list"
	}
	return &Error{Code: CodeType, Message: fmt.Sprintf("argument %d of %s is %s, not %s", i+1, name, article(got), want), Hint: hint}
}

// operatorOf maps the stand-ins that operatorCalls writes to the operators they stand for.
var operatorOf = map[string]string{"c0ntains": "contains", "startsW1th": "startsWith", "endsW1th": "endsWith", "m4tches": "matches"}

// operatorCalls lets contains, startsWith, endsWith and matches be called as functions too: where such a
// word begins an operand, it is replaced by a name of the same length, so that every position stays.
func operatorCalls(text string) string {
	for standIn, word := range operatorOf {
		if !strings.Contains(text, word+"(") {
			continue
		}
		var out strings.Builder
		rest := text
		for {
			i := strings.Index(rest, word+"(")
			if i < 0 {
				break
			}
			out.WriteString(rest[:i])
			if beginsOperand(out.String()) {
				out.WriteString(standIn)
			} else {
				out.WriteString(word)
			}
			rest = rest[i+len(word):]
		}
		text = out.String() + rest
	}
	return text
}

// beginsOperand reports whether what follows text stands where an operand is expected, outside of quotes.
func beginsOperand(text string) bool {
	if strings.Count(text, `"`)%2 == 1 || strings.Count(text, "'")%2 == 1 || strings.Count(text, "`")%2 == 1 {
		return false
	}
	before := strings.TrimRight(text, " \t\n")
	if before == "" || strings.ContainsAny(before[len(before)-1:], "([{,;:?=<>&|!+-*/%") {
		return true
	}
	for _, word := range []string{"not", "and", "or"} {
		head, found := strings.CutSuffix(before, word)
		if found && (head == "" || strings.ContainsAny(head[len(head)-1:], " \t\n()")) {
			return true
		}
	}
	return false
}
