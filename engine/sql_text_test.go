package engine_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mayBuildSQL are the files that put something into the text of a statement, each with the reason.
var mayBuildSQL = map[string]string{
	"team_scope.go":             "the id of a team, a UUID: set takes no parameters",
	"store/reseal.go":           "names of tables and columns, constants of the file",
	"bench/bound.go":            "two constants",
	"enginetest/":               "databases of tests, under names of their own",
	"../app/localpg/process.go": "the database of the private PostgreSQL, a constant",
	"../app/cli/database.go":    "databases of the command's own, whose names it makes up",
	"../migrations/polite.go":   "a constant of the file",
}

var beginsSQL = regexp.MustCompile(`(?i)^\s*(select\s|insert into|update \S+ set|delete from|set (role|session|local|\w+\.)|alter (table|role)|create (table|role|database)|drop |truncate |copy )`)

// Statements are constants and values are parameters: nowhere does a text become a part of a statement.
func TestNoStatementIsBuiltFromText(t *testing.T) {
	looked := 0
	for _, root := range []string{".", "../app", "../queries", "../migrations"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			looked++
			for at, text := range builtSQL(t, path) {
				if !excused(path) {
					t.Errorf("%s builds a statement: %s", at, text)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if looked < 300 {
		t.Errorf("only %d files were looked at", looked)
	}
}

func excused(path string) bool {
	for file := range mayBuildSQL {
		if filepath.ToSlash(path) == file || strings.HasSuffix(file, "/") && strings.HasPrefix(filepath.ToSlash(path), file) {
			return true
		}
	}
	return false
}

// builtSQL finds texts of SQL that are joined to something that is no constant, or filled in by a format.
func builtSQL(t *testing.T, path string) map[string]string {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	note := func(node ast.Node) {
		if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING && beginsSQL.MatchString(strings.Trim(literal.Value, "`\"")) {
			found[files.Position(literal.Pos()).String()] = literal.Value[:min(len(literal.Value), 80)]
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.ADD {
				note(n.X)
			}
		case *ast.CallExpr:
			if called, ok := n.Fun.(*ast.SelectorExpr); ok && strings.HasSuffix(called.Sel.Name, "printf") && len(n.Args) > 1 {
				for _, argument := range n.Args {
					note(argument)
				}
			}
		}
		return true
	})
	return found
}
