package web

import (
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"weftline/app/auth"
	"weftline/engine"
	"weftline/engine/execution"
	"weftline/engine/flow"
	executionview "weftline/views/execution"
	"weftline/views/timeline"
	"weftline/views/ui"
)

// execution shows where one execution stands. The live page reads it again after each change.
func (p *Pages) execution(c *fiber.Ctx) error {
	id, err := idOf(c, "execution")
	if err != nil {
		return err
	}
	facts, err := p.facts(c, id)
	if err != nil {
		return err
	}
	view := executionview.Build(facts)
	if view.Detail.Log, view.Detail.LogURL, err = p.tailOfLog(c, id, view.Detail.ID); err != nil {
		return err
	}
	frame := p.frame(c, view.Workflow+" "+view.ShortID, "executions", ui.Crumb{Label: "Executions", URL: "/executions"})
	frame.Actions = executionview.Buttons(view, frame.CSRF)
	frame.Islands = []string{"execution"}
	return Render(c, executionview.Page(frame, view))
}

func (p *Pages) facts(c *fiber.Ctx, id uuid.UUID) (executionview.Facts, error) {
	who, ctx := ViewOf(c).Who, c.UserContext()
	detail, err := p.Door.Execution(ctx, who, id)
	if err != nil {
		return executionview.Facts{}, err
	}
	events, err := p.newestEvents(c, id, detail.LastSeq)
	if err != nil {
		return executionview.Facts{}, err
	}
	version, err := p.Door.Definition(ctx, who, id)
	if err != nil {
		return executionview.Facts{}, err
	}
	facts := executionview.Facts{
		ID: id.String(), Workflow: detail.Workflow, Version: detail.Version, Detail: detail.Detail,
		Definition: version.Text, Activities: activitiesOf(version.Text), Events: events, Spans: timeline.Spans(events),
		Selected: c.Query("activity"), Now: now(), MayOperate: May(c, auth.Run), MayKeep: May(c, auth.Author),
	}
	if detail.OwnerWorker != nil {
		facts.Worker, facts.SavedAt = strings.TrimSpace(detail.OwnerHost+" "+executionview.Short(*detail.OwnerWorker)), detail.SavedAt
	}
	facts.Asked = p.asked(c, detail.Waits)
	if detail.Parent != nil {
		facts.Parent = detail.Parent.String()
	}
	return facts, nil
}

// asked says whom each open task asks. A task that the person may not see is left out.
func (p *Pages) asked(c *fiber.Ctx, waits []execution.WaitDetail) map[string]string {
	asked := map[string]string{}
	for _, wait := range waits {
		id, err := uuid.Parse(wait.Task)
		if err != nil || len(asked) >= executionview.MostLines {
			continue
		}
		if task, err := p.Door.Task(c.UserContext(), ViewOf(c).Who, id); err == nil {
			asked[wait.Task] = candidates(task.Candidates)
		}
	}
	return asked
}

// mostEvents is how much of a long history the page reads: its end. The rest is in the download.
const (
	mostEvents   = 2000
	eventsAtOnce = 500
)

func (p *Pages) newestEvents(c *fiber.Ctx, id uuid.UUID, last int64) ([]execution.Event, error) {
	var events []execution.Event
	after := max(0, last-mostEvents)
	for {
		page, err := p.Door.Events(c.UserContext(), ViewOf(c).Who, id, after, eventsAtOnce)
		if err != nil || len(page.Events) == 0 {
			return events, err
		}
		events = append(events, page.Events...)
		after = events[len(events)-1].Seq
		if after >= page.LastSeq {
			return events, nil
		}
	}
}

// activitiesOf lists the activities of a definition, loop bodies and hooks included.
func activitiesOf(text string) []executionview.Activity {
	definition, err := flow.Load([]byte(text))
	if err != nil {
		return nil // the page then shows ids for names
	}
	var list []executionview.Activity
	var walk func(graph *flow.Graph)
	walk = func(graph *flow.Graph) {
		if graph == nil {
			return
		}
		for _, activity := range graph.Activities {
			list = append(list, executionview.Activity{
				ID: activity.ID, Name: activity.Name, Type: activity.Type, Attempts: activity.Retry.Attempts})
			if activity.ForEach != nil {
				walk(activity.ForEach.Body)
			}
		}
	}
	walk(definition.Graph)
	walk(definition.OnError)
	walk(definition.OnExit)
	return list
}

// act does one thing to the execution in the address and shows it again.
func (p *Pages) act(c *fiber.Ctx, do func(who engine.Who, id uuid.UUID) error) error {
	id, err := idOf(c, "execution")
	if err != nil {
		return err
	}
	if err := do(ViewOf(c).Who, id); err != nil {
		return err
	}
	return seeOther(c, "/executions/"+id.String())
}

func (p *Pages) cancel(c *fiber.Ctx) error {
	form, err := posted(c)
	if err != nil {
		return err
	}
	return p.act(c, func(who engine.Who, id uuid.UUID) error {
		return p.Door.Cancel(c.UserContext(), who, id, form.Get("reason"), nil)
	})
}

func (p *Pages) pause(c *fiber.Ctx) error {
	return p.act(c, func(who engine.Who, id uuid.UUID) error { return p.Door.Pause(c.UserContext(), who, id) })
}

func (p *Pages) resume(c *fiber.Ctx) error {
	return p.act(c, func(who engine.Who, id uuid.UUID) error { return p.Door.Resume(c.UserContext(), who, id) })
}

func (p *Pages) retry(c *fiber.Ctx) error {
	return p.act(c, func(who engine.Who, id uuid.UUID) error {
		return p.Door.Retry(c.UserContext(), who, id, execution.Retry{By: who.User})
	})
}

func (p *Pages) compensate(c *fiber.Ctx) error {
	return p.act(c, func(who engine.Who, id uuid.UUID) error { return p.Door.Compensate(c.UserContext(), who, id) })
}

func (p *Pages) release(c *fiber.Ctx) error {
	return p.act(c, func(who engine.Who, id uuid.UUID) error {
		return p.Door.Release(c.UserContext(), who, id, "released from its page")
	})
}

// history is the whole history as a file; the API writes it.
func (p *Pages) history(c *fiber.Ctx) error {
	id, err := idOf(c, "execution")
	if err != nil {
		return err
	}
	return c.Redirect("/api/v1/executions/" + id.String() + "/history.json")
}
