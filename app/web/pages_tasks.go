package web

import (
	"cmp"
	"strings"

	"github.com/gofiber/fiber/v2"

	"weftline/app/auth"
	"weftline/engine"
	"weftline/views/lists"
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
	if view.Filter.Show == "open" && view.Filter.Query == "" && c.Query("cursor") == "" {
		if view.Reviews, err = p.awaited(c); err != nil {
			return err
		}
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

// awaited are the proposals that wait for a verdict of the person: they were asked, and have not said.
func (p *Pages) awaited(c *fiber.Ctx) ([]lists.ReviewRow, error) {
	who := ViewOf(c).Who
	if !auth.May(who, auth.Review) {
		return nil, nil
	}
	list, err := p.Door.Proposals(c.UserContext(), who, engine.ProposalFilter{AwaitsMe: true, PageRequest: engine.PageRequest{Limit: mostCounted}})
	var reviews []lists.ReviewRow
	for _, proposal := range list.Items {
		reviews = append(reviews, lists.ReviewRow{Title: proposal.Title, Workflow: proposal.Workflow, Number: proposal.Number, Author: proposal.Author, UpdatedAt: proposal.UpdatedAt})
	}
	return reviews, err
}
