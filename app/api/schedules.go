package api

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"weftline/app/strictjson"
	"weftline/engine"
)

// PreviewRequest asks when a schedule would fire next, after From or after now.
type PreviewRequest struct {
	Cron     string         `json:"cron"`
	Every    string         `json:"every"`
	At       string         `json:"at"`
	Timezone string         `json:"timezone"`
	DST      engine.DSTRule `json:"dst"`
	From     *time.Time     `json:"from"`
	Count    int            `json:"count" least:"1"` // absent, here 0 = 10; at most 1,000
}

// PreviewAnswer lists fires, earliest first.
type PreviewAnswer struct {
	Fires []time.Time `json:"fires"`
}

const (
	defaultFires = 10
	mostFires    = 1000
)

// Schedules lists the schedules of the team.
func (a *API) Schedules(c *fiber.Ctx) error {
	q := queryOf(c)
	filter := engine.ScheduleFilter{PageRequest: q.page(), Workflow: q.text("workflow")}
	if q.err != nil {
		return q.err
	}
	page, err := a.door.Schedules(c.UserContext(), who(c), filter)
	return list(c, page, err)
}

// CreateSchedule makes a schedule.
func (a *API) CreateSchedule(c *fiber.Ctx) error {
	request, err := body[engine.ScheduleRequest](c)
	if err != nil {
		return err
	}
	if request.Workflow == "" {
		return missing("workflow")
	}
	return a.once(c, func() (int, any, error) {
		schedule, err := a.door.CreateSchedule(c.UserContext(), who(c), request)
		return fiber.StatusCreated, schedule, err
	})
}

// Schedule answers one schedule.
func (a *API) Schedule(c *fiber.Ctx) error {
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	schedule, err := a.door.Schedule(c.UserContext(), who(c), id)
	return ok(c, schedule, err)
}

// ChangeSchedule changes the fields that the body names. A new cron, every or at replaces the one before.
func (a *API) ChangeSchedule(c *fiber.Ctx) error {
	given, err := body[map[string]any](c)
	if err != nil {
		return err
	}
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	schedule, err := a.door.ChangeSchedule(c.UserContext(), who(c), id, func(request *engine.ScheduleRequest) error {
		if given["cron"] != nil || given["every"] != nil || given["at"] != nil {
			request.Cron, request.Every, request.At = "", "", ""
		}
		if err := strictjson.Assign(given, request); err != nil {
			return unreadable("invalid_input", err)
		}
		return nil
	})
	return ok(c, schedule, err)
}

// DeleteSchedule removes a schedule with its ticks.
func (a *API) DeleteSchedule(c *fiber.Ctx) error {
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	if err := a.door.DeleteSchedule(c.UserContext(), who(c), id); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// PauseSchedule stops its ticks.
func (a *API) PauseSchedule(c *fiber.Ctx) error { return a.pauseSchedule(c, true) }

// ResumeSchedule plans its next tick after now.
func (a *API) ResumeSchedule(c *fiber.Ctx) error { return a.pauseSchedule(c, false) }

func (a *API) pauseSchedule(c *fiber.Ctx, paused bool) error {
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	schedule, err := a.door.PauseSchedule(c.UserContext(), who(c), id, paused)
	return ok(c, schedule, err)
}

// TriggerSchedule makes a tick now.
func (a *API) TriggerSchedule(c *fiber.Ctx) error {
	return a.withSchedule(c, func(ctx context.Context, id uuid.UUID) (any, error) {
		return a.door.TriggerSchedule(ctx, who(c), id)
	})
}

// BackfillSchedule starts the ticks of a stretch of time.
func (a *API) BackfillSchedule(c *fiber.Ctx) error {
	request, err := body[engine.BackfillRequest](c)
	if err != nil {
		return err
	}
	return a.withSchedule(c, func(ctx context.Context, id uuid.UUID) (any, error) {
		return a.door.BackfillSchedule(ctx, who(c), id, request)
	})
}

// withSchedule answers 202 with what was begun for a schedule.
func (a *API) withSchedule(c *fiber.Ctx, act func(context.Context, uuid.UUID) (any, error)) error {
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	return a.once(c, func() (int, any, error) {
		value, err := act(c.UserContext(), id)
		return fiber.StatusAccepted, value, err
	})
}

// CancelBackfill starts no more ticks of a backfill.
func (a *API) CancelBackfill(c *fiber.Ctx) error {
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	backfill, err := idOf(c, "backfill")
	if err != nil {
		return err
	}
	if err := a.door.CancelBackfill(c.UserContext(), who(c), id, backfill); err != nil {
		return err
	}
	return answer(c, fiber.StatusAccepted, Accepted{ID: backfill})
}

// Ticks lists the ticks of a schedule.
func (a *API) Ticks(c *fiber.Ctx) error {
	q := queryOf(c)
	page := q.page()
	if q.err != nil {
		return q.err
	}
	id, err := idOf(c, "id")
	if err != nil {
		return err
	}
	ticks, err := a.door.Ticks(c.UserContext(), who(c), id, page)
	return list(c, ticks, err)
}

// PreviewSchedule lists the next fires of a schedule that need not exist.
func (a *API) PreviewSchedule(c *fiber.Ctx) error {
	request, err := body[PreviewRequest](c)
	if err != nil {
		return err
	}
	if request.Count == 0 {
		request.Count = defaultFires
	}
	if request.Count < 1 || request.Count > mostFires {
		return engine.Refuse("invalid_input", `the field "count" is 1 to 1000`)
	}
	fires, err := a.door.PreviewSchedule(c.UserContext(), engine.ScheduleRequest{Cron: request.Cron, Every: request.Every, At: request.At,
		Timezone: request.Timezone, DST: request.DST}, request.From, request.Count)
	return ok(c, PreviewAnswer{Fires: fires}, err)
}
