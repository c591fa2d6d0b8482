package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"weftline/app/strictjson"
)

// runFlags are what run is told.
type runFlags struct {
	input     keyValues
	inputFile string
	watch     bool
	local     bool
	asJSON    bool
}

// run starts an execution by name on a server, or of a file: there, or in process without a server.
func run(ctx context.Context, t Terminal, args []string) error {
	var f runFlags
	flags := t.flags("run")
	flags.Var(&f.input, "input", "an input as KEY=VALUE, may be repeated; a value that is JSON is taken as such")
	flags.StringVar(&f.inputFile, "input-file", "", "the input as a JSON file")
	flags.BoolVar(&f.watch, "watch", false, "follow it to its end")
	flags.BoolVar(&f.local, "local", false, "run the file in process, on a temporary database")
	flags.BoolVar(&f.asJSON, "json", false, "print the execution as JSON at the end")
	plain, err := parse(flags, args, 1, 1)
	if err != nil {
		return err
	}
	input, err := f.readInput(t)
	if err != nil {
		return err
	}
	name, isFile := plain[0], false
	if info, err := os.Stat(name); err == nil && !info.IsDir() || name == "-" {
		isFile = true
	}
	if f.local || isFile && t.env("WEFTLINE_URL") == "" && t.env("WEFTLINE_TOKEN") == "" {
		if !isFile {
			return fmt.Errorf("--local runs a file, and %s is none", name)
		}
		return runLocally(ctx, t, name, input, f)
	}
	return runOnServer(ctx, t, name, isFile, input, f)
}

func (f *runFlags) readInput(t Terminal) (map[string]any, error) {
	input := map[string]any{}
	if f.inputFile != "" {
		text, err := readFile(t, f.inputFile)
		if err != nil {
			return nil, err
		}
		value, err := strictjson.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.inputFile, err)
		}
		object, ok := value.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s: the input must be a JSON object", f.inputFile)
		}
		input = object
	}
	for key, value := range f.input {
		input[key] = value
	}
	return input, nil
}

func runOnServer(ctx context.Context, t Terminal, name string, isFile bool, input map[string]any, f runFlags) error {
	c, err := clientOf(t)
	if err != nil {
		return err
	}
	if isFile {
		text, err := readFile(t, name)
		if err != nil {
			return err
		}
		if name, _, err = c.publish(ctx, text, "weftline run"); err != nil {
			return err
		}
	}
	started, err := c.post(ctx, "/workflows/"+escape(name)+"/executions", map[string]any{"input": input})
	if err != nil {
		return err
	}
	id := fieldText(started, "id")
	switch {
	case id == "":
		fmt.Fprintln(t.Out, "skipped: the workflow's limit is reached")
		return nil
	case !f.watch && f.asJSON:
		return printJSON(t.Out, started)
	case !f.watch:
		fmt.Fprintln(t.Out, id)
		return nil
	}
	return follow(ctx, t, c, id, f)
}

// follow prints events as they come until the execution ends, and says how it ended.
func follow(ctx context.Context, t Terminal, c *client, id string, f runFlags) error {
	for after := "0"; ; {
		page, err := c.get(ctx, "/executions/"+id+"/events?after="+after)
		if err != nil {
			return err
		}
		if !f.asJSON {
			writeEvents(t, page)
		}
		last := fieldText(page, "lastSeq")
		if field(page, "terminal") == true && last == after {
			break
		}
		if events, _ := field(page, "events").([]any); len(events) > 0 {
			after = fieldText(events[len(events)-1], "seq")
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
	detail, err := c.get(ctx, "/executions/"+id)
	if err != nil {
		return err
	}
	return ended(t, detail, f.asJSON)
}

// ended prints how an execution ended; anything but completed exits with 1.
func ended(t Terminal, detail any, asJSON bool) error {
	if asJSON {
		if err := printJSON(t.Out, detail); err != nil {
			return err
		}
	} else {
		writeExecution(t, detail)
	}
	if fieldText(detail, "status") != "completed" {
		return exit(1)
	}
	return nil
}

// keyValues collects --input KEY=VALUE.
type keyValues map[string]any

func (k *keyValues) String() string { return "" }

func (k *keyValues) Set(text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		return errors.New("expected KEY=VALUE")
	}
	if *k == nil {
		*k = keyValues{}
	}
	(*k)[key] = value
	if parsed, err := strictjson.Parse([]byte(value)); err == nil {
		(*k)[key] = parsed
	}
	return nil
}
