package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"weftline/app/strictjson"
)

func executions(ctx context.Context, t Terminal, args []string) error {
	return choose(ctx, t, "executions", args, []command{
		{"list", "[--workflow --status --limit]", "newest first", listExecutions},
		{"show", "ID", "where it is, and why", showExecution},
		{"events", "ID", "its history", executionEvents},
		{"cancel", "ID [--reason]", "ends it early", controlExecution("cancel", "reason")},
		{"retry", "ID [--note]", "drives a failed one again", controlExecution("retry", "note")},
		{"release", "ID [--note]", "lets a quarantined one be driven again", controlExecution("release", "note")},
		{"signal", "ID NAME [JSON]", "sends it a signal", signalExecution},
	})
}

func listExecutions(ctx context.Context, t Terminal, args []string) error {
	flags := t.flags("executions list")
	filters := map[string]*string{
		"workflow": flags.String("workflow", "", "only of this workflow"),
		"status":   flags.String("status", "", "only with this status; several with commas"),
		"limit":    flags.String("limit", "", "at most so many"),
	}
	return remote(ctx, t, flags, args, 0, 0, func(c *client, _ []string) (any, error) {
		return c.get(ctx, "/executions"+queryString(filters))
	}, func(answer any) { table(t, answer, "id", "workflow", "version", "status", "startedAt", "finishedAt") })
}

func showExecution(ctx context.Context, t Terminal, args []string) error {
	return remote(ctx, t, t.flags("executions show"), args, 1, 1, func(c *client, args []string) (any, error) {
		return c.get(ctx, "/executions/"+escape(args[0]))
	}, func(answer any) { writeExecution(t, answer) })
}

// writeExecution says in a few lines where an execution is, what failed and what it waits for.
func writeExecution(t Terminal, answer any) {
	fmt.Fprintf(t.Out, "%s %s version %s: %s\n", fieldText(answer, "id"), fieldText(answer, "workflow"),
		fieldText(answer, "version"), fieldText(answer, "status"))
	if fault := field(answer, "error"); fault != nil {
		fmt.Fprintf(t.Out, "  failed at %s: %s (%s)\n", fieldText(fault, "activity"), fieldText(fault, "message"), fieldText(fault, "type"))
	}
	waits, _ := field(answer, "waits").([]any)
	for _, wait := range waits {
		fmt.Fprintf(t.Out, "  %s waits: %s\n", fieldText(wait, "activity"), fieldText(wait, "reason"))
	}
	activities, _ := field(answer, "activities").(map[string]any)
	for _, id := range slices.Sorted(maps.Keys(activities)) {
		fmt.Fprintf(t.Out, "  %-24s %s\n", id, fieldText(activities[id], "status"))
	}
	if output := field(answer, "output"); output != nil {
		fmt.Fprintf(t.Out, "  output %s\n", inJSON(output))
	}
}

func executionEvents(ctx context.Context, t Terminal, args []string) error {
	flags := t.flags("executions events")
	after := flags.String("after", "0", "only events after this number")
	return remote(ctx, t, flags, args, 1, 1, func(c *client, args []string) (any, error) {
		return c.get(ctx, "/executions/"+escape(args[0])+"/events"+queryString(map[string]*string{"after": after}))
	}, func(answer any) { writeEvents(t, answer) })
}

func writeEvents(t Terminal, answer any) {
	events, _ := field(answer, "events").([]any)
	for _, event := range events {
		fmt.Fprintf(t.Out, "%5s %s %-24s %s %s\n", fieldText(event, "seq"), fieldText(event, "at"), fieldText(event, "type"),
			fieldText(event, "activity"), fieldText(event, "item"))
	}
}

func controlExecution(verb, word string) func(context.Context, Terminal, []string) error {
	return func(ctx context.Context, t Terminal, args []string) error {
		flags := t.flags("executions " + verb)
		note := flags.String(word, "", "why")
		return remote(ctx, t, flags, args, 1, 1, func(c *client, args []string) (any, error) {
			return c.post(ctx, "/executions/"+escape(args[0])+"/"+verb, map[string]any{word: *note})
		}, func(any) { fmt.Fprintln(t.Out, "accepted") })
	}
}

func signalExecution(ctx context.Context, t Terminal, args []string) error {
	return remote(ctx, t, t.flags("executions signal"), args, 2, 3, func(c *client, args []string) (any, error) {
		body := map[string]any{"name": args[1]}
		if len(args) == 3 {
			payload, err := strictjson.Parse([]byte(args[2]))
			if err != nil {
				return nil, fmt.Errorf("the payload: %w", err)
			}
			body["payload"] = payload
		}
		return c.post(ctx, "/executions/"+escape(args[0])+"/signals", body)
	}, func(any) { fmt.Fprintln(t.Out, "accepted") })
}
