package engine_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayImport says which packages of this module a package may import: arrows run one way. A package that
// is not listed fails the test, so that a new one states where it belongs. "…/**" covers a whole tree.
var mayImport = map[string][]string{
	"static":     {},
	"migrations": {},
	"queries":    {},

	"engine/expr":          {"engine/schedule"},
	"engine/schedule":      {},
	"engine/instants":      {},
	"engine/retry":         {"engine/flow"},
	"engine/flow":          {"engine/expr", "engine/schedule"},
	"engine/execution":     {"engine/instants", "engine/flow", "engine/expr", "engine/retry"},
	"engine/review":        {"engine/flow"},
	"engine/human":         {"engine/flow"},
	"engine/rehearse":      {"engine/execution", "engine/flow", "engine/expr", "engine/retry", "engine/human"},
	"engine/activity":      {"engine/execution", "engine/flow", "engine/expr"},
	"engine/notify":        {},
	"engine/seal":          {},
	"engine/logs":          {},
	"engine/store":         {"engine/logs", "engine/execution", "engine/flow", "engine/seal", "queries"},
	"engine/queue/order":   {},
	"engine/queue/balance": {},
	"engine/figures":       {},
	"engine/queue":         {"engine/queue/order", "engine/queue/balance", "engine/execution", "queries"},
	"engine/timer":         {"engine/store", "engine/queue", "engine/notify"},
	"engine/worker":        {"engine/logs", "engine/store", "engine/queue", "engine/queue/order", "engine/figures", "engine/notify", "engine/activity", "engine/execution", "engine/flow", "engine/expr"},
	"engine":               {"engine/**", "queries"},
	"engine/bench":         {"engine/**", "engine"},
	"engine/enginetest":    {"app/localpg", "migrations"},

	"views/**": {"views/**", "engine/instants", "engine/flow", "engine/execution", "static"},
	"app/**":   {"app/**", "engine", "engine/**", "views/**", "static", "migrations"},
}

// only says which packages alone may import a package from elsewhere.
var only = map[string][]string{
	"github.com/gofiber/fiber/v2":        {"app/**"},
	"github.com/jackc/pgx/v5":            {"engine", "engine/activity", "engine/store", "engine/queue", "engine/notify", "engine/enginetest", "engine/bench", "queries", "migrations", "app/localpg", "app/auth", "app/cli"},
	"github.com/gorilla/websocket":       {"app/live"},
	"github.com/expr-lang/expr":          {"engine/expr"},
	"github.com/go-json-experiment/json": {"engine/instants"},
	"go.yaml.in/yaml/v4":                 {"engine/flow", "app/config"},
	"github.com/coreos/go-oidc/v3":       {"app/login", "app/login/logintest"},
	"golang.org/x/oauth2":                {"app/login"},
}

func TestArrowsRunOneWay(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for name, files := range packages(t, root) {
		allowed, known := lookup(mayImport, name)
		if !known {
			t.Errorf("package %s is in no import rule: say in mayImport where it belongs", name)
			continue
		}
		for _, file := range files {
			for _, path := range imports(t, file) {
				for _, complaint := range judge(name, path, allowed) {
					t.Errorf("%s: %s", strings.TrimPrefix(file, root+"/"), complaint)
				}
			}
		}
	}
}

// The rules must bite: an arrow against the stream is found.
func TestArrowsAgainstTheStreamAreFound(t *testing.T) {
	for _, wrong := range [][2]string{
		{"engine/execution", "weftline/engine/store"},
		{"engine/flow", "weftline/engine/execution"},
		{"engine/store", "github.com/gofiber/fiber/v2"},
		{"engine/worker", "github.com/jackc/pgx/v5/pgxpool"},
		{"views/designer", "weftline/engine"},
		{"app/live", "weftline/queries"},
	} {
		allowed, _ := lookup(mayImport, wrong[0])
		if len(judge(wrong[0], wrong[1], allowed)) == 0 {
			t.Errorf("%s may import %s, but must not", wrong[0], wrong[1])
		}
	}
}

func judge(name, path string, allowed []string) []string {
	if inside, ok := strings.CutPrefix(path, "weftline/"); ok {
		if !matches(allowed, inside) {
			return []string{name + " must not import " + inside}
		}
		return nil
	}
	for foreign, owners := range only {
		if (path == foreign || strings.HasPrefix(path, foreign+"/")) && !matches(owners, name) {
			return []string{name + " must not import " + path + "; only " + strings.Join(owners, ", ") + " may"}
		}
	}
	return nil
}

func lookup(rules map[string][]string, name string) ([]string, bool) {
	if allowed, ok := rules[name]; ok {
		return allowed, true
	}
	for pattern, allowed := range rules {
		if matches([]string{pattern}, name) {
			return allowed, true
		}
	}
	return nil, false
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if tree, ok := strings.CutSuffix(pattern, "/**"); ok {
			return name == tree || strings.HasPrefix(name, tree+"/")
		}
		return pattern == name
	})
}

// packages lists the Go files that are no tests, by package folder relative to the root.
func packages(t *testing.T, root string) map[string][]string {
	found := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := entry.Name(); path != root && (strings.HasPrefix(base, ".") || base == "node_modules" || base == "data") {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			dir, _ := filepath.Rel(root, filepath.Dir(path))
			found[dir] = append(found[dir], path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func imports(t *testing.T, file string) []string {
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, spec := range parsed.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		paths = append(paths, path)
	}
	return paths
}
