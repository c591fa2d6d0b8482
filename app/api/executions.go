package api

import (
	"fmt"
	"math"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"weftline/engine"
	"weftline/engine/execution"
)

// BatchRequest starts many executions of one workflow, all or none.
type BatchRequest struct {
	Workflow string      `json:"workflow"`
	Version  int         `json:"version,omitempty" least:"1"` // absent = latest published
	Items    []BatchItem `json:"items"`
}

// BatchItem is one start of a batch.
type BatchItem struct {
	Input          any    `json:"input"`
	CorrelationID  string `json:"correlationId"`
	IdempotencyKey string `json:"idempotencyKey"`
}

// BatchAnswer holds the ids in the order of the items.
type BatchAnswer struct {
	IDs []uuid.UUID `json:"ids"`
}

// Skipped answers a start that the workflow's limit skipped: nothing was started.
type Skipped struct {
	Skipped bool `json:"skipped"`
}

const batchMax = 1000

// Start starts one execution. The Idempotency-Key is the engine's own here: it is kept in the transaction
// that creates the execution.
func (a *API) Start(c *fiber.Ctx) error {
	request, err := body[engine.StartRequest](c)
	if err != nil {
		return err
	}
	request.Workflow = c.Params("name")
	if key := c.Get("Idempotency-Key"); key != "" {
		request.IdempotencyKey = key
	}
	started, err := a.door.Start(c.UserContext(), who(c), request)
	if err != nil {
		return err
	}
	if started.Skipped {
		return answer(c, fiber.StatusOK, Skipped{Skipped: true})
	}
	c.Set(fiber.HeaderLocation, "/api/v1/executions/"+started.ID.String())
	return answer(c, fiber.StatusAccepted, started)
}

// StartBatch starts up to 1,000 executions, all or none.
func (a *API) StartBatch(c *fiber.Ctx) error {
	request, err := body[BatchRequest](c)
	if err != nil {
		return err
	}
	switch {
	case request.Workflow == "":
		return missing("workflow")
	case len(request.Items) == 0:
		return missing("items")
	case len(request.Items) > batchMax:
		return engine.Refuse("too_large", fmt.Sprintf("a batch has at most %d items, this one has %d", batchMax, len(request.Items)))
	}
	items := make([]engine.StartRequest, len(request.Items))
	for i, item := range request.Items {
		items[i] = engine.StartRequest{Workflow: request.Workflow, Version: request.Version, Input: item.Input,
			CorrelationID: item.CorrelationID, IdempotencyKey: item.IdempotencyKey}
	}
	return a.once(c, func() (int, any, error) {
		ids, err := a.door.StartBatch(c.UserContext(), who(c), request.Workflow, request.Version, items)
		return fiber.StatusAccepted, BatchAnswer{IDs: ids}, err
	})
}

// Executions lists executions, newest first.
func (a *API) Executions(c *fiber.Ctx) error {
	q := queryOf(c)
	filter := executionFilter(q)
	if q.err != nil {
		return q.err
	}
	page, err := a.door.Executions(c.UserContext(), who(c), filter)
	return list(c, page, err)
}

// Paging are the query parameters of every list.
var Paging = []string{"limit", "cursor"}

// ExecutionFilters are those of a list of executions.
var ExecutionFilters = append([]string{"workflow", "status", "version", "correlationId", "label", "startedAfter", "startedBefore", "updatedAfter", "sort", "q"}, Paging...)

// ParseExecutionFilter reads a filter written as the query string of GET /executions.
func ParseExecutionFilter(text string) (engine.ExecutionFilter, error) {
	var args fasthttp.Args
	args.Parse(text)
	if err := RefuseForeign(&args, ExecutionFilters); err != nil {
		return engine.ExecutionFilter{}, err
	}
	if err := RefuseRepeated(&args); err != nil {
		return engine.ExecutionFilter{}, err
	}
	q := &query{args: &args}
	filter := executionFilter(q)
	return filter, q.err
}

func executionFilter(q *query) engine.ExecutionFilter {
	return engine.ExecutionFilter{
		PageRequest: q.page(), Workflow: q.text("workflow"), Status: q.listOf("status", execution.Statuses),
		Version: int(q.number("version", 1, math.MaxInt32, 0)), CorrelationID: q.text("correlationId"), Labels: q.labels(),
		StartedAfter: q.time("startedAfter"), StartedBefore: q.time("startedBefore"), UpdatedAfter: q.time("updatedAfter"),
		Sort: q.text("sort"), Query: q.text("q"),
	}
}

// Execution answers the state of one execution; asking changes nothing.
func (a *API) Execution(c *fiber.Ctx) error {
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	detail, err := a.door.Execution(c.UserContext(), who(c), id)
	return ok(c, detail, err)
}

// StateAt answers the state as it was at ?at=<seq>.
func (a *API) StateAt(c *fiber.Ctx) error {
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	q := queryOf(c)
	at := q.number("at", 1, math.MaxInt64, 0)
	if at == 0 {
		q.refuse("at", "the number of an event")
	}
	if q.err != nil {
		return q.err
	}
	detail, err := a.door.StateAt(c.UserContext(), who(c), id, at)
	return ok(c, detail, err)
}

// Events answers a part of the history.
func (a *API) Events(c *fiber.Ctx) error {
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	q := queryOf(c)
	after, limit := q.number("after", 0, math.MaxInt64, 0), q.number("limit", 1, 500, 500)
	if q.err != nil {
		return q.err
	}
	page, err := a.door.Events(c.UserContext(), who(c), id, after, int(limit))
	if page.Events == nil {
		page.Events = []execution.Event{}
	}
	return ok(c, page, err)
}

// ExecutionDefinition answers the text of the version that the execution runs on.
func (a *API) ExecutionDefinition(c *fiber.Ctx) error {
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	version, err := a.door.Definition(c.UserContext(), who(c), id)
	if err != nil {
		return err
	}
	return text(c, version.Text)
}
