package expr

import (
	"fmt"
	"slices"

	"github.com/expr-lang/expr/ast"
)

// body evaluates a predicate for one item; it sets # and #index.
type body func(item any, index int) (any, error)

// predicateFunction runs over a list. rest are the evaluated arguments after the predicate. A body that is
// nil was not given.
type predicateFunction func(f *frame, list []any, do body, rest []any) (any, error)

var predicates = map[string]predicateFunction{
	"map":       mapList,
	"filter":    filter,
	"find":      find,
	"findIndex": findIndex,
	"all":       quantifier("all", func(yes, total int) bool { return yes == total }, false),
	"any":       quantifier("any", func(yes, _ int) bool { return yes > 0 }, true),
	"none":      quantifier("none", func(yes, _ int) bool { return yes == 0 }, true),
	"one":       one,
	"count":     count,
	"sum":       sum,
	"sortBy":    sortBy,
	"groupBy":   groupBy,
	"reduce":    reduce,
}

func (c *compiler) predicate(n ast.Node, name string, args []ast.Node) evaluator {
	run := predicates[name]
	c.builds = c.builds || slices.Contains([]string{"map", "filter", "sortBy", "groupBy", "reduce", "find"}, name)
	list := c.node(args[0])
	var each evaluator
	var rest []evaluator
	weight := 1
	if len(args) > 1 {
		predicate, ok := args[1].(*ast.PredicateNode)
		if !ok {
			return c.fail(n, CodeFunction, name+" needs a predicate", "")
		}
		each = c.node(predicate.Node)
		weight += size(predicate.Node) / 50
		rest = c.nodes(args[2:])
	}
	return c.at(n, func(f *frame) (any, error) {
		value, err := list(f)
		if err != nil {
			return nil, err
		}
		items, ok := value.([]any)
		if !ok {
			return nil, wrongArgument(name, 0, List, value)
		}
		more, err := evalAll(f, rest)
		if err != nil {
			return nil, err
		}
		item, index, acc := f.item, f.index, f.acc
		defer func() { f.item, f.index, f.acc = item, index, acc }()
		return run(f, items, bodyOf(f, each, weight), more)
	})
}

func size(node ast.Node) int {
	left := MaxNodes * 2
	within(node, &left)
	return MaxNodes*2 - left
}

func bodyOf(f *frame, each evaluator, weight int) body {
	if each == nil {
		return nil
	}
	return func(item any, index int) (any, error) {
		if err := f.turn(weight); err != nil {
			return nil, err
		}
		f.item, f.index = item, index
		return each(f)
	}
}

// holdsFor evaluates a body that must be true or false; without a body the item itself must be.
func holdsFor(name string, do body, item any, index int) (bool, error) {
	value, err := item, error(nil)
	if do != nil {
		value, err = do(item, index)
	}
	if err != nil {
		return false, err
	}
	yes, ok := value.(bool)
	if !ok {
		return false, &Error{Code: CodeType, Message: fmt.Sprintf("the predicate of %s gives %s, not true or false", name, article(value)),
			Hint: "compare it with something, there is no truthiness"}
	}
	return yes, nil
}

func mapList(f *frame, list []any, do body, _ []any) (any, error) {
	if err := f.spend(16 * len(list)); err != nil {
		return nil, err
	}
	out := make([]any, len(list))
	for i, item := range list {
		value, err := do(item, i)
		if err != nil {
			return nil, err
		}
		out[i] = value
	}
	return out, nil
}

func filter(f *frame, list []any, do body, _ []any) (any, error) {
	out := []any{}
	for i, item := range list {
		yes, err := holdsFor("filter", do, item, i)
		if err != nil {
			return nil, err
		}
		if yes {
			out = append(out, item)
		}
	}
	return out, f.spend(16 * len(out))
}

// find gives null when no item fits.
func find(_ *frame, list []any, do body, _ []any) (any, error) {
	i, err := firstWhere(list, do, "find")
	if err != nil || i < 0 {
		return nil, err
	}
	return list[i], nil
}

// findIndex gives -1 when no item fits.
func findIndex(_ *frame, list []any, do body, _ []any) (any, error) {
	i, err := firstWhere(list, do, "findIndex")
	return int64(i), err
}

func firstWhere(list []any, do body, name string) (int, error) {
	for i, item := range list {
		if yes, err := holdsFor(name, do, item, i); yes || err != nil {
			return i, err
		}
	}
	return -1, nil
}

// quantifier counts the items that fit and decides; it stops at the first item whose answer is stop.
func quantifier(name string, decide func(yes, total int) bool, stop bool) predicateFunction {
	return func(_ *frame, list []any, do body, _ []any) (any, error) {
		hits := 0
		for i, item := range list {
			yes, err := holdsFor(name, do, item, i)
			if err != nil {
				return nil, err
			}
			if yes {
				hits++
			}
			if yes == stop {
				break
			}
		}
		return decide(hits, len(list)), nil
	}
}

func one(f *frame, list []any, do body, rest []any) (any, error) {
	n, err := count(f, list, do, rest)
	return n == int64(1), err
}

func count(_ *frame, list []any, do body, _ []any) (any, error) {
	hits := int64(0)
	for i, item := range list {
		yes, err := holdsFor("count", do, item, i)
		if err != nil {
			return nil, err
		}
		if yes {
			hits++
		}
	}
	return hits, nil
}

func sum(f *frame, list []any, do body, _ []any) (total any, err error) {
	total = int64(0)
	for i, item := range list {
		value := item
		if do != nil {
			if value, err = do(item, i); err != nil {
				return nil, err
			}
		}
		if !isNumber(value) {
			return nil, &Error{Code: CodeType, Message: "sum works on numbers, here is " + article(value)}
		}
		if total, err = arithmetic("+", total, value); err != nil {
			return nil, err
		}
	}
	return total, f.spend(8 * len(list))
}

// sortBy is stable; the keys are all numbers or all texts.
func sortBy(f *frame, list []any, do body, rest []any) (any, error) {
	sign, err := direction("sortBy", rest, 0)
	if err != nil {
		return nil, err
	}
	keys, err := mapList(f, list, do, nil)
	if err != nil {
		return nil, err
	}
	if err := sortable("sortBy", keys.([]any)); err != nil {
		return nil, err
	}
	type keyed struct{ key, item any }
	pairs := make([]keyed, len(list))
	for i := range list {
		pairs[i] = keyed{keys.([]any)[i], list[i]}
	}
	slices.SortStableFunc(pairs, func(a, b keyed) int { return sign * compareScalars(a.key, b.key) })
	out := make([]any, len(list))
	for i := range pairs {
		out[i] = pairs[i].item
	}
	return out, f.spend(48 * len(list))
}

// groupBy gives an object from the text of the key to the items that have it.
func groupBy(f *frame, list []any, do body, _ []any) (any, error) {
	groups := map[string]any{}
	for i, item := range list {
		key, err := do(item, i)
		if err != nil {
			return nil, err
		}
		name, err := plainText(key)
		if err != nil {
			return nil, &Error{Code: CodeType, Message: "the key of groupBy is " + article(key) + ", not a text, number or boolean"}
		}
		group, _ := groups[name].([]any)
		groups[name] = append(group, item)
	}
	return groups, f.spend(64 * len(list))
}

// reduce begins with the given value, or with the first item.
func reduce(f *frame, list []any, do body, rest []any) (any, error) {
	from := 0
	if len(rest) > 0 {
		f.acc = rest[0]
	} else {
		if len(list) == 0 {
			return nil, &Error{Code: CodeType, Message: "reduce of an empty list needs a first value", Hint: "reduce(list, #acc + #, 0)"}
		}
		f.acc, from = list[0], 1
	}
	for i := from; i < len(list); i++ {
		value, err := do(list[i], i)
		if err != nil {
			return nil, err
		}
		f.acc = value
	}
	return f.acc, nil
}
