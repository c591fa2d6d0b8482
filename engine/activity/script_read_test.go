package activity_test

import (
	"context"
	"strings"
	"testing"

	"weftline/engine/flow"
)

func codeOf(t *testing.T, language, source string) []flow.Code {
	t.Helper()
	text := "apiVersion: weftline/v1\nkind: Workflow\nmetadata: {name: w}\nspec:\n  activities:\n    - id: a\n      type: script\n      inputs:\n        language: " +
		language + "\n        source: |\n          " + strings.ReplaceAll(source, "\n", "\n          ") + "\n"
	reading := flow.Read([]byte(text))
	if len(reading.Code) != 1 {
		t.Fatalf("%s: %+v", source, reading.Errors)
	}
	return reading.Code
}

// What cannot be compiled is found, with its place in the YAML (the source begins in line 11, column 11).
func TestScriptsThatCannotBeCompiledAreFoundBeforeTheyRun(t *testing.T) {
	kind := newScript(t)
	for _, c := range []struct {
		source       string
		line, column int
		words        string
	}{
		{"let a = 1\n\nlet b = = 2", 13, 19, "Unexpected token ="},
		{"let a = 1; let a = 2", 11, 26, "already been declared"},
		{"return /(/.test('a')", 11, 18, "Unterminated group"},
		{"if (input) {\n  return 1", 12, 21, "is not closed"},
		{"break", 11, 11, "Illegal break"},
	} {
		for range 2 { // the second time from memory
			found := kind.Mistakes(context.Background(), codeOf(t, "javascript", c.source))
			if len(found) != 1 || found[0].Line != c.line || found[0].Column != c.column || !strings.Contains(found[0].Message, c.words) || !strings.Contains(found[0].Message, " of the script)") {
				t.Errorf("%q: %+v, want %d:%d %s", c.source, found, c.line, c.column, c.words)
			}
		}
	}
}

// What runs is never refused, nor what nobody here can read.
func TestScriptsThatRunAreNotRefused(t *testing.T) {
	kind := newScript(t)
	for _, source := range []string{"return 1", "// nothing", "return (async () => { await null; return 7 })()", "undeclared.x", "with (input) { return a }",
		"label: for (;;) { break label }", "return `${input.a}` + /\\d+/.source", "class A { #x = 1; get() { return this.#x } }; return new A().get()"} {
		if found := kind.Mistakes(context.Background(), codeOf(t, "javascript", source)); len(found) > 0 {
			t.Errorf("%q: %+v", source, found)
		}
	}
	for _, language := range []string{"python", "bash", "node"} {
		if found := kind.Mistakes(context.Background(), codeOf(t, language, "def (")); len(found) > 0 {
			t.Errorf("%s: %+v", language, found)
		}
	}
}

// A text that keeps the compiler busy without end, or fills its stack, is not judged, and harms nobody.
func TestScriptsThatCannotBeReadWithinBoundsAreLeftAlone(t *testing.T) {
	kind := newScript(t)
	busy, deep := "1", strings.Repeat("[", 200_000)
	for range 40 {
		busy = "(a=" + busy + ")=>1"
	}
	for _, source := range []string{busy, deep} {
		if found := kind.Mistakes(context.Background(), codeOf(t, "javascript", source)); len(found) > 0 {
			t.Errorf("%.20s…: %+v", source, found)
		}
	}
	if found := kind.Mistakes(context.Background(), codeOf(t, "javascript", "return (")); len(found) != 1 {
		t.Errorf("the next one: %+v", found)
	}
}
