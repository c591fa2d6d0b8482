package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"weftline/engine"
)

func TestRefusalsAreProblemDocuments(t *testing.T) {
	admin := bearer("admin")
	start := "/api/v1/workflows/w/executions"
	big := `{"input":{"text":"` + strings.Repeat("x", 2<<20) + `"}}`
	for name, c := range map[string]struct {
		request
		status int
		code   string
		says   string
	}{
		"unknown path":            {request{"GET", "/api/v1/nothing", "", admin}, 404, "not_found", ""},
		"unknown path, nobody":    {request{"GET", "/api/v1/nothing", "", nil}, 404, "not_found", ""},
		"wrong method":            {request{"DELETE", "/api/v1/workflows", "", admin}, 405, "method_not_allowed", ""},
		"no credential":           {request{"GET", "/api/v1/workflows", "", nil}, 401, "unauthenticated", "Bearer"},
		"wrong credential":        {request{"GET", "/api/v1/workflows", "", []string{"Authorization", "Bearer nonsense"}}, 401, "unauthenticated", ""},
		"wrong scheme":            {request{"GET", "/api/v1/workflows", "", []string{"Authorization", "Basic bWF5LWFkbWlu"}}, 401, "unauthenticated", ""},
		"no right":                {request{"POST", start, `{}`, bearer("read")}, 403, "forbidden", "run"},
		"id that is none":         {request{"GET", "/api/v1/executions/42", "", admin}, 404, "not_found", "42"},
		"id in another spelling":  {request{"GET", "/api/v1/executions/6ba7b8109dad11d180b400c04fd430c8", "", admin}, 404, "not_found", ""},
		"id of nothing":           {request{"GET", "/api/v1/executions/" + unknown.String(), "", admin}, 404, "not_found", ""},
		"no JSON":                 {request{"POST", start, `{"input":`, admin}, 400, "bad_request", "early"},
		"key twice":               {request{"POST", start, `{"input":{"a":1,"a":2}}`, admin}, 400, "bad_request", `"a" is there twice`},
		"lone surrogate":          {request{"POST", start, `{"input":{"a":"\ud800"}}`, admin}, 400, "bad_request", "surrogate"},
		"a list":                  {request{"POST", start, `[]`, admin}, 400, "bad_request", "object"},
		"unknown field":           {request{"POST", start, `{"inputs":{}}`, admin}, 422, "invalid_input", `"inputs"`},
		"wrong type":              {request{"POST", start, `{"version":"3"}`, admin}, 422, "invalid_input", "/version"},
		"form instead of JSON":    {request{"POST", start, `a=1`, with(admin, "Content-Type", "application/x-www-form-urlencoded")}, 415, "unsupported_media", "application/json"},
		"input that does not fit": {request{"POST", "/api/v1/workflows/strict/executions", `{}`, admin}, 422, "invalid_input", ""},
		"unknown workflow":        {request{"POST", "/api/v1/workflows/none/executions", `{}`, admin}, 404, "not_found", ""},
		"too large":               {request{"POST", start, big, admin}, 413, "too_large", "bytes"},
		"too large, nobody":       {request{"POST", start, big, nil}, 401, "unauthenticated", ""},
		"panic":                   {request{"POST", "/api/v1/workflows/panics/executions", `{}`, admin}, 500, "internal", "request id"},
		"a misspelt filter":       {request{"GET", "/api/v1/executions?stauts=failed", "", admin}, 400, "bad_request", "did you mean status?"},
		"nothing runs dry":        {request{"POST", start + "?dryRun=true", `{}`, admin}, 400, "bad_request", "dryRun"},
		"a foreign parameter":     {request{"GET", "/api/v1/queue?colour=blue", "", admin}, 400, "bad_request", "colour"},
		"limit out of range":      {request{"GET", "/api/v1/executions?limit=501", "", admin}, 400, "bad_request", "limit"},
		"time that is none":       {request{"GET", "/api/v1/executions?startedAfter=yesterday", "", admin}, 400, "bad_request", "startedAfter"},
		"no precondition":         {request{"PUT", "/api/v1/workflows/w/draft", "a", admin}, 428, "precondition_required", "If-Match"},
		"both preconditions":      {request{"PUT", "/api/v1/workflows/w/draft", "a", with(admin, "If-Match", "x", "If-None-Match", "*")}, 400, "bad_request", ""},
		"signal without a name":   {request{"POST", "/api/v1/executions/" + known.String() + "/signals", `{}`, admin}, 422, "invalid_input", "name"},
		"NUL in a path":           {request{"GET", "/api/v1/workflows/%00/versions", "", admin}, 404, "not_found", "text"},
		"no UTF-8 in a path":      {request{"POST", "/api/v1/workflows/%ED%A0%80/publish", `{}`, admin}, 404, "not_found", "text"},
		"NUL in a query":          {request{"GET", "/api/v1/executions?workflow=%00", "", admin}, 400, "bad_request", "text"},
		"version 0":               {request{"POST", start, `{"version":0}`, admin}, 422, "invalid_input", "at least 1"},
		"version 0 of a batch":    {request{"POST", "/api/v1/executions/batch", `{"workflow":"w","version":0,"items":[{}]}`, admin}, 422, "invalid_input", "/version"},
		"no fires to preview":     {request{"POST", "/api/v1/schedules/preview", `{"every":"1h","count":0}`, admin}, 422, "invalid_input", "/count"},
		"revision 0":              {request{"POST", "/api/v1/workflows/w/proposals/1/reviews", `{"verdict":"approve","revision":0}`, admin}, 422, "invalid_input", "/revision"},
		"a page of 0":             {request{"GET", "/api/v1/executions?limit=0", "", admin}, 400, "bad_request", "limit"},
		"version 01":              {request{"GET", "/api/v1/workflows/w/versions/01", "", admin}, 404, "not_found", "01"},
		"version %2B1":            {request{"GET", "/api/v1/workflows/w/versions/%2B1", "", admin}, 404, "not_found", "1"},
		"proposal 01":             {request{"GET", "/api/v1/workflows/w/proposals/01", "", admin}, 404, "not_found", "01"},
		"a filter twice":          {request{"GET", "/api/v1/executions?workflow=a&workflow=b", "", admin}, 400, "bad_request", "workflow"},
		"a status of nothing":     {request{"GET", "/api/v1/executions?status=failed&status=done", "", admin}, 400, "bad_request", "timed_out"},
		"a task's status":         {request{"GET", "/api/v1/tasks?status=opened", "", admin}, 400, "bad_request", "expired"},
		"version that is none":    {request{"GET", "/api/v1/workflows/w/versions/zero", "", admin}, 404, "not_found", ""},
	} {
		t.Run(name, func(t *testing.T) {
			server, _ := newTestServer(t, nil)
			got := ask(t, server, c.request)
			problem := got.problem(t)
			if got.StatusCode != c.status || problem.Status != c.status || problem.Code != c.code || !strings.Contains(problem.Detail, c.says) {
				t.Errorf("%d %s", got.StatusCode, got.text)
			}
			if got.Header.Get("Content-Type") != "application/problem+json" || problem.RequestID == "" || problem.RequestID != got.Header.Get("X-Request-Id") || problem.Errors == nil {
				t.Errorf("not as RFC 9457 wants it: %v %s", got.Header, got.text)
			}
			if strings.Contains(got.text, "a fault in the engine") {
				t.Error("a fault of the inside is shown")
			}
		})
	}
}

func TestProblemsOfAnInputArePointedAt(t *testing.T) {
	server, _ := newTestServer(t, nil)
	problem := ask(t, server, request{"POST", "/api/v1/workflows/strict/executions", `{}`, bearer("run")}).problem(t)
	if len(problem.Errors) != 1 || problem.Errors[0].Path != "/amount" {
		t.Errorf("%+v", problem)
	}
}

func TestStartIsExact(t *testing.T) {
	server, door := newTestServer(t, nil)
	got := ask(t, server, request{"POST", "/api/v1/workflows/w/executions",
		`{"input":{"id":9007199254740993,"share":0.5},"version":2,"labels":{"a":"b"},"startAfter":"5s"}`,
		with(bearer("run"), "Idempotency-Key", "k1")})
	if got.StatusCode != 202 || got.Header.Get("Location") != "/api/v1/executions/"+known.String() {
		t.Fatalf("%d %s", got.StatusCode, got.text)
	}
	input := door.started.Input.(map[string]any)
	if input["id"] != int64(9007199254740993) || input["share"] != 0.5 || door.started.Version != 2 ||
		door.started.Workflow != "w" || door.started.IdempotencyKey != "k1" || door.started.StartAfter != "5s" {
		t.Errorf("%+v", door.started)
	}
}

func TestSkippedStart(t *testing.T) {
	server, _ := newTestServer(t, nil)
	got := ask(t, server, request{"POST", "/api/v1/workflows/full/executions", `{}`, bearer("run")})
	if got.StatusCode != 200 || strings.TrimSpace(got.text) != `{"skipped":true}` {
		t.Errorf("%d %s", got.StatusCode, got.text)
	}
}

func TestEmptyListsAreLists(t *testing.T) {
	server, _ := newTestServer(t, nil)
	got := ask(t, server, request{"GET", "/api/v1/executions", "", bearer("read")})
	if strings.TrimSpace(got.text) != `{"items":[],"nextCursor":null}` {
		t.Error(got.text)
	}
}

func TestDraftKeepsTextAndShowsTheOtherSide(t *testing.T) {
	server, _ := newTestServer(t, nil)
	author := bearer("author+read")
	text := "a: 1 # not \u0000 a workflow\n"
	first := ask(t, server, request{"PUT", "/api/v1/workflows/w/draft", text, with(author, "If-None-Match", "*", "Content-Type", "application/yaml")})
	if first.StatusCode != 200 {
		t.Fatal(first.text)
	}
	read := ask(t, server, request{"GET", "/api/v1/workflows/w/draft", "", author})
	if read.text != text || read.Header.Get("ETag") == "" || read.Header.Get("ETag") != first.Header.Get("ETag") {
		t.Errorf("%q %s", read.text, read.Header.Get("ETag"))
	}
	second := ask(t, server, request{"PUT", "/api/v1/workflows/w/draft", "b", with(author, "If-Match", read.Header.Get("ETag"))})
	if second.StatusCode != 200 {
		t.Fatal(second.text)
	}
	stale := ask(t, server, request{"PUT", "/api/v1/workflows/w/draft", "c", with(author, "If-Match", read.Header.Get("ETag"))})
	problem := stale.problem(t)
	if stale.StatusCode != 412 || problem.Text == nil || *problem.Text != "b" || `"`+problem.ETag+`"` != second.Header.Get("ETag") {
		t.Errorf("%d %s", stale.StatusCode, stale.text)
	}
}

func TestIdempotencyKey(t *testing.T) {
	server, door := newTestServer(t, nil)
	path := "/api/v1/executions/" + known.String() + "/signals"
	headers := with(bearer("run"), "Idempotency-Key", "k")
	first := ask(t, server, request{"POST", path, `{"name":"a"}`, headers})
	again := ask(t, server, request{"POST", path, `{"name":"a"}`, headers})
	other := ask(t, server, request{"POST", path, `{"name":"b"}`, headers})
	if first.StatusCode != 202 || again.StatusCode != 202 || first.text != again.text || door.signals != 1 {
		t.Errorf("%d %q, then %d %q; %d signals", first.StatusCode, first.text, again.StatusCode, again.text, door.signals)
	}
	if other.StatusCode != 409 || other.problem(t).Code != "idempotency_mismatch" {
		t.Errorf("%d %s", other.StatusCode, other.text)
	}
}

func TestATooLargeBodyIsAnsweredAndTheConnectionLives(t *testing.T) {
	server, _ := newTestServer(t, nil)
	listener := listen(t, server)
	client := &http.Client{}
	for i, size := range []int{2 << 20, 20 << 20, 10} {
		body := strings.NewReader(`{"input":{"x":"` + strings.Repeat("x", size) + `"}}`)
		request, _ := http.NewRequest("POST", listener+"/api/v1/workflows/w/executions", body)
		request.Header.Set("Authorization", "Bearer may-run")
		request.Header.Set("Content-Type", "application/json")
		if i == 1 {
			request.ContentLength = -1 // chunked
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		var problem Failure
		_ = json.NewDecoder(response.Body).Decode(&problem)
		response.Body.Close()
		want := 413
		if size < 1<<20 {
			want = 202
		}
		if response.StatusCode != want || want == 413 && !strings.Contains(problem.Detail, "1114112 bytes") {
			t.Errorf("%d bytes: %d %+v", size, response.StatusCode, problem)
		}
	}
}

func TestSecurityHeaders(t *testing.T) {
	server, _ := newTestServer(t, nil)
	for _, path := range []string{"/api/v1/workflows", "/healthz", "/nothing"} {
		got := ask(t, server, request{"GET", path, "", bearer("read")})
		csp := got.Header.Get("Content-Security-Policy")
		if strings.Contains(csp, "unsafe") || !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "frame-ancestors 'none'") ||
			got.Header.Get("X-Content-Type-Options") != "nosniff" || got.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", path, got.Header)
		}
	}
}

func TestErrorsOfPagesArePages(t *testing.T) {
	server, _ := newTestServer(t, nil)
	got := ask(t, server, request{"GET", "/no-such-page", "", []string{"Accept", "text/html"}})
	if got.StatusCode != 404 || !strings.HasPrefix(got.Header.Get("Content-Type"), "text/html") || !strings.Contains(got.text, got.Header.Get("X-Request-Id")) {
		t.Errorf("%d %s %s", got.StatusCode, got.Header.Get("Content-Type"), got.text)
	}
}

// A person who is signed in sees an error within the frame of the application.
func TestErrorsOfSignedInPeopleArePages(t *testing.T) {
	server, _ := newTestServer(t, withPage)
	for path, status := range map[string]int{"/executions/x": 404, "/executions/" + unknown.String(): 404, "/tasks/x": 404} {
		got := ask(t, server, request{"GET", "http://localhost" + path, "", []string{"Accept", "text/html", "Cookie", "weftline_session=good"}})
		if got.StatusCode != status || !strings.Contains(got.text, "<main") || !strings.Contains(got.text, got.Header.Get("X-Request-Id")) {
			t.Errorf("%s: %d %.200s", path, got.StatusCode, got.text)
		}
	}
}

// While starts are held back every page and the readiness check say so.
func TestPressureIsShown(t *testing.T) {
	server, door := newTestServer(t, withPage)
	door.waiting = engine.Pressure{Since: time.Now(), Action: engine.PressureReject, Depth: 1234}
	page := ask(t, server, request{"GET", "http://localhost/executions/x", "", []string{"Accept", "text/html", "Cookie", "weftline_session=good"}})
	if !strings.Contains(page.text, "1234 executions") {
		t.Errorf("the page does not say it: %.300s", page.text)
	}
	ready := ask(t, server, request{"GET", "http://localhost/readyz", "", nil})
	if ready.StatusCode != 200 || !strings.Contains(ready.text, "refused until the queue is shorter") {
		t.Errorf("%d %s", ready.StatusCode, ready.text)
	}
}

// A connection that breaks is a failure only of what may have been done already.
func TestWhatReadsIsAskedAgainWhenTheDatabaseBreaksOff(t *testing.T) {
	server, door := newTestServer(t, nil)
	door.broken = 2
	if got := ask(t, server, request{"GET", "/api/v1/executions/" + known.String(), "", bearer("read")}); got.StatusCode != 200 {
		t.Errorf("%d %s", got.StatusCode, got.text)
	}
	door.broken = 1
	if got := ask(t, server, request{"POST", "/api/v1/workflows/w/executions", `{"input":{}}`, bearer("run")}); got.StatusCode != 503 || door.broken != 0 {
		t.Errorf("%d %s", got.StatusCode, got.text)
	}
}

func TestDraining(t *testing.T) {
	server, _ := newTestServer(t, nil)
	server.draining.Store(true)
	got := ask(t, server, request{"GET", "/api/v1/workflows", "", bearer("read")})
	if got.StatusCode != 503 || got.Header.Get("Retry-After") == "" || got.problem(t).Code != "not_ready" {
		t.Errorf("%d %s", got.StatusCode, got.text)
	}
}

func local(o *Options) {
	o.Local = &engine.Person{Team: team, Name: "local"}
	o.Hosts = []string{"localhost", "127.0.0.1", "::1"}
}

// page is a route for tests: the session is what matters, not what it shows.
func withPage(o *Options) {
	local(o)
	o.Mounts = []Route{
		{Method: "GET", Path: "/page", Needs: "read", Handle: sendUser},
		{Method: "POST", Path: "/page", Needs: "read", Handle: sendUser},
	}
}

func TestLocalMode(t *testing.T) {
	server, _ := newTestServer(t, withPage)
	first := ask(t, server, request{"GET", "http://localhost:8080/page", "", nil})
	cookie := first.Header.Get("Set-Cookie")
	if first.StatusCode != 200 || first.text != "local" || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Lax") {
		t.Fatalf("%d %q %q", first.StatusCode, first.text, cookie)
	}
	if api := ask(t, server, request{"GET", "http://localhost:8080/api/v1/executions", "", nil}); api.StatusCode != 401 {
		t.Errorf("the API answers without a credential: %d", api.StatusCode)
	}
	session := []string{"Cookie", "weftline_session=good"}
	for name, c := range map[string]struct {
		request
		status int
	}{
		"API read by session":       {request{"GET", "http://127.0.0.1:8080/api/v1/executions", "", session}, 200},
		"API write without token":   {request{"POST", "http://127.0.0.1/api/v1/workflows/w/executions", `{}`, session}, 403},
		"API write with token":      {request{"POST", "http://127.0.0.1/api/v1/workflows/w/executions", `{}`, with(session, "X-CSRF-Token", "csrf-of-good")}, 202},
		"write from another site":   {request{"POST", "http://127.0.0.1/api/v1/workflows/w/executions", `{}`, with(session, "X-CSRF-Token", "csrf-of-good", "Sec-Fetch-Site", "cross-site")}, 403},
		"wrong token":               {request{"POST", "http://127.0.0.1/api/v1/workflows/w/executions", `{}`, with(session, "X-CSRF-Token", "guess")}, 403},
		"form with token":           {request{"POST", "http://127.0.0.1/page", "_csrf=csrf-of-good", with(session, "Content-Type", "application/x-www-form-urlencoded")}, 200},
		"form without token":        {request{"POST", "http://127.0.0.1/page", "a=b", with(session, "Content-Type", "application/x-www-form-urlencoded")}, 403},
		"form of nobody":            {request{"POST", "http://127.0.0.1/page", "", nil}, 401},
		"name of another machine":   {request{"GET", "http://evil.example/page", "", nil}, 403},
		"rebound API":               {request{"GET", "http://evil.example:8080/api/v1/executions", "", bearer("admin")}, 403},
		"IPv6":                      {request{"GET", "http://[::1]:8080/page", "", nil}, 200},
		"stale session on a page":   {request{"GET", "http://localhost/page", "", []string{"Cookie", "weftline_session=old"}}, 200},
		"wrong token beside cookie": {request{"GET", "http://localhost/api/v1/executions", "", with(session, "Authorization", "Bearer nonsense")}, 401},
	} {
		if got := ask(t, server, c.request); got.StatusCode != c.status {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.text)
		}
	}
}
