package static

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
)

func TestEveryManifestNameIsAnEmbeddedHashedFile(t *testing.T) {
	if len(built) == 0 {
		t.Fatal("the manifest names no file")
	}
	hashed := regexp.MustCompile(`-[A-Z0-9]{8}\.(js|css)$`)
	for name, file := range built {
		if !hashed.MatchString(file) {
			t.Errorf("%s → %s carries no content hash: browsers would keep an old one", name, file)
		}
		if path.Ext(name) != path.Ext(file) {
			t.Errorf("%s → %s changes the kind of file", name, file)
		}
		if _, err := fs.Stat(FS, file); err != nil {
			t.Errorf("%s → %s is not embedded", name, file)
		}
	}
}

func TestURL(t *testing.T) {
	if got := URL("app.js"); !strings.HasPrefix(got, "/static/app-") || !strings.HasSuffix(got, ".js") {
		t.Errorf("URL(app.js) = %q", got)
	}
	if got := URL("none.js"); got != "/static/none.js" {
		t.Errorf("an unknown name must keep its own address, got %q", got)
	}
}

// Every page is meant to stand alone: no file may ask another host for anything.
func TestStylesAskNoOtherHost(t *testing.T) {
	files, err := fs.Glob(FS, "*.css")
	if err != nil || len(files) == 0 {
		t.Fatalf("no styles: %v %v", files, err)
	}
	for _, f := range files {
		css, err := fs.ReadFile(FS, f)
		if err != nil {
			t.Fatal(err)
		}
		if regexp.MustCompile(`url\(["']?(https?:)?//`).Match(css) {
			t.Errorf("%s loads from another host", f)
		}
	}
}
