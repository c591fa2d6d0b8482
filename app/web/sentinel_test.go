package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"weftline/engine/flow"
	"weftline/engine/seal"
)

// everyKind carries the values in every type of activity, well and badly. What fails goes on.
const everyKind = `apiVersion: weftline/v1
kind: Workflow
metadata: {name: pay}
spec:
  input:
    type: object
    properties:
      card: {type: string, x-sensitive: true, pattern: '^se'}
      how: {type: string}
  webhooks:
    - {path: pay, auth: {type: bearer, secret: HOOK}, input: "{card: trigger.body.raw, how: 'good'}"}
  limits: {maxConcurrent: 5, concurrencyKey: inputs.card}
  variables:
    copy: ${{ inputs.card + "!" }}
  activities:
    - {id: set, type: set, outputs: {x: vars.copy, part: "inputs.card[4:17]"}}
    - {id: http, needs: [set], type: http, inputs: &call {method: POST, url: "http://WEB/a?c=${{ inputs.card }}", headers: {X-Key: "${{ secrets.KEY }}"}, body: {card: "${{ inputs.card }}", key: "${{ secrets.KEY }}"}}}
    - {id: http_refused, needs: [http], type: http, idempotencyKey: "${{ inputs.card }}", onFailure: continue, inputs: {method: POST, url: "http://WEB/refuse?k=${{ secrets.KEY }}", auth: {type: basic, username: "${{ inputs.card }}", password: "${{ secrets.KEY }}"}, body: {card: "${{ inputs.card }}"}}}
    - {id: http_lost, needs: [http_refused], type: http, onFailure: continue, retry: 1, inputs: {method: POST, url: "http://127.0.0.1:1/${{ secrets.KEY }}/${{ inputs.card }}"}}
    - {id: http_file, needs: [http_lost], type: http, onFailure: continue, inputs: {method: POST, url: "http://WEB/file", saveAs: file, body: {card: "${{ inputs.card }}", key: "${{ secrets.KEY }}"}}}
    - {id: http_connection, needs: [http_file], type: http, onFailure: continue, inputs: {method: POST, connection: api, url: "/refuse", body: {card: "${{ inputs.card }}"}}}
    - id: script
      needs: [http_connection]
      type: script
      inputs: {language: javascript, source: "console.log('got', input.card, input.key); console.error(input.card + input.key); return {all: input, card: input.card}", input: {card: "${{ inputs.card }}", key: "${{ secrets.KEY }}"}}
    - {id: script_thrown, needs: [script], type: script, onFailure: continue, retry: 1, inputs: {language: javascript, source: "throw new Error('no ' + input.card + input.key)", input: {card: "${{ inputs.card }}", key: "${{ secrets.KEY }}"}}}
    - {id: script_bash, needs: [script_thrown], type: script, onFailure: continue, retry: 1, inputs: {language: bash, source: 'echo "$1 $KEY"; cat; echo "$1$KEY" > "$WF_FILES/left"; echo "{\"card\": 1}" > "$WF_OUTPUT"', args: ["${{ inputs.card }}"], env: {KEY: "${{ secrets.KEY }}"}, stdin: "${{ inputs.card }}"}}
    - {id: script_exit, needs: [script_bash], type: script, onFailure: continue, retry: 1, inputs: {language: bash, source: 'echo "$1 $KEY"; echo "$1$KEY" >&2; exit 3', args: ["${{ inputs.card }}"], env: {KEY: "${{ secrets.KEY }}"}}}
    - {id: sql, needs: [script_exit], type: sql, onFailure: continue, inputs: {connection: base, query: "select :card::text as card, :key::text as key", params: {card: "${{ inputs.card }}", key: "${{ secrets.KEY }}"}}}
    - {id: sql_refused, needs: [sql], type: sql, onFailure: continue, inputs: {connection: base, query: "select (:card::text || :key::text)::int as n", params: {card: "${{ inputs.card }}", key: "${{ secrets.KEY }}"}}}
    - {id: email, needs: [sql_refused], type: email, onFailure: continue, inputs: {connection: post, to: ["a@example.com"], subject: "card ${{ inputs.card }}", text: "${{ inputs.card }} ${{ secrets.KEY }}"}}
    - {id: email_lost, needs: [email], type: email, onFailure: continue, retry: 1, inputs: {connection: post, to: ["${{ inputs.card }}"], subject: x, text: x}}
    - {id: ai, needs: [email_lost], type: ai, inputs: {connection: model, prompt: "${{ inputs.card }} ${{ secrets.KEY }}"}}
    - {id: ai_unfit, needs: [ai], type: ai, onFailure: continue, retry: 1, inputs: {connection: model, prompt: "${{ inputs.card }}", responseSchema: {type: object}}}
    - {id: worker, needs: [ai_unfit], type: worker, inputs: {task: far, input: {card: "${{ inputs.card }}", key: "${{ secrets.KEY }}"}}}
    - {id: worker_failed, needs: [worker], type: worker, onFailure: continue, retry: 1, inputs: {task: far, input: {card: "${{ inputs.card }}", key: "${{ secrets.KEY }}"}}}
    - {id: each, needs: [worker_failed], type: for_each, onFailure: continue, for_each: {items: "[inputs.card, 'other']", activity: {type: http, inputs: {url: "http://WEB/each", method: POST, body: "${{ item }}"}}}}
    - {id: each_keyed, needs: [each], type: for_each, onFailure: continue, for_each: {items: "['a']", key: 'inputs.card[0:99]', activity: {type: set, outputs: {x: "1"}}}}
    - {id: child, needs: [each_keyed], type: workflow, workflow: {name: child}, inputs: {number: "${{ inputs.card }}"}}
    - {id: child_keyed, needs: [child], type: workflow, onFailure: continue, workflow: {name: child, dedupeKey: "${{ inputs.card[0:99] }}"}, inputs: {number: "x"}}
    - {id: child_failed, needs: [child_keyed], type: workflow, onFailure: continue, workflow: {name: broken}, inputs: {number: "${{ inputs.card }}"}}
    - {id: emit, needs: [child_failed], type: emit, emit: {name: paid, key: '"k"', payload: {card: "${{ vars.copy }}"}}}
    - {id: emit_keyed, needs: [emit], type: emit, onFailure: continue, emit: {name: paid, key: 'inputs.card[0:99]'}}
    - {id: wait, needs: [emit_keyed], type: wait, onFailure: continue, wait: {timer: {after: "${{ inputs.card }}"}}}
    - {id: semaphore, needs: [wait], type: set, onFailure: continue, semaphore: {name: s, permits: 1, key: "${{ inputs.card[0:99] }}"}, outputs: {x: "1"}}
    - id: human
      needs: [semaphore]
      type: human
      human:
        title: Pay with ${{ inputs.card }}?
        description: It is ${{ inputs.card }}.
        data: {card: "${{ inputs.card }}"}
        candidates: {users: [ADMIN]}
        form: {type: object, properties: {code: {type: string, x-sensitive: true, pattern: '^se'}, why: {type: string}}}
    - {id: human_named, needs: [human], type: human, onFailure: continue, human: {title: x, assignee: "${{ inputs.card[0:99] }}"}}
    - {id: event, needs: [human_named], type: event, event: {name: told, correlation: '"k"'}}
    - {id: event_keyed, needs: [event], type: event, onFailure: continue, event: {name: told, correlation: 'inputs.card[0:99]'}}
    - {id: fail, needs: [event_keyed], type: fail, onFailure: continue, fail: {error: own.kind, message: "card ${{ inputs.card }} refused", detail: {form: "${{ activities.human.outputs.form.code }}"}}}
    - {id: fail_typed, needs: [fail], type: fail, onFailure: continue, fail: {error: "own.${{ inputs.card[0:99] }}"}}
    - {id: switch, needs: [fail_typed], type: switch, switch: {cases: [{name: good, when: inputs.how == "good"}], default: bad}}
    - {id: stop, needs: [switch.bad], type: fail, fail: {error: own.end, message: "no card ${{ upper(inputs.card) }}"}}
    - {id: end, needs: [switch.good], type: end, end: {output: {card: inputs.card, code: activities.human.outputs.form.code, all: activities.each.outputs.results}}}
`

const everyKindsChild = `apiVersion: weftline/v1
kind: Workflow
metadata: {name: child}
spec:
  input: {type: object, properties: {number: {type: string}}}
  activities:
    - {id: use, type: http, inputs: {url: "http://WEB/child", method: POST, body: "${{ inputs.number }}"}}
  output: {made: upper(inputs.number)}
`

const everyKindsBrokenChild = `apiVersion: weftline/v1
kind: Workflow
metadata: {name: broken}
spec:
  input: {type: object, properties: {number: {type: string}}}
  activities:
    - {id: use, type: fail, fail: {error: own.broken, message: "no ${{ inputs.number }}"}}
`

const everyKindsListener = `apiVersion: weftline/v1
kind: Workflow
metadata: {name: listener}
spec:
  events: [{name: paid, input: "{got: trigger.payload.card}"}]
  input: {type: object, properties: {got: {type: string}}}
  activities: [{id: use, type: set, outputs: {x: inputs.got, also: trigger.payload.card}}]
`

func inJSON(value any) string {
	content, _ := json.Marshal(value)
	return string(content)
}

// One value each is put in as a secret, as the secret of a connection, as a sensitive input, as the answer to
// a form and as a token, and goes through every kind of activity that can carry it. It is found in no dump of
// the database, log, page, answer, header, frame of a socket, export, figure or error, however it is written.
// In each mode of execution other code writes the history.
func TestSentinelIsFoundNowhere(t *testing.T) {
	for _, mode := range []string{"server", "local_sync", "local_async"} {
		t.Run(mode, func(t *testing.T) { isFoundNowhere(t, newSentinelWorld(t, mode)) })
	}
}

func isFoundNowhere(t *testing.T, w *sentinelWorld) {
	w.furnish()
	w.listenTo("executions:", "tasks:me", "reviews", "counts", "workers", "queue", "workflow:pay")
	worker := w.startWorker()
	start := func(how string) func() string {
		return func() string {
			started := w.admin.must(202, "POST", "/workflows/pay/executions", inJSON(map[string]any{"input": map[string]any{"card": sentinels["input"], "how": how}}))
			return started["id"].(string)
		}
	}
	var executions []string
	for _, run := range []struct {
		start  func() string
		status string
	}{{start("good"), "completed"}, {start("bad"), "failed"}, {w.startByHook, "completed"}} {
		id := run.start()
		w.listenTo("execution:"+id, "log:"+id+"/script", "log:"+id+"/worker", "log:"+id+"/script_bash")
		w.drive(id, worker)
		detail := w.admin.must(200, "GET", "/executions/"+id, "")
		if detail["status"] != run.status {
			t.Fatalf("%v, wanted %s: %v", detail["status"], run.status, detail["error"])
		}
		w.wentThroughAll(detail)
		executions = append(executions, id)
	}
	w.schedule()
	w.refusals(executions[0])
	w.lookAtEverything(executions)
	stored := w.everythingStored()
	mustNotTell(t, "the database", stored)
	mustNotTell(t, "the log", w.log.String())
	mustNotTell(t, "a socket", w.frames.String())
	mustNotTell(t, "an answer", w.tap.sent(sentinels["worker's token"]))
	w.areSealed()
	// The scan would find them: the server was told all of them, and so was what the activities reached.
	for _, what := range []string{"input", "secret", "connection secret"} {
		if !strings.Contains(w.outside.heard(), inJSON(sentinels[what])[1:10]) {
			t.Errorf("the %s did not reach what was to use it", what)
		}
	}
	for _, part := range []string{`"type":"snap"`, `"type":"ev"`, "ActivityCompleted"} {
		if !strings.Contains(w.frames.String(), part) {
			t.Errorf("the sockets got no %s", part)
		}
	}
	if !strings.Contains(stored, "COPY public.history") || !strings.Contains(w.log.String(), "/api/v1/executions") {
		t.Error("the dump or the log is empty")
	}
}

// furnish puts the secrets in, the connections that hold some, and the workflows.
func (w *sentinelWorld) furnish() {
	w.t.Helper()
	for name, value := range map[string]string{"KEY": sentinels["secret"], "PLUG": sentinels["connection secret"], "HOOK": "hook-secret"} {
		w.admin.must(204, "PUT", "/secrets/"+name, inJSON(map[string]any{"value": value}))
	}
	base := map[string]any{"kind": "sql", "settings": w.outside.database.Settings}
	if password := w.outside.database.Secrets["password"]; password != "" {
		w.admin.must(204, "PUT", "/secrets/BASE", inJSON(map[string]any{"value": password}))
		base["secrets"] = map[string]any{"password": "BASE"}
	}
	host, port, _ := strings.Cut(w.outside.mail, ":")
	for name, connection := range map[string]any{
		"api":   map[string]any{"kind": "http", "settings": map[string]any{"baseUrl": "http://" + w.outside.web, "auth": "bearer"}, "secrets": map[string]any{"token": "PLUG"}},
		"model": map[string]any{"kind": "ai", "settings": map[string]any{"baseUrl": "http://" + w.outside.web, "model": "m"}, "secrets": map[string]any{"apiKey": "PLUG"}},
		"post":  map[string]any{"kind": "smtp", "settings": map[string]any{"host": host, "port": json.Number(port), "security": "none", "from": "f@example.com"}},
		"base":  base,
	} {
		w.admin.must(200, "PUT", "/connections/"+name, inJSON(connection))
		w.admin.must(200, "POST", "/connections/"+name+"/test", "")
	}
	user := w.admin.must(200, "GET", "/me", "")["user"].(string)
	for _, text := range []string{everyKindsChild, everyKindsBrokenChild, everyKindsListener, everyKind} {
		text = strings.NewReplacer("WEB", w.outside.web, "ADMIN", user).Replace(text)
		definition, err := flow.Load([]byte(text))
		if err != nil {
			w.t.Fatal(err)
		}
		publish(w.admin, definition.Name, text)
	}
}

// startWorker registers a remote worker with a token of its own, over connections of its own.
func (w *sentinelWorld) startWorker() caller {
	w.t.Helper()
	made := w.admin.must(201, "POST", "/tokens", `{"name": "far", "scopes": ["worker"], "serviceAccount": {"name": "far"}}`)
	w.exec("update tokens set hash = sha256($1) where id = $2", []byte(sentinels["worker's token"]), made["id"])
	return caller{w.t, w.admin.base, sentinels["worker's token"]}
}

func (w *sentinelWorld) exec(statement string, args ...any) {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.database)
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(w.t.Context(), statement, args...); err != nil {
		w.t.Fatal(err)
	}
}

// drive does what people, other systems and the worker do, until the execution has ended.
func (w *sentinelWorld) drive(id string, worker caller) {
	w.t.Helper()
	w.work(worker)
	task := w.openTask(id)
	form := inJSON(map[string]any{"code": sentinels["form"], "why": "fine"})
	w.admin.must(200, "POST", "/tasks/"+task+"/draft", `{"form": `+form+`}`)
	mustNotTell(w.t, "the database with an open task", w.everythingStored())
	w.admin.must(422, "POST", "/tasks/"+task+"/complete", inJSON(map[string]any{"decision": "approved", "form": map[string]any{"code": "x" + sentinels["form"]}}))
	w.look("/tasks/" + task)
	w.admin.must(200, "POST", "/tasks/"+task+"/complete", `{"decision": "approved", "form": `+form+`}`)
	w.admin.until("/executions/"+id, "status", "waiting")
	w.look("/executions/" + id)
	w.admin.must(202, "POST", "/executions/"+id+"/signals", `{"name": "told", "payload": {"n": 1}}`)
	for range 400 {
		if status := w.admin.must(200, "GET", "/executions/"+id, "")["status"]; status == "completed" || status == "failed" {
			return
		}
		w.pause()
	}
	w.t.Fatalf("the execution does not end: %v", w.admin.must(200, "GET", "/executions/"+id, ""))
}

func (w *sentinelWorld) pause() { time.Sleep(20 * time.Millisecond) }

// work makes the attempts for a remote worker: it prints and answers what it was given, then fails with it.
func (w *sentinelWorld) work(worker caller) {
	w.t.Helper()
	id := worker.must(201, "POST", "/workers", `{"hostname": "far", "activities": ["far"]}`)["workerId"].(string)
	var item map[string]any
	for item == nil {
		polled := worker.must(200, "POST", "/workers/"+id+"/poll", `{"waitSeconds": 5}`)
		if items := polled["items"].([]any); len(items) > 0 {
			item = items[0].(map[string]any)
		}
	}
	given := inJSON(item["input"])
	for _, what := range []string{"input", "secret"} {
		if !strings.Contains(given, inJSON(sentinels[what])) {
			w.t.Errorf("the worker was not given the %s: %s", what, given)
		}
	}
	lease := "/work/" + item["leaseId"].(string)
	worker.must(200, "POST", lease+"/heartbeat", inJSON(map[string]any{"log": []string{"I was given " + given, sentinels["input"], sentinels["secret"]}}))
	next := worker.must(200, "POST", lease+"/complete", inJSON(map[string]any{"activity": "worker", "attempt": 1, "output": item["input"], "log": given}))["next"]
	if next == nil {
		w.t.Fatal("the worker does not get the next attempt")
	}
	worker.must(200, "POST", lease+"/fail", inJSON(map[string]any{"activity": "worker_failed", "attempt": 1, "log": given,
		"error": map[string]any{"type": "far.away", "message": "no " + sentinels["input"] + sentinels["secret"], "detail": item["input"]}}))
	worker.must(200, "POST", "/workers/"+id+"/drain", "{}")
}

// openTask waits for the task of an execution.
func (w *sentinelWorld) openTask(execution string) string {
	w.t.Helper()
	for range 1000 {
		if items := w.admin.must(200, "GET", "/tasks?status=open&execution="+execution, "")["items"].([]any); len(items) > 0 {
			return items[0].(map[string]any)["id"].(string)
		}
		w.pause()
	}
	w.t.Fatalf("no task: %v", w.admin.must(200, "GET", "/executions/"+execution, ""))
	return ""
}

// startByHook starts a workflow by its webhook; everything of the request is sensitive then.
func (w *sentinelWorld) startByHook() string {
	w.t.Helper()
	address := w.admin.base + "/hooks/default/pay?q=" + url.QueryEscape(sentinels["input"])
	request, err := http.NewRequest("POST", address, strings.NewReader(inJSON(map[string]any{"raw": sentinels["input"]})))
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer hook-secret")
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Other", sentinels["input"])
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	var answer map[string]any
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer["id"] == nil {
		w.t.Fatalf("%d %v %v", response.StatusCode, answer, err)
	}
	return answer["id"].(string)
}

// wentThroughAll: each activity had its turn, and those that were to be refused were.
func (w *sentinelWorld) wentThroughAll(detail map[string]any) {
	w.t.Helper()
	activities := detail["activities"].(map[string]any)
	for id, status := range map[string]string{"http": "completed", "http_refused": "failed", "http_lost": "failed", "http_file": "completed", "http_connection": "failed",
		"script": "completed", "script_thrown": "failed", "script_bash": "completed", "script_exit": "failed", "sql": "completed", "sql_refused": "failed", "email": "failed",
		"email_lost": "failed", "ai": "completed", "ai_unfit": "failed", "worker": "completed", "worker_failed": "failed", "child": "completed", "child_failed": "failed",
		"emit": "completed", "wait": "failed", "human": "completed", "event": "completed", "fail": "failed", "switch": "completed"} {
		activity, _ := activities[id].(map[string]any)
		if activity["status"] != status {
			w.t.Errorf("%s is %v, not %s: %v", id, activity["status"], status, activity["error"])
		}
	}
	for _, id := range []string{"each_keyed", "child_keyed", "emit_keyed", "semaphore", "human_named", "event_keyed", "fail_typed"} {
		activity, _ := activities[id].(map[string]any)
		if refused, _ := activity["error"].(map[string]any); refused["type"] != "sensitive.refused" {
			w.t.Errorf("%s puts a sensitive value where all may read it: %v", id, activity)
		}
	}
}

// schedule keeps a sensitive input for later, and starts with it.
func (w *sentinelWorld) schedule() {
	w.t.Helper()
	made := w.admin.must(201, "POST", "/schedules", inJSON(map[string]any{"workflow": "pay", "every": "1h", "input": map[string]any{"card": sentinels["input"], "how": "good"}}))
	w.admin.must(200, "GET", "/schedules/"+made["id"].(string), "")
	w.admin.must(422, "POST", "/schedules", inJSON(map[string]any{"workflow": "pay", "every": "1h", "input": map[string]any{"card": sentinels["refused input"] + "!", "how": 1}}))
}

// refusals are requests that hold a sentinel and are refused, or answered at once.
func (w *sentinelWorld) refusals(execution string) {
	w.t.Helper()
	plain := func(method, path, body string) {
		w.t.Helper()
		if status, answer := w.admin.call(method, path, body); status < 400 || status >= 500 {
			w.t.Errorf("%s %s: %d %v", method, path, status, answer)
		}
	}
	card := inJSON("x" + sentinels["refused input"])
	plain("POST", "/workflows/pay/executions", `{"input": {"card": `+card+`}}`)
	plain("POST", "/workflows/pay/executions", `{"input": {"card": [`+card+`]}}`)
	plain("POST", "/workflows/pay/executions", `{"input": {"card": {"a": `+card+`}}}`)
	plain("POST", "/executions/batch", `{"workflow": "pay", "items": [{"input": {"card": `+card+`}}]}`)
	plain("POST", "/executions/"+execution+"/retry", `{"input": {"card": `+card+`}}`)
	plain("POST", "/workflows/pay/plan", `{"input": {"card": `+card+`}}`)
	plain("PUT", "/secrets/no-name!", `{"value": `+inJSON(sentinels["secret"])+`}`)
	plain("PUT", "/secrets/KEY", `{"value": [`+inJSON(sentinels["secret"])+`]}`)
	plain("PUT", "/secrets/KEY", `{"value": `+inJSON(sentinels["secret"])+`, "usableBy": "pay"}`)
	plain("PUT", "/secrets/KEY", `{"value": `+inJSON(sentinels["secret"])[1:]+`}`)
	plain("PUT", "/connections/api", inJSON(map[string]any{"kind": "http", "settings": map[string]any{"baseUrl": "http://x"}, "secrets": map[string]any{"token": sentinels["secret"]}}))
	caller{w.t, w.admin.base, sentinels["token"] + "x"}.must(401, "GET", "/me", "")
	input := map[string]any{"card": sentinels["input"], "how": "good"}
	mocks := map[string]any{"human": map[string]any{"outcome": "approved", "form": map[string]any{"code": sentinels["form"]}}}
	w.admin.must(200, "POST", "/workflows/pay/plan", inJSON(map[string]any{"input": input, "mocks": mocks}))
	for _, form := range []url.Values{
		{"name": {"no-name!"}, "value": {sentinels["secret"]}},
		{"name": {"KEY"}, "value": {sentinels["secret"]}, "usableBy": {"!!"}},
	} {
		w.fetch("POST", "/settings/secrets", "text/html", form.Encode())
	}
}

// look reads a page or an answer in both forms; who is sent what is recorded on the wire.
func (w *sentinelWorld) look(path string) {
	w.t.Helper()
	for _, prefix := range []string{"", "/api/v1"} {
		w.fetch("GET", prefix+path, "text/html", "")
	}
}

func (w *sentinelWorld) fetch(method, path, accept, form string) (int, string) {
	w.t.Helper()
	request, err := http.NewRequest(method, w.admin.base+path, strings.NewReader(form))
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+w.admin.token)
	request.Header.Set("Accept", accept)
	if form != "" {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	mustNotTell(w.t, method+" "+path, string(text))
	return response.StatusCode, string(text)
}

// lookAtEverything reads every route that can be read, with the ids of all there is, in each form.
func (w *sentinelWorld) lookAtEverything(executions []string) {
	w.t.Helper()
	list := w.admin.must(200, "GET", "/executions?limit=200", "")["items"].([]any)
	if len(list) < 3*len(executions) {
		w.t.Errorf("only %d executions: children and what events start are missing", len(list))
	}
	ids := map[string][]string{}
	w.files()
	for _, item := range list {
		ids["executions"] = append(ids["executions"], item.(map[string]any)["id"].(string))
	}
	for of, path := range map[string]string{"tasks": "/tasks", "schedules": "/schedules", "workers": "/workers", "people": "/people", "tokens": "/tokens"} {
		for _, item := range w.admin.must(200, "GET", path, "")["items"].([]any) {
			ids[of] = append(ids[of], fmt.Sprint(item.(map[string]any)["id"]))
		}
	}
	for _, path := range w.readable(ids) {
		for _, accept := range []string{"text/html", "application/json"} {
			if status, text := w.fetch("GET", path, accept, ""); status >= 500 {
				w.t.Errorf("GET %s: %d %.300s", path, status, text)
			}
		}
	}
}

// readable are the addresses of all GET routes, once for each thing that there is.
func (w *sentinelWorld) readable(ids map[string][]string) []string {
	var all []string
	activities := regexp.MustCompile(`(?m)^ +- (?:\{id|id): (\w+)`).FindAllStringSubmatch(everyKind, -1)
	for _, route := range w.server.Routes() {
		if route.Method != get || route.Path == "/api/v1/live" || strings.HasPrefix(route.Path, "/hooks/") {
			continue
		}
		parts := strings.Split(route.Path, "/")
		of := ids[parts[max(0, slices.Index(parts, ":id")-1)]]
		if !slices.Contains(parts, ":id") {
			of = []string{""}
		}
		for _, id := range of {
			path := strings.ReplaceAll(fill(route.Path, "pay", nil), "00000000-0000-0000-0000-000000000000", id)
			switch {
			case strings.Contains(route.Path, ":activity"):
				for _, activity := range activities {
					all = append(all, strings.ReplaceAll(strings.Replace(route.Path, ":id", id, 1), ":activity", activity[1]))
				}
				continue
			case strings.HasSuffix(route.Path, "/executions/:id"):
				for _, activity := range activities {
					all = append(all, path+"?activity="+activity[1])
				}
			case strings.HasSuffix(route.Path, "/state"):
				for seq := 1; seq < 200; seq += 7 {
					all = append(all, fmt.Sprint(path, "?at=", seq))
				}
			case strings.HasSuffix(route.Path, "/events"):
				path += "?limit=1000"
			}
			all = append(all, path)
		}
	}
	return all
}

// files: what http and scripts keep as files holds the sensitive input, for it may be meant to, but no secret.
func (w *sentinelWorld) files() {
	w.t.Helper()
	var files []string
	w.read("select id::text from files", func(rows pgx.Rows) (err error) {
		files, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if len(files) != 6 {
		w.t.Errorf("%d files, not two of each execution", len(files))
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, id := range files {
		request, _ := http.NewRequest("GET", w.admin.base+"/api/v1/files/"+id, nil)
		request.Header.Set("Authorization", "Bearer "+w.admin.token)
		request.Header.Set(aside, "yes")
		response, err := client.Do(request)
		if err != nil {
			w.t.Fatal(err)
		}
		content, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || !strings.Contains(string(content), "nti/nel+in?put") {
			w.t.Errorf("the file does not hold what it was given: %v %q", err, content)
		}
		if bytes.Contains(content, []byte("sec?ret")) {
			w.t.Errorf("a file holds a secret: %q", content)
		}
	}
}

// read asks the database past the engine.
func (w *sentinelWorld) read(query string, take func(pgx.Rows) error, args ...any) {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.database)
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close(context.Background())
	rows, err := conn.Query(w.t.Context(), query, args...)
	if err == nil {
		err = take(rows)
	}
	if err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
}

// areSealed: what is packed cannot be searched, so it has to be encrypted. All executions hold something sensitive.
func (w *sentinelWorld) areSealed() {
	w.t.Helper()
	for _, column := range []string{"history.events", "checkpoints.state", "inbox.message", "kept_events.signal", "file_parts.content"} {
		table, field, _ := strings.Cut(column, ".")
		var open int
		w.read("select count(*) from "+table+" where substr("+field+", 1, length($1::bytea)) <> $1", func(rows pgx.Rows) (err error) {
			open, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[int])
			return err
		}, seal.Mark())
		if open > 0 {
			w.t.Errorf("%d values of %s are not encrypted", open, column)
		}
	}
}
