package execution

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var writeDocs = flag.Bool("write-docs", false, "write the transition table into docs/execution.md")

const (
	docsPath  = "../../docs/execution.md"
	docsBegin = "<!-- transitions: begin, drawn from the code by go test ./engine/execution -run Docs -write-docs -->\n"
	docsEnd   = "<!-- transitions: end -->"
)

// The table in the documentation is the one in the code.
func TestDocsAreCurrent(t *testing.T) {
	text, err := os.ReadFile(docsPath)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), docsBegin)
	old, after, ok2 := strings.Cut(rest, docsEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", docsPath)
	}
	if old == TransitionTable() {
		return
	}
	if !*writeDocs {
		t.Fatalf("the table in %s is not the one in the code: run go test ./engine/execution -run Docs -write-docs", docsPath)
	}
	if err := os.WriteFile(docsPath, []byte(before+docsBegin+TransitionTable()+docsEnd+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
