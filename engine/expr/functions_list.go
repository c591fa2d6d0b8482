package expr

import (
	"slices"
	"strings"
	"unicode/utf8"
)

var listFunctions = map[string]function{
	"len":     {[]Kind{Text | List | Object}, 1, false, Number, length},
	"first":   {[]Kind{List}, 1, false, Any, func(_ *frame, args []any) (any, error) { return nth(args[0].([]any), 0), nil }},
	"last":    {[]Kind{List}, 1, false, Any, func(_ *frame, args []any) (any, error) { return nth(args[0].([]any), len(args[0].([]any))-1), nil }},
	"take":    {[]Kind{List, Number}, 2, false, List, take},
	"flatten": {[]Kind{List}, 1, false, List, func(f *frame, args []any) (any, error) { return flatten(f, []any{}, args[0].([]any), 0) }},
	"uniq":    {[]Kind{List}, 1, false, List, uniq},
	"sort":    {[]Kind{List, Text}, 1, false, List, sortList},
	"reverse": {[]Kind{List}, 1, false, List, reverse},
	"concat":  {[]Kind{List}, 1, true, List, concat},
}

func length(f *frame, args []any) (any, error) {
	switch v := args[0].(type) {
	case string:
		return int64(utf8.RuneCountInString(v)), f.spend(len(v))
	case []any:
		return int64(len(v)), nil
	}
	return int64(len(args[0].(map[string]any))), nil
}

// nth is null when there is no such item.
func nth(list []any, i int) any {
	if i < 0 || i >= len(list) {
		return nil
	}
	return list[i]
}

func take(_ *frame, args []any) (any, error) {
	list := args[0].([]any)
	n, ok := args[1].(int64)
	if !ok || n < 0 {
		return nil, &Error{Code: CodeType, Message: "take needs a whole number of items, 0 or more"}
	}
	n = min(n, int64(len(list)))
	return list[:n:n], nil
}

// flatten opens lists in lists, however deep.
func flatten(f *frame, into, list []any, depth int) ([]any, error) {
	if depth > maxDepth {
		return nil, &Error{Code: CodeLimit, Message: "the list is nested too deeply"}
	}
	if err := f.spend(16 * (1 + len(list))); err != nil {
		return nil, err
	}
	var err error
	for _, item := range list {
		if inner, ok := item.([]any); ok {
			if into, err = flatten(f, into, inner, depth+1); err != nil {
				return nil, err
			}
			continue
		}
		into = append(into, item)
	}
	return into, nil
}

// uniq keeps the first of equal items.
func uniq(f *frame, args []any) (any, error) {
	list := args[0].([]any)
	kept := []any{}
	seen := map[any]bool{}
	for _, item := range list {
		if key, ok := scalarKey(item); ok {
			if err := f.spend(32); err != nil {
				return nil, err
			}
			if seen[key] {
				continue
			}
			seen[key] = true
		} else if found, err := holds(f, kept, item); found || err != nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		kept = append(kept, item)
	}
	return kept, nil
}

// scalarKey is a map key that is the same for equal scalars.
func scalarKey(v any) (any, bool) {
	switch x := v.(type) {
	case []any, map[string]any:
		return nil, false
	case float64:
		if i := int64(x); x >= -(1<<53) && x <= 1<<53 && float64(i) == x {
			return i, true
		}
	}
	return v, true
}

func holds(f *frame, list []any, item any) (bool, error) {
	for _, other := range list {
		if same, err := equal(f, other, item, 0); same || err != nil {
			return same, err
		}
	}
	return false, nil
}

func sortList(f *frame, args []any) (any, error) {
	list := args[0].([]any)
	sign, err := direction("sort", args, 1)
	if err != nil {
		return nil, err
	}
	if err := sortable("sort", list); err != nil {
		return nil, err
	}
	if err := f.spend(32 * len(list)); err != nil {
		return nil, err
	}
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b any) int { return sign * compareScalars(a, b) })
	return sorted, nil
}

// direction reads the optional "asc" or "desc".
func direction(name string, args []any, i int) (sign int, err error) {
	if len(args) <= i || args[i] == "asc" {
		return 1, nil
	}
	if args[i] == "desc" {
		return -1, nil
	}
	return 0, &Error{Code: CodeType, Message: "the order of " + name + ` is "asc" or "desc"`}
}

// sortable checks that all keys are numbers, or all are texts.
func sortable(name string, keys []any) error {
	for _, key := range keys {
		if kind := KindOf(key); kind&(Number|Text) == 0 || kind != KindOf(keys[0]) {
			return &Error{Code: CodeType, Message: name + " needs only numbers or only texts, here is " + article(key)}
		}
	}
	return nil
}

func compareScalars(a, b any) int {
	if x, ok := a.(string); ok {
		return strings.Compare(x, b.(string))
	}
	return compareNumbers(a, b)
}

func reverse(f *frame, args []any) (any, error) {
	list := slices.Clone(args[0].([]any))
	slices.Reverse(list)
	return list, f.spend(16 * len(list))
}

func concat(f *frame, args []any) (any, error) {
	all := []any{}
	for _, arg := range args {
		list := arg.([]any)
		if err := f.spend(16 * len(list)); err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}
