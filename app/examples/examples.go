// Package examples owns the workflows that a new team finds: written to be read, run and changed, and
// runnable offline because they call the demo world only. It must not know how they are stored or run.
package examples

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strings"

	"weftline/engine"
)

//go:embed *.yaml
var files embed.FS

// Example is one definition.
type Example struct {
	Name string
	Text []byte
}

// All are the examples, by name.
func All() ([]Example, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var all []Example
	for _, entry := range entries {
		text, err := files.ReadFile(entry.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, Example{Name: strings.TrimSuffix(entry.Name(), ".yaml"), Text: text})
	}
	return all, nil
}

// Install publishes the examples for a team that has no workflow yet, and says how many. Another replica
// that does the same at the same time is no failure.
func Install(ctx context.Context, definitions engine.Definitions, who engine.Who) (int, error) {
	page, err := definitions.Workflows(ctx, who, engine.WorkflowFilter{PageRequest: engine.PageRequest{Limit: 1}})
	if err != nil || len(page.Items) > 0 {
		return 0, err
	}
	all, err := All()
	if err != nil {
		return 0, err
	}
	for _, example := range all {
		if err := install(ctx, definitions, who, example); err != nil {
			return 0, fmt.Errorf("install the example %s: %w", example.Name, err)
		}
	}
	return len(all), nil
}

func install(ctx context.Context, definitions engine.Definitions, who engine.Who, example Example) error {
	_, err := definitions.SaveDraft(ctx, who, example.Name, example.Text, "", true)
	var refusal *engine.Error
	if errors.As(err, &refusal) && refusal.Code == "stale" {
		return nil // somebody was faster
	}
	if err != nil {
		return err
	}
	_, _, err = definitions.Publish(ctx, who, example.Name, "An example to begin with")
	return err
}
