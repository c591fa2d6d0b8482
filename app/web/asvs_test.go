package web

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What docs/security-asvs.md promises is what tests hold: every test that it names exists.
func TestTheNamedTestsExist(t *testing.T) {
	text, err := os.ReadFile("../../docs/security-asvs.md")
	if err != nil {
		t.Fatal(err)
	}
	written := allTests(t, "../..")
	named := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| item") {
			continue
		}
		for _, name := range regexp.MustCompile(`\bTest[A-Z]\w+|"[^"]+"`).FindAllString(line, -1) {
			named++
			pattern := "func " + name + "("
			if strings.HasPrefix(name, `"`) {
				pattern = "test(" + name
			}
			if !strings.Contains(written, pattern) {
				t.Errorf("there is no test %s", name)
			}
		}
	}
	if named < 40 {
		t.Errorf("only %d tests are named: is the table read rightly?", named)
	}
}

func allTests(t *testing.T, root string) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range []string{"app/*/*_test.go", "engine/*_test.go", "e2e/*.spec.ts"} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	}
	return all.String()
}

func TestHSTSOnlyWithTLS(t *testing.T) {
	for address, want := range map[string]bool{"https://weftline.example.org": true, "http://localhost:8080": false} {
		server, _ := newTestServer(t, func(o *Options) { o.PublicURL = address })
		if got := ask(t, server, request{"GET", "/healthz", "", nil}).Header.Get("Strict-Transport-Security"); (got != "") != want {
			t.Errorf("%s: %q", address, got)
		}
	}
}

// Pages neither talk to other windows nor use plug-ins: no message, opener or embedded object is in what browsers
// load.
func TestNoPageTalksToOtherWindows(t *testing.T) {
	forbidden := regexp.MustCompile(`postMessage|(?:^|[^.\w]|window\.)addEventListener\(\s*['"]message['"]|window\.opener|<(object|embed|applet)\b`)
	looked := 0
	for _, folder := range []string{"../../static/islands", "../../views"} {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".ts") && !strings.HasSuffix(path, ".templ") {
				return err
			}
			text, err := os.ReadFile(path)
			if at := forbidden.Find(text); at != nil {
				t.Errorf("%s has %s", path, at)
			}
			looked++
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if looked < 100 {
		t.Errorf("only %d files were looked at", looked)
	}
}
