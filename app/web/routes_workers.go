package web

import (
	"weftline/app/api"
	"weftline/app/auth"
	"weftline/engine"
)

const resultMax = 16<<20 + envelope // bytes of what a remote worker answers

func workerRoutes(a *api.API) []Route {
	return []Route{
		{Method: get, Path: "/workers", Needs: auth.Read, Handle: a.Workers, Says: "The worker registry.", Answers: api.Page[engine.Worker]{}},
		{Method: post, Path: "/workers", Needs: auth.Work, Handle: a.RegisterWorker,
			Says: "Registers a remote worker for the tasks that it names.", Takes: engine.WorkerRequest{}, Answers: engine.WorkerTicket{}, Status: 201},
		{Method: post, Path: "/workers/:id/heartbeat", Needs: auth.Work, Handle: a.WorkerHeartbeat,
			Says: "Says that the worker lives, and renews the leases it names; answers those that are lost.", Takes: engine.WorkerBeat{}, Answers: engine.WorkerOrders{}},
		{Method: post, Path: "/workers/:id/poll", Needs: auth.Work, Handle: a.PollWork,
			Says: "Waits for work and leases it.", Takes: engine.WorkPoll{}, Answers: engine.WorkItems{}},
		{Method: post, Path: "/workers/:id/drain", Needs: auth.Work, Handle: a.DrainWorker,
			Says: "Gives the worker nothing new; it is stopped when its last lease ends.", Answers: engine.WorkerOrders{}},
		{Method: post, Path: "/work/:id/complete", Needs: auth.Work, Handle: a.CompleteWork, MaxBody: resultMax,
			Says: "Ends a leased attempt well; may answer the next one under the same lease.", Takes: engine.WorkResult{}, Answers: engine.WorkAnswer{}},
		{Method: post, Path: "/work/:id/fail", Needs: auth.Work, Handle: a.FailWork, MaxBody: resultMax,
			Says: "Ends a leased attempt with a failure; the activity's retry decides what follows.", Takes: engine.WorkFailure{}, Answers: engine.WorkAnswer{}},
		{Method: post, Path: "/work/:id/heartbeat", Needs: auth.Work, Handle: a.RenewWork, MaxBody: resultMax,
			Says: "Extends a lease and keeps lines of log.", Takes: engine.WorkProgress{}, Answers: engine.WorkRenewal{}},
	}
}
