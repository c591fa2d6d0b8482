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
