package flow_test

import (
	"strings"
	"testing"

	"weftline/engine/flow"
)

// definition wraps a spec, written with two spaces of indentation, into a whole definition.
func definition(spec string) []byte {
	return []byte("apiVersion: weftline/v1\nkind: Workflow\nmetadata:\n  name: test\nspec:\n" + strings.TrimPrefix(spec, "\n"))
}

// activities is a definition of a list of activities in flow style, one on a line.
func activities(lines ...string) []byte {
	spec := "  input: {type: object, properties: {n: {type: integer, default: 1}, name: {type: string, default: x}, list: {type: array, default: []}, flag: {type: boolean, default: true}}}\n  activities:\n"
	for _, line := range lines {
		spec += "    - " + line + "\n"
	}
	return definition(spec)
}

func load(t *testing.T, text []byte) *flow.Workflow {
	t.Helper()
	w, err := flow.Load(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return w
}

// find gives the first problem with a code.
func find(problems []flow.Problem, code string) *flow.Problem {
	for i := range problems {
		if problems[i].Code == code {
			return &problems[i]
		}
	}
	return nil
}

// marked is what stands in the text at the place of a problem, if it is on one line.
func marked(text []byte, p flow.Pos) string {
	lines := strings.Split(string(text), "\n")
	if p.Line > len(lines) || p.EndLine != p.Line {
		return ""
	}
	line := []rune(lines[p.Line-1])
	if p.EndColumn-1 > len(line) || p.Column < 1 {
		return ""
	}
	return string(line[p.Column-1 : p.EndColumn-1])
}
