package cli

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"weftline/engine/flow"
)

// fix applies the corrections that the validator offers: one place, or all of them.
func fix(_ context.Context, t Terminal, args []string) error {
	var places placeList
	flags := t.flags("fix")
	flags.Var(&places, "apply", "correct the problem CODE@LINE, such as E204@47; may be repeated")
	list := flags.Bool("list", false, "list what can be corrected, and change nothing")
	all := flags.Bool("all", false, "correct all that can be corrected")
	files, err := parse(flags, args, 1, 1)
	if err != nil {
		return err
	}
	if count := btoi(*list) + btoi(*all) + btoi(len(places) > 0); count != 1 {
		return wrongUsage(flags, "say one of --list, --apply CODE@LINE and --all")
	}
	text, err := readFile(t, files[0])
	if err != nil {
		return err
	}
	problems := problemsOf(flow.ValidateFile(text))
	if *list {
		listFixes(t, files[0], problems)
		return nil
	}
	chosen := fixable(problems)
	if !*all {
		if chosen, err = places.choose(problems); err != nil {
			return err
		}
	}
	return applyFixes(t, files[0], text, chosen)
}

func btoi(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// placeList collects --apply CODE@LINE.
type placeList []place

type place struct {
	code string
	line int
}

func (l *placeList) String() string { return "" }

func (l *placeList) Set(text string) error {
	code, number, ok := strings.Cut(text, "@")
	line, err := strconv.Atoi(number)
	if !ok || code == "" || err != nil || line < 1 {
		return fmt.Errorf("expected CODE@LINE, such as E204@47")
	}
	*l = append(*l, place{strings.ToUpper(code), line})
	return nil
}

// choose finds the problems that the places name; each has to be there and have a correction.
func (l placeList) choose(problems []flow.Problem) (chosen []flow.Problem, err error) {
	for _, at := range l {
		there := false
		before := len(chosen)
		for _, p := range problems {
			if p.Code == at.code && p.Line == at.line {
				there = true
				if len(p.Edits) > 0 {
					chosen = append(chosen, p)
				}
			}
		}
		switch {
		case !there:
			return nil, fmt.Errorf("there is no %s in line %d; `weftline fix --list` shows what can be corrected", at.code, at.line)
		case len(chosen) == before:
			return nil, fmt.Errorf("%s in line %d cannot be corrected by a program; `weftline validate --pretty` says what to do", at.code, at.line)
		}
	}
	return chosen, nil
}

func fixable(problems []flow.Problem) (list []flow.Problem) {
	for _, p := range problems {
		if len(p.Edits) > 0 {
			list = append(list, p)
		}
	}
	return list
}

func listFixes(t Terminal, file string, problems []flow.Problem) {
	for _, p := range fixable(problems) {
		fmt.Fprintf(t.Out, "%s@%d: %s: %s\n", p.Code, p.Line, p.Message, p.Hint)
	}
	if rest := len(problems) - len(fixable(problems)); rest > 0 {
		fmt.Fprintf(t.Err, "%s: %d more need a person; `weftline validate --pretty` shows them\n", file, rest)
	}
}

func applyFixes(t Terminal, file string, text []byte, problems []flow.Problem) error {
	var edits []flow.Edit
	for _, p := range problems {
		edits = append(edits, p.Edits...)
	}
	fixed, err := flow.ApplyEdits(text, edits)
	if err != nil {
		return err
	}
	if file == "-" {
		_, err = t.Out.Write(fixed)
		return err
	}
	for _, p := range problems {
		fmt.Fprintf(t.Out, "%s:%d: %s corrected: %s\n", file, p.Line, p.Code, p.Message)
	}
	if len(edits) == 0 {
		return nil
	}
	return os.WriteFile(file, fixed, 0o644)
}
