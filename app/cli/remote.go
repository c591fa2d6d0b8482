package cli

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"strings"
	"text/tabwriter"
)

// remote runs one request of a sub-command: build makes it from the parsed flags and arguments, show prints
// the answer for people; --json prints it as it came.
func remote(ctx context.Context, t Terminal, flags *flag.FlagSet, args []string, least, most int,
	send func(c *client, args []string) (any, error), show func(answer any)) error {
	asJSON := flags.Bool("json", false, "print the answer as JSON")
	plain, err := parse(flags, args, least, most)
	if err != nil {
		return err
	}
	c, err := clientOf(t)
	if err != nil {
		return err
	}
	answer, err := send(c, plain)
	if err != nil {
		return err
	}
	if *asJSON {
		return printJSON(t.Out, answer)
	}
	show(answer)
	return ctx.Err()
}

// table prints columns of the items of a list.
func table(t Terminal, answer any, columns ...string) {
	writer := tabwriter.NewWriter(t.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(writer, strings.ToUpper(strings.Join(columns, "\t")))
	for _, item := range items(answer) {
		cells := make([]string, len(columns))
		for i, column := range columns {
			if cells[i] = fieldText(item, column); cells[i] == "" {
				cells[i] = "-"
			}
		}
		fmt.Fprintln(writer, strings.Join(cells, "\t"))
	}
	_ = writer.Flush() // to the terminal
}

// queryString of the flags that were given.
func queryString(values map[string]*string) string {
	query := url.Values{}
	for name, value := range values {
		if *value != "" {
			query.Set(name, *value)
		}
	}
	return "?" + query.Encode()
}
