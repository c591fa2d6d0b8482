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
	typed := whenAsked(c, url.Values{schedulesview.WorkflowField: {c.Query(schedulesview.WorkflowField)}})
	if name := c.Query(schedulesview.WorkflowField); name != "" {
		what, err := p.runnable(c, name)
		if err != nil {
			return err
		}
		for field, values := range form.Fill(what.schema, nil) {
			typed[field] = values
		}
		return p.showScheduleForm(c, what.schema, typed, p.nextTimes(c, typed, schedulesview.Form{}), nil)
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

// whenAsked is what is typed with what the address says of when.
func whenAsked(c *fiber.Ctx, typed url.Values) url.Values {
	for _, field := range []string{schedulesview.WhenField, schedulesview.TimeField, schedulesview.ZoneField} {
		if c.Request().URI().QueryArgs().Has(field) {
			typed.Set(field, c.Query(field))
		}
	}
	return typed
}

// nextTimes adds when the schedule would start. What cannot be read may still be being typed: it is no fault yet.
func (p *Pages) nextTimes(c *fiber.Ctx, typed url.Values, view schedulesview.Form) schedulesview.Form {
	if strings.TrimSpace(typed.Get(schedulesview.TimeField)) == "" {
		return view
	}
	fires, err := p.Door.PreviewSchedule(c.UserContext(), scheduleTyped(typed), nil, shownFires)
	view.Fires, view.Previewed, view.Doubt = fires, err == nil, shown(err)
	return view
}

func (p *Pages) showScheduleForm(c *fiber.Ctx, schema map[string]any, typed url.Values, view schedulesview.Form, problems []flow.Problem) error {
	request := scheduleTyped(typed)
	view.CSRF, view.Now = ViewOf(c).CSRF, now()
	view.Workflow, view.When, view.Time = request.Workflow, wayOf(typed), typed.Get(schedulesview.TimeField)
	view.Zone, view.Overlap, view.CatchUp = typed.Get(schedulesview.ZoneField), request.Overlap, request.CatchUp
	view.Others = map[string]string{}
	for _, way := range schedulesview.Ways {
		view.Others[way] = typed.Get(schedulesview.OtherTimeField(way))
	}
	view.Anew = typed.Get(schedulesview.AnewField) != ""
	view.Input = form.Build(schema, typed, problems)
	title := "New schedule"
	if view.ID != "" {
		title = "Change the schedule"
	}
	if view.Workflow != "" {
		title += " of " + view.Workflow
	}
	return Render(c, schedulesview.FormPage(p.frame(c, title, "schedules", ui.Crumb{Label: "Schedules", URL: "/schedules"}), view))
}

// makeSchedule makes it.
func (p *Pages) makeSchedule(c *fiber.Ctx) error {
	return p.onScheduleForm(c, c.FormValue(schedulesview.WorkflowField), schedulesview.Form{}, func(schema map[string]any, typed url.Values) ([]flow.Problem, error) {
		request := scheduleTyped(typed)
		input, problems := form.Parse(schema, typed)
		if len(problems) > 0 {
			return problems, nil
		}
		request.Input = input
		_, err := p.Door.CreateSchedule(c.UserContext(), ViewOf(c).Who, request)
		return nil, err
	})
}

// onScheduleForm does what the form asks for and leads to the list, or shows the form again: with the next times,
// changed by another of its buttons, or with why it was refused.
func (p *Pages) onScheduleForm(c *fiber.Ctx, workflow string, view schedulesview.Form, act func(schema map[string]any, typed url.Values) ([]flow.Problem, error)) error {
	// Which fields are files is known only when the workflow is.
	what, err := p.runnable(c, workflow)
	if err != nil {
		return err
	}
	typed, problems, err := p.postedFiles(c, what.schema)
	if err != nil {
		return err
	}
	typed.Set(schedulesview.WorkflowField, workflow)
	if form.Edit(what.schema, typed) || otherWay(typed) || anew(typed) {
		return p.showScheduleForm(c, what.schema, typed, p.nextTimes(c, typed, view), problems)
	}
	preview := typed.Get(schedulesview.PreviewField) != ""
	if strings.TrimSpace(typed.Get(schedulesview.TimeField)) == "" {
		if !preview { // an answer to a look is put in place, which a refusal is not
			c.Status(fiber.StatusUnprocessableEntity)
		}
		view.NoTime = true
		return p.showScheduleForm(c, what.schema, typed, view, problems)
	}
	if preview {
		return p.previewSchedule(c, what.schema, typed, view)
	}
	if len(problems) == 0 {
		problems, err = act(what.schema, typed)
	}
	var refusal *engine.Error
	if refused := shown(err); refused != "" && errors.As(err, &refusal) {
		if problems = refusal.Problems; len(problems) == 0 {
			view.Refused = refused
		}
	} else if err != nil {
		return err
	}
	if len(problems) > 0 || view.Refused != "" {
		c.Status(fiber.StatusUnprocessableEntity)
		return p.showScheduleForm(c, what.schema, typed, view, problems)
	}
	return seeOther(c, "/schedules")
}

// otherWay has the form say when in another way, if its button was pressed; what was typed in each stays.
func otherWay(typed url.Values) bool {
	way := oneOf(typed.Get(schedulesview.OtherWayField), schedulesview.Ways...)
	if way == "" {
		return false
	}
	typed.Set(schedulesview.OtherTimeField(wayOf(typed)), typed.Get(schedulesview.TimeField))
	typed.Set(schedulesview.WhenField, way)
	typed.Set(schedulesview.TimeField, typed.Get(schedulesview.OtherTimeField(way)))
	return true
}

// anew has the form ask for the input that it keeps, if its button was pressed.
func anew(typed url.Values) bool {
	pressed := typed.Get(schedulesview.AskAnewField) != ""
	if pressed {
		typed.Set(schedulesview.AnewField, "1")
	}
	return pressed
}

func (p *Pages) previewSchedule(c *fiber.Ctx, schema map[string]any, typed url.Values, view schedulesview.Form) error {
	fires, err := p.Door.PreviewSchedule(c.UserContext(), scheduleTyped(typed), nil, shownFires)
	view.Fires, view.Previewed, view.Refused = fires, err == nil, shown(err)
	if err != nil && view.Refused == "" {
		return err
	}
	return p.showScheduleForm(c, schema, typed, view, nil)
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
