package cli

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

func schedules(ctx context.Context, t Terminal, args []string) error {
	return choose(ctx, t, "schedules", args, []command{
		{"list", "[--workflow]", "with the next start of each", listSchedules},
		{"show", "ID", "one schedule", showSchedule},
		{"create", "WORKFLOW --cron|--every|--at", "starts a workflow by the clock", createSchedule},
		{"pause", "ID", "stops its ticks", controlSchedule("pause")},
		{"resume", "ID", "lets it go on", controlSchedule("resume")},
		{"trigger", "ID", "is a tick now", controlSchedule("trigger")},
		{"delete", "ID", "removes it; its executions stay", deleteSchedule},
		{"ticks", "ID [--limit]", "what became of each due instant", scheduleTicks},
	})
}

func listSchedules(ctx context.Context, t Terminal, args []string) error {
	flags := t.flags("schedules list")
	filters := map[string]*string{
		"workflow": flags.String("workflow", "", "only of this workflow"),
		"limit":    flags.String("limit", "", "at most so many"),
	}
	return remote(ctx, t, flags, args, 0, 0, func(c *client, _ []string) (any, error) {
		return c.get(ctx, "/schedules"+queryString(filters))
	}, func(answer any) {
		table(t, answer, "id", "workflow", "cron", "every", "at", "timezone", "paused", "nextAt", "source")
	})
}

func showSchedule(ctx context.Context, t Terminal, args []string) error {
	return remote(ctx, t, t.flags("schedules show"), args, 1, 1, func(c *client, args []string) (any, error) {
		return c.get(ctx, "/schedules/"+escape(args[0]))
	}, func(answer any) { writeSchedule(t, answer) })
}

func writeSchedule(t Terminal, answer any) {
	when := ""
	for _, key := range []string{"cron", "every", "at"} {
		if text := fieldText(answer, key); text != "" {
			when = strings.TrimSpace(key + " " + text + " " + fieldText(answer, "timezone"))
		}
	}
	state := "next " + fieldText(answer, "nextAt")
	if field(answer, "paused") == true {
		state = "paused"
	} else if field(answer, "nextAt") == nil {
		state = "over"
	}
	fmt.Fprintf(t.Out, "%s %s: %s; %s\n", fieldText(answer, "id"), fieldText(answer, "workflow"), when, state)
}

func createSchedule(ctx context.Context, t Terminal, args []string) error {
	var input runFlags
	flags := t.flags("schedules create")
	texts := map[string]*string{
		"cron":          flags.String("cron", "", "five fields: minute hour day month weekday"),
		"every":         flags.String("every", "", "a duration such as 15m"),
		"at":            flags.String("at", "", "one instant"),
		"timezone":      flags.String("timezone", "", "of cron, such as Europe/Berlin (default UTC)"),
		"overlap":       flags.String("overlap", "", "skip, allow or buffer_one, while the execution before runs (default skip)"),
		"catchUp":       flags.String("catch-up", "", "none, last or all, after an outage (default none)"),
		"startDeadline": flags.String("start-deadline", "", "latest start after the planned instant (default 1h)"),
		"jitter":        flags.String("jitter", "", "random delay up to this"),
		"calendar":      flags.String("calendar", "", "name of a calendar of days without starts"),
	}
	paused := flags.Bool("paused", false, "make it paused")
	flags.Var(&input.input, "input", "an input as KEY=VALUE, may be repeated; a value that is JSON is taken as such")
	flags.StringVar(&input.inputFile, "input-file", "", "the input as a JSON file")
	return remote(ctx, t, flags, args, 1, 1, func(c *client, args []string) (any, error) {
		values, err := input.readInput(t)
		if err != nil {
			return nil, err
		}
		body := map[string]any{"workflow": args[0], "input": values, "paused": *paused}
		for key, text := range texts {
			if *text != "" {
				body[key] = *text
			}
		}
		return c.post(ctx, "/schedules", body)
	}, func(answer any) { writeSchedule(t, answer) })
}

func controlSchedule(verb string) func(context.Context, Terminal, []string) error {
	return func(ctx context.Context, t Terminal, args []string) error {
		return remote(ctx, t, t.flags("schedules "+verb), args, 1, 1, func(c *client, args []string) (any, error) {
			return c.post(ctx, "/schedules/"+escape(args[0])+"/"+verb, nil)
		}, func(answer any) {
			if verb == "trigger" {
				fmt.Fprintf(t.Out, "%s %s\n", fieldText(answer, "outcome"), fieldText(answer, "execution"))
				return
			}
			writeSchedule(t, answer)
		})
	}
}

func deleteSchedule(ctx context.Context, t Terminal, args []string) error {
	return remote(ctx, t, t.flags("schedules delete"), args, 1, 1, func(c *client, args []string) (any, error) {
		_, _, err := c.call(ctx, http.MethodDelete, "/schedules/"+escape(args[0]), nil, nil)
		return map[string]any{"deleted": args[0]}, err
	}, func(any) { fmt.Fprintln(t.Out, "deleted") })
}

func scheduleTicks(ctx context.Context, t Terminal, args []string) error {
	flags := t.flags("schedules ticks")
	limit := flags.String("limit", "", "at most so many")
	return remote(ctx, t, flags, args, 1, 1, func(c *client, args []string) (any, error) {
		return c.get(ctx, "/schedules/"+escape(args[0])+"/ticks"+queryString(map[string]*string{"limit": limit}))
	}, func(answer any) { table(t, answer, "scheduledAt", "outcome", "at", "execution", "reason") })
}
