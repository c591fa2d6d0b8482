package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"weftline/engine/flow"
)

func workflows(ctx context.Context, t Terminal, args []string) error {
	return choose(ctx, t, "workflows", args, []command{
		{"list", "", "by name", listWorkflows},
		{"publish", "FILE [--message]", "saves it as the draft and publishes it", publishWorkflow},
		{"propose", "FILE --title", "saves it as the draft and asks for a review", proposeWorkflow},
	})
}

func listWorkflows(ctx context.Context, t Terminal, args []string) error {
	return remote(ctx, t, t.flags("workflows list"), args, 0, 0, func(c *client, _ []string) (any, error) {
		return c.get(ctx, "/workflows?limit=500")
	}, func(answer any) { table(t, answer, "name", "publishedVersion", "hasDraft", "updatedAt") })
}

func publishWorkflow(ctx context.Context, t Terminal, args []string) error {
	flags := t.flags("workflows publish")
	message := flags.String("message", "", "what this version is for")
	return remote(ctx, t, flags, args, 1, 1, func(c *client, args []string) (any, error) {
		text, err := readFile(t, args[0])
		if err != nil {
			return nil, err
		}
		_, version, err := c.publish(ctx, text, *message)
		return version, err
	}, func(answer any) { fmt.Fprintf(t.Out, "version %s\n", fieldText(answer, "version")) })
}

func proposeWorkflow(ctx context.Context, t Terminal, args []string) error {
	flags := t.flags("workflows propose")
	title := flags.String("title", "", "what changes")
	description := flags.String("description", "", "why")
	reviewers := flags.String("reviewers", "", "people or groups to ask, separated by commas")
	return remote(ctx, t, flags, args, 1, 1, func(c *client, args []string) (any, error) {
		text, err := readFile(t, args[0])
		if err != nil {
			return nil, err
		}
		path, err := c.saveDraft(ctx, text)
		if err != nil {
			return nil, err
		}
		asked := strings.FieldsFunc(*reviewers, func(r rune) bool { return r == ',' || r == ' ' })
		return c.post(ctx, path+"/proposals", map[string]any{"title": *title, "description": *description, "reviewers": asked})
	}, func(answer any) {
		fmt.Fprintf(t.Out, "proposal %s of %s\n", fieldText(answer, "number"), fieldText(answer, "workflow"))
	})
}

// publish saves a definition as the draft of its workflow and publishes it.
func (c *client) publish(ctx context.Context, text []byte, message string) (name string, version any, err error) {
	path, err := c.saveDraft(ctx, text)
	if err != nil {
		return "", nil, err
	}
	version, err = c.post(ctx, path+"/publish", map[string]any{"message": message})
	return flow.Validate(text).Name, version, err
}

// saveDraft saves a definition as the draft of its workflow, whatever is there, and answers its path.
func (c *client) saveDraft(ctx context.Context, text []byte) (path string, err error) {
	report := flow.Validate(text)
	if report.Name == "" {
		return "", errors.New("the definition has no metadata.name; `weftline validate` says more")
	}
	path = "/workflows/" + escape(report.Name)
	guard := map[string]string{"If-None-Match": "*"}
	_, head, err := c.call(ctx, http.MethodGet, path+"/draft", nil, nil)
	var problem refused
	switch {
	case err == nil:
		guard = map[string]string{"If-Match": head.Get("ETag")}
	case !errors.As(err, &problem) || problem.Status != http.StatusNotFound:
		return "", err
	}
	_, _, err = c.call(ctx, http.MethodPut, path+"/draft", text, guard)
	return path, err
}
