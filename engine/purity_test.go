package engine_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pure packages decide; they do not act. Time, ids and everything random come in as arguments, so that the
// same history gives the same state on any machine at any time.
var pure = []string{"expr", "flow", "execution", "retry", "schedule", "human", "rehearse", "instants", "queue/order", "queue/balance"}

// impureImports are packages that act, or answer differently each time.
var impureImports = []string{
	"os", "net", "io/fs", "io/ioutil", "log", "log/slog", "math/rand", "math/rand/v2", "crypto/rand", "syscall",
	"os/exec", "os/signal", "runtime", "database/sql", "context", "sync", "unsafe", "plugin", "embed",
}

// impureCalls read a clock, wait, or make something random.
var impureCalls = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Local"},
	"uuid": {"New", "NewString", "NewRandom", "NewUUID", "NewV6", "NewV7", "Must"},
	"fmt":  {"Print", "Println", "Printf", "Scan", "Scanln", "Scanf"},
}

// mayShare are files that keep a value that is computed once and is the same for all.
var mayShare = map[string]string{"flow/jsonschema.go": "sync"}

func TestThePureRoomStaysPure(t *testing.T) {
	for _, name := range pure {
		files, err := filepath.Glob(filepath.Join(name, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, complaint := range impurities(t, file, string(source)) {
				t.Error(complaint)
			}
		}
	}
}

// The test must bite: each kind of impurity is found.
func TestImpurityIsFound(t *testing.T) {
	for _, body := range []string{
		`import "os"`, `import "math/rand/v2"`, `import "net/http"`, `import "weftline/engine/store"`,
		`import "time"; var x = time.Now()`, `import "time"; func f() { time.Sleep(1) }`,
		`import "github.com/google/uuid"; var id = uuid.New()`,
		`func f() { go f() }`, `func f(c chan int) { c <- 1 }`, `func f(c chan int) int { return <-c }`,
		`func f() { select {} }`, `import "fmt"; func f() { fmt.Println() }`,
	} {
		if len(impurities(t, "wrong.go", "package wrong\n"+body)) == 0 {
			t.Errorf("nothing was found in %s", body)
		}
	}
}

func impurities(t *testing.T, name, source string) (found []string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	complain := func(at ast.Node, what string) {
		found = append(found, set.Position(at.Pos()).String()+": "+what)
	}
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		if acts(path) && mayShare[name] != path {
			complain(spec, "imports "+path)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			complain(n, "starts a goroutine")
		case *ast.SelectStmt, *ast.SendStmt:
			complain(n, "uses a channel")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				complain(n, "uses a channel")
			}
		case *ast.SelectorExpr:
			if from, ok := n.X.(*ast.Ident); ok && slices.Contains(impureCalls[from.Name], n.Sel.Name) {
				complain(n, "uses "+from.Name+"."+n.Sel.Name)
			}
		}
		return true
	})
	return found
}

func acts(path string) bool {
	if own, ok := strings.CutPrefix(path, "weftline/engine/"); ok {
		return !slices.Contains(pure, own)
	}
	if path == "net/url" { // text only
		return false
	}
	return strings.HasPrefix(path, "net/") || strings.HasPrefix(path, "weftline/") || slices.Contains(impureImports, path)
}
