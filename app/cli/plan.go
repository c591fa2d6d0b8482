package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"weftline/engine/flow"
	"weftline/engine/rehearse"
)

// plan shows the path that an input takes through a definition, with resolved inputs. It has no effect.
func plan(ctx context.Context, t Terminal, args []string) error {
	var f runFlags
	flags := t.flags("plan")
	flags.Var(&f.input, "input", "an input as KEY=VALUE, may be repeated; a value that is JSON is taken as such")
	flags.StringVar(&f.inputFile, "input-file", "", "the input as a JSON file")
	mocksFile := flags.String("mocks", "", "what activities come to, as YAML or JSON, written as in a WorkflowTest")
	asJSON := flags.Bool("json", false, "print the plan as JSON")
	files, err := parse(flags, args, 1, 1)
	if err != nil {
		return err
	}
	workflow, err := loadWorkflow(t, t.Err, files[0])
	if err != nil {
		return err
	}
	input, err := f.readInput(t)
	if err != nil {
		return err
	}
	checked, problems := workflow.Input.Check(input)
	if len(problems) > 0 {
		for _, p := range problems {
			fmt.Fprintf(t.Err, "the input does not fit: %s %s\n", p.Path, p.Message)
		}
		return exit(1)
	}
	mocks, err := readMocks(t, *mocksFile)
	if err != nil {
		return err
	}
	planned := rehearse.Plan(rehearse.PlanRequest{Workflow: workflow, Library: folderOf(files[0]).workflow,
		Input: checked.(map[string]any), Mocks: mocks, Stopped: func() bool { return ctx.Err() != nil }})
	if *asJSON {
		err = printJSON(t.Out, planned)
	} else {
		writePlan(t.Out, planned)
	}
	if err == nil && len(planned.Problems) > 0 {
		return exit(1)
	}
	return err
}

func readMocks(t Terminal, file string) (map[string]any, error) {
	if file == "" {
		return nil, nil
	}
	text, err := readFile(t, file)
	if err != nil {
		return nil, err
	}
	value, report := flow.Value(text)
	if !report.Valid {
		writeLines(t.Err, file, report)
		return nil, exit(1)
	}
	mocks, ok := value.(map[string]any)
	if !ok && value != nil {
		return nil, fmt.Errorf("%s: mocks are a map from an activity to what it comes to", file)
	}
	return mocks, nil
}

func writePlan(w io.Writer, p rehearse.Planned) {
	for _, step := range p.Steps {
		name := step.Activity
		if step.Item != "" {
			name += "[" + step.Item + "]"
		}
		fmt.Fprintf(w, "%-24s %-9s %s%s\n", name, step.Type, step.Status, remarks(step))
		if step.Inputs != nil {
			fmt.Fprintf(w, "    inputs  %s\n", inJSON(step.Inputs))
		}
		if step.Outputs != nil {
			fmt.Fprintf(w, "    outputs %s\n", inJSON(step.Outputs))
		}
		if step.Error != nil {
			fmt.Fprintf(w, "    error   %s: %s\n", step.Error.Type, step.Error.Message)
		}
	}
	fmt.Fprintf(w, "the execution is %s after %s\n", p.Status, p.Duration)
	if p.Output != nil {
		fmt.Fprintf(w, "output %s\n", inJSON(p.Output))
	}
	for _, problem := range p.Problems {
		fmt.Fprintf(w, "! %s\n", problem.Message)
	}
}

func remarks(step rehearse.PlannedStep) string {
	var words []string
	if step.Outcome != "" {
		words = append(words, step.Outcome)
	}
	if step.SkipReason != "" {
		words = append(words, step.SkipReason)
	}
	if step.Attempts > 1 {
		words = append(words, fmt.Sprintf("%d attempts", step.Attempts))
	}
	switch {
	case step.NeedsMock:
		words = append(words, "needs a mock")
	case step.Mocked:
		words = append(words, "mocked")
	case step.Assumed:
		words = append(words, "taken to go well")
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}
