package api

import (
	"context"
	"errors"
	"fmt"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/execution"
)

// Accepted answers a request that an execution will act on.
type Accepted struct {
	ID uuid.UUID `json:"id"`
}

// CancelRequest ends an execution early; without compensate the definition decides whether it is undone.
type CancelRequest struct {
	Reason     string `json:"reason"`
	Compensate *bool  `json:"compensate"`
}

// NoteRequest is a plain request with a note.
type NoteRequest struct {
	Note string `json:"note"`
}

// RetryRequest drives a failed or timed-out execution again.
type RetryRequest struct {
	From  string         `json:"from"`
	Item  string         `json:"item"`
	Input map[string]any `json:"input"`
	Note  string         `json:"note"`
}

// SignalRequest reaches an event activity of that name, whatever its correlation.
type SignalRequest struct {
	Name     string `json:"name"`
	Payload  any    `json:"payload"`
	SignalID string `json:"signalId"`
}

// EventRequest is an event by business key.
type EventRequest struct {
	Name        string `json:"name"`
	Correlation string `json:"correlation"`
	Payload     any    `json:"payload"`
	EventID     string `json:"eventId"`
}

// BulkRequest acts on many executions: on ids, or on what a filter finds (a query string as of GET /executions).
type BulkRequest struct {
	IDs    []string `json:"ids"`
	Filter string   `json:"filter"`
	Action string   `json:"action"` // cancel or retry
	Note   string   `json:"note"`
}

// BulkAnswer has one result for each id.
type BulkAnswer struct {
	Results []BulkResult `json:"results"`
}

// BulkResult is what became of one id.
type BulkResult struct {
	ID     string `json:"id"`
	OK     bool   `json:"ok"`
	Status string `json:"status,omitempty"`
	Code   string `json:"code,omitempty"`
	Detail string `json:"detail,omitempty"`
}

const bulkMax = 1000

// Cancel asks an execution to end.
func (a *API) Cancel(c *fiber.Ctx) error {
	request, err := body[CancelRequest](c)
	if err != nil {
		return err
	}
	return a.accept(c, func(ctx context.Context, id uuid.UUID) error {
		return a.door.Cancel(ctx, who(c), id, request.Reason, request.Compensate)
	})
}

// Pause holds an execution: what runs may finish, nothing new begins.
func (a *API) Pause(c *fiber.Ctx) error { return a.plain(c, a.door.Pause) }

// Resume lets a paused execution go on.
func (a *API) Resume(c *fiber.Ctx) error { return a.plain(c, a.door.Resume) }

// Release lets a quarantined execution be driven again.
func (a *API) Release(c *fiber.Ctx) error {
	request, err := body[NoteRequest](c)
	if err != nil {
		return err
	}
	return a.accept(c, func(ctx context.Context, id uuid.UUID) error { return a.door.Release(ctx, who(c), id, request.Note) })
}

// Compensate runs an incomplete compensation again.
func (a *API) Compensate(c *fiber.Ctx) error { return a.plain(c, a.door.Compensate) }

// Retry drives a failed or timed-out execution again; completed activities are not run again.
func (a *API) Retry(c *fiber.Ctx) error {
	request, err := body[RetryRequest](c)
	if err != nil {
		return err
	}
	return a.accept(c, func(ctx context.Context, id uuid.UUID) error {
		return a.door.Retry(ctx, who(c), id, execution.Retry{By: who(c).User, From: request.From, Item: request.Item,
			Input: request.Input, Note: request.Note})
	})
}

// Signal sends a signal to one execution.
func (a *API) Signal(c *fiber.Ctx) error {
	request, err := body[SignalRequest](c)
	if err != nil {
		return err
	}
	if request.Name == "" {
		return missing("name")
	}
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	return a.once(c, func() (int, any, error) {
		err := a.door.Signal(c.UserContext(), who(c), id, request.Name, request.Payload, request.SignalID)
		return fiber.StatusAccepted, Accepted{ID: id}, err
	})
}

// PostEvent sends an event to whoever waits for its name and correlation, now or soon.
func (a *API) PostEvent(c *fiber.Ctx) error {
	request, err := body[EventRequest](c)
	if err != nil {
		return err
	}
	if request.Name == "" {
		return missing("name")
	}
	return a.once(c, func() (int, any, error) {
		result, err := a.door.PostEvent(c.UserContext(), who(c), engine.PostedEvent(request))
		return fiber.StatusAccepted, result, err
	})
}

// Bulk acts on many executions and answers for each: one that refuses does not stop the others.
func (a *API) Bulk(c *fiber.Ctx) error {
	request, err := body[BulkRequest](c)
	if err != nil {
		return err
	}
	ids, err := a.bulkIDs(c, request)
	if err != nil {
		return err
	}
	var act func(uuid.UUID) error
	switch request.Action {
	case "cancel":
		act = func(id uuid.UUID) error { return a.door.Cancel(c.UserContext(), who(c), id, request.Note, nil) }
	case "retry":
		act = func(id uuid.UUID) error {
			return a.door.Retry(c.UserContext(), who(c), id, execution.Retry{By: who(c).User, Note: request.Note})
		}
	default:
		return engine.Refuse("invalid_input", `the field "action" must be cancel or retry`)
	}
	return answer(c, fiber.StatusOK, eachOf(ids, func(id uuid.UUID) (string, error) { return "accepted", act(id) }))
}

// bulkIDs answers the ids of the request, or those that its filter finds, at most bulkMax.
func (a *API) bulkIDs(c *fiber.Ctx, request BulkRequest) ([]string, error) {
	if (len(request.IDs) == 0) == (request.Filter == "") {
		return nil, engine.Refuse("invalid_input", `give either "ids" or "filter"`)
	}
	if len(request.IDs) > bulkMax {
		return nil, engine.Refuse("too_large", fmt.Sprintf("at most %d ids at once", bulkMax))
	}
	if request.Filter == "" {
		return request.IDs, nil
	}
	filter, err := ParseExecutionFilter(request.Filter)
	if err != nil {
		return nil, err
	}
	var ids []string
	for len(ids) < bulkMax {
		page, err := a.door.Executions(c.UserContext(), who(c), filter)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			ids = append(ids, item.ID.String())
		}
		if page.NextCursor == nil {
			break
		}
		filter.Cursor = *page.NextCursor
	}
	return ids[:min(len(ids), bulkMax)], nil
}

// eachOf does one thing for each id and gathers the results.
func eachOf(ids []string, act func(uuid.UUID) (status string, err error)) BulkAnswer {
	results := make([]BulkResult, len(ids))
	for i, text := range ids {
		results[i] = BulkResult{ID: text}
		id, err := uuid.Parse(text)
		if err != nil {
			err = engine.Refuse("not_found", "this is not an id")
		} else {
			results[i].Status, err = act(id)
		}
		var refusal *engine.Error
		switch {
		case err == nil:
			results[i].OK = true
		case errors.As(err, &refusal):
			results[i].Status, results[i].Code, results[i].Detail = "", refusal.Code, refusal.Message
		default:
			results[i].Status, results[i].Code, results[i].Detail = "", "internal", "something went wrong on this side"
		}
	}
	return BulkAnswer{Results: results}
}

func (a *API) plain(c *fiber.Ctx, call func(context.Context, engine.Who, uuid.UUID) error) error {
	if _, err := body[NoteRequest](c); err != nil {
		return err
	}
	return a.accept(c, func(ctx context.Context, id uuid.UUID) error { return call(ctx, who(c), id) })
}

// accept answers 202 when the execution of the path took the request.
func (a *API) accept(c *fiber.Ctx, call func(context.Context, uuid.UUID) error) error {
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	if err := call(c.UserContext(), id); err != nil {
		return err
	}
	return answer(c, fiber.StatusAccepted, Accepted{ID: id})
}
