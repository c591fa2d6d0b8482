package cli

import (
	"context"
	"fmt"

	"weftline/app/strictjson"
)

func tasks(ctx context.Context, t Terminal, args []string) error {
	return choose(ctx, t, "tasks", args, []command{
		{"list", "[--status --workflow]", "those that you may see", listTasks},
		{"complete", "ID --decision D", "gives your answer", completeTask},
	})
}

func listTasks(ctx context.Context, t Terminal, args []string) error {
	flags := t.flags("tasks list")
	filters := map[string]*string{
		"status":   flags.String("status", "open", "open, done, expired or cancelled"),
		"workflow": flags.String("workflow", "", "only of this workflow"),
	}
	return remote(ctx, t, flags, args, 0, 0, func(c *client, _ []string) (any, error) {
		return c.get(ctx, "/tasks"+queryString(filters))
	}, func(answer any) { table(t, answer, "id", "workflow", "activity", "title", "status", "due") })
}

func completeTask(ctx context.Context, t Terminal, args []string) error {
	flags := t.flags("tasks complete")
	decision := flags.String("decision", "", "one of the task's outcomes, such as approved")
	comment := flags.String("comment", "", "a remark")
	form := flags.String("form", "", "the form as JSON")
	return remote(ctx, t, flags, args, 1, 1, func(c *client, args []string) (any, error) {
		body := map[string]any{"decision": *decision, "comment": *comment}
		if *form != "" {
			value, err := strictjson.Parse([]byte(*form))
			if err != nil {
				return nil, fmt.Errorf("the form: %w", err)
			}
			body["form"] = value
		}
		return c.post(ctx, "/tasks/"+escape(args[0])+"/complete", body)
	}, func(answer any) { fmt.Fprintln(t.Out, fieldText(answer, "status")) })
}
