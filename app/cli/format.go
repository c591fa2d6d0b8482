package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"weftline/engine/flow"
)

// format rewrites files in place; with --check it names those that would change and exits with 1. "-" goes
// from standard input to standard output.
func format(_ context.Context, t Terminal, args []string) error {
	flags := t.flags("fmt")
	check := flags.Bool("check", false, "change nothing, exit with 1 if a file is not in canonical form")
	files, err := parse(flags, args, 1, -1)
	if err != nil {
		return err
	}
	clean := true
	for _, file := range files {
		same, err := formatFile(t, file, *check)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if !same && *check {
			fmt.Fprintln(t.Out, file)
		}
		clean = clean && same
	}
	if *check && !clean {
		return exit(1)
	}
	return nil
}

func formatFile(t Terminal, file string, check bool) (same bool, err error) {
	text, err := readFile(t, file)
	if err != nil {
		return false, err
	}
	canonical, err := flow.Format(text)
	if err != nil {
		return false, err
	}
	same = bytes.Equal(text, canonical)
	switch {
	case check:
		return same, nil
	case file == "-":
		_, err = t.Out.Write(canonical)
		return same, err
	case same:
		return true, nil
	}
	return false, os.WriteFile(file, canonical, 0o644)
}
