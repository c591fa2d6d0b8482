package flow

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The pages draw from what Drawing gives, and the designer from the text: static/islands/graph/documents.test.ts
// reads these files too and proves that both draw the same.
func TestDrawingOfExamplesIsWhatThePagesDrawFrom(t *testing.T) {
	var texts []string
	for _, pattern := range []string{"../../app/examples/*.yaml", "testdata/*.yaml", "testdata/drawing/*.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no texts in %s: %v", pattern, err)
		}
		texts = append(texts, found...)
	}
	for _, path := range texts {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		drawn := Drawing(text)
		if drawn == nil {
			t.Errorf("%s has no workflow", path)
			continue
		}
		got, err := json.MarshalIndent(map[string]any{"text": path, "workflow": drawn.Workflow, "layout": drawn.Layout}, "", " ")
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		golden := "testdata/drawing/" + strings.TrimSuffix(filepath.Base(path), ".yaml") + ".json"
		if *update {
			if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(golden); err != nil || !bytes.Equal(bytes.TrimSpace(want), got) {
			t.Errorf("%s differs from %s (%v); run go test ./engine/flow -run Drawing -update", path, golden, err)
		}
	}
}

func TestWhatCannotBeReadHasNoDrawing(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":       "",
		"broken":        "kind: Workflow\nspec: [",
		"a list":        "- kind: Workflow",
		"a layout only": "kind: Layout\npositions: {a: [1, 2]}",
		"a doubled key": "kind: Workflow\nspec: {}\nspec: {}",
		"a bomb":        "kind: Workflow\na: &a [x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c]\nspec: [*d, *d, *d, *d, *d, *d, *d, *d]",
	} {
		if drawn := Drawing([]byte(text)); drawn != nil {
			t.Errorf("%s gives %s and %s", name, drawn.Workflow, drawn.Layout)
		}
	}
}
