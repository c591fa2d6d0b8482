package api

import (
	"cmp"
	"context"
	"time"

	"github.com/gofiber/fiber/v2"

	"weftline/app/openapi"
	"weftline/engine"
)

// QueueAnswer is the depth of the queue, one row a key.
type QueueAnswer struct {
	By    string            `json:"by"`
	Items []engine.QueueRow `json:"items"`
}

// Health says whether the process makes progress. The error says what is wrong and what to do.
type Health interface {
	Ready(ctx context.Context) error
	Degraded(ctx context.Context) (string, error)
}

// HealthAnswer is the body of the health checks.
type HealthAnswer struct {
	Status string `json:"status"`
	// Pressure says why starts are held back, if they are.
	Pressure string `json:"pressure,omitempty"`
	// Degraded says what goes wrong that taking this process away would not mend.
	Degraded string `json:"degraded,omitempty"`
}

// Queue answers the depth of the queue ?by=partition|queue|team|workflow|priority.
func (a *API) Queue(c *fiber.Ctx) error {
	q := queryOf(c)
	by := cmp.Or(q.text("by"), "workflow")
	if q.err != nil {
		return q.err
	}
	rows, err := a.door.Queue(c.UserContext(), who(c), by)
	if rows == nil {
		rows = []engine.QueueRow{}
	}
	return ok(c, QueueAnswer{By: by, Items: rows}, err)
}

// OpenAPI is this API as an OpenAPI 3.1 document, made from the route table.
func (a *API) OpenAPI(c *fiber.Ctx) error {
	return answer(c, fiber.StatusOK, openapi.Document(a.table(), Problem{}))
}

// Alive says that the process answers, nothing more.
func (a *API) Alive(c *fiber.Ctx) error {
	return answer(c, fiber.StatusOK, HealthAnswer{Status: "ok"})
}

// Ready says that work makes progress.
func (a *API) Ready(c *fiber.Ctx) error {
	ctx, cancel := context.WithTimeout(c.UserContext(), 3*time.Second)
	defer cancel()
	if err := a.health.Ready(ctx); err != nil {
		return &engine.Error{Code: "not_ready", Message: err.Error(), RetryAfterSeconds: 1}
	}
	degraded, err := a.health.Degraded(ctx)
	if err != nil {
		return &engine.Error{Code: "not_ready", Message: err.Error(), RetryAfterSeconds: 1}
	}
	return answer(c, fiber.StatusOK, HealthAnswer{Status: "ready", Pressure: a.door.Pressure().Notice(), Degraded: degraded})
}
