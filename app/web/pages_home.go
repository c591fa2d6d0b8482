package web

import (
	"bytes"

	"github.com/gofiber/fiber/v2"

	"weftline/engine"
	"weftline/views/home"
	"weftline/views/ui"
	"weftline/views/workflows"
)

// homeRows is how much of each list the first page shows.
const homeRows = 8

func (p *Pages) home(c *fiber.Ctx) error {
	view := home.View{Now: now()}
	who, ctx := ViewOf(c).Who, c.UserContext()
	few := engine.PageRequest{Limit: homeRows}

	tasks, err := p.Door.Tasks(ctx, who, engine.TaskFilter{Status: "open", PageRequest: engine.PageRequest{Limit: mostCounted}})
	if err != nil {
		return err
	}
	for _, task := range tasks.Items {
		if task.MayDecide && len(view.Tasks) < homeRows {
			view.Tasks = append(view.Tasks, taskRow(task, view.Now))
		}
	}
	reviews, err := p.awaited(c)
	if err != nil {
		return err
	}
	view.Reviews = reviews[:min(homeRows, len(reviews))]
	running, err := p.Door.Executions(ctx, who, engine.ExecutionFilter{
		Status: []string{"created", "validated", "scheduled", "running", "waiting", "paused", "compensating"}, PageRequest: few})
	if err != nil {
		return err
	}
	failed, err := p.Door.Executions(ctx, who, engine.ExecutionFilter{Status: []string{"failed", "timed_out"}, PageRequest: few})
	if err != nil {
		return err
	}
	all, err := p.Door.Executions(ctx, who, engine.ExecutionFilter{PageRequest: engine.PageRequest{Limit: 1}})
	if err != nil {
		return err
	}
	list, err := p.Door.Workflows(ctx, who, engine.WorkflowFilter{PageRequest: few})
	if err != nil {
		return err
	}
	view.Running, view.Failed, view.FirstVisit = runRows(running.Items), runRows(failed.Items), len(all.Items)+len(reviews) == 0
	if view.Workflows, err = p.workflowRows(ctx, who, list.Items); err != nil {
		return err
	}
	if view.FirstVisit {
		view.First = firstToRun(list.Items)
	}
	frame := p.frame(c, "Home", "home")
	frame.Actions = workflows.Add()
	return Render(c, home.Page(frame, view))
}

// firstToRun is the workflow that shows most: the one labelled so, else the first that is published.
func firstToRun(list []engine.Workflow) string {
	first := ""
	for _, workflow := range list {
		if workflow.PublishedVersion == nil {
			continue
		}
		if workflow.Labels["start"] == "here" {
			return workflow.Name
		}
		if first == "" {
			first = workflow.Name
		}
	}
	return first
}

func (p *Pages) favicon(c *fiber.Ctx) error {
	var svg bytes.Buffer
	if err := ui.Favicon().Render(c.UserContext(), &svg); err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, "image/svg+xml")
	c.Set(fiber.HeaderCacheControl, "public, max-age=86400")
	return c.Send(svg.Bytes())
}
