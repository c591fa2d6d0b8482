package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"weftline/engine/flow"
)

// diff exits with 2 when the two definitions mean something different.
func diff(_ context.Context, t Terminal, args []string) error {
	flags := t.flags("diff")
	asJSON := flags.Bool("json", false, "print the changes as JSON")
	files, err := parse(flags, args, 2, 2)
	if err != nil {
		return err
	}
	from, err := readFile(t, files[0])
	if err != nil {
		return err
	}
	to, err := readFile(t, files[1])
	if err != nil {
		return err
	}
	changes, err := flow.Compare(from, to)
	if err != nil {
		return err
	}
	if changes == nil {
		changes = []flow.Change{}
	}
	if *asJSON {
		err = plainEncoder(t.Out).Encode(map[string]any{"changes": changes})
	} else {
		writeChanges(t.Out, changes)
	}
	if err == nil && len(changes) > 0 {
		return exit(2)
	}
	return err
}

func writeChanges(w io.Writer, changes []flow.Change) {
	for _, change := range changes {
		fmt.Fprintf(w, "%-8s %s %s\n", change.Kind, change.What, change.ID)
		for _, field := range change.Fields {
			fmt.Fprintf(w, "         %s: %s → %s\n", field.Path, inJSON(field.From), inJSON(field.To))
		}
	}
}

func inJSON(value any) string {
	if value == nil {
		return "(none)"
	}
	var text strings.Builder
	if err := plainEncoder(&text).Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSuffix(text.String(), "\n")
}
