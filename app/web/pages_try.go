package web

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"weftline/app/auth"
	"weftline/engine"
	"weftline/engine/flow"
	"weftline/views/form"
)

// Names of what the designer sends beside the fields of the form.
const (
	tryDefinition = "_definition" // the text being worked on
	tryInput      = "_input"      // the input as JSON, to fill the form with; "" = what was typed counts
	tryShow       = "_show"       // not "": the person wants to be told what is wrong
)

// tryForm is the form of a workflow's input for the designer: that of the page that starts an execution, made of
// the text being worked on.
type tryForm struct {
	HTML      string `json:"html"`
	Fields    int    `json:"fields"`
	Input     any    `json:"input"`     // what was typed, as far as it is a value
	Complete  bool   `json:"complete"`  // a start would take it
	Sensitive bool   `json:"sensitive"` // something of it must not be kept in the browser
}

// tryFormOf makes the form. It has no effect, but that a file that was chosen is kept, as on the page that starts.
func (p *Pages) tryFormOf(c *fiber.Ctx) error {
	definition, input, show := c.FormValue(tryDefinition), c.FormValue(tryInput), c.FormValue(tryShow) != ""
	if len(definition) > definitionMax {
		return engine.Refuse("too_large", fmt.Sprintf("the definition has %d bytes; the limit is %d", len(definition), definitionMax))
	}
	if _, err := p.Door.Workflow(c.UserContext(), ViewOf(c).Who, c.Params("name")); err != nil {
		return err
	}
	schema, err := flow.InputSchema([]byte(definition))
	var unreadable *flow.LoadError
	if errors.As(err, &unreadable) {
		return engine.Refuse("invalid_definition", "the text cannot be read as a workflow: "+unreadable.Error())
	}
	if err != nil {
		return err
	}
	typed, problems, edited, err := p.triedInput(c, schema, input)
	if err != nil {
		return err
	}
	value, found := typedInput(schema, typed)
	problems = append(problems, found...)
	answer := tryForm{Input: value, Complete: len(problems) == 0}
	if !show || edited {
		problems = nil // nobody has asked yet
	}
	made := form.Build(schema, typed, problems)
	answer.Fields, answer.Sensitive = len(made.Fields), made.Sensitive()
	var html bytes.Buffer
	if err := form.Fields(made).Render(c.UserContext(), &html); err != nil {
		return err
	}
	answer.HTML = html.String()
	return c.JSON(answer)
}

// triedInput is what the form is filled with: a value that is given, else what was typed; edited says that a button
// only changed the form.
func (p *Pages) triedInput(c *fiber.Ctx, schema map[string]any, input string) (typed url.Values, problems []flow.Problem, edited bool, err error) {
	if input != "" {
		value, err := form.Decode(input)
		if err != nil {
			return nil, nil, false, engine.Refuse("bad_request", "the input cannot be read: "+err.Error())
		}
		if value == nil {
			value = form.Example(schema)
		}
		return form.Fill(schema, value), nil, false, nil
	}
	if May(c, auth.Run) {
		typed, problems, err = p.postedFiles(c, schema)
	} else { // who may start nothing keeps no files
		typed, err = postedTexts(c)
	}
	return typed, problems, err == nil && form.Edit(schema, typed), err
}

// postedTexts is what was typed, without files.
func postedTexts(c *fiber.Ctx) (url.Values, error) {
	if !strings.HasPrefix(c.Get(fiber.HeaderContentType), fiber.MIMEMultipartForm) {
		return posted(c)
	}
	parts, err := c.MultipartForm()
	if err != nil {
		return nil, engine.Refuse("bad_request", "the form cannot be read: "+err.Error())
	}
	return url.Values(parts.Value), nil
}
