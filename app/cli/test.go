package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"weftline/engine/flow"
	"weftline/engine/rehearse"
)

// testFlags are what test is told.
type testFlags struct {
	asJSON, replay bool
	junit, only    string
	least          int
}

// test runs the WorkflowTest cases of files and folders: no server, no database, a clock of their own.
func test(ctx context.Context, t Terminal, args []string) error {
	var f testFlags
	flags := t.flags("test")
	flags.BoolVar(&f.asJSON, "json", false, "print the results as JSON")
	flags.BoolVar(&f.replay, "replay", false, "fold the history anew after each move of each case")
	flags.StringVar(&f.junit, "junit", "", "also write the results as JUnit XML to this file")
	flags.StringVar(&f.only, "case", "", "only cases whose name contains this")
	flags.IntVar(&f.least, "coverage-min", 0, "exit with 1 if a workflow is covered less than this many percent")
	places, err := parse(flags, args, 1, -1)
	if err != nil {
		return err
	}
	if f.least < 0 || f.least > 100 {
		return wrongUsage(flags, "--coverage-min is a percentage, 0 to 100")
	}
	run := testRun{t: t, flags: f, runners: map[string]*tested{}, stopped: func() bool { return ctx.Err() != nil }}
	for _, place := range places {
		if err := run.place(place); err != nil {
			return err
		}
	}
	return run.finish()
}

func wrongUsage(flags *flag.FlagSet, message string) error {
	fmt.Fprintf(flags.Output(), "weftline %s: %s\n", flags.Name(), message)
	return usageFault
}

// testRun collects the results of one call.
type testRun struct {
	t       Terminal
	flags   testFlags
	files   []testFile
	runners map[string]*tested // by path of the workflow
	order   []*tested
	broken  int // files that could not be run
	stopped func() bool
}

// testFile is one WorkflowTest document with its results.
type testFile struct {
	File     string                `json:"file"`
	Workflow string                `json:"workflow"`
	Cases    []rehearse.CaseResult `json:"cases"`
	took     []time.Duration
}

// tested is a workflow that has cases.
type tested struct {
	runner *rehearse.Runner
	file   string
}

// place runs the tests of a file, or of all files below a folder.
func (r *testRun) place(place string) error {
	info, err := os.Stat(place)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return r.file(place, true)
	}
	return filepath.WalkDir(place, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != place && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
			return filepath.SkipDir
		case entry.IsDir() || !isDefinition(entry.Name()):
			return nil
		}
		return r.file(path, false)
	})
}

func (r *testRun) file(path string, named bool) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !named && !bytes.Contains(text, []byte("WorkflowTest")) {
		return nil
	}
	suites, report := flow.Tests(text)
	if !report.Valid {
		writeLines(r.t.Err, path, report)
		r.broken++
		return nil
	}
	if named && len(suites) == 0 {
		return fmt.Errorf("%s holds no WorkflowTest", path)
	}
	for _, suite := range suites {
		if err := r.suite(path, suite); err != nil {
			return err
		}
	}
	return nil
}

func (r *testRun) suite(path string, suite flow.TestSuite) error {
	under, err := r.workflow(path, suite.Workflow)
	var code exit
	if errors.As(err, &code) || errors.Is(err, fs.ErrNotExist) {
		if !errors.As(err, &code) {
			fmt.Fprintf(r.t.Err, "%s:%d:%d: the workflow %s is not there: %v\n", path, suite.Pos.Line, suite.Pos.Column, suite.Workflow, err)
		}
		r.broken++
		return nil
	}
	if err != nil {
		return err
	}
	file := testFile{File: path, Workflow: under.runner.Workflow.Name, Cases: []rehearse.CaseResult{}}
	for _, c := range suite.Cases {
		if !strings.Contains(c.Name, r.flags.only) {
			continue
		}
		began := time.Now()
		file.Cases = append(file.Cases, under.runner.Case(c))
		file.took = append(file.took, time.Since(began))
	}
	r.files = append(r.files, file)
	return nil
}

// workflow is the one a test names by its path, else the one in the same file.
func (r *testRun) workflow(path, named string) (*tested, error) {
	file := path
	if named != "" {
		file = filepath.Join(filepath.Dir(path), filepath.FromSlash(named))
	}
	if known := r.runners[file]; known != nil {
		return known, nil
	}
	workflow, err := loadWorkflow(r.t, r.t.Err, file)
	if err != nil {
		return nil, err
	}
	beside := folderOf(file)
	under := &tested{file: file, runner: &rehearse.Runner{Workflow: workflow, Library: beside.workflow, Replays: r.flags.replay, Stopped: r.stopped}}
	r.runners[file] = under
	r.order = append(r.order, under)
	return under, nil
}

// finish prints everything; anything but a clean run is exit 1.
func (r *testRun) finish() error {
	summary := r.summary()
	if r.flags.junit != "" {
		if err := writeJUnit(r.flags.junit, r.files); err != nil {
			return err
		}
	}
	if r.flags.asJSON {
		if err := printJSON(r.t.Out, summary); err != nil {
			return err
		}
	} else {
		r.print(summary)
	}
	if summary.Passed+summary.Failed == 0 && r.broken == 0 {
		return errors.New("there is no case to run")
	}
	if summary.Failed > 0 || r.broken > 0 || r.tooLittle(summary) {
		return exit(1)
	}
	return nil
}
