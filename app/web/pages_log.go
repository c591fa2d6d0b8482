package web

import (
	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"weftline/engine"
	"weftline/views/activitylog"
	"weftline/views/ui"
)

// log shows what an attempt of an activity printed.
func (p *Pages) log(c *fiber.Ctx) error {
	id, err := idOf(c, "execution")
	if err != nil {
		return err
	}
	view, err := p.logOf(c, id, c.Params("activity"), engine.LogRequest{Item: c.Query("item"), Attempt: max(0, c.QueryInt("attempt"))})
	if err != nil {
		return err
	}
	short := id.String()[:8]
	frame := p.frame(c, "Log of "+view.Activity, "executions", ui.Crumb{Label: "Executions", URL: "/executions"},
		ui.Crumb{Label: short, URL: "/executions/" + id.String() + "?activity=" + view.Activity})
	return Render(c, activitylog.Page(frame, view))
}

func (p *Pages) logOf(c *fiber.Ctx, id uuid.UUID, activity string, request engine.LogRequest) (activitylog.View, error) {
	log, err := p.Door.ActivityLog(c.UserContext(), ViewOf(c).Who, id, activity, request)
	if err != nil {
		return activitylog.View{}, err
	}
	view := activitylog.View{Execution: id.String(), Activity: activity, Item: log.Item, Attempt: log.Attempt, Attempts: log.Attempts}
	for _, line := range log.Lines {
		view.Lines = append(view.Lines, activitylog.Line{N: line.N, At: line.At, Stream: line.Stream, Text: line.Line})
	}
	return view, nil
}

// shownLines is how much of a log the execution's page shows: its end.
const shownLines = 20

// tailOfLog is the end of the log of the activity whose details are shown, and where the whole log is.
func (p *Pages) tailOfLog(c *fiber.Ctx, id uuid.UUID, activity string) (lines []activitylog.Line, whole string, err error) {
	if activity == "" {
		return nil, "", nil
	}
	view, err := p.logOf(c, id, activity, engine.LogRequest{})
	if err != nil || len(view.Lines) == 0 {
		return nil, "", err
	}
	return view.Lines[max(0, len(view.Lines)-shownLines):], view.URL(0), nil
}
