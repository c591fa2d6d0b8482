package web

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What the documents on security promise is what tests hold: every test that they name exists.
func TestTheNamedTestsExist(t *testing.T) {
	written := allTests(t, "../..")
	for document, least := range map[string]int{"security-asvs.md": 60, "security-checklist.md": 90, "security.md": 20} {
		text, err := os.ReadFile("../../docs/" + document)
		if err != nil {
			t.Fatal(err)
		}
		named := 0
		for line := range strings.Lines(string(text)) {
			pattern := `\b(?:Test|Fuzz)[A-Z]\w+`
			if strings.HasPrefix(line, "| ") {
				pattern += `|"[^"]+"`
			}
			for _, name := range regexp.MustCompile(pattern).FindAllString(line, -1) {
				named++
				declared := "func " + name + "("
				if strings.HasPrefix(name, `"`) {
					declared = "test(" + name
				}
				if !strings.Contains(written, declared) {
					t.Errorf("%s: there is no test %s", document, name)
				}
			}
		}
		if named < least {
			t.Errorf("%s names %d tests only: is it read rightly?", document, named)
		}
	}
}

func allTests(t *testing.T, root string) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range []string{"app/*/*_test.go", "engine/*_test.go", "engine/*/*_test.go", "e2e/*.spec.ts"} {
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

// With TLS, of this server or of the proxy before it, browsers are told so for a year and every name below, and no
// cookie goes without it; without TLS neither would be true.
func TestHSTSOnlyWithTLS(t *testing.T) {
	proxied := []string{"X-Forwarded-Proto", "https"}
	for _, c := range []struct {
		address string
		headers []string
		tls     bool
	}{{"https://weftline.example.org", nil, true}, {"https://weftline.example.org", proxied, true}, {"", proxied, true}, {"http://localhost:8080", nil, false}} {
		server, _ := newTestServer(t, func(o *Options) { o.PublicURL = c.address })
		want := map[bool]string{true: "max-age=31536000; includeSubDomains"}[c.tls]
		if got := ask(t, server, request{"GET", "/healthz", "", c.headers}).Header.Get("Strict-Transport-Security"); got != want {
			t.Errorf("%s %v: %q", c.address, c.headers, got)
		}
		chosen := ask(t, server, request{"POST", "/settings/appearance", "theme=dark", append(bearer("read"), c.headers...)})
		for _, cookie := range chosen.Cookies() {
			if cookie.Secure != c.tls || strings.HasPrefix(cookie.Name, "__Host-") != c.tls || cookie.SameSite != http.SameSiteLaxMode {
				t.Errorf("%s %v: %v", c.address, c.headers, cookie)
			}
		}
		if len(chosen.Cookies()) == 0 {
			t.Errorf("%s: no cookie", c.address)
		}
	}
	w := newLoginWorld(t, nil)
	for cookie, headers := range map[string][]string{"__Host-theme=dark": proxied, "theme=dark": nil} {
		if page := w.browser().get("/login?out=1", append([]string{"Cookie", cookie}, headers...)...); !strings.Contains(page.body, `data-theme="dark"`) {
			t.Errorf("%s: the choice is not kept: %d %.300s", cookie, page.status, page.body)
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
