package examples_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weftline/app/demo"
	"weftline/app/examples"
	"weftline/engine/flow"
	"weftline/engine/rehearse"
)

func all(t *testing.T) []examples.Example {
	t.Helper()
	list, err := examples.All()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 4 {
		t.Fatalf("%d examples, want at least four", len(list))
	}
	return list
}

func TestExamplesAreValidWithoutWarnings(t *testing.T) {
	for _, example := range all(t) {
		report := flow.Validate(example.Text)
		for _, problem := range append(report.Errors, report.Warnings...) {
			t.Errorf("%s:%d:%d %s %s", example.Name, problem.Line, problem.Column, problem.Code, problem.Message)
		}
		if report.Name != example.Name {
			t.Errorf("the file %s.yaml holds the workflow %s", example.Name, report.Name)
		}
	}
}

func TestExamplesAreInCanonicalForm(t *testing.T) {
	for _, example := range all(t) {
		canonical, err := flow.Format(example.Text)
		if err != nil {
			t.Fatalf("%s: %v", example.Name, err)
		}
		if !bytes.Equal(canonical, example.Text) {
			t.Errorf("%s is not: weftline fmt app/examples/%[1]s.yaml", example.Name)
		}
	}
}

// Run works at once: what an example needs has a default that fits.
func TestExamplesRunWithTheirDefaults(t *testing.T) {
	for _, example := range all(t) {
		workflow, err := flow.Load(example.Text)
		if err != nil {
			t.Fatalf("%s: %v", example.Name, err)
		}
		if _, problems := workflow.Input.Check(map[string]any{}); len(problems) > 0 {
			t.Errorf("%s: the defaults do not fit: %+v", example.Name, problems)
		}
		if workflow.Description == "" {
			t.Errorf("%s has no description", example.Name)
		}
	}
}

func TestExamplesCallTheDemoWorldOnly(t *testing.T) {
	for _, example := range all(t) {
		for line := range strings.Lines(string(example.Text)) {
			if strings.Contains(line, "://") && !strings.Contains(line, "http://"+demo.Host) {
				t.Errorf("%s reaches outside: %s", example.Name, strings.TrimSpace(line))
			}
		}
	}
}

// weftline test app/examples: every case of every example, also with a replay after each move.
func TestExamplesPassTheirTests(t *testing.T) {
	for _, replay := range []bool{false, true} {
		covered := map[string]bool{}
		for _, file := range testFiles(t) {
			runner := rehearse.Runner{Workflow: file.workflow, Replays: replay}
			report := runner.Run(file.cases)
			for _, result := range report.Cases {
				if !result.Passed {
					t.Errorf("%s: %s: %+v", file.workflow.Name, result.Name, result.Failures)
				}
			}
			if report.Coverage.Percent != 100 {
				t.Errorf("%s is covered %d%%: %+v", file.workflow.Name, report.Coverage.Percent, report.Coverage)
			}
			covered[file.workflow.Name] = true
		}
		for _, example := range all(t) {
			if !covered[example.Name] {
				t.Errorf("%s has no test", example.Name)
			}
		}
	}
}

type testFile struct {
	workflow *flow.Workflow
	cases    []flow.TestCase
}

func testFiles(t *testing.T) (files []testFile) {
	t.Helper()
	paths, err := filepath.Glob("*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	apart, _ := filepath.Glob("tests/*.yaml")
	for _, path := range append(paths, apart...) {
		text := read(t, path)
		suites, report := flow.Tests(text)
		if !report.Valid {
			t.Errorf("%s: %+v", path, report.Errors)
		}
		for _, suite := range suites {
			if suite.Workflow != "" {
				text = read(t, filepath.Join(filepath.Dir(path), suite.Workflow))
			}
			workflow, err := flow.Load(text)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			files = append(files, testFile{workflow, suite.Cases})
		}
	}
	return files
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
