package web

import (
	"cmp"
	"maps"
	"net/url"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/execution"
	"weftline/engine/flow"
	"weftline/views/form"
	schedulesview "weftline/views/schedules"
)

// changeable is a schedule that its page may change: one of a definition is changed there.
func (p *Pages) changeable(c *fiber.Ctx) (uuid.UUID, engine.Schedule, error) {
	id, err := idOf(c, "schedule")
	if err != nil {
		return id, engine.Schedule{}, err
	}
	schedule, err := p.Door.Schedule(c.UserContext(), ViewOf(c).Who, id)
	if err == nil && schedule.Source == engine.SourceDefinition {
		err = engine.Refuse("conflict", "this schedule belongs to the definition of "+schedule.Workflow+": change it there and publish")
	}
	return id, schedule, err
}

// editSchedule shows the form with what the schedule does now.
func (p *Pages) editSchedule(c *fiber.Ctx) error {
	id, schedule, err := p.changeable(c)
	if err != nil {
		return err
	}
	what, err := p.runnable(c, schedule.Workflow)
	if err != nil {
		return err
	}
	typed := form.Fill(what.schema, schedule.Input)
	maps.Copy(typed, scheduleFields(schedule))
	typed = whenAsked(c, typed)
	return p.showScheduleForm(c, what.schema, typed, p.nextTimes(c, typed, schedulesview.Form{ID: id.String()}), nil)
}

// scheduleFields is the inverse of scheduleTyped.
func scheduleFields(schedule engine.Schedule) url.Values {
	way := "at"
	switch {
	case schedule.Cron != "":
		way = "cron"
	case schedule.Every != "":
		way = "every"
	}
	return url.Values{schedulesview.WorkflowField: {schedule.Workflow}, schedulesview.WhenField: {way},
		schedulesview.TimeField: {cmp.Or(schedule.Cron, schedule.Every, schedule.At)}, schedulesview.ZoneField: {schedule.Timezone},
		schedulesview.OverlapField: {schedule.Overlap}, schedulesview.CatchUpField: {schedule.CatchUp}}
}

// changeSchedule changes what the form asks about and leaves the rest: jitter, calendar, how long a tick may be late.
func (p *Pages) changeSchedule(c *fiber.Ctx) error {
	id, schedule, err := p.changeable(c)
	if err != nil {
		return err
	}
	return p.onScheduleForm(c, schedule.Workflow, schedulesview.Form{ID: id.String()}, func(schema map[string]any, typed url.Values) (problems []flow.Problem, err error) {
		_, err = p.Door.ChangeSchedule(c.UserContext(), ViewOf(c).Who, id, func(request *engine.ScheduleRequest) error {
			asked := scheduleTyped(typed)
			asked.Input, problems = form.Parse(schema, unmasked(typed, form.Fill(schema, request.Input)))
			if len(problems) > 0 {
				return &engine.Error{Code: "invalid_input", Message: "the input does not fit", Problems: problems}
			}
			request.Cron, request.Every, request.At, request.Timezone = asked.Cron, asked.Every, asked.At, cmp.Or(asked.Timezone, request.Timezone)
			request.Overlap, request.CatchUp, request.Input = asked.Overlap, asked.CatchUp, asked.Input
			return nil
		})
		return problems, err
	})
}

// unmasked puts stored values where the form still holds the mask that it was shown for them.
func unmasked(typed, stored url.Values) url.Values {
	all := maps.Clone(typed)
	for field, values := range typed {
		if len(values) == 1 && values[0] == execution.Mask && len(stored[field]) == 1 {
			all[field] = stored[field]
		}
	}
	return all
}
