package api

import (
	"cmp"
	"strings"

	"github.com/gofiber/fiber/v2"

	"weftline/engine"
	"weftline/engine/flow"
)

// YAML is the media type of a definition's text.
const YAML = "application/yaml"

// PublishRequest says why a version is published.
type PublishRequest struct {
	Message string `json:"message"`
}

// Validate checks a definition and never runs anything; an invalid one is 200 with valid: false.
func (a *API) Validate(c *fiber.Ctx) error {
	report := a.door.Validate(c.UserContext(), c.Body())
	report.Errors, report.Warnings = known(report.Errors), known(report.Warnings)
	return answer(c, fiber.StatusOK, report)
}

// Workflows lists the team's workflows.
func (a *API) Workflows(c *fiber.Ctx) error {
	q := queryOf(c)
	filter := engine.WorkflowFilter{PageRequest: q.page(), Labels: q.labels(), Query: q.text("q")}
	if q.err != nil {
		return q.err
	}
	page, err := a.door.Workflows(c.UserContext(), who(c), filter)
	return list(c, page, err)
}

// Workflow answers one workflow with its last executions.
func (a *API) Workflow(c *fiber.Ctx) error {
	workflow, err := a.door.Workflow(c.UserContext(), who(c), c.Params("name"))
	return ok(c, workflow, err)
}

// Draft answers the text exactly as it was saved.
func (a *API) Draft(c *fiber.Ctx) error {
	draft, err := a.door.Draft(c.UserContext(), who(c), c.Params("name"))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderETag, quoteETag(draft.ETag))
	return text(c, draft.Text)
}

// SaveDraft keeps any text. The precondition says what it replaces, so nobody's work is overwritten unseen.
func (a *API) SaveDraft(c *fiber.Ctx) error {
	ifMatch, create, err := precondition(c)
	if err != nil {
		return err
	}
	draft, err := a.door.SaveDraft(c.UserContext(), who(c), c.Params("name"), c.Body(), ifMatch, create)
	if err != nil {
		return err
	}
	return a.sendDraft(c, fiber.StatusOK, draft)
}

func (a *API) sendDraft(c *fiber.Ctx, status int, draft engine.Draft) error {
	c.Set(fiber.HeaderETag, quoteETag(draft.ETag))
	draft.Errors, draft.Warnings = known(draft.Errors), known(draft.Warnings)
	return answer(c, status, draft)
}

func precondition(c *fiber.Ctx) (ifMatch string, create bool, err error) {
	ifMatch, ifNoneMatch := c.Get(fiber.HeaderIfMatch), c.Get(fiber.HeaderIfNoneMatch)
	switch {
	case ifMatch != "" && ifNoneMatch != "":
		return "", false, engine.Refuse("bad_request", "send either If-Match or If-None-Match, not both")
	case ifNoneMatch == "*":
		return "", true, nil
	case ifMatch == "" || ifNoneMatch != "":
		return "", false, engine.Refuse("precondition_required",
			"send If-Match with the etag of the draft that you read, or If-None-Match: * for the first save")
	}
	return strings.Trim(strings.TrimPrefix(strings.TrimSpace(ifMatch), "W/"), `"`), false, nil
}

// Publish makes a version of the draft; unchanged content answers the version that exists.
func (a *API) Publish(c *fiber.Ctx) error {
	request, err := body[PublishRequest](c)
	if err != nil {
		return err
	}
	return a.once(c, func() (int, any, error) {
		version, created, err := a.door.Publish(c.UserContext(), who(c), c.Params("name"), request.Message)
		if created {
			return fiber.StatusCreated, version, err
		}
		return fiber.StatusOK, version, err
	})
}

// Unpublish stops triggers and new starts; executions that run go on.
func (a *API) Unpublish(c *fiber.Ctx) error {
	name := c.Params("name")
	if err := a.door.Unpublish(c.UserContext(), who(c), name); err != nil {
		return err
	}
	workflow, err := a.door.Workflow(c.UserContext(), who(c), name)
	return ok(c, workflow, err)
}

// Versions lists the published versions, newest first.
func (a *API) Versions(c *fiber.Ctx) error {
	q := queryOf(c)
	request := q.page()
	if q.err != nil {
		return q.err
	}
	page, err := a.door.Versions(c.UserContext(), who(c), c.Params("name"), request)
	return list(c, page, err)
}

// Version answers one version, or its text when the client asks for YAML.
func (a *API) Version(c *fiber.Ctx) error {
	number, err := NumberOf(c, "version")
	if err != nil {
		return err
	}
	version, err := a.door.Version(c.UserContext(), who(c), c.Params("name"), number)
	if err != nil {
		return err
	}
	c.Vary(fiber.HeaderAccept)
	if c.Accepts(fiber.MIMEApplicationJSON, YAML) == YAML {
		return text(c, version.Text)
	}
	return answer(c, fiber.StatusOK, version)
}

// Restore makes a draft of an old version.
func (a *API) Restore(c *fiber.Ctx) error {
	number, err := NumberOf(c, "version")
	if err != nil {
		return err
	}
	draft, err := a.door.Restore(c.UserContext(), who(c), c.Params("name"), number)
	if err != nil {
		return err
	}
	return a.sendDraft(c, fiber.StatusOK, draft)
}

// Diff compares two sides: a version number, draft or published.
func (a *API) Diff(c *fiber.Ctx) error {
	q := queryOf(c)
	from, to := cmp.Or(q.text("from"), "published"), cmp.Or(q.text("to"), "draft")
	if q.err != nil {
		return q.err
	}
	diff, err := a.door.Diff(c.UserContext(), who(c), c.Params("name"), from, to)
	if diff.Changes == nil {
		diff.Changes = []flow.Change{}
	}
	return ok(c, diff, err)
}

// Schema is the JSON Schema of the language, for editors.
func (a *API) Schema(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, "application/schema+json")
	return c.Send(flow.JSONSchema())
}

func text(c *fiber.Ctx, body string) error {
	c.Set(fiber.HeaderContentType, YAML)
	return c.SendString(body)
}

// known answers [] for no problems: clients may rely on a list.
func known(problems []flow.Problem) []flow.Problem {
	if problems == nil {
		return []flow.Problem{}
	}
	return problems
}
