package flow_test

import (
	"fmt"
	"strings"
	"testing"

	"weftline/engine/flow"
)

// A text that is small and unfolds into something huge is refused with a problem, whatever it is made of.
func TestBombsAreRefused(t *testing.T) {
	laughs := "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n"
	for i := 1; i < 12; i++ {
		laughs += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	head := "apiVersion: weftline/v1\nkind: Workflow\nmetadata: {name: bomb}\nspec:\n  activities:\n    - {id: a, type: set, outputs: {x: "
	for name, text := range map[string]string{
		"aliases of aliases":       laughs,
		"an alias of itself":       "a: &a [*a]\n",
		"flow nesting":             strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000),
		"map nesting":              strings.Repeat("{a: ", 50_000) + "1" + strings.Repeat("}", 50_000),
		"block nesting":            nested(5_000),
		"one long key":             strings.Repeat("x", 900_000) + ": 1\n",
		"many documents":           strings.Repeat("---\na: 1\n", 20_000),
		"parentheses":              head + `"` + strings.Repeat("(", 20_000) + "1" + strings.Repeat(")", 20_000) + `"}}` + "\n",
		"lists in an expression":   head + `"` + strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000) + `"}}` + "\n",
		"a chain of conditions":    head + `"` + strings.Repeat("true ? ", 5_000) + "1" + strings.Repeat(" : 1", 5_000) + `"}}` + "\n",
		"a sum of many":            head + `"` + strings.Repeat("1+", 50_000) + `1"}}` + "\n",
		"tags of a language":       "a: !!python/object/apply:os.system [id]\n",
		"larger than a definition": "a: " + strings.Repeat("x", 2<<20),
	} {
		report := flow.Validate([]byte(text))
		if report.Valid || len(report.Errors) == 0 {
			t.Errorf("%s: valid", name)
		}
		if len(report.Errors) > 0 && report.Errors[0].Message == "" {
			t.Errorf("%s: no message: %+v", name, report.Errors[0])
		}
	}
}

func nested(depth int) string {
	var text strings.Builder
	for i := range depth {
		text.WriteString(strings.Repeat(" ", min(i, 400)) + "a:\n")
	}
	return text.String()
}
