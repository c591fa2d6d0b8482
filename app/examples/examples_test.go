package examples_test

import (
	"bytes"
	"strings"
	"testing"

	"weftline/app/demo"
	"weftline/app/examples"
	"weftline/engine/flow"
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
