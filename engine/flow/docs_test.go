package flow

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"weftline/engine/expr"
)

var update = flag.Bool("update", false, "rewrite the generated parts of docs/language.md")

const languageDocs = "../../docs/language.md"

// The reference in the docs is what the tables say.
func TestDocsFollowTheTables(t *testing.T) {
	text, err := os.ReadFile(languageDocs)
	if err != nil {
		t.Fatal(err)
	}
	want := replaceSection(t, string(text), "fields", fieldReference())
	want = replaceSection(t, want, "codes", codeReference())
	if *update {
		if err := os.WriteFile(languageDocs, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(text) {
		t.Errorf("docs/language.md is stale; run go test ./engine/flow -run Docs -update\n%s", Unified(string(text), want, "docs", "tables"))
	}
}

func TestDocsNameEveryFunction(t *testing.T) {
	text, err := os.ReadFile(languageDocs)
	if err != nil {
		t.Fatal(err)
	}
	words := strings.FieldsFunc(string(text), func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') })
	for _, name := range expr.FunctionNames() {
		if !contains(words, name) {
			t.Errorf("the function %s is not in docs/language.md", name)
		}
	}
}

// The example of the docs is a valid definition in canonical form.
func TestDocsExampleIsCanonical(t *testing.T) {
	text, err := os.ReadFile(languageDocs)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	if report := Validate([]byte(example)); !report.Valid || len(report.Warnings) > 0 {
		t.Errorf("%v %v", report.Errors, report.Warnings)
	}
	if got, err := Format([]byte(example)); err != nil || string(got) != example {
		t.Errorf("%v\n%s", err, Unified(example, string(got), "docs", "fmt"))
	}
}

var codeLiteral = regexp.MustCompile(`"[EW][0-9]{3}"`)

// Every code that the sources use is explained, and no other.
func TestCodesUsedAreTheCodesExplained(t *testing.T) {
	used := map[string]bool{"E419": true, "E601": true, "E602": true, "E603": true, "E604": true, "E605": true, "E606": true, "E607": true, "E609": true, "E610": true, "E611": true} // found by who knows the team
	for _, dir := range []string{".", "../expr"} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if !strings.HasSuffix(entry.Name(), ".go") || strings.HasSuffix(entry.Name(), "_test.go") || entry.Name() == "explain.go" {
				continue
			}
			source, err := os.ReadFile(dir + "/" + entry.Name())
			if err != nil {
				t.Fatal(err)
			}
			for _, quoted := range codeLiteral.FindAllString(string(source), -1) {
				used[strings.Trim(quoted, `"`)] = true
			}
		}
	}
	for code := range used {
		if Explain(code) == "" {
			t.Errorf("%s is not explained", code)
		}
	}
	for _, code := range Codes() {
		if !used[code] {
			t.Errorf("%s is explained and never used", code)
		}
	}
}

func replaceSection(t *testing.T, text, name, content string) string {
	t.Helper()
	start, end := strings.Index(text, "<!-- "+name+":"), strings.Index(text, "<!-- /"+name+" -->")
	if start < 0 || end < 0 {
		t.Fatalf("the section %s is missing in the docs", name)
	}
	start += strings.Index(text[start:], "\n") + 1
	return text[:start] + "\n" + content + "\n" + text[end:]
}

func codeReference() string {
	out := "| code | finding | what to do |\n|---|---|---|\n"
	for _, code := range Codes() {
		e := explanations[code]
		out += fmt.Sprintf("| %s | %s. %s | %s |\n", code, e.title, e.why, e.fix)
	}
	return strings.ReplaceAll(out, "||", `\|\|`)
}

// fieldReference lists the objects of the tables, nested ones after the one that holds them.
func fieldReference() string {
	var out strings.Builder
	seen := map[*object]bool{bodyShape.object: true, undoShape.object: true}
	var write func(heading string, o *object)
	write = func(heading string, o *object) {
		if seen[o] {
			return
		}
		seen[o] = true
		fmt.Fprintf(&out, "### `%s`\n\n%s\n\n| key | type | default | |\n|---|---|---|---|\n", heading, o.doc)
		for i := range o.fields {
			f := &o.fields[i]
			standard := f.standard
			if f.required {
				standard = "required"
			}
			fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", f.key, typeText(f.shape), standard, f.doc)
		}
		out.WriteString("\n")
		for i := range o.fields {
			for _, inner := range objectsIn(o.fields[i].shape) {
				name := o.fields[i].key
				if heading != "definition" {
					name = heading + "." + name
				}
				write(name, inner)
			}
			if f := &o.fields[i]; f.key == "inputs" && o == activityObject {
				for _, kind := range activityTypes {
					if inputsOf[kind] != nil {
						write(kind+" inputs", inputsOf[kind])
					}
				}
			}
		}
	}
	write("definition", workflowObject)
	return strings.TrimRight(out.String(), "\n") + "\n"
}

func objectsIn(s *shape) []*object {
	switch s.kind {
	case objectShape:
		return []*object{s.object}
	case listShape, mapShape, idMapShape:
		return objectsIn(s.of)
	case choiceShape:
		var all []*object
		for _, part := range s.alternatives {
			all = append(all, objectsIn(part)...)
		}
		return all
	}
	return nil
}

// typeText is the type of a field for people.
func typeText(s *shape) string {
	switch s.kind {
	case enumShape, enumOrTemplate:
		if len(s.words) > 8 {
			return "word"
		}
		return "`" + strings.Join(s.words, "` `") + "`"
	case listShape:
		return "list of " + typeText(s.of)
	case mapShape, idMapShape:
		return "map of " + typeText(s.of)
	case choiceShape:
		var parts []string
		for _, part := range s.alternatives {
			parts = append(parts, typeText(part))
		}
		return strings.Join(parts, " or ")
	case templateShape, valueShape, anyShape:
		return map[shapeKind]string{templateShape: "template", valueShape: "value", anyShape: "value"}[s.kind]
	case jsonSchemaShape:
		return "JSON Schema"
	case intShape, numberShape:
		return fmt.Sprintf("%s, %v to %v", strings.TrimPrefix(s.word(), "a "), s.min, s.max)
	case conditionShape:
		return "condition"
	case durationShape, exprShape, sizeShape, idShape, outcomeShape:
		return strings.TrimPrefix(strings.TrimPrefix(s.word(), "a "), "an ")
	case objectShape:
		return "map"
	}
	return strings.TrimPrefix(strings.TrimPrefix(s.word(), "a "), "an ")
}
