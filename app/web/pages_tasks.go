package web

import (
	"cmp"
	"strings"

	"github.com/gofiber/fiber/v2"

	"weftline/engine"
	tasksview "weftline/views/tasks"
)

func (p *Pages) tasks(c *fiber.Ctx) error {
	view := tasksview.View{Now: now(), Filter: tasksview.Filter{
		Show: cmp.Or(oneOf(c.Query("show"), "mine", "done"), "open"), Workflow: c.Query("workflow"), Query: strings.TrimSpace(c.Query("q")),
	}}
	list, err := p.Door.Tasks(c.UserContext(), ViewOf(c).Who, tasksFilter(view.Filter, c.Query("cursor")))
	if err != nil {
		return err
	}
	view.Rows, view.Next = taskRows(list.Items, view.Now), nextPage(c, list.NextCursor)
	return Render(c, tasksview.Page(p.frame(c, "Tasks", "tasks"), view))
}

func tasksFilter(show tasksview.Filter, cursor string) engine.TaskFilter {
	filter := engine.TaskFilter{
		Status: "open", Workflow: show.Workflow, Query: show.Query, PageRequest: engine.PageRequest{Cursor: cursor}}
	switch show.Show {
	case "mine":
		filter.Assignee = "me"
	case "done":
		filter.Status = "done"
	}
	return filter
}
