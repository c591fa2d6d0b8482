package cli

import (
	"context"
	"fmt"

	"weftline/engine/flow"
)

func schema(_ context.Context, t Terminal, args []string) error {
	if _, err := parse(t.flags("schema"), args, 0, 0); err != nil {
		return err
	}
	_, err := fmt.Fprintf(t.Out, "%s\n", flow.JSONSchema())
	return err
}

func explain(_ context.Context, t Terminal, args []string) error {
	codes, err := parse(t.flags("explain"), args, 1, 1)
	if err != nil {
		return err
	}
	text := flow.Explain(codes[0])
	if text == "" {
		return fmt.Errorf("there is no code %s; codes are E101 to E6xx and W7xx", codes[0])
	}
	_, err = fmt.Fprintln(t.Out, text)
	return err
}
