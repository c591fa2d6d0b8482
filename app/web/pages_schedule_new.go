package web

import (
	"cmp"
	"errors"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"weftline/engine"
	"weftline/engine/flow"
	"weftline/views/form"
	schedulesview "weftline/views/schedules"
	"weftline/views/ui"
)

const shownFires = 5 // of a schedule that is tried out

// newSchedule asks which workflow, then when and with what.
func (p *Pages) newSchedule(c *fiber.Ctx) error {
	typed := url.Values{schedulesview.WorkflowField: {c.Query("workflow")}, schedulesview.WhenField: {c.Query("when")}}
	if name := c.Query("workflow"); name != "" {
		what, err := p.runnable(c, name)
		if err != nil {
			return err
		}
		for field, values := range form.Fill(what.schema, nil) {
			typed[field] = values
		}
		return p.showScheduleForm(c, what.schema, typed, schedulesview.Form{}, nil)
	}
	list, err := p.Door.Workflows(c.UserContext(), ViewOf(c).Who, engine.WorkflowFilter{PageRequest: everyOne})
	if err != nil {
		return err
	}
	view := schedulesview.Form{}
	for _, workflow := range list.Items {
		if workflow.PublishedVersion != nil {
			view.Workflows = append(view.Workflows, workflow.Name)
		}
	}
	return p.showScheduleForm(c, nil, typed, view, nil)
}

func (p *Pages) showScheduleForm(c *fiber.Ctx, schema map[string]any, typed url.Values, view schedulesview.Form, problems []flow.Problem) error {
	request := scheduleTyped(typed)
	view.CSRF, view.Now = ViewOf(c).CSRF, now()
	view.Workflow, view.When, view.Time = request.Workflow, wayOf(typed), typed.Get(schedulesview.TimeField)
	view.Zone, view.Overlap, view.CatchUp = request.Timezone, request.Overlap, request.CatchUp
	view.Input = form.Build(schema, typed, problems)
	title := "New schedule"
	if view.Workflow != "" {
		title += " of " + view.Workflow
	}
	return Render(c, schedulesview.FormPage(p.frame(c, title, "schedules", ui.Crumb{Label: "Schedules", URL: "/schedules"}), view))
}

// makeSchedule makes it, or shows the form again: with the next times, changed by another of its buttons, or with
// why it was refused.
func (p *Pages) makeSchedule(c *fiber.Ctx) error {
	// Which fields are files is known only when the workflow is.
	what, err := p.runnable(c, c.FormValue(schedulesview.WorkflowField))
	if err != nil {
		return err
	}
	typed, problems, err := p.postedFiles(c, what.schema)
	if err != nil {
		return err
	}
	if form.Edit(what.schema, typed) {
		return p.showScheduleForm(c, what.schema, typed, schedulesview.Form{}, problems)
	}
	preview := typed.Get(schedulesview.PreviewField) != ""
	if strings.TrimSpace(typed.Get(schedulesview.TimeField)) == "" {
		if !preview { // an answer to a look is put in place, which a refusal is not
			c.Status(fiber.StatusUnprocessableEntity)
		}
		return p.showScheduleForm(c, what.schema, typed, schedulesview.Form{NoTime: true}, problems)
	}
	request := scheduleTyped(typed)
	if preview {
		return p.previewSchedule(c, what.schema, typed, request)
	}
	input, wrong := form.Parse(what.schema, typed)
	if problems = append(problems, wrong...); len(problems) > 0 {
		c.Status(fiber.StatusUnprocessableEntity)
		return p.showScheduleForm(c, what.schema, typed, schedulesview.Form{}, problems)
	}
	request.Input = input
	_, err = p.Door.CreateSchedule(c.UserContext(), ViewOf(c).Who, request)
	var refusal *engine.Error
	if refused := shown(err); refused != "" && errors.As(err, &refusal) {
		if len(refusal.Problems) > 0 {
			refused = ""
		}
		c.Status(fiber.StatusUnprocessableEntity)
		return p.showScheduleForm(c, what.schema, typed, schedulesview.Form{Refused: refused}, refusal.Problems)
	}
	if err != nil {
		return err
	}
	return seeOther(c, "/schedules")
}

func (p *Pages) previewSchedule(c *fiber.Ctx, schema map[string]any, typed url.Values, request engine.ScheduleRequest) error {
	fires, err := p.Door.PreviewSchedule(c.UserContext(), request, nil, shownFires)
	refused := shown(err)
	if err != nil && refused == "" {
		return err
	}
	return p.showScheduleForm(c, schema, typed, schedulesview.Form{Fires: fires, Previewed: err == nil, Refused: refused}, nil)
}

// scheduleTyped is what the form asks for, without the input.
func scheduleTyped(typed url.Values) engine.ScheduleRequest {
	request := engine.ScheduleRequest{Workflow: typed.Get(schedulesview.WorkflowField), Timezone: strings.TrimSpace(typed.Get(schedulesview.ZoneField)),
		Overlap: typed.Get(schedulesview.OverlapField), CatchUp: typed.Get(schedulesview.CatchUpField)}
	at := strings.TrimSpace(typed.Get(schedulesview.TimeField))
	switch wayOf(typed) {
	case "every":
		request.Every, request.Timezone = at, ""
	case "at":
		request.At = at
	default:
		request.Cron = at
	}
	return request
}

// wayOf is how the form says when.
func wayOf(typed url.Values) string {
	return cmp.Or(oneOf(typed.Get(schedulesview.WhenField), schedulesview.Ways...), schedulesview.Ways[0])
}
