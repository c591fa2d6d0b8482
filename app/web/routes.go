package web

import (
	"reflect"
	"runtime"
	"slices"
	"strings"

	"weftline/app/api"
	"weftline/app/auth"
	"weftline/app/live"
	"weftline/app/metrics"
	"weftline/app/openapi"
	"weftline/engine"
	"weftline/engine/rehearse"
)

const (
	get    = "GET"
	put    = "PUT"
	post   = "POST"
	remove = "DELETE"
)

const (
	definitionMax = 1 << 20  // bytes of a definition's text
	batchMax      = 16 << 20 // bytes of a batch of starts
	historyMax    = 64 << 20 // bytes of an exported history
	fileMax       = 64 << 20 // bytes of a file
	planMax       = 4 << 20  // bytes of a definition with an input and mocks
)

// text is the body of routes that take or answer a definition.
var text = openapi.Text{}

var auditFilters = []string{"actor", "action", "target", "forWhom", "address", "requestId", "since", "until"}

var paging = api.Paging

// table is the route table beside the pages: what is not here does not exist.
func table(a *api.API, hub *live.Hub, m *metrics.Metrics) []Route {
	routes := []Route{
		{Method: get, Path: "/healthz", Kind: Ops, Handle: a.Alive, Says: "Says that the process answers.", Answers: api.HealthAnswer{}},
		{Method: get, Path: "/readyz", Kind: Ops, Handle: a.Ready, Says: "Says that work makes progress.", Answers: api.HealthAnswer{}},
		{Method: get, Path: "/metrics", Kind: Ops, Handle: m.Handler(), Says: "Figures in the Prometheus text format."},
	}
	for _, part := range [][]Route{definitionRoutes(a), reviewRoutes(a), executionRoutes(a), taskRoutes(a), scheduleRoutes(a), teamRoutes(a), peopleRoutes(a), workerRoutes(a), operationRoutes(a, hub)} {
		for _, route := range part {
			route.Kind, route.Path = API, "/api/v1"+route.Path
			routes = append(routes, route)
		}
	}
	return append(routes, hookRoutes(a)...)
}

func definitionRoutes(a *api.API) []Route {
	return []Route{
		{Method: post, Path: "/workflows/validate", Needs: auth.Read, Handle: a.Validate, MaxBody: definitionMax + envelope,
			Says: "Checks a definition; an invalid one is 200 with valid: false.", Takes: text, Answers: api.Report{}},
		{Method: get, Path: "/workflows", Needs: auth.Read, Handle: a.Workflows,
			Says: "Lists the workflows of the team.", Query: append([]string{"label", "q"}, paging...), Answers: api.Page[engine.Workflow]{}},
		{Method: get, Path: "/workflows/:name", Needs: auth.Read, Handle: a.Workflow,
			Says: "One workflow with its last executions.", Answers: engine.Workflow{}},
		{Method: get, Path: "/workflows/:name/draft", Needs: auth.Read, Handle: a.Draft,
			Says: "The draft exactly as saved, with its ETag.", Answers: text},
		{Method: put, Path: "/workflows/:name/draft", Needs: auth.Author, Handle: a.SaveDraft, MaxBody: definitionMax,
			Says: "Saves the draft; needs If-Match, or If-None-Match: * for the first save.", Takes: text, Answers: engine.Draft{}},
		{Method: post, Path: "/workflows/:name/publish", Needs: auth.Author, Handle: a.Publish,
			Says: "Publishes the draft; unchanged content is 200 with the version that exists.", Takes: api.PublishRequest{}, Answers: engine.Version{}, Status: 201},
		{Method: post, Path: "/workflows/:name/unpublish", Needs: auth.Author, Handle: a.Unpublish,
			Says: "Stops triggers and new starts; executions that run go on.", Answers: engine.Workflow{}},
		{Method: get, Path: "/workflows/:name/versions", Needs: auth.Read, Handle: a.Versions,
			Says: "Lists the published versions, newest first.", Query: paging, Answers: api.Page[engine.Version]{}},
		{Method: get, Path: "/workflows/:name/versions/:version", Needs: auth.Read, Handle: a.Version,
			Says: "One version; with Accept: application/yaml its text.", Answers: engine.Version{}},
		{Method: post, Path: "/workflows/:name/versions/:version/restore", Needs: auth.Author, Handle: a.Restore,
			Says: "Makes a draft of an old version.", Answers: engine.Draft{}},
		{Method: get, Path: "/workflows/:name/diff", Needs: auth.Read, Handle: a.Diff,
			Says: "Compares two sides: a version number, draft or published.", Query: []string{"from", "to"}, Answers: engine.Diff{}},
		{Method: post, Path: "/workflows/:name/plan", Needs: auth.Read, Costly: true, Handle: a.Plan, MaxBody: planMax,
			Says: "Shows the path that an input takes, with resolved inputs, and runs nothing.", Takes: engine.PlanRequest{}, Answers: rehearse.Planned{}},
		{Method: post, Path: "/workflows/:name/try", Needs: auth.Try, Costly: true, Handle: a.Try, MaxBody: planMax,
			Says: "Makes one attempt of one activity for real, and of those before it that `before` names; the others give what is mocked. effects has to be true.", Takes: engine.TryRequest{}, Answers: engine.Tried{}},
		{Method: post, Path: "/workflows/:name/evaluate", Needs: auth.Read, Handle: a.Evaluate, MaxBody: planMax,
			Says: "Shows what one expression gives, on a past execution or on pinned data; sensitive values are masked.", Takes: engine.EvaluateRequest{}, Answers: engine.Evaluated{}},
		{Method: get, Path: "/workflows/:name/tests", Needs: auth.Read, Handle: a.Tests,
			Says: "Lists the test cases that stand beside the workflow in its text.", Answers: api.Page[engine.TestCase]{}},
		{Method: post, Path: "/workflows/:name/tests/run", Needs: auth.Read, Costly: true, Handle: a.RunTests, MaxBody: planMax,
			Says: "Runs the test cases with mocks and a clock of their own, and says what they cover.", Takes: engine.TestRequest{}, Answers: rehearse.Report{}},
		{Method: get, Path: "/schema/workflow.json", Handle: a.Schema, Says: "JSON Schema 2020-12 of the language, for editors."},
		{Method: get, Path: "/openapi.json", Handle: a.OpenAPI, Says: "This document."},
	}
}

func executionRoutes(a *api.API) []Route {
	return []Route{
		{Method: post, Path: "/workflows/:name/executions", Needs: auth.Run, Handle: a.Start,
			Says: "Starts an execution; 200 with skipped: true when the workflow's limit says skip.", Takes: engine.StartRequest{}, Answers: engine.Started{}, Status: 202},
		{Method: post, Path: "/executions/batch", Needs: auth.Run, Handle: a.StartBatch, MaxBody: batchMax,
			Says: "Starts up to 1,000 executions of a workflow, all or none.", Takes: api.BatchRequest{}, Answers: api.BatchAnswer{}, Status: 202},
		{Method: post, Path: "/executions/bulk", Needs: auth.Run, Handle: a.Bulk,
			Says: "Cancels or retries many executions, with a result for each.", Takes: api.BulkRequest{}, Answers: api.BulkAnswer{}},
		{Method: post, Path: "/executions/replay", Needs: auth.Read, Handle: a.Replay, MaxBody: historyMax,
			Says: "Folds an exported history and answers its state, without effects.", Takes: api.HistoryFile{}, Answers: engine.ExecutionDetail{}},
		{Method: get, Path: "/executions", Needs: auth.Read, Handle: a.Executions,
			Says: "Lists executions, newest first.", Query: api.ExecutionFilters, Answers: api.Page[engine.ExecutionSummary]{}},
		{Method: get, Path: "/executions/:id", Needs: auth.Read, Handle: a.Execution,
			Says: "The state of one execution.", Answers: engine.ExecutionDetail{}},
		{Method: get, Path: "/executions/:id/events", Needs: auth.Read, Handle: a.Events,
			Says: "A part of the history; seq is 1..n without gaps.", Query: []string{"after", "limit"}, Answers: engine.EventPage{}},
		{Method: get, Path: "/executions/:id/history.json", Needs: auth.Read, Handle: a.History,
			Says: "The whole history as a file.", Answers: api.HistoryFile{}},
		{Method: get, Path: "/executions/:id/definition", Needs: auth.Read, Handle: a.ExecutionDefinition,
			Says: "The text of the version that it runs on.", Answers: text},
		{Method: get, Path: "/executions/:id/state", Needs: auth.Read, Handle: a.StateAt,
			Says: "The state as of one event.", Query: []string{"at"}, Answers: engine.ExecutionDetail{}},
		{Method: get, Path: "/executions/:id/activities/:activity/log", Needs: auth.Read, Handle: a.Log,
			Says: "What an attempt of an activity printed; without attempt, the last one that did.", Query: []string{"attempt", "item", "after", "compensating"}, Answers: engine.ActivityLog{}},
		{Method: post, Path: "/files", Needs: auth.Decide, Handle: a.SaveFile, MaxBody: fileMax + envelope,
			Says: "Keeps a file, the body as it is or the first of a form; {$file: id} stands for it in inputs and forms.", Query: []string{"name"}, Takes: openapi.Text{}, Answers: engine.File{}, Status: 201},
		{Method: get, Path: "/files/:id", Needs: auth.Read, Handle: a.File,
			Says: "The content of a file.", Answers: openapi.Text{}},
		{Method: post, Path: "/executions/:id/cancel", Needs: auth.Run, Handle: a.Cancel,
			Says: "Ends it early.", Takes: api.CancelRequest{}, Answers: api.Accepted{}, Status: 202},
		{Method: post, Path: "/executions/:id/pause", Needs: auth.Run, Handle: a.Pause,
			Says: "Holds it: nothing new begins.", Takes: api.NoteRequest{}, Answers: api.Accepted{}, Status: 202},
		{Method: post, Path: "/executions/:id/resume", Needs: auth.Run, Handle: a.Resume,
			Says: "Lets it go on.", Takes: api.NoteRequest{}, Answers: api.Accepted{}, Status: 202},
		{Method: post, Path: "/executions/:id/retry", Needs: auth.Run, Handle: a.Retry,
			Says: "Drives a failed or timed-out one again; completed activities stay.", Takes: api.RetryRequest{}, Answers: api.Accepted{}, Status: 202},
		{Method: post, Path: "/executions/:id/compensate", Needs: auth.Run, Handle: a.Compensate,
			Says: "Runs an incomplete compensation again.", Takes: api.NoteRequest{}, Answers: api.Accepted{}, Status: 202},
		{Method: post, Path: "/executions/:id/release", Needs: auth.Run, Handle: a.Release,
			Says: "Lets a quarantined one be driven again.", Takes: api.NoteRequest{}, Answers: api.Accepted{}, Status: 202},
		{Method: post, Path: "/executions/:id/keep-test", Needs: auth.Author, Handle: a.KeepTest,
			Says: "Makes a test case of an ended one, in the draft of its workflow.", Takes: api.KeepRequest{}, Answers: engine.KeptTest{}, Status: 201},
		{Method: post, Path: "/executions/:id/signals", Needs: auth.Run, Handle: a.Signal,
			Says: "Sends it a signal; kept if nothing waits for it yet.", Takes: api.SignalRequest{}, Answers: api.Accepted{}, Status: 202},
		{Method: post, Path: "/events", Needs: auth.Run, Handle: a.PostEvent,
			Says: "Sends an event by business key; kept for a while if nobody waits yet.", Takes: api.EventRequest{}, Answers: engine.PostedResult{}, Status: 202},
	}
}

func taskRoutes(a *api.API) []Route {
	filters := append([]string{"status", "execution", "assignee", "group", "workflow", "overdue", "q"}, paging...)
	return []Route{
		{Method: get, Path: "/tasks", Needs: auth.Read, Handle: a.Tasks,
			Says: "Lists the human tasks that you may see.", Query: filters, Answers: api.Page[engine.Task]{}},
		{Method: post, Path: "/tasks/complete", Needs: auth.Decide, Handle: a.CompleteTasks,
			Says: "Answers several tasks alike, with a result for each.", Takes: api.BulkTasks{}, Answers: api.BulkAnswer{}},
		{Method: get, Path: "/tasks/:id", Needs: auth.Read, Handle: a.Task, Says: "One human task.", Answers: engine.Task{}},
		{Method: post, Path: "/tasks/:id/claim", Needs: auth.Decide, Handle: a.ClaimTask, Says: "Takes it.", Answers: engine.Task{}},
		{Method: post, Path: "/tasks/:id/unclaim", Needs: auth.Decide, Handle: a.UnclaimTask, Says: "Gives it back.", Answers: engine.Task{}},
		{Method: post, Path: "/tasks/:id/assign", Needs: auth.Decide, Handle: a.AssignTask,
			Says: "Gives it to somebody.", Takes: api.AssignRequest{}, Answers: engine.Task{}},
		{Method: post, Path: "/tasks/:id/comment", Needs: auth.Decide, Handle: a.CommentTask,
			Says: "Adds a remark.", Takes: api.CommentRequest{}, Answers: engine.Task{}},
		{Method: post, Path: "/tasks/:id/draft", Needs: auth.Decide, Handle: a.DraftTask,
			Says: "Keeps a form that is not yet sent.", Takes: api.DraftRequest{}, Answers: engine.Task{}},
		{Method: post, Path: "/tasks/:id/complete", Needs: auth.Decide, Handle: a.CompleteTask,
			Says: "Gives your answer.", Takes: engine.Answer{}, Answers: api.TaskStatus{}},
	}
}

func teamRoutes(a *api.API) []Route {
	return []Route{
		{Method: get, Path: "/me", Needs: auth.Read, Handle: a.Me, Says: "Who you are here.", Answers: api.Me{}},
		{Method: get, Path: "/team", Needs: auth.Read, Handle: a.Team, Says: "The team with its members and its policy.", Answers: engine.Team{}},
		{Method: patch, Path: "/team/policy", Needs: auth.Admin, Handle: a.ChangePolicy,
			Says: "Changes the fields of the policy that are given.", Takes: engine.PolicyChange{}, Answers: engine.Policy{}},
		{Method: get, Path: "/tokens", Needs: auth.Read, Handle: a.Tokens,
			Says: "Lists your tokens, for an admin those of the team, without their values.", Query: paging, Answers: api.Page[engine.Token]{}},
		{Method: post, Path: "/tokens", Needs: auth.Read, Handle: a.CreateToken,
			Says: "Makes a token; its value is answered this once. Service accounts are for admins.", Takes: engine.TokenRequest{}, Answers: api.NewToken{}, Status: 201},
		{Method: remove, Path: "/tokens/:id", Needs: auth.Read, Handle: a.DeleteToken, Says: "Withdraws a token of yours; an admin any of the team.", Status: 204},
		{Method: get, Path: "/secrets", Needs: auth.Read, Handle: a.Secrets,
			Says: "Lists the names of the team's secrets; nothing answers a value.", Query: paging, Answers: api.Page[engine.Secret]{}},
		{Method: put, Path: "/secrets/:name", Needs: auth.Admin, Handle: a.PutSecret, Says: "Keeps a secret under a name.", Takes: api.SecretValue{}, Status: 204},
		{Method: remove, Path: "/secrets/:name", Needs: auth.Admin, Handle: a.DeleteSecret, Says: "Forgets a secret.", Status: 204},
		{Method: get, Path: "/connections", Needs: auth.Read, Handle: a.Connections,
			Says: "Lists the connections of the team, with the names of their secrets.", Query: paging, Answers: api.Page[engine.Connection]{}},
		{Method: put, Path: "/connections/:name", Needs: auth.Admin, Handle: a.PutConnection,
			Says: "Keeps a connection under a name.", Takes: api.ConnectionRequest{}, Answers: engine.Connection{}},
		{Method: remove, Path: "/connections/:name", Needs: auth.Admin, Handle: a.DeleteConnection, Says: "Forgets a connection.", Status: 204},
		{Method: post, Path: "/connections/:name/test", Needs: auth.Admin, Handle: a.TestConnection,
			Says: "Reaches the service without any effect; one that does not work is 200 with ok: false.", Answers: engine.ConnectionTest{}},
		{Method: get, Path: "/audit", Needs: auth.Admin, Handle: a.Audit,
			Says: "Who did what, newest first.", Query: append(slices.Clone(auditFilters), paging...), Answers: api.Page[engine.AuditEntry]{}},
		{Method: get, Path: "/audit.csv", Needs: auth.Admin, Handle: a.AuditCSV,
			Says: "The audit that fits the filters as a CSV file, newest first.", Query: auditFilters},
		{Method: get, Path: "/audit.ndjson", Needs: auth.Admin, Handle: a.AuditNDJSON,
			Says: "The audit that fits the filters, one JSON object a line, newest first.", Query: auditFilters},
	}
}

func operationRoutes(a *api.API, hub *live.Hub) []Route {
	return []Route{
		{Method: get, Path: "/queue", Needs: auth.Read, Handle: a.Queue,
			Says: "Depth of the queue and age of its oldest entry.", Query: []string{"by"}, Answers: api.QueueAnswer{}},
		{Method: get, Path: "/live", Handle: hub.Connect, Says: "The live protocol: a WebSocket with subprotocol weftline.v1."},
		{Method: post, Path: "/live/ticket", Needs: auth.Read, Handle: hub.Ticket,
			Says: "A one-time ticket for the live protocol, good for 60 s.", Answers: live.TicketAnswer{}, Status: 201},
	}
}

// operations is the API's part of the table, for the API document.
func (s *Server) operations() []openapi.Operation {
	var all []openapi.Operation
	for _, route := range s.routes {
		if route.Kind == Page || route.Says == "" {
			continue
		}
		all = append(all, openapi.Operation{Method: route.Method, Path: route.Path, ID: handlerName(route), Says: route.Says,
			Right: string(route.Needs), Query: route.Query, Takes: route.Takes, Answers: route.Answers, Status: route.Status})
	}
	return all
}

// handlerName: weftline/app/api.(*API).StartBatch-fm is called StartBatch.
func handlerName(route Route) string {
	if route.Kind == Ops {
		return strings.TrimPrefix(route.Path, "/")
	}
	full := strings.TrimSuffix(runtime.FuncForPC(reflect.ValueOf(route.Handle).Pointer()).Name(), "-fm")
	return full[strings.LastIndexByte(full, '.')+1:]
}
