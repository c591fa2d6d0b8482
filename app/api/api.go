// Package api is /api/v1: engine calls with JSON in and out. It owns how requests are read (exactly, see
// strictjson), how answers and refusals look, and the API document. It must not know pages, cookies or how
// the engine does its work.
package api

import (
	"github.com/gofiber/fiber/v2"

	"weftline/app/auth"
	"weftline/app/openapi"
	"weftline/engine"
)

// API holds the handlers; web's route table says where each is mounted and what it needs.
type API struct {
	door        engine.Door
	identity    Identity
	vault       Vault
	connections Connections
	health      Health
	login       Login // nil in local mode
	limits      engine.SessionLimits
	table       func() []openapi.Operation
}

// Options are what the handlers call.
type Options struct {
	Door        engine.Door
	Identity    Identity
	Vault       Vault
	Connections Connections
	Health      Health
	Login       Login // nil in local mode
	Limits      engine.SessionLimits
	Table       func() []openapi.Operation // the API's part of the route table
}

// New makes the handlers.
func New(o Options) *API {
	return &API{door: o.Door, identity: o.Identity, vault: o.Vault, connections: o.Connections, health: o.Health, login: o.Login, limits: o.Limits, table: o.Table}
}

func who(c *fiber.Ctx) engine.Who { return auth.Who(c) }

// Page is the shape of every list.
type Page[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"nextCursor"`
}

// list answers a page; an empty one is [], never null.
func list[T any](c *fiber.Ctx, page engine.Page[T], err error) error {
	if err != nil {
		return err
	}
	if page.Items == nil {
		page.Items = []T{}
	}
	return answer(c, fiber.StatusOK, page)
}

// whole answers a list that is never cut into pages.
func whole[T any](c *fiber.Ctx, items []T, err error) error {
	return list(c, engine.Page[T]{Items: items}, err)
}

// ok answers 200 with the value of an engine call.
func ok[T any](c *fiber.Ctx, value T, err error) error {
	if err != nil {
		return err
	}
	return answer(c, fiber.StatusOK, value)
}
