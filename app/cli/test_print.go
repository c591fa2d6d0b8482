package cli

import (
	"encoding/xml"
	"fmt"
	"os"
	"strings"
	"time"

	"weftline/engine/rehearse"
)

// testSummary is what test --json prints.
type testSummary struct {
	Passed   int            `json:"passed"`
	Failed   int            `json:"failed"`
	Broken   int            `json:"broken"` // files that could not be run; standard error says why
	Files    []testFile     `json:"files"`
	Coverage []fileCoverage `json:"coverage"`
}

type fileCoverage struct {
	Workflow string `json:"workflow"`
	File     string `json:"file"`
	rehearse.Coverage
}

func (r *testRun) summary() testSummary {
	s := testSummary{Broken: r.broken, Files: r.files, Coverage: []fileCoverage{}}
	if s.Files == nil {
		s.Files = []testFile{}
	}
	for _, file := range r.files {
		for _, c := range file.Cases {
			if c.Passed {
				s.Passed++
			} else {
				s.Failed++
			}
		}
	}
	for _, under := range r.order {
		s.Coverage = append(s.Coverage, fileCoverage{under.runner.Workflow.Name, under.file, under.runner.Coverage()})
	}
	return s
}

func (r *testRun) tooLittle(s testSummary) bool {
	for _, c := range s.Coverage {
		if c.Percent < r.flags.least {
			return true
		}
	}
	return false
}

func (r *testRun) print(s testSummary) {
	out := r.t.Out
	for _, file := range s.Files {
		fmt.Fprintf(out, "%s (%s)\n", file.File, file.Workflow)
		for _, c := range file.Cases {
			if c.Passed {
				fmt.Fprintf(out, "  ok    %s: %s%s\n", c.Name, c.Status, onItsClock(c.Duration))
				continue
			}
			fmt.Fprintf(out, "  FAIL  %s\n", c.Name)
			for _, f := range c.Failures {
				fmt.Fprintf(out, "        %s:%d:%d: %s\n", file.File, f.Line, f.Column, withPath(f))
			}
		}
	}
	for _, c := range s.Coverage {
		fmt.Fprintf(out, "%s: %d%% covered (activities %d/%d, ports %d/%d, switch cases %d/%d)\n", c.Workflow, c.Percent,
			c.Activities.Covered, c.Activities.Total, c.Ports.Covered, c.Ports.Total, c.Cases.Covered, c.Cases.Total)
		if missing := append(append(append([]string{}, c.Activities.Missing...), c.Ports.Missing...), c.Cases.Missing...); len(missing) > 0 {
			fmt.Fprintf(out, "  never seen: %s\n", strings.Join(missing, ", "))
		}
		if c.Percent < r.flags.least {
			fmt.Fprintf(out, "  less than the %d%% of --coverage-min\n", r.flags.least)
		}
	}
	fmt.Fprintf(out, "%d passed, %d failed", s.Passed, s.Failed)
	if s.Broken > 0 {
		fmt.Fprintf(out, ", %d files could not be run", s.Broken)
	}
	fmt.Fprintln(out)
}

func withPath(f rehearse.Failure) string {
	if f.Path == "" {
		return f.Message
	}
	return f.Path + ": " + f.Message
}

// The JUnit form, as CI systems read it.
type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Time     string      `xml:"time,attr"` // seconds
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	File    string        `xml:"file,attr"`
	Line    int           `xml:"line,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func writeJUnit(path string, files []testFile) error {
	all := junitSuites{}
	for _, file := range files {
		suite := junitSuite{Name: file.File, Tests: len(file.Cases)}
		var total time.Duration
		for i, c := range file.Cases {
			total += file.took[i]
			one := junitCase{Name: c.Name, Class: file.Workflow, File: file.File, Line: c.Line, Time: seconds(file.took[i])}
			if !c.Passed {
				suite.Failures++
				one.Failure = &junitFailure{Message: withPath(c.Failures[0]), Text: failureText(file.File, c)}
			}
			suite.Cases = append(suite.Cases, one)
		}
		suite.Time = seconds(total)
		all.Suites = append(all.Suites, suite)
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append([]byte(xml.Header), append(text, '\n')...), 0o644)
}

func failureText(file string, c rehearse.CaseResult) string {
	var text strings.Builder
	for _, f := range c.Failures {
		fmt.Fprintf(&text, "%s:%d:%d: %s\n", file, f.Line, f.Column, withPath(f))
	}
	return text.String()
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// onItsClock says how long a case took on its own clock; one that took no time there has nothing to say.
func onItsClock(took string) string {
	if took == "0s" {
		return ""
	}
	return " after " + took
}
