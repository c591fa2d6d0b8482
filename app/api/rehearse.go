package api

import (
	"github.com/gofiber/fiber/v2"

	"weftline/engine"
)

// Plan shows the path that an input takes. It runs nothing, so an Idempotency-Key has no meaning.
func (a *API) Plan(c *fiber.Ctx) error {
	request, err := body[engine.PlanRequest](c)
	if err != nil {
		return err
	}
	plan, err := a.door.Plan(c.UserContext(), who(c), c.Params("name"), request)
	return ok(c, plan, err)
}

// Tests lists the test cases that stand beside a workflow in its text.
func (a *API) Tests(c *fiber.Ctx) error {
	cases, err := a.door.Tests(c.UserContext(), who(c), c.Params("name"))
	return list(c, engine.Page[engine.TestCase]{Items: cases}, err)
}

// RunTests runs them; like a plan it has no effect.
func (a *API) RunTests(c *fiber.Ctx) error {
	request, err := body[engine.TestRequest](c)
	if err != nil {
		return err
	}
	report, err := a.door.RunTests(c.UserContext(), who(c), c.Params("name"), request)
	return ok(c, report, err)
}
