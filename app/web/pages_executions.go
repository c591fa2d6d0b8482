package web

import (
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"weftline/engine"
	executionsview "weftline/views/executions"
)

func (p *Pages) executions(c *fiber.Ctx) error {
	who, ctx := ViewOf(c).Who, c.UserContext()
	view := executionsview.View{Now: now(), Filter: executionsFilter(c)}
	list, err := p.Door.Executions(ctx, who, engine.ExecutionFilter{
		Workflow: view.Filter.Workflow, Status: view.Filter.Status, Query: view.Filter.Query,
		PageRequest: engine.PageRequest{Cursor: c.Query("cursor")}})
	if err != nil {
		return err
	}
	workflows, err := p.Door.Workflows(ctx, who, engine.WorkflowFilter{PageRequest: engine.PageRequest{Limit: 500}})
	if err != nil {
		return err
	}
	for _, workflow := range workflows.Items {
		view.Workflows = append(view.Workflows, workflow.Name)
	}
	view.Rows, view.Next = runRows(list.Items), nextPage(c, list.NextCursor)
	return Render(c, executionsview.Page(p.frame(c, "Executions", "executions"), view))
}

func executionsFilter(c *fiber.Ctx) executionsview.Filter {
	query, _ := url.ParseQuery(string(c.Request().URI().QueryString()))
	return executionsview.Filter{
		Workflow: query.Get("workflow"), Status: query["status"], Query: strings.TrimSpace(query.Get("q")),
	}
}
