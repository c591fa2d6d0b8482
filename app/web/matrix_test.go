package web

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/app/auth"
	"weftline/app/metrics"
	"weftline/engine"
	"weftline/engine/activity"
	"weftline/engine/enginetest"
	"weftline/engine/flow"
)

// twins is a real server with two teams, in which everything has the same names.
type twins struct {
	t    *testing.T
	base string
	exec func(statement string, args ...any)
	scan func(into any, query string)

	team   map[string]uuid.UUID         // by name
	person map[string]string            // the last one of each team
	ids    map[string]map[string]string // of what each team has: by team, then by parameter of a route
}

// twinTeams are the default team and the other one.
var twinTeams = []string{engine.DefaultTeam, "other"}

// credentials of the matrix, in the order of its columns: a person of each role with a token that holds every
// scope, then service accounts with one scope each.
var (
	roles  = []string{"viewer", "operator", "author", "reviewer", "admin"}
	scopes = []string{"read", "run", "author", "review", "worker", "admin"}
)

// newTwins may reach what egress allows, by default what is public.
func newTwins(t *testing.T, egress ...activity.Egress) *twins {
	t.Helper()
	pool := enginetest.Pool(t)
	ctx := t.Context()
	kinds := activity.NewRegistry()
	var web activity.HTTPOptions
	for _, each := range egress {
		web.Egress = each
	}
	kinds.Register(flow.TypeHTTP, activity.NewHTTP(web))
	e, err := engine.Open(ctx, engine.Options{DatabaseURL: pool.Config().ConnString(), SecretKeys: [][]byte{make([]byte, 32)}, Activities: kinds, Log: quietLog})
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- e.Run(ctxOf(t)) }()
	server := New(Options{Door: e, Identity: e.Identity(), Vault: e.Vault(), Connections: e.Services(), Health: alwaysReady{}, Log: quietLog, Metrics: metrics.New(), PayloadMax: 1 << 20})
	t.Cleanup(func() {
		_ = server.Shutdown(ctxOf(t))
		e.Close(ctxOf(t))
		<-ran
	})
	w := &twins{t: t, base: listen(t, server), team: map[string]uuid.UUID{}, person: map[string]string{}, ids: map[string]map[string]string{}}
	w.exec = func(statement string, args ...any) {
		t.Helper()
		if _, err := pool.Exec(ctxOf(t), statement, args...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	w.scan = func(into any, query string) {
		t.Helper()
		if err := pool.QueryRow(ctxOf(t), query).Scan(into); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	w.exec("insert into teams (name) values ('other') on conflict do nothing")
	for _, team := range twinTeams {
		var id uuid.UUID
		if err := pool.QueryRow(ctx, "select id from teams where name = $1", team).Scan(&id); err != nil {
			t.Fatal(err)
		}
		w.team[team] = id
		w.people(team)
	}
	for _, team := range twinTeams {
		w.furnish(team)
	}
	return w
}

// people makes the credentials of a team; the value of a token is team:role or team:scope.
func (w *twins) people(team string) {
	token := func(value string, scopes []string, user *uuid.UUID, account *string) {
		hash := sha256.Sum256([]byte(value))
		w.exec("insert into tokens (team_id, name, hash, scopes, user_id, service_account, created_by) values ($1, $2, $3, $4, $5, $6, 'test')",
			w.team[team], value, hash[:], scopes, user, account)
	}
	for _, role := range roles {
		user := uuid.New()
		w.exec("insert into users (id, name) values ($1, $2)", user, team+"-"+role)
		w.person[team] = user.String()
		w.exec("insert into memberships (team_id, user_id, roles, groups) values ($1, $2, $3, '{people}')", w.team[team], user, []string{role})
		token(team+":"+role, []string{"admin"}, &user, nil)
	}
	for _, scope := range scopes {
		account := team + "-robot-" + scope
		token(team+":scope-"+scope, []string{scope}, nil, &account)
	}
}

func (w *twins) as(team, who string) caller { return caller{w.t, w.base, team + ":" + who} }

const twinWorkflow = `apiVersion: weftline/v1
kind: Workflow
metadata: {name: twin}
spec:
  input: {type: object, properties: {mark: {type: string}}}
  webhooks: [{path: twin, auth: {type: bearer, secret: TWIN}, input: "{mark: 'hook'}"}]
  events: [{name: twin_starts, input: "{mark: trigger.payload.mark}"}]
  activities:
    - {id: ask, type: human, human: {title: "Twin ${{ inputs.mark }}?", candidates: {groups: [people]}, due: 2d}}
    - {id: hear, type: event, timeout: 2d, event: {name: twin_goes_on, correlation: '"same"'}}
`

// furnish gives a team one of everything; mark says whose it is.
func (w *twins) furnish(team string) {
	admin := w.as(team, "admin")
	mark := "mark-of-" + team
	admin.must(204, "PUT", "/secrets/TWIN", `{"value": "`+mark+`"}`)
	admin.must(200, "PUT", "/connections/twin", `{"kind": "http", "settings": {"baseUrl": "http://`+team+`.example"}}`)
	admin.must(200, "PUT", "/workflows/twin/draft", twinWorkflow+"# "+mark+"\n", "If-None-Match", "*", "Content-Type", "application/yaml")
	admin.must(201, "POST", "/workflows/twin/publish", `{"message": "`+mark+`"}`)
	started := admin.must(202, "POST", "/workflows/twin/executions", `{"input": {"mark": "`+mark+`"}, "correlationId": "twin-`+team+`"}`, "Idempotency-Key", "same-key")
	execution := started["id"].(string)
	admin.until("/executions/"+execution, "status", "waiting")
	tasks := admin.must(200, "GET", "/tasks?execution="+execution, "")["items"].([]any)
	schedule := admin.must(201, "POST", "/schedules", `{"workflow": "twin", "cron": "0 3 * * *", "input": {"mark": "`+mark+`"}}`)["id"].(string)
	backfill := admin.must(202, "POST", "/schedules/"+schedule+"/backfill", `{"from": "2026-01-01T00:00:00Z", "to": "2026-01-01T12:00:00Z"}`)["id"].(string)
	for range 400 { // the tick of the past has started
		if len(admin.must(200, "GET", "/executions", "")["items"].([]any)) == 2 {
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	token := admin.must(201, "POST", "/tokens", `{"name": "`+mark+`", "scopes": ["read"]}`)["id"].(string)
	file := admin.must(201, "POST", "/files?name="+mark, mark, "Content-Type", "text/plain")["id"].(string)
	worker := admin.must(201, "POST", "/workers", `{"hostname": "`+mark+`", "activities": ["pack"]}`)["workerId"].(string)
	session := uuid.NewString()
	w.exec("insert into sessions (id, hash, team_id, user_id, expires_at) values ($1, $2, $3, $4, now() + interval '1 hour')", session, []byte(mark), w.team[team], w.person[team])
	w.ids[team] = map[string]string{"files": file, "workers": worker, "work": w.leases(admin, worker), "sessions": session, "executions": execution, "tasks": tasks[0].(map[string]any)["id"].(string),
		"schedules": schedule, "backfills": backfill, "tokens": token, "people": w.person[team]}
}

// leases lets a worker take an attempt, and answers its lease.
func (w *twins) leases(admin caller, worker string) string {
	admin.must(200, "PUT", "/workflows/packs/draft", "apiVersion: weftline/v1\nkind: Workflow\nmetadata: {name: packs}\nspec:\n  activities: [{id: pack, type: worker, inputs: {task: pack}}]\n",
		"If-None-Match", "*", "Content-Type", "application/yaml")
	admin.must(201, "POST", "/workflows/packs/publish", `{}`)
	admin.must(202, "POST", "/workflows/packs/executions", `{}`)
	items := admin.must(200, "POST", "/workers/"+worker+"/poll", `{"waitSeconds": 20, "max": 1}`)["items"].([]any)
	return items[0].(map[string]any)["leaseId"].(string)
}

// fill puts ids into the address of a route: after executions/ that of an execution, and so on. Nothing is
// called "nothing", and no id is that of the zero UUID.
func fill(path, name string, ids map[string]string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		switch {
		case !strings.HasPrefix(part, ":") && part != "*":
		case part == ":name":
			parts[i] = name
		case part == ":version", part == ":number", part == ":comment":
			parts[i] = "1"
		case part == ":secret", part == ":connection", part == ":provider":
			parts[i] = "nothing"
		case part == ":team":
			parts[i] = engine.DefaultTeam
		case part == "*":
			parts[i] = "nothing"
		default:
			parts[i] = uuid.Nil.String()
			if id := ids[parts[i-1]]; id != "" {
				parts[i] = id
			}
		}
	}
	return strings.Join(parts, "/")
}

// send makes one request as nobody (token ""), or by a token, and answers status and body.
func (w *twins) send(route Route, path, token string) (int, string) {
	w.t.Helper()
	var body io.Reader
	if route.Method != get {
		body = strings.NewReader("{}")
	}
	request, err := http.NewRequestWithContext(w.t.Context(), route.Method, w.base+path, body)
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", accept(route))
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		w.t.Fatalf("%s %s: %v", route.Method, path, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 4<<20))
	if err != nil {
		w.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// accept is what a client of the route asks for.
func accept(route Route) string {
	if route.Kind == Page {
		return "text/html"
	}
	return "application/json"
}

// mayByRight says who holds a right: of the roles, and of the scopes of a service account.
var mayByRight = map[string]struct{ roles, scopes []string }{
	"read":    {roles, []string{"read", "admin"}},
	"decide":  {roles, []string{"run", "admin"}},
	"run":     {[]string{"operator", "author", "admin"}, []string{"run", "admin"}},
	"author":  {[]string{"author", "admin"}, []string{"author", "admin"}},
	"review":  {[]string{"reviewer", "admin"}, []string{"review", "admin"}},
	"discuss": {[]string{"author", "reviewer", "admin"}, []string{"author", "review", "admin"}},
	"try":     {[]string{"author", "admin"}, []string{"admin"}},
	"worker":  {[]string{"admin"}, []string{"worker", "admin"}},
	"admin":   {[]string{"admin"}, []string{"admin"}},
}

// Every route × every credential has the status of its line in matrix: 401 for nobody and garbage, 403 for
// those without the right, and for those with it what the line says. A route without a line fails.
func TestRouteMatrix(t *testing.T) {
	w := newTwins(t)
	lines := matrixLines(t)
	for _, route := range w.routes() {
		name := route.Method + " " + route.Path
		line, listed := lines[name]
		if !listed {
			t.Errorf("the matrix has no line for %s: say who may use it, and what they get", name)
			continue
		}
		delete(lines, name)
		path := fill(route.Path, "nothing", nil)
		expect := func(who, token string, want ...int) {
			if got, text := w.send(route, path, token); !slices.Contains(want, got) {
				t.Errorf("%-60s %-16s %d, want %v: %.200s", name, who, got, want, text)
			}
		}
		if line.right == "public" {
			expect("nobody", "", line.status)
			continue
		}
		// Without sign-in a page may lead to the page that offers it.
		turnedAway := []int{401}
		if route.Kind == Page {
			turnedAway = []int{401, 302, 303}
		}
		for who, credential := range map[string][]string{"nobody": nil, "garbage": {"Authorization", "Bearer wft_garbage"}} {
			fresh, _ := newTestServer(t, nil) // one server slows down whoever guesses as often
			got := ask(t, fresh, request{route.Method, path, "", append([]string{"Accept", accept(route)}, credential...)})
			if !slices.Contains(turnedAway, got.StatusCode) || credential != nil && got.StatusCode != 401 {
				t.Errorf("%-60s %-16s %d, want %v", name, who, got.StatusCode, turnedAway)
			}
		}
		may := mayByRight[line.right]
		for _, role := range roles {
			expect(role, engine.DefaultTeam+":"+role, allowed(slices.Contains(may.roles, role), line.status))
		}
		for _, scope := range scopes {
			expect("scope "+scope, engine.DefaultTeam+":scope-"+scope, allowed(slices.Contains(may.scopes, scope), line.account))
		}
	}
	for name := range lines {
		t.Errorf("the matrix has a line for %s, which is no route", name)
	}
}

func allowed(may bool, status int) int {
	if may {
		return status
	}
	return 403
}

type matrixLine struct {
	right   string
	status  int // of a person
	account int // of a service account
}

// matrixLines reads the table: method, path, right, and the status that who has the right gets for an empty
// body, an id that does not exist and the name "nothing"; a second status is what a service account gets.
func matrixLines(t *testing.T) map[string]matrixLine {
	t.Helper()
	lines := map[string]matrixLine{}
	for text := range strings.Lines(matrix) {
		var method, path string
		var line matrixLine
		if strings.TrimSpace(text) == "" {
			continue
		}
		n, err := fmt.Sscan(text, &method, &path, &line.right, &line.status, &line.account)
		if n < 4 {
			t.Fatalf("%q: %v", text, err)
		}
		if n == 4 {
			line.account = line.status
		}
		lines[method+" "+path] = line
	}
	return lines
}

// routes are the routes of a server like the one that is asked.
func (w *twins) routes() []Route {
	server, _ := newTestServer(w.t, nil)
	return server.Routes()
}

// Two teams in which everything has the same names: with the ids of one, the other gets what it would get for
// an id that does not exist, and by name only what is its own.
func TestTwinTeamsDoNotMeet(t *testing.T) {
	w := newTwins(t)
	theirs := w.ids["other"]
	for _, route := range w.routes() {
		if route.Path == "/api/v1/live" || strings.HasPrefix(route.Path, "/hooks/") {
			continue // see TestTwinTeamsOverSocketsAndHooks
		}
		name := route.Method + " " + route.Path
		unknown, _ := w.send(route, fill(route.Path, "twin", nil), engine.DefaultTeam+":admin")
		got, text := w.send(route, fill(route.Path, "twin", theirs), engine.DefaultTeam+":admin")
		if got != unknown && route.Method == get || got == 403 {
			t.Errorf("%s with ids of the other team: %d, with ids that do not exist %d", name, got, unknown)
		}
		if holds := strings.Contains(route.Path, ":id") || strings.Contains(route.Path, ":task"); holds && got < 300 {
			t.Errorf("%s with ids of the other team: %d %.200s", name, got, text)
		}
		if strings.Contains(text, "mark-of-other") || strings.Contains(text, "other.example") {
			t.Errorf("%s tells what the other team has: %.300s", name, text)
		}
		for _, id := range theirs {
			if strings.Contains(text, id) && !strings.Contains(fill(route.Path, "twin", theirs), id) {
				t.Errorf("%s tells an id of the other team: %.300s", name, text)
			}
		}
	}
	w.untouched("other")
}

// untouched checks that a team has all that it had.
func (w *twins) untouched(team string) {
	w.t.Helper()
	admin, ids := w.as(team, "admin"), w.ids[team]
	for path, field := range map[string]string{
		"/executions/" + ids["executions"]: "waiting", "/tasks/" + ids["tasks"]: "open", "/schedules/" + ids["schedules"]: "mark-of-" + team,
		"/workflows/twin/versions/1": "mark-of-" + team, "/connections": team + ".example", "/secrets": "TWIN", "/tokens": ids["tokens"],
	} {
		if value := fmt.Sprint(admin.must(200, "GET", path, "")); !strings.Contains(value, field) {
			w.t.Errorf("%s of the team %s lacks %s: %s", path, team, field, value)
		}
	}
}

// A repeated request for a token gets the same token, which is kept in no readable form.
func TestTokensHonourIdempotencyKeys(t *testing.T) {
	w := newTwins(t)
	admin := w.as(engine.DefaultTeam, "admin")
	const request = `{"name": "once", "scopes": ["read"]}`
	first := admin.must(201, "POST", "/tokens", request, "Idempotency-Key", "k")
	again := admin.must(201, "POST", "/tokens", request, "Idempotency-Key", "k")
	if first["id"] != again["id"] || first["token"] != again["token"] || !strings.HasPrefix(fmt.Sprint(first["token"]), "wft_") {
		t.Errorf("%v, then %v", first, again)
	}
	admin.must(409, "POST", "/tokens", `{"name": "other", "scopes": ["read"]}`, "Idempotency-Key", "k")
	var kept string
	w.scan(&kept, "select string_agg(answer::text, ' ') from idempotency_keys")
	if kept == "" || strings.Contains(kept, first["token"].(string)) {
		t.Errorf("kept: %s", kept)
	}
}

// Whoever guesses the proof of a webhook is slowed down.
func TestFailedProofsOfWebhooksAreThrottled(t *testing.T) {
	w := newTwins(t)
	for n := range 400 {
		request, err := http.NewRequestWithContext(t.Context(), "POST", w.base+"/hooks/"+engine.DefaultTeam+"/twin", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", fmt.Sprint("Bearer guess-", n))
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode == 429 {
			if response.Header.Get("Retry-After") == "" {
				t.Error("429 without Retry-After")
			}
			return
		}
		if response.StatusCode != 401 {
			t.Fatalf("guess %d: %d", n, response.StatusCode)
		}
	}
	t.Error("400 guesses in a row were all judged")
}

// A write by cookie must come from our own pages; what a browser says of the request's origin counts.
func TestWritesFromOtherSitesAreRefused(t *testing.T) {
	server, _ := newTestServer(t, nil)
	cookie := []string{"Cookie", auth.CookieName + "=good"}
	for name, c := range map[string]struct {
		headers []string
		want    int
	}{
		"our page":            {[]string{"X-CSRF-Token", "csrf-of-good", "Sec-Fetch-Site", "same-origin"}, 422},
		"another site":        {[]string{"X-CSRF-Token", "csrf-of-good", "Sec-Fetch-Site", "cross-site"}, 403},
		"a sister site":       {[]string{"X-CSRF-Token", "csrf-of-good", "Sec-Fetch-Site", "same-site"}, 403},
		"without a token":     {[]string{"Sec-Fetch-Site", "same-origin"}, 403},
		"a token of another":  {[]string{"X-CSRF-Token", "csrf-of-bad"}, 403},
		"a form of ours, old": {[]string{"X-CSRF-Token", ""}, 403},
	} {
		got := ask(t, server, request{"POST", "/api/v1/executions/bulk", "{}", append(append([]string{}, cookie...), c.headers...)})
		if got.StatusCode != c.want {
			t.Errorf("%s: %d, want %d: %.200s", name, got.StatusCode, c.want, got.text)
		}
	}
}

// A header that is too large, or a path that is no text, is refused and the server goes on.
func TestOversizedHeadersAreRefused(t *testing.T) {
	server, _ := newTestServer(t, nil)
	base := listen(t, server)
	request, err := http.NewRequestWithContext(t.Context(), "GET", base+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Large", strings.Repeat("x", 64<<10))
	response, err := http.DefaultClient.Do(request)
	if err == nil {
		response.Body.Close()
		if response.StatusCode < 400 {
			t.Errorf("64 KiB of header: %d", response.StatusCode)
		}
	}
	healthy, err := http.Get(base + "/healthz")
	if err != nil || healthy.StatusCode != 200 {
		t.Fatalf("afterwards: %v, %v", healthy, err)
	}
	healthy.Body.Close()
}

// What runs in the background keeps teams apart as well: events, webhooks, schedules, keys of starts, tasks.
func TestTwinTeamsInTheBackground(t *testing.T) {
	w := newTwins(t)
	mine, other := w.as(engine.DefaultTeam, "admin"), w.as("other", "admin")
	count := func(c caller) int { return len(c.must(200, "GET", "/executions?limit=500", "")["items"].([]any)) }
	before := count(other)

	// The same key of a start is another execution in each team.
	again := mine.must(202, "POST", "/workflows/twin/executions", `{"input": {"mark": "mark-of-default"}, "correlationId": "twin-default"}`, "Idempotency-Key", "same-key")
	if again["id"] != w.ids[engine.DefaultTeam]["executions"] {
		t.Errorf("the key started %v", again)
	}
	// Signals and votes reach only what is the team's own.
	mine.must(404, "POST", "/executions/"+w.ids["other"]["executions"]+"/signals", `{"name": "x"}`)
	mine.must(404, "POST", "/tasks/"+w.ids["other"]["tasks"]+"/complete", `{"decision": "approved"}`)
	// An event starts and wakes only in its own team.
	if posted := mine.must(202, "POST", "/events", `{"name": "twin_starts", "correlation": "x", "payload": {"mark": "m"}}`); posted["matched"] != 1.0 {
		t.Errorf("posted %v", posted)
	}
	// A kept event is taken by its own team only.
	mine.must(200, "POST", "/tasks/"+w.ids[engine.DefaultTeam]["tasks"]+"/complete", `{"decision": "approved"}`)
	mine.must(202, "POST", "/events", `{"name": "twin_goes_on", "correlation": "same", "payload": {}}`)
	mine.until("/executions/"+w.ids[engine.DefaultTeam]["executions"], "status", "completed")
	// A tick starts in the schedule's team.
	mine.must(202, "POST", "/schedules/"+w.ids[engine.DefaultTeam]["schedules"]+"/trigger", "")
	// A webhook is found by its team's address and proved by its team's secret.
	for _, c := range []struct {
		team, secret string
		want         int
	}{{engine.DefaultTeam, "mark-of-default", 202}, {engine.DefaultTeam, "mark-of-other", 401}, {"nobody", "mark-of-default", 404}} {
		request, err := http.NewRequestWithContext(t.Context(), "POST", w.base+"/hooks/"+c.team+"/twin", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+c.secret)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != c.want {
			t.Errorf("the webhook of %s with %s: %d, want %d", c.team, c.secret, response.StatusCode, c.want)
		}
	}
	if after := count(other); after != before {
		t.Errorf("the other team has %d executions, it had %d", after, before)
	}
	w.untouched("other")
}
