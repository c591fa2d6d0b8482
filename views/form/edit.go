package form

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"weftline/engine/flow"
)

// Names of the buttons that change a form; their value is a pointer.
const (
	AddRow    = "_add"    // of the list
	RemoveRow = "_remove" // of the row
	TakeBack  = "_clear"  // of a file that was chosen
)

// Edit applies a pressed button that changes the form to what was typed and reports whether there was one.
// Nothing that was typed is lost but the removed row or file.
func Edit(source map[string]any, typed url.Values) bool {
	if list := typed.Get(AddRow); list != "" {
		addRow(source, typed, list)
		return true
	}
	if row := typed.Get(RemoveRow); row != "" {
		removeRow(typed, row)
		return true
	}
	if file := typed.Get(TakeBack); file != "" {
		typed.Del(file)
		return true
	}
	return false
}

// FileRule is the rule of the file field that a pointer names; ok is false when it names none.
func FileRule(source map[string]any, pointer string) (rule flow.FileRule, ok bool) {
	s, found := at(newSchema(source), pointer)
	if !found {
		return flow.FileRule{}, false
	}
	return flow.FileRuleOf(s.node)
}

func addRow(source map[string]any, typed url.Values, list string) {
	n := rowCount(typed, list)
	if n >= maxRows {
		return
	}
	typed.Set(countName(list), strconv.Itoa(n+1))
	if s, ok := at(newSchema(source), list); ok {
		fill(typed, s.items(), nil, fmt.Sprintf("%s/%d", list, n))
	}
}

// at finds the schema that a pointer names.
func at(s schema, pointer string) (schema, bool) {
	for _, part := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		name := strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		if s.kind() == KindList {
			s = s.items()
		} else {
			s = s.property(name)
		}
		if s.node == nil {
			return s, false
		}
	}
	return s, true
}

func removeRow(typed url.Values, row string) {
	cut := strings.LastIndex(row, "/")
	index, err := strconv.Atoi(row[cut+1:])
	if cut < 0 || err != nil {
		return
	}
	list := row[:cut]
	n := rowCount(typed, list)
	if index < 0 || index >= n {
		return
	}
	clearRow(typed, row)
	for i := index + 1; i < n; i++ {
		moveRow(typed, fmt.Sprintf("%s/%d", list, i), fmt.Sprintf("%s/%d", list, i-1))
	}
	typed.Set(countName(list), strconv.Itoa(n-1))
}

func clearRow(typed url.Values, row string) {
	for name := range typed {
		if inRow(name, row) {
			delete(typed, name)
		}
	}
}

func moveRow(typed url.Values, from, to string) {
	moved := url.Values{}
	for name, values := range typed {
		if inRow(name, from) {
			moved[to+strings.TrimPrefix(name, from)] = values
			delete(typed, name)
		}
	}
	for name, values := range moved {
		typed[name] = values
	}
}

func inRow(name, row string) bool {
	return name == row || strings.HasPrefix(name, row+"/") || strings.HasPrefix(name, row+"#")
}
