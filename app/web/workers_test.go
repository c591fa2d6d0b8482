package web

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"weftline/app/workerclient"
)

const video = `apiVersion: weftline/v1
kind: Workflow
metadata:
  name: video
spec:
  activities:
    - id: render
      type: worker
      inputs: {task: render, input: {frames: 24}}
      retry: {attempts: 3, delay: 1ms, errors: [gpu.*]}
    - id: cut
      type: worker
      needs: [render]
      inputs: {task: cut, input: "${{ activities.render.output.output }}"}
  output: {got: activities.cut.output.output}
`

// workerToken is a token that may do nothing but work.
func workerToken(admin caller, name string) caller {
	token := admin.must(201, "POST", "/tokens", `{"name":"`+name+`","scopes":["worker"],"serviceAccount":{"name":"`+name+`","groups":[]}}`)
	return caller{admin.t, admin.base, token["token"].(string)}
}

func publish(c caller, name, text string) {
	c.t.Helper()
	c.must(200, "PUT", "/workflows/"+name+"/draft", text, "If-None-Match", "*", "Content-Type", "application/yaml")
	c.must(201, "POST", "/workflows/"+name+"/publish", `{"message":"first"}`)
}

func TestTheGoClientWorks(t *testing.T) {
	_, base := newRealServer(t)
	admin := caller{t, base, adminToken}
	publish(admin, "video", video)
	worker := workerToken(admin, "renderer")
	client := workerclient.New(base, worker.token, workerclient.Options{Concurrency: 2, Log: slog.New(slog.DiscardHandler)})
	var tries atomic.Int32
	client.Handle("render", func(_ context.Context, task workerclient.Task) (any, error) {
		var input struct{ Frames int }
		if err := task.Into(&input); err != nil || input.Frames != 24 {
			return nil, fmt.Errorf("input %s: %v", task.Input, err)
		}
		task.Logf("frames: %d\nattempt %d", input.Frames, task.Attempt)
		if tries.Add(1) == 1 {
			return nil, &workerclient.Failure{Type: "gpu.hot", Message: "too hot"}
		}
		return map[string]any{"url": "x", "attempt": task.Attempt}, nil
	})
	client.Handle("cut", func(_ context.Context, task workerclient.Task) (any, error) { return task.Input, nil })
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- client.Run(ctx) }()
	started := admin.must(202, "POST", "/workflows/video/executions", `{}`)
	detail := admin.until("/executions/"+started["id"].(string), "status", "completed")
	got, _ := detail["output"].(map[string]any)["got"].(map[string]any)
	if got["url"] != "x" || got["attempt"] != 2.0 {
		t.Errorf("%v", detail["output"])
	}
	for attempt, want := range []string{"[frames: 24 attempt 2]", "[frames: 24 attempt 1]", "[frames: 24 attempt 2]"} { // attempt 0 is the last one
		said := admin.must(200, "GET", fmt.Sprintf("/executions/%s/activities/render/log?attempt=%d", started["id"], attempt), "")
		var got []any
		for _, line := range said["lines"].([]any) {
			got = append(got, line.(map[string]any)["line"])
		}
		if fmt.Sprint(got) != want {
			t.Errorf("the log of attempt %d is %v", attempt, said)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the worker ends with %v", err)
	}
	var remote map[string]any
	for range 100 { // the execution can be seen to have ended before the worker's row is written
		if remote = admin.must(200, "GET", "/workers", "")["items"].([]any)[0].(map[string]any); remote["lastCompletedActivity"] == "cut" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if remote["kind"] != "remote" || remote["state"] != "stopped" || remote["lastCompletedActivity"] != "cut" || remote["registeredBy"] != "renderer" {
		t.Errorf("%v", remote)
	}
}

// Without the scope worker nobody gets work, and a worker's token can do nothing else.
func TestWhoMayWork(t *testing.T) {
	_, base := newRealServer(t)
	admin := caller{t, base, adminToken}
	publish(admin, "video", video)
	token := admin.must(201, "POST", "/tokens", `{"name":"all but work","scopes":["read","run","author","review"],"serviceAccount":{"name":"other","groups":[]}}`)
	other := caller{t, base, token["token"].(string)}
	const registration = `{"hostname":"h","activities":["render"]}`
	worker := workerToken(admin, "renderer")
	id := worker.must(201, "POST", "/workers", registration)["workerId"].(string)
	for _, path := range []string{"/workers", "/workers/" + id + "/poll", "/workers/" + id + "/heartbeat", "/workers/" + id + "/drain",
		"/work/" + id + "/complete", "/work/" + id + "/fail", "/work/" + id + "/heartbeat"} {
		other.must(403, "POST", path, registration)
		caller{t, base, "nonsense"}.must(401, "POST", path, registration)
	}
	worker.must(403, "POST", "/workflows/video/executions", `{}`)
	worker.must(403, "GET", "/workers", "")
	second := workerToken(admin, "another")
	if refused := second.must(409, "POST", "/workers/"+id+"/poll", `{"waitSeconds":0}`); refused["code"] != "conflict" {
		t.Errorf("%v", refused)
	}
	for body, field := range map[string]string{`{"activities":["a"]}`: "hostname", `{"hostname":"h"}`: "activities", `{"hostname":"h","activities":["a"],"maxConcurrency":-1}`: "maxConcurrency"} {
		if refused := worker.must(422, "POST", "/workers", body); !strings.Contains(refused["detail"].(string), field) {
			t.Errorf("%s: %v", body, refused)
		}
	}
	worker.must(422, "POST", "/workers/"+id+"/poll", `{"waitSeconds":31}`)
	worker.must(422, "POST", "/work/"+id+"/fail", `{"error":{"type":"engine.worker_lost"}}`)
	if refused := worker.must(409, "POST", "/work/"+id+"/complete", `{}`); refused["code"] != "lease_lost" {
		t.Errorf("%v", refused)
	}
}

// The shell lines of docs/workers.md are a whole worker.
func TestTheDocumentedProtocolRuns(t *testing.T) {
	for _, program := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not on this machine", program)
		}
	}
	text, err := os.ReadFile("../../docs/workers.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := func(language string) string {
		var all strings.Builder
		for _, block := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			all.WriteString(block[1] + "\n")
		}
		return all.String()
	}
	_, base := newRealServer(t)
	admin := caller{t, base, adminToken}
	definition, _, _ := strings.Cut(blocks("yaml"), "affinity:") // the second one is a part of a definition
	publish(admin, "video", definition)
	started := admin.must(202, "POST", "/workflows/video/executions", `{}`)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", blocks("sh"))
	shell.Env = append(os.Environ(), "WEFTLINE_URL="+base, "WEFTLINE_TOKEN="+workerToken(admin, "shell").token)
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	detail := admin.until("/executions/"+started["id"].(string), "status", "completed")
	if output, _ := json.Marshal(detail["output"]); string(output) != `{"url":"https://example.com/video.mp4"}` {
		t.Errorf("%s\n%s", output, out)
	}
}
