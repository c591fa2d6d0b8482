package web

import (
	"weftline/app/api"
	"weftline/app/auth"
	"weftline/engine"
)

const patch = "PATCH"

// scheduleRoutes: whoever may run workflows may pause, trigger and backfill; making schedules is for authors.
func scheduleRoutes(a *api.API) []Route {
	return []Route{
		{Method: get, Path: "/schedules", Needs: auth.Read, Handle: a.Schedules,
			Says: "Lists the schedules of the team, those of published definitions too.", Query: append([]string{"workflow"}, paging...), Answers: api.Page[engine.Schedule]{}},
		{Method: post, Path: "/schedules", Needs: auth.Author, Handle: a.CreateSchedule,
			Says: "Makes a schedule of a published workflow.", Takes: engine.ScheduleRequest{}, Answers: engine.Schedule{}, Status: 201},
		{Method: post, Path: "/schedules/preview", Needs: auth.Read, Handle: a.PreviewSchedule,
			Says: "Lists the next fires of a schedule that need not exist.", Takes: api.PreviewRequest{}, Answers: api.PreviewAnswer{}},
		{Method: get, Path: "/schedules/:id", Needs: auth.Read, Handle: a.Schedule, Says: "One schedule.", Answers: engine.Schedule{}},
		{Method: patch, Path: "/schedules/:id", Needs: auth.Author, Handle: a.ChangeSchedule,
			Says: "Changes the fields given; 409 for a schedule of a definition.", Takes: engine.ScheduleRequest{}, Answers: engine.Schedule{}},
		{Method: remove, Path: "/schedules/:id", Needs: auth.Author, Handle: a.DeleteSchedule,
			Says: "Removes a schedule with its ticks; 409 for a schedule of a definition.", Status: 204},
		{Method: get, Path: "/schedules/:id/ticks", Needs: auth.Read, Handle: a.Ticks,
			Says: "Lists its ticks with their outcomes, newest first.", Query: paging, Answers: api.Page[engine.Tick]{}},
		{Method: post, Path: "/schedules/:id/trigger", Needs: auth.Run, Handle: a.TriggerSchedule,
			Says: "Makes a tick now, which obeys overlap.", Answers: engine.Tick{}, Status: 202},
		{Method: post, Path: "/schedules/:id/pause", Needs: auth.Run, Handle: a.PauseSchedule, Says: "Stops its ticks.", Answers: engine.Schedule{}},
		{Method: post, Path: "/schedules/:id/resume", Needs: auth.Run, Handle: a.ResumeSchedule,
			Says: "Lets it tick again, from now on.", Answers: engine.Schedule{}},
		{Method: post, Path: "/schedules/:id/backfill", Needs: auth.Run, Handle: a.BackfillSchedule,
			Says: "Starts the ticks of a stretch of time.", Takes: engine.BackfillRequest{}, Answers: engine.Backfill{}, Status: 202},
		{Method: post, Path: "/schedules/:id/backfills/:backfill/cancel", Needs: auth.Run, Handle: a.CancelBackfill,
			Says: "Starts no more ticks of a backfill.", Answers: api.Accepted{}, Status: 202},
	}
}

// hookRoutes take requests from outside; each webhook has a proof of its own in place of a credential.
func hookRoutes(a *api.API) []Route {
	const address, says = "/hooks/:team/*", "Starts the workflow whose webhook has this path; the webhook says how a request proves who sends it."
	return []Route{
		{Method: get, Path: address, Kind: API, Handle: a.GetHook, Says: says, Answers: engine.HookAnswer{}, Status: 202},
		{Method: post, Path: address, Kind: API, Handle: a.PostHook, Says: says, Answers: engine.HookAnswer{}, Status: 202},
		{Method: put, Path: address, Kind: API, Handle: a.PutHook, Says: says, Answers: engine.HookAnswer{}, Status: 202},
	}
}
