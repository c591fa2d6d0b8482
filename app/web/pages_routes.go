package web

import (
	"github.com/a-h/templ"

	"weftline/app/auth"
	"weftline/views/problem"
	"weftline/views/ui"
)

// Routes is the pages' part of the route table. Whatever changes something is a POST.
func (p *Pages) Routes() []Route {
	routes := []Route{
		{Method: get, Path: "/", Needs: auth.Read, Handle: p.home},
		{Method: get, Path: "/favicon.svg", Needs: auth.Public, Handle: p.favicon},

		{Method: get, Path: "/workflows", Needs: auth.Read, Handle: p.workflows},
		{Method: get, Path: "/new", Needs: auth.Author, Handle: p.newWorkflow},
		{Method: post, Path: "/new", Needs: auth.Author, Handle: p.createWorkflow},
		{Method: get, Path: "/workflows/:name", Needs: auth.Read, Handle: p.workflow},
		{Method: get, Path: "/workflows/:name/edit", Needs: auth.Read, Handle: p.designer},
		{Method: get, Path: "/workflows/:name/review", Needs: auth.Read, Handle: p.review},
		{Method: post, Path: "/workflows/:name/publish", Needs: auth.Author, Handle: p.publish},
		{Method: post, Path: "/workflows/:name/propose", Needs: auth.Author, Handle: p.propose},
		{Method: get, Path: "/workflows/:name/versions", Needs: auth.Read, Handle: p.versions},
		{Method: post, Path: "/workflows/:name/versions/:version/restore", Needs: auth.Author, Handle: p.restore},
		{Method: get, Path: "/workflows/:name/diff", Needs: auth.Read, Handle: p.compare},
		{Method: get, Path: "/workflows/:name/tests", Needs: auth.Read, Handle: p.tests},
		{Method: post, Path: "/workflows/:name/tests", Needs: auth.Read, Costly: true, Handle: p.runTests},
		{Method: get, Path: "/workflows/:name/run", Needs: auth.Read, Handle: p.runForm},
		{Method: post, Path: "/workflows/:name/run", Needs: auth.Run, Handle: p.run, MaxBody: formMax},
		{Method: post, Path: "/workflows/:name/try-form", Needs: auth.Read, Handle: p.tryFormOf, MaxBody: formMax},

		{Method: get, Path: "/reviews", Needs: auth.Read, Handle: p.proposalList},
		{Method: get, Path: "/workflows/:name/proposals/:number", Needs: auth.Read, Handle: p.proposal},
		{Method: post, Path: "/workflows/:name/proposals/:number/say", Needs: auth.Discuss, Handle: p.say},
		{Method: post, Path: "/workflows/:name/proposals/:number/comments/:comment/resolve", Needs: auth.Discuss, Handle: p.resolveComment},
		{Method: post, Path: "/workflows/:name/proposals/:number/revise", Needs: auth.Author, Handle: p.reviseProposal},
		{Method: post, Path: "/workflows/:name/proposals/:number/rebase", Needs: auth.Author, Handle: p.rebaseProposal},
		{Method: post, Path: "/workflows/:name/proposals/:number/publish", Needs: auth.Author, Handle: p.publishProposal},
		{Method: post, Path: "/workflows/:name/proposals/:number/close", Needs: auth.Author, Handle: p.closeProposal},

		{Method: get, Path: "/executions", Needs: auth.Read, Handle: p.executions},
		{Method: get, Path: "/executions/:id", Needs: auth.Read, Handle: p.execution},
		{Method: get, Path: "/executions/:id/activities/:activity/log", Needs: auth.Read, Handle: p.log},
		{Method: get, Path: "/executions/:id/history.json", Needs: auth.Read, Handle: p.history},
		{Method: post, Path: "/executions/:id/cancel", Needs: auth.Run, Handle: p.cancel},
		{Method: post, Path: "/executions/:id/pause", Needs: auth.Run, Handle: p.pause},
		{Method: post, Path: "/executions/:id/resume", Needs: auth.Run, Handle: p.resume},
		{Method: post, Path: "/executions/:id/retry", Needs: auth.Run, Handle: p.retry},
		{Method: post, Path: "/executions/:id/compensate", Needs: auth.Run, Handle: p.compensate},
		{Method: post, Path: "/executions/:id/release", Needs: auth.Run, Handle: p.release},
		{Method: post, Path: "/executions/:id/keep-test", Needs: auth.Author, Handle: p.keepTest},

		{Method: get, Path: "/tasks", Needs: auth.Read, Handle: p.tasks},
		{Method: get, Path: "/tasks/:id", Needs: auth.Read, Handle: p.task},
		{Method: post, Path: "/tasks/:id", Needs: auth.Decide, Handle: p.answerTask, MaxBody: formMax},
		{Method: post, Path: "/tasks/:id/claim", Needs: auth.Decide, Handle: p.claimTask},
		{Method: post, Path: "/tasks/:id/unclaim", Needs: auth.Decide, Handle: p.unclaimTask},

		{Method: get, Path: "/schedules", Needs: auth.Read, Handle: p.schedules},
		{Method: get, Path: "/schedules/new", Needs: auth.Author, Handle: p.newSchedule},
		{Method: post, Path: "/schedules/new", Needs: auth.Author, Handle: p.makeSchedule, MaxBody: formMax},
		{Method: get, Path: "/schedules/:id/edit", Needs: auth.Author, Handle: p.editSchedule},
		{Method: post, Path: "/schedules/:id/edit", Needs: auth.Author, Handle: p.changeSchedule, MaxBody: formMax},
		{Method: post, Path: "/schedules/:id/delete", Needs: auth.Author, Handle: p.deleteSchedule},
		{Method: post, Path: "/schedules/:id/pause", Needs: auth.Run, Handle: p.pauseSchedule},
		{Method: post, Path: "/schedules/:id/resume", Needs: auth.Run, Handle: p.resumeSchedule},
		{Method: post, Path: "/schedules/:id/trigger", Needs: auth.Run, Handle: p.triggerSchedule},

		{Method: get, Path: "/workers", Needs: auth.Read, Handle: p.workers},
		{Method: get, Path: "/settings", Needs: auth.Read, Handle: p.settings},
		{Method: post, Path: "/settings/appearance", Needs: auth.Read, Handle: p.appearance},
		{Method: get, Path: "/settings/team", Needs: auth.Read, Handle: p.team},
		{Method: post, Path: "/settings/policy", Needs: auth.Admin, Handle: p.savePolicy},
		{Method: get, Path: "/settings/secrets", Needs: auth.Read, Handle: p.secrets},
		{Method: post, Path: "/settings/secrets", Needs: auth.Admin, Handle: p.saveSecret},
		{Method: post, Path: "/settings/secrets/:secret/delete", Needs: auth.Admin, Handle: p.deleteSecret},
		{Method: get, Path: "/settings/connections", Needs: auth.Read, Handle: p.connections},
		{Method: post, Path: "/settings/connections", Needs: auth.Admin, Handle: p.saveConnection},
		{Method: post, Path: "/settings/connections/:connection/test", Needs: auth.Admin, Handle: p.testConnection},
		{Method: post, Path: "/settings/connections/:connection/delete", Needs: auth.Admin, Handle: p.deleteConnection},
		{Method: get, Path: "/settings/audit", Needs: auth.Admin, Handle: p.audit},
		{Method: post, Path: "/settings/tokens", Needs: auth.Read, Handle: p.makeToken},
		{Method: post, Path: "/settings/tokens/:id/revoke", Needs: auth.Read, Handle: p.revokeToken},
	}
	routes = append(routes, p.loginRoutes()...)
	for i := range routes {
		routes[i].Kind = Page
	}
	return routes
}

// ErrorPage is the page of a refusal or a fault; again is where to sign in anew for what was refused, "" = nowhere.
func (p *Pages) ErrorPage(view View, failure Failure, again string) templ.Component {
	shown := problem.View{Status: failure.Status, Title: failure.Title, Detail: failure.Detail, RequestID: failure.RequestID, Again: again}
	if view.Who.TeamName == "" {
		return problem.Bare(ui.Page{Title: failure.Title, Nonce: view.Nonce}, shown)
	}
	return problem.Page(p.frameOf(view, failure.Title, ""), shown)
}
