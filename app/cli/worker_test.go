package cli

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A worker pool joins the database of a running server, makes what asks for its labels and drains.
func TestAWorkerPoolBesideAServer(t *testing.T) {
	server := startServer(t, map[string]string{"WEFTLINE_BOOTSTRAP_TOKEN": "a-token-for-tests-only"})
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- workerPool(ctx, Terminal{Out: writer, Err: io.Discard, Env: func(string) (string, bool) { return "", false }},
			[]string{"--data-dir", server.data, "--labels", "gpu=true", "--region", "eu", "--queues", "renders", "--concurrency", "2"})
		writer.Close()
	}()
	line := make([]byte, 200)
	n, _ := reader.Read(line)
	if !strings.Contains(string(line[:n]), "is ready") {
		t.Fatalf("the worker does not start: %v", <-ended)
	}
	env := map[string]string{"WEFTLINE_URL": server.url, "WEFTLINE_TOKEN": "a-token-for-tests-only"}
	const definition = `apiVersion: weftline/v1
kind: Workflow
metadata: {name: placed}
spec:
  activities:
    - {id: render, type: script, inputs: {language: javascript, source: "return 6 * 7"}, affinity: {labels: {gpu: "true"}, prefer: {region: eu}, queue: renders}}
  output: {answer: activities.render.output.output}
`
	ran := call(t, env, "", "run", file(t, "placed.yaml", definition), "--watch")
	if ran.code != 0 || !strings.Contains(ran.out, "42") {
		t.Errorf("%+v", ran)
	}
	worker := pools(t, server.url)["renders"]
	if worker == nil || worker["state"] == "stopped" || worker["region"] != "eu" || worker["concurrency"] != 2.0 || worker["cpu"] == 0.0 {
		t.Errorf("%v", worker)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("the worker ends with %v", err)
	}
	if state := pools(t, server.url)["renders"]["state"]; state != "stopped" {
		t.Errorf("after its end the worker is %v", state)
	}
}

// pools are the workers of a server by the first queue that they serve.
func pools(t *testing.T, url string) map[string]map[string]any {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, "GET", url+"/api/v1/workers", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer a-token-for-tests-only")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var list struct {
		Items []struct {
			Queues []string `json:"queues"`
		}
	}
	var raw struct{ Items []map[string]any }
	body, err := io.ReadAll(response.Body)
	if err != nil || json.Unmarshal(body, &list) != nil || json.Unmarshal(body, &raw) != nil {
		t.Fatalf("%v %s", err, body)
	}
	found := map[string]map[string]any{}
	for i, item := range list.Items {
		name := ""
		if len(item.Queues) > 0 {
			name = item.Queues[0]
		}
		found[name] = raw.Items[i]
	}
	return found
}
