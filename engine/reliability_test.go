package engine_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheReliabilityTableNamesTests: every test that docs/reliability.md names is in the source, so that no row
// promises more than is tested.
func TestTheReliabilityTableNamesTests(t *testing.T) {
	text, err := os.ReadFile("../docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+)`").FindAllStringSubmatch(string(text), -1)
	if len(named) < 60 {
		t.Fatalf("the table names %d tests", len(named))
	}
	var source strings.Builder
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return err
		}
		if strings.HasSuffix(path, "_test.go") {
			content, err := os.ReadFile(path)
			source.Write(content)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range named {
		if !strings.Contains(source.String(), "func "+match[1]+"(") {
			t.Errorf("there is no test %s", match[1])
		}
	}
}
