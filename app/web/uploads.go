package web

import (
	"errors"
	"mime/multipart"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"weftline/app/api"
	"weftline/engine"
	"weftline/engine/flow"
	"weftline/views/form"
)

// formMax is how many bytes a form with files may have, all of them together.
const formMax = fileMax + definitionMax

// postedFiles is the form of a POST. Files that were chosen in its file fields are kept, and the form holds what
// stands for them; those that their field does not take are problems of the field.
func (p *Pages) postedFiles(c *fiber.Ctx, schema map[string]any) (url.Values, []flow.Problem, error) {
	if !strings.HasPrefix(c.Get(fiber.HeaderContentType), fiber.MIMEMultipartForm) {
		typed, err := posted(c)
		return typed, nil, err
	}
	parts, err := c.MultipartForm()
	if err != nil {
		return nil, nil, engine.Refuse("bad_request", "the form cannot be read: "+err.Error())
	}
	typed := url.Values(parts.Value)
	var problems []flow.Problem
	for field, files := range parts.File {
		rule, known := form.FileRule(schema, field)
		if !known || len(files) == 0 || files[0].Filename == "" {
			continue
		}
		stands, err := p.keep(c, rule, files[0])
		var refusal *engine.Error
		switch {
		case errors.As(err, &refusal):
			problems = append(problems, flow.Problem{Path: field, Severity: "error", Message: refusal.Message})
		case err != nil:
			return nil, nil, err
		default:
			typed.Set(field, stands)
		}
	}
	return typed, problems, nil
}

// keep keeps one file and answers what stands for it, as a form field holds it.
func (p *Pages) keep(c *fiber.Ctx, rule flow.FileRule, part *multipart.FileHeader) (string, error) {
	kind, _, _ := strings.Cut(part.Header.Get(fiber.HeaderContentType), ";")
	if fault := rule.Refusal(strings.TrimSpace(kind), part.Size); fault != "" {
		return "", engine.Refuse("invalid_input", fault)
	}
	content, err := api.ReadPart(part)
	if err != nil {
		return "", err
	}
	file, err := p.Door.SaveFile(c.UserContext(), ViewOf(c).Who, part.Filename, kind, content)
	if err != nil {
		return "", err
	}
	return form.Encode(file.Value()), nil
}
