package web

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"weftline/app/live"
	"weftline/app/metrics"
	"weftline/engine"
	"weftline/engine/enginetest"
)

const hello = `apiVersion: weftline/v1
kind: Workflow
metadata:
  name: hello
spec:
  input:
    type: object
    required: [name]
    properties:
      name: { type: string }
      id: { type: integer }
  activities:
    - id: greet
      type: set
      outputs:
        text: '"Hello " + inputs.name'
        id: inputs.id ?? 0
    - id: decide
      type: human
      needs: [greet]
      human:
        title: Is ${{ inputs.name }} welcome?
        candidates: { users: [admin] }
  output:
    text: activities.greet.output.text
    id: activities.greet.output.id
`

const adminToken = "a-token-for-tests-only"

// newRealServer serves a real engine on a database of its own.
func newRealServer(t *testing.T) (*Server, string) {
	t.Helper()
	ctx := context.Background()
	log := slog.New(slog.DiscardHandler)
	e, err := engine.Open(ctx, engine.Options{DatabaseURL: enginetest.Database(t), SecretKeys: [][]byte{make([]byte, 32)}, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- e.Run(ctx) }()
	t.Cleanup(func() {
		e.Close(ctx)
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
	if err := e.Identity().EnsureBootstrapToken(ctx, adminToken); err != nil {
		t.Fatal(err)
	}
	server := New(Options{Door: e, Identity: e.Identity(), Vault: e.Vault(), Connections: e.Services(), Health: alwaysReady{}, Log: log, Metrics: metrics.New(), PayloadMax: 1 << 20})
	t.Cleanup(func() { _ = server.Shutdown(ctx) })
	return server, listen(t, server)
}

// caller is a person with a token.
type caller struct {
	t     *testing.T
	base  string
	token string
}

// loose finds members of answers that name a time and are written otherwise than with three digits of a second.
var loose = regexp.MustCompile(`"([a-z]+At|at|since|until|due|deadline|lastHeartbeat|now)":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,2}|\.\d{4,})?Z"`)

// call answers the status and the JSON of an answer, in which every time has milliseconds.
func (c caller) call(method, path, body string, headers ...string) (int, map[string]any) {
	c.t.Helper()
	request, err := http.NewRequest(method, c.base+"/api/v1"+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, member := range loose.FindAllString(string(text), -1) {
		c.t.Errorf("%s %s: %s is no time with milliseconds", method, path, member)
	}
	var value map[string]any
	_ = json.Unmarshal(text, &value) // not every answer has a body
	return response.StatusCode, value
}

// must calls and wants one status.
func (c caller) must(status int, method, path, body string, headers ...string) map[string]any {
	c.t.Helper()
	got, value := c.call(method, path, body, headers...)
	if got != status {
		c.t.Fatalf("%s %s: %d %v", method, path, got, value)
	}
	return value
}

// until asks again until the field has the value.
func (c caller) until(path, field string, want any) map[string]any {
	c.t.Helper()
	for range 400 {
		if value := c.must(200, "GET", path, ""); value[field] == want {
			return value
		}
		time.Sleep(25 * time.Millisecond)
	}
	c.t.Fatalf("%s: %s never became %v: %v", path, field, want, c.must(200, "GET", path, ""))
	return nil
}

func publishHello(c caller) {
	c.t.Helper()
	c.must(200, "PUT", "/workflows/hello/draft", hello, "If-None-Match", "*", "Content-Type", "application/yaml")
	first := c.must(201, "POST", "/workflows/hello/publish", `{"message":"first"}`)
	again := c.must(200, "POST", "/workflows/hello/publish", `{"message":"again"}`)
	if first["version"] != 1.0 || again["version"] != 1.0 || first["contentHash"] != again["contentHash"] {
		c.t.Fatalf("%v, then %v", first, again)
	}
}

func TestMainJobOverTheAPI(t *testing.T) {
	_, base := newRealServer(t)
	admin := caller{t, base, adminToken}
	publishHello(admin)
	refused := admin.must(422, "POST", "/workflows/hello/executions", `{"input":{"nmae":"Ann"}}`)
	if refused["code"] != "invalid_input" {
		t.Errorf("%v", refused)
	}
	started := admin.must(202, "POST", "/workflows/hello/executions", `{"input":{"name":"Ann","id":9007199254740993}}`, "Idempotency-Key", "one")
	again := admin.must(202, "POST", "/workflows/hello/executions", `{"input":{"name":"Ann","id":9007199254740993}}`, "Idempotency-Key", "one")
	other := admin.must(409, "POST", "/workflows/hello/executions", `{"input":{"name":"Bob"}}`, "Idempotency-Key", "one")
	if started["id"] != again["id"] || other["code"] != "idempotency_mismatch" {
		t.Fatalf("%v, %v, %v", started, again, other)
	}
	path := "/executions/" + started["id"].(string)
	watching := watch(t, base, started["id"].(string))
	admin.until(path, "status", "waiting")
	tasks := admin.must(200, "GET", "/tasks?status=open&workflow=hello", "")["items"].([]any)
	if len(tasks) != 1 {
		t.Fatalf("%v", tasks)
	}
	task := tasks[0].(map[string]any)["id"].(string)
	admin.must(422, "POST", "/tasks/"+task+"/complete", `{}`)
	admin.must(200, "POST", "/tasks/"+task+"/complete", `{"decision":"approved","comment":"fine"}`)
	admin.must(409, "POST", "/tasks/"+task+"/complete", `{"decision":"approved"}`)
	detail := admin.until(path, "status", "completed")
	if output := detail["output"].(map[string]any); output["text"] != "Hello Ann" {
		t.Errorf("%v", output)
	}
	admin.must(409, "POST", path+"/cancel", `{}`)
	if last := watching.wait("WorkflowCompleted"); float64(last) != detail["lastSeq"] {
		t.Errorf("the socket ends at %d, the execution at %v", last, detail["lastSeq"])
	}
	replayed(t, admin, path, detail)
}

// replayed: the exported history folds to the same state.
func replayed(t *testing.T, admin caller, path string, detail map[string]any) {
	t.Helper()
	file, err := json.Marshal(admin.must(200, "GET", path+"/history.json", ""))
	if err != nil {
		t.Fatal(err)
	}
	folded := admin.must(200, "POST", "/executions/replay", string(file))
	if folded["status"] != "completed" || folded["lastSeq"] != detail["lastSeq"] {
		t.Errorf("%v", folded)
	}
	early := admin.must(200, "GET", path+"/state?at=1", "")
	if early["lastSeq"] != 1.0 {
		t.Errorf("%v", early)
	}
}

func TestServiceAccountsAreOtherPeople(t *testing.T) {
	_, base := newRealServer(t)
	admin := caller{t, base, adminToken}
	made := admin.must(201, "POST", "/tokens", `{"name":"bot","scopes":["read"],"serviceAccount":{"name":"robot","groups":["g"]}}`)
	bot := caller{t, base, made["token"].(string)}
	if me := bot.must(200, "GET", "/me", ""); me["user"] != "robot" {
		t.Errorf("%v", me)
	}
	bot.must(403, "POST", "/workflows/hello/executions", `{}`)
	bot.must(403, "GET", "/audit", "")
	listed := admin.must(200, "GET", "/tokens", "")
	if text, _ := json.Marshal(listed); strings.Contains(string(text), made["token"].(string)) {
		t.Error("the value of a token is listed")
	}
	admin.must(204, "DELETE", "/tokens/"+made["id"].(string), "")
	bot.must(401, "GET", "/me", "")
	if actions, _ := json.Marshal(admin.must(200, "GET", "/audit", "")); !strings.Contains(string(actions), "token.deleted") {
		t.Errorf("%s", actions)
	}
}

// watched follows one execution over a socket and applies events only when they are contiguous.
type watched struct {
	t      *testing.T
	socket *websocket.Conn
	seq    int64
}

func watch(t *testing.T, base, id string) *watched {
	t.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{live.Subprotocol}}
	socket, _, err := dialer.Dial("ws"+strings.TrimPrefix(base, "http")+"/api/v1/live", http.Header{"Authorization": {"Bearer " + adminToken}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	if err := socket.WriteJSON(map[string]any{"type": "sub", "sid": "s", "topic": "execution:" + id}); err != nil {
		t.Fatal(err)
	}
	return &watched{t: t, socket: socket, seq: -1}
}

// wait reads until an event of the type has come, and answers its seq.
func (w *watched) wait(kind string) int64 {
	w.t.Helper()
	_ = w.socket.SetReadDeadline(time.Now().Add(20 * time.Second))
	for {
		var frame struct {
			Type      string
			Prev, Seq int64
			Events    []struct {
				Seq  int64
				Type string
			}
		}
		if err := w.socket.ReadJSON(&frame); err != nil {
			w.t.Fatalf("waiting for %s: %v", kind, err)
		}
		switch frame.Type {
		case "snap":
			w.seq = frame.Seq
		case "ev":
			if frame.Prev != w.seq {
				w.t.Fatalf("at %d came prev %d", w.seq, frame.Prev)
			}
			w.seq = frame.Seq
			for _, event := range frame.Events {
				if event.Type == kind {
					return event.Seq
				}
			}
		}
	}
}

func TestPlanOverHTTPRunsNothing(t *testing.T) {
	_, base := newRealServer(t)
	c := caller{t, base, adminToken}
	if status, answer := c.call("POST", "/workflows/hello/plan", `{}`); status != 404 {
		t.Fatalf("%d %v", status, answer)
	}
	request, _ := json.Marshal(map[string]any{"definition": hello, "input": map[string]any{"name": "Ann"},
		"mocks": map[string]any{"decide": map[string]any{"outcome": "approved", "by": "bob"}}})
	plan := c.must(200, "POST", "/workflows/hello/plan", string(request))
	if plan["status"] != "completed" || len(plan["problems"].([]any)) != 0 {
		t.Fatalf("%v", plan)
	}
	steps := plan["steps"].([]any)
	decide := steps[1].(map[string]any)
	if len(steps) != 2 || decide["activity"] != "decide" || decide["mocked"] != true || decide["needsMock"] != false {
		t.Errorf("%v", steps)
	}
	if edges := plan["edges"].([]any); len(edges) != 1 || edges[0].(map[string]any)["lit"] != true {
		t.Errorf("%v", edges)
	}
	if list := c.must(200, "GET", "/executions", "")["items"].([]any); len(list) != 0 {
		t.Errorf("a plan started something: %v", list)
	}

	request, _ = json.Marshal(map[string]any{"definition": hello})
	refused := c.must(422, "POST", "/workflows/hello/plan", string(request))
	if refused["code"] != "invalid_input" {
		t.Errorf("%v", refused)
	}
	refused = c.must(422, "POST", "/workflows/hello/plan", `{"definition": "kind: Workflow"}`)
	if refused["code"] != "invalid_definition" || len(refused["errors"].([]any)) == 0 {
		t.Errorf("%v", refused)
	}
}

const helloTests = `---
apiVersion: weftline/v1
kind: WorkflowTest
metadata: {name: hello}
spec:
  cases:
    - name: welcome
      input: {name: Ann}
      script: [{at: 1h, human: decide, by: admin}]
      expect: {path: [greet, decide], output: {text: Hello Ann, id: 0}}
    - name: wrong on purpose
      input: {name: Ann}
      script: [{at: 1h, human: decide, by: admin}]
      expect: {duration: 2h}
`

func TestTestsOverHTTP(t *testing.T) {
	_, base := newRealServer(t)
	c := caller{t, base, adminToken}
	c.must(200, "PUT", "/workflows/hello/draft", hello+helloTests, "If-None-Match", "*", "Content-Type", "application/yaml")
	if list := c.must(200, "GET", "/workflows/hello/tests", "")["items"].([]any); len(list) != 2 || list[0].(map[string]any)["name"] != "welcome" {
		t.Errorf("%v", list)
	}
	report := c.must(200, "POST", "/workflows/hello/tests/run", "{}")
	if report["passed"] != 1.0 || report["failed"] != 1.0 {
		t.Fatalf("%v", report)
	}
	wrong := report["cases"].([]any)[1].(map[string]any)["failures"].([]any)
	if failure := wrong[0].(map[string]any); len(wrong) != 1 || failure["path"] != "expect.duration" || failure["line"] != 40.0 {
		t.Errorf("%v", wrong)
	}
	one := c.must(200, "POST", "/workflows/hello/tests/run", `{"case": "welcome", "replay": true}`)
	if one["passed"] != 1.0 || one["failed"] != 0.0 {
		t.Errorf("%v", one)
	}
	c.must(404, "POST", "/workflows/hello/tests/run", `{"case": "nobody"}`)
}

// What is wrong with a test is said when the text is saved; a name that is not there does not keep it from
// being published.
func TestTestsAreCheckedOnSaving(t *testing.T) {
	_, base := newRealServer(t)
	c := caller{t, base, adminToken}
	stale := strings.Replace(hello+helloTests, "human: decide", "human: decode", 1)
	draft := c.must(200, "PUT", "/workflows/hello/draft", stale, "If-None-Match", "*", "Content-Type", "application/yaml")
	warnings := draft["warnings"].([]any)
	if draft["valid"] != true || !slices.ContainsFunc(warnings, func(w any) bool { return w.(map[string]any)["code"] == "W712" }) {
		t.Errorf("%v", draft)
	}
	wrong := strings.Replace(hello+helloTests, "duration: 2h", "duration: 2", 1)
	draft = c.must(200, "PUT", "/workflows/hello/draft", wrong, "If-Match", "*", "Content-Type", "application/yaml")
	if problem := draft["errors"].([]any)[0].(map[string]any); draft["valid"] != false || problem["line"] != 40.0 {
		t.Errorf("%v", draft)
	}
}

var quietLog = slog.New(slog.DiscardHandler)

// ctxOf outlives the test's own context, for what its end cleans up.
func ctxOf(t *testing.T) context.Context { return context.WithoutCancel(t.Context()) }
