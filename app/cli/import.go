package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"weftline/app/imports"
)

// importFile makes a definition of another system's file: the definition goes to standard output, what did
// not map to standard error.
func importFile(_ context.Context, t Terminal, args []string) error {
	flags := t.flags("import")
	from := flags.String("from", "", strings.Join(imports.Formats(), ", "))
	asJSON := flags.Bool("json", false, "print {definition, notes} as JSON")
	files, err := parse(flags, args, 1, 1)
	if err != nil {
		return err
	}
	if *from == "" {
		return wrongUsage(flags, "say --from "+strings.Join(imports.Formats(), "|"))
	}
	text, err := readFile(t, files[0])
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(files[0]), filepath.Ext(files[0]))
	result, err := imports.Convert(*from, name, text)
	if err != nil {
		return fmt.Errorf("%s: %w", files[0], err)
	}
	if *asJSON {
		notes := result.Notes
		if notes == nil {
			notes = []imports.Note{}
		}
		return printJSON(t.Out, map[string]any{"definition": string(result.Text), "notes": notes})
	}
	for _, note := range result.Notes {
		fmt.Fprintf(t.Err, "%s: %s: %s\n", files[0], note.Path, note.Message)
	}
	_, err = t.Out.Write(result.Text)
	return err
}
