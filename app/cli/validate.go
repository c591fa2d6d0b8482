package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"weftline/engine/activity"
	"weftline/engine/flow"
)

// fileReport is one line of validate --json.
type fileReport struct {
	File string `json:"file"`
	flow.Report
}

// validate exits with 1 when a file has an error; warnings alone are fine.
func validate(ctx context.Context, t Terminal, args []string) error {
	flags := t.flags("validate")
	pretty := flags.Bool("pretty", false, "show each problem with its lines and the fix")
	asJSON := flags.Bool("json", false, "print one JSON object a file")
	files, err := parse(flags, args, 1, -1)
	if err != nil {
		return err
	}
	scripts := &scriptReader{}
	defer scripts.close()
	valid := true
	for _, file := range files {
		text, err := readFile(t, file)
		if err != nil {
			return err
		}
		reading := flow.ReadFile(text)
		found, err := scripts.mistakes(ctx, reading.Code)
		if err != nil {
			return err
		}
		reading.Add(found)
		report := reading.Report
		valid = valid && report.Valid
		switch {
		case *asJSON:
			if err := plainEncoder(t.Out).Encode(fileReport{File: file, Report: report}); err != nil {
				return err
			}
		case *pretty:
			writePretty(t.Err, file, text, report)
			if report.Valid {
				fmt.Fprintf(t.Out, "%s: %s is valid\n", file, report.Name)
			}
		default:
			writeLines(t.Err, file, report)
		}
	}
	if !valid {
		return exit(1)
	}
	return nil
}

// scriptReader finds scripts that cannot run, in a process that is started for the first one.
type scriptReader struct{ kind *activity.Script }

func (s *scriptReader) mistakes(ctx context.Context, code []flow.Code) (found []flow.Problem, err error) {
	if len(code) == 0 {
		return nil, nil
	}
	if s.kind == nil {
		program, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find this program, which reads scripts in a process of its own: %w", err)
		}
		if s.kind, err = activity.NewScript(activity.ScriptOptions{Sandbox: []string{program, sandboxCommand}}); err != nil {
			return nil, err
		}
	}
	return s.kind.Mistakes(ctx, code), nil
}

func (s *scriptReader) close() {
	if s.kind != nil {
		s.kind.Close()
	}
}

// readFile reads a file, or standard input for "-".
func readFile(t Terminal, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(t.In)
	}
	return os.ReadFile(name)
}

func problemsOf(report flow.Report) []flow.Problem {
	return append(append([]flow.Problem{}, report.Errors...), report.Warnings...)
}

// writeLines writes FILE:LINE:COL: error CODE message (hint), which editors and CI understand.
func writeLines(w io.Writer, file string, report flow.Report) {
	for _, p := range problemsOf(report) {
		hint := ""
		if p.Hint != "" {
			hint = " (" + p.Hint + ")"
		}
		fmt.Fprintf(w, "%s:%d:%d: %s %s %s%s\n", file, p.Line, p.Column, p.Severity, p.Code, p.Message, hint)
	}
}

// writePretty shows the line with the place marked, then what, how to fix it, and where.
func writePretty(w io.Writer, file string, text []byte, report flow.Report) {
	lines := strings.Split(string(text), "\n")
	for _, p := range problemsOf(report) {
		title, _, _ := strings.Cut(flow.Explain(p.Code), "\n")
		fmt.Fprintf(w, "%s:%d:%d: %s %s %s\n", file, p.Line, p.Column, p.Severity, p.Code, title)
		for n := p.Line - 1; n <= p.Line; n++ {
			if n >= 1 && n <= len(lines) {
				fmt.Fprintf(w, "%5d | %s\n", n, strings.TrimRight(lines[n-1], "\r"))
			}
		}
		if p.Line >= 1 && p.Line <= len(lines) {
			fmt.Fprintf(w, "      | %s%s\n", strings.Repeat(" ", max(0, p.Column-1)), strings.Repeat("^", markLength(p, lines[p.Line-1])))
		}
		fmt.Fprintf(w, "  what: %s\n", p.Message)
		if p.Hint != "" {
			fmt.Fprintf(w, "  fix:  %s\n", p.Hint)
		}
		if p.Path != "" {
			fmt.Fprintf(w, "  at:   %s\n", p.Path)
		}
	}
}

func markLength(p flow.Problem, line string) int {
	if p.EndLine != p.Line {
		return max(1, len([]rune(line))-p.Column+1)
	}
	return max(1, p.EndColumn-p.Column)
}
