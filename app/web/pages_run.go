package web

import (
	"errors"
	"net/url"
	"slices"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"weftline/app/auth"
	"weftline/engine"
	"weftline/engine/execution"
	"weftline/engine/flow"
	"weftline/views/form"
	"weftline/views/run"
	"weftline/views/ui"
)

// runnable is a published version with the schema of its input.
type runnable struct {
	version     engine.Version
	schema      map[string]any
	description string
}

func (p *Pages) runnable(c *fiber.Ctx, name string) (runnable, error) {
	version, err := p.published(c, name)
	if err != nil {
		return runnable{}, err
	}
	definition, err := flow.Load([]byte(version.Text))
	if err != nil {
		return runnable{}, err
	}
	return runnable{version, definition.Input.Source, definition.Description}, nil
}

// runForm asks for the input; a workflow's defaults stand in the fields.
func (p *Pages) runForm(c *fiber.Ctx) error {
	what, err := p.runnable(c, c.Params("name"))
	if err != nil {
		return err
	}
	try := runTry{typed: form.Fill(what.schema, nil), key: uuid.NewString()}
	if from := c.Query("from"); from != "" {
		if err := p.fillAgain(c, what, &try, from); err != nil {
			return err
		}
	}
	return p.showRun(c, what, try)
}

// fillAgain fills the form with the input of an earlier execution, without what is masked in it.
func (p *Pages) fillAgain(c *fiber.Ctx, what runnable, try *runTry, from string) error {
	id, err := uuid.Parse(from)
	if err != nil {
		return engine.Refuse("not_found", "there is no execution "+from)
	}
	earlier, err := p.Door.Execution(c.UserContext(), ViewOf(c).Who, id)
	if err != nil {
		return err
	}
	if earlier.Workflow != c.Params("name") {
		return engine.Refuse("not_found", "that execution is of the workflow "+earlier.Workflow)
	}
	var input any
	input, try.leftOut = execution.WithoutMasks(any(earlier.Input))
	try.typed, try.from = form.Fill(what.schema, input), id.String()
	return nil
}

// runTry is what was typed and what became of it.
type runTry struct {
	typed    url.Values
	asJSON   bool
	problems []flow.Problem
	refused  string
	from     string // the execution whose input it began with
	leftOut  bool   // what was masked in that
	key      string // repeated by the form, so that a double click starts one execution
}

func (p *Pages) showRun(c *fiber.Ctx, what runnable, try runTry) error {
	name := c.Params("name")
	view := run.View{
		Name: name, Version: what.version.Version, Description: what.description, AsJSON: try.asJSON, Refused: try.refused,
		JSON: try.typed.Get(run.JSONField), Key: try.key, From: try.from, LeftOut: try.leftOut, CSRF: ViewOf(c).CSRF, MayRun: May(c, auth.Run),
	}
	draft, err := p.Door.Draft(c.UserContext(), ViewOf(c).Who, name)
	if err != nil && !isRefusal(err, "not_found") {
		return err
	}
	view.Differs = err == nil && draft.Text != what.version.Text
	if try.asJSON {
		view.Form.Problems = form.Build(nil, nil, try.problems).Problems
	} else {
		view.Form = form.Build(what.schema, try.typed, try.problems)
	}
	return Render(c, run.Page(p.frame(c, "Run "+name, "workflows", workflowsCrumb(), workflowCrumb(name)), view))
}

// run starts an execution, or changes the form when another of its buttons was pressed.
func (p *Pages) run(c *fiber.Ctx) error {
	what, err := p.runnable(c, c.Params("name"))
	if err != nil {
		return err
	}
	typed, refused, err := p.postedFiles(c, what.schema)
	if err != nil {
		return err
	}
	try := runTry{typed: typed, problems: refused, asJSON: typed.Get(run.AsField) == "json", key: typed.Get(run.KeyField)}
	if typed.Get(run.SwitchField) != "" {
		return p.showRun(c, what, switched(what.schema, try))
	}
	if form.Edit(what.schema, typed) {
		return p.showRun(c, what, try)
	}
	input, problems := inputOf(what.schema, try)
	if try.problems = append(try.problems, problems...); len(try.problems) > 0 {
		c.Status(fiber.StatusUnprocessableEntity)
		return p.showRun(c, what, try)
	}
	return p.start(c, what, try, input)
}

func (p *Pages) start(c *fiber.Ctx, what runnable, try runTry, input any) error {
	started, err := p.Door.Start(c.UserContext(), ViewOf(c).Who, engine.StartRequest{
		Workflow: c.Params("name"), Version: what.version.Version, Input: input, IdempotencyKey: try.key,
		Trigger: map[string]any{"type": "form"},
	})
	var refusal *engine.Error
	switch {
	case errors.As(err, &refusal) && (refusal.Code == "invalid_input" || refusal.Code == "limit_reached" || refusal.Code == "too_large"):
		try.problems = refusal.Problems
		if len(refusal.Problems) == 0 {
			try.refused = refusal.Message
		}
		c.Status(fiber.StatusUnprocessableEntity)
		return p.showRun(c, what, try)
	case err != nil:
		return err
	case started.Skipped:
		try.refused = "Nothing was started: as many executions as the workflow allows are under way."
		return p.showRun(c, what, try)
	}
	return seeOther(c, "/executions/"+started.ID.String())
}

// inputOf is the value of what was typed, in either way.
func inputOf(schema map[string]any, try runTry) (any, []flow.Problem) {
	if !try.asJSON {
		return typedInput(schema, try.typed)
	}
	input, err := form.Decode(try.typed.Get(run.JSONField))
	if err != nil {
		return nil, []flow.Problem{{Severity: "error", Message: err.Error()}}
	}
	return input, nil
}

// typedInput is the value of a form with all that is wrong with it at once: what is no value, and what the schema does
// not take of the rest.
func typedInput(schema map[string]any, typed url.Values) (any, []flow.Problem) {
	value, problems := form.Parse(schema, typed)
	for _, more := range notAccepted(schema, value) {
		if !slices.ContainsFunc(problems, func(known flow.Problem) bool { return known.Path == more.Path }) {
			problems = append(problems, more)
		}
	}
	return value, problems
}

// notAccepted is what a start would complain about. A schema that is wrong is a problem of the text, not of this.
func notAccepted(source map[string]any, value map[string]any) []flow.Problem {
	schema, err := flow.NewSchema(source)
	if source == nil || err != nil {
		return nil
	}
	_, problems := schema.Check(value)
	return problems
}

// switched carries what was typed over to the other way. JSON that cannot be read stays where it is.
func switched(schema map[string]any, try runTry) runTry {
	if !try.asJSON {
		value, _ := form.Parse(schema, try.typed)
		text, err := ui.JSONText(value)
		if err != nil {
			return try
		}
		try.asJSON, try.typed = true, url.Values{run.JSONField: {text}}
		return try
	}
	value, problems := inputOf(schema, try)
	if len(problems) > 0 {
		try.problems = problems
		return try
	}
	try.asJSON, try.typed = false, form.Fill(schema, value)
	return try
}
