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

// Try makes one attempt of one activity, once for an Idempotency-Key: it has effects.
func (a *API) Try(c *fiber.Ctx) error {
	request, err := body[engine.TryRequest](c)
	if err != nil {
		return err
	}
	return a.once(c, func() (int, any, error) {
		tried, err := a.door.Try(c.UserContext(), who(c), c.Params("name"), request)
		return fiber.StatusOK, tried, err
	})
}

// Evaluate shows what an expression gives.
func (a *API) Evaluate(c *fiber.Ctx) error {
	request, err := body[engine.EvaluateRequest](c)
	if err != nil {
		return err
	}
	evaluated, err := a.door.Evaluate(c.UserContext(), who(c), c.Params("name"), request)
	return ok(c, evaluated, err)
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

// KeepRequest names the test case that an execution becomes; "" = after its time.
type KeepRequest struct {
	Name string `json:"name"`
}

// KeepTest makes a test case of an ended execution, once for an Idempotency-Key.
func (a *API) KeepTest(c *fiber.Ctx) error {
	request, err := body[KeepRequest](c)
	if err != nil {
		return err
	}
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	return a.once(c, func() (int, any, error) {
		kept, err := a.door.KeepTest(c.UserContext(), who(c), id, request.Name)
		return fiber.StatusCreated, kept, err
	})
}
