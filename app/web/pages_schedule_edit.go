package web

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/url"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/execution"
	"weftline/engine/flow"
	"weftline/views/form"
	schedulesview "weftline/views/schedules"
	"weftline/views/ui"
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
	input, _ := execution.WithoutMasks(any(schedule.Input))
	typed := form.Fill(what.schema, input)
	maps.Copy(typed, scheduleFields(schedule))
	typed = whenAsked(c, typed)
	view, err := editing(id, schedule)
	if err != nil {
		return err
	}
	return p.showScheduleForm(c, what.schema, typed, p.nextTimes(c, typed, view), nil)
}

// editing is the form of a schedule that is there.
func editing(id uuid.UUID, schedule engine.Schedule) (schedulesview.Form, error) {
	view := schedulesview.Form{ID: id.String(), As: standing(schedule)}
	_, masked := execution.WithoutMasks(any(schedule.Input))
	if !masked {
		return view, nil
	}
	text, err := ui.JSONText(schedule.Input)
	view.Kept = text
	return view, err
}

// standing tells whether a schedule is still as somebody saw it.
func standing(schedule engine.Schedule) string {
	seen, _ := json.Marshal(schedule.Input) // was decoded from JSON
	sum := sha256.Sum256(append([]byte(scheduleFields(schedule).Encode()), seen...))
	return hex.EncodeToString(sum[:8])
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
		schedulesview.TimeField: {timeOf(schedule)}, schedulesview.ZoneField: {schedule.Timezone},
		schedulesview.OverlapField: {schedule.Overlap}, schedulesview.CatchUpField: {schedule.CatchUp}}
}

// changeSchedule changes what the form asks about and leaves the rest: jitter, calendar, how long a tick may be late. An
// input of which something is masked is kept as it is, unless the person began it anew.
func (p *Pages) changeSchedule(c *fiber.Ctx) error {
	id, schedule, err := p.changeable(c)
	if err != nil {
		return err
	}
	view, err := editing(id, schedule)
	if err != nil {
		return err
	}
	return p.onScheduleForm(c, schedule.Workflow, view, func(schema map[string]any, typed url.Values) (problems []flow.Problem, err error) {
		if typed.Get(schedulesview.AsField) != view.As {
			return nil, engine.Refuse("conflict", "somebody changed this schedule since this page was opened: it says "+timeOf(schedule)+" now. Send it again to replace that")
		}
		_, err = p.Door.ChangeSchedule(c.UserContext(), ViewOf(c).Who, id, func(request *engine.ScheduleRequest) error {
			asked := scheduleTyped(typed)
			if view.Kept == "" || typed.Get(schedulesview.AnewField) != "" {
				if request.Input, problems = form.Parse(schema, typed); len(problems) > 0 {
					return &engine.Error{Code: "invalid_input", Message: "the input does not fit", Problems: problems}
				}
			}
			request.Cron, request.Every, request.At, request.Timezone = asked.Cron, asked.Every, asked.At, cmp.Or(asked.Timezone, request.Timezone)
			request.Overlap, request.CatchUp = asked.Overlap, asked.CatchUp
			return nil
		})
		return problems, err
	})
}

// timeOf says when a schedule starts its workflow, as it was typed.
func timeOf(schedule engine.Schedule) string {
	return cmp.Or(schedule.Cron, schedule.Every, schedule.At)
}
