package web

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"weftline/app/auth"
	"weftline/engine"
	schedulesview "weftline/views/schedules"
)

const shownTicks = 3 // of each schedule in the list

func (p *Pages) schedules(c *fiber.Ctx) error {
	list, err := p.Door.Schedules(c.UserContext(), ViewOf(c).Who, engine.ScheduleFilter{
		Workflow: c.Query("workflow"), Ticks: shownTicks, PageRequest: engine.PageRequest{Cursor: c.Query("cursor")}})
	if err != nil {
		return err
	}
	view := schedulesview.View{Now: now(), CSRF: ViewOf(c).CSRF, MayRun: May(c, auth.Run), MayMake: May(c, auth.Author), Next: nextPage(c, list.NextCursor)}
	for _, schedule := range list.Items {
		view.Rows = append(view.Rows, scheduleRow(schedule))
	}
	frame := p.frame(c, "Schedules", "schedules")
	if view.MayMake {
		frame.Actions = schedulesview.New()
	}
	return Render(c, schedulesview.Page(frame, view))
}

func scheduleRow(schedule engine.Schedule) schedulesview.Row {
	row := schedulesview.Row{ID: schedule.ID.String(), URL: "/workflows/" + schedule.Workflow, Workflow: schedule.Workflow,
		Published: schedule.Source == engine.SourceDefinition, Paused: schedule.Paused, NextAt: schedule.NextAt}
	switch {
	case schedule.Cron != "":
		row.Fires, row.Zone, row.Words = schedule.Cron, schedule.Timezone, schedulesview.CronWords(schedule.Cron)
	case schedule.Every != "":
		row.Fires = "every " + schedule.Every
	default:
		row.Fires, row.Zone = schedule.At, schedule.Timezone
		if at, err := time.Parse(time.RFC3339, schedule.At); err == nil {
			row.At = &at
		}
	}
	for _, tick := range schedule.LastTicks {
		shown := schedulesview.Tick{At: tick.ScheduledAt, Look: schedulesview.LookOf(tick.Outcome), Reason: tick.Reason}
		if tick.Execution != nil {
			shown.URL = "/executions/" + tick.Execution.String()
		}
		row.Ticks = append(row.Ticks, shown)
	}
	return row
}

func (p *Pages) pauseSchedule(c *fiber.Ctx) error {
	return p.onSchedule(c, func(ctx context.Context, who engine.Who, id uuid.UUID) error {
		_, err := p.Door.PauseSchedule(ctx, who, id, true)
		return err
	})
}

func (p *Pages) resumeSchedule(c *fiber.Ctx) error {
	return p.onSchedule(c, func(ctx context.Context, who engine.Who, id uuid.UUID) error {
		_, err := p.Door.PauseSchedule(ctx, who, id, false)
		return err
	})
}

func (p *Pages) triggerSchedule(c *fiber.Ctx) error {
	return p.onSchedule(c, func(ctx context.Context, who engine.Who, id uuid.UUID) error {
		_, err := p.Door.TriggerSchedule(ctx, who, id)
		return err
	})
}

func (p *Pages) deleteSchedule(c *fiber.Ctx) error {
	return p.onSchedule(c, p.Door.DeleteSchedule)
}

// onSchedule does one thing to a schedule and shows the list again.
func (p *Pages) onSchedule(c *fiber.Ctx, act func(context.Context, engine.Who, uuid.UUID) error) error {
	id, err := idOf(c, "schedule")
	if err != nil {
		return err
	}
	if err := act(c.UserContext(), ViewOf(c).Who, id); err != nil {
		return err
	}
	return seeOther(c, "/schedules")
}
