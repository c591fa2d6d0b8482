package api

import (
	"encoding/json"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"weftline/engine"
	"weftline/engine/execution"
	"weftline/engine/flow"
)

// HistoryFile is a whole history with the definition that it ran on, so that it can be folded anywhere.
type HistoryFile struct {
	Execution  string            `json:"execution"`
	Workflow   string            `json:"workflow"`
	Version    int               `json:"version"`
	Definition string            `json:"definition"`
	LastSeq    int64             `json:"lastSeq"`
	Terminal   bool              `json:"terminal"`
	Events     []execution.Event `json:"events"`
}

// Report is the answer of a validation.
type Report = flow.Report

// History answers the whole history as a file that POST /executions/replay takes.
func (a *API) History(c *fiber.Ctx) error {
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	version, err := a.door.Definition(c.UserContext(), who(c), id)
	if err != nil {
		return err
	}
	file := HistoryFile{Execution: id.String(), Workflow: version.Workflow, Version: version.Version, Definition: version.Text,
		Events: []execution.Event{}}
	for more := true; more; {
		var page engine.EventPage
		if page, err = a.door.Events(c.UserContext(), who(c), id, file.LastSeq, 500); err != nil {
			return err
		}
		file.Events = append(file.Events, page.Events...)
		file.Terminal = page.Terminal
		if more = len(page.Events) > 0; more {
			file.LastSeq = page.Events[len(page.Events)-1].Seq
			more = file.LastSeq < page.LastSeq
		}
	}
	c.Set(fiber.HeaderContentDisposition, "attachment; filename="+strconv.Quote("execution-"+id.String()+".json"))
	return answer(c, fiber.StatusOK, file)
}

// Replay folds an exported history and answers its state; nothing is run or stored.
func (a *API) Replay(c *fiber.Ctx) error {
	if !json.Valid(c.Body()) {
		return engine.Refuse("bad_request", "the body must be a file as of GET /executions/{id}/history.json")
	}
	detail, err := a.door.Replay(c.UserContext(), who(c), c.Body())
	return ok(c, detail, err)
}
