package api

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"weftline/engine"
)

// Connections keeps the services that activities reach by name.
type Connections interface {
	PutConnection(ctx context.Context, who engine.Who, given engine.Connection) (engine.Connection, error)
	DeleteConnection(ctx context.Context, who engine.Who, name string) error
	Connections(ctx context.Context, who engine.Who, page engine.PageRequest) (engine.Page[engine.Connection], error)
	TestConnection(ctx context.Context, who engine.Who, name string) (engine.ConnectionTest, error)
}

// ConnectionRequest is a connection on its way in; secrets maps fields to names of secrets.
type ConnectionRequest struct {
	Kind     string            `json:"kind"`
	Settings map[string]any    `json:"settings"`
	Secrets  map[string]string `json:"secrets"`
	UsableBy []string          `json:"usableBy"`
}

// PutConnection keeps a connection under a name.
func (a *API) PutConnection(c *fiber.Ctx) error {
	request, err := body[ConnectionRequest](c)
	if err != nil {
		return err
	}
	kept, err := a.connections.PutConnection(c.UserContext(), who(c),
		engine.Connection{Name: c.Params("name"), Kind: request.Kind, Settings: request.Settings, Secrets: request.Secrets, UsableBy: request.UsableBy})
	return ok(c, kept, err)
}

// DeleteConnection forgets a connection.
func (a *API) DeleteConnection(c *fiber.Ctx) error {
	if err := a.connections.DeleteConnection(c.UserContext(), who(c), c.Params("name")); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// Connections lists the connections of the team.
func (a *API) Connections(c *fiber.Ctx) error {
	q := queryOf(c)
	page := q.page()
	if q.err != nil {
		return q.err
	}
	connections, err := a.connections.Connections(c.UserContext(), who(c), page)
	return list(c, connections, err)
}

// TestConnection tries a connection; one that does not work is 200 with ok: false.
func (a *API) TestConnection(c *fiber.Ctx) error {
	result, err := a.connections.TestConnection(c.UserContext(), who(c), c.Params("name"))
	return ok(c, result, err)
}
