package api

import (
	"context"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"weftline/engine"
)

// Workers lists the worker registry.
func (a *API) Workers(c *fiber.Ctx) error {
	workers, err := a.door.Workers(c.UserContext(), who(c))
	return whole(c, workers, err)
}

// RegisterWorker makes a remote worker known.
func (a *API) RegisterWorker(c *fiber.Ctx) error {
	request, err := body[engine.WorkerRequest](c)
	if err != nil {
		return err
	}
	ticket, err := a.door.RegisterWorker(c.UserContext(), who(c), request)
	if err != nil {
		return err
	}
	return answer(c, fiber.StatusCreated, ticket)
}

// WorkerHeartbeat says that a worker lives.
func (a *API) WorkerHeartbeat(c *fiber.Ctx) error { return about(c, a.door.WorkerHeartbeat) }

// PollWork waits for work.
func (a *API) PollWork(c *fiber.Ctx) error { return about(c, a.door.PollWork) }

// CompleteWork ends a leased attempt well.
func (a *API) CompleteWork(c *fiber.Ctx) error { return about(c, a.door.CompleteWork) }

// FailWork ends a leased attempt with a failure.
func (a *API) FailWork(c *fiber.Ctx) error { return about(c, a.door.FailWork) }

// RenewWork extends a lease.
func (a *API) RenewWork(c *fiber.Ctx) error { return about(c, a.door.RenewWork) }

// DrainWorker gives a worker nothing new.
func (a *API) DrainWorker(c *fiber.Ctx) error {
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	orders, err := a.door.DrainWorker(c.UserContext(), who(c), id)
	return ok(c, orders, err)
}

// about answers a call that is about the id in the path and takes a body.
func about[T, A any](c *fiber.Ctx, call func(context.Context, engine.Who, uuid.UUID, T) (A, error)) error {
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	request, err := body[T](c)
	if err != nil {
		return err
	}
	value, err := call(c.UserContext(), who(c), id, request)
	return ok(c, value, err)
}
