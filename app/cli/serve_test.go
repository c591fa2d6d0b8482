package cli

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"weftline/engine/enginetest"
)

// running is a real server of its own, with its own PostgreSQL.
type running struct {
	url, data string
	stop      func() error
}

func startServer(t *testing.T, env map[string]string) running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	reader, writer := io.Pipe()
	data := t.TempDir()
	var log bytes.Buffer
	ended := make(chan error, 1)
	go func() {
		ended <- serve(ctx, Terminal{Out: writer, Err: &log, Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok }},
			[]string{"--addr", "127.0.0.1:0", "--data-dir", data})
		writer.Close()
	}()
	line := make([]byte, 200)
	n, _ := reader.Read(line)
	_, url, ok := strings.Cut(strings.TrimSpace(string(line[:n])), "ready at ")
	if !ok {
		t.Fatalf("the server does not start: %v\n%s", <-ended, log.String())
	}
	stopped := false
	stop := func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-ended
	}
	t.Cleanup(func() { _ = stop() })
	return running{url: url, data: data, stop: stop}
}

func TestServeAndTheCommandsThatSpeakToIt(t *testing.T) {
	server := startServer(t, nil)
	response, err := http.Get(server.url + "/")
	if err != nil || response.StatusCode != 200 {
		t.Fatalf("%v %v", response, err)
	}
	response.Body.Close()

	token := call(t, nil, "", "token", "create", "--data-dir", server.data, "--name", "test", "--scopes", "read,run,author")
	if token.code != 0 {
		t.Fatalf("%+v", token)
	}
	env := map[string]string{"WEFTLINE_URL": server.url, "WEFTLINE_TOKEN": strings.TrimSpace(token.out)}
	ran := call(t, env, "", "run", file(t, "greet.yaml", good), "--input", "name=Ann", "--watch")
	if ran.code != 0 || !strings.Contains(ran.out, "WorkflowCompleted") || !strings.Contains(ran.out, "Hello Ann") {
		t.Errorf("%+v", ran)
	}
	if refused := call(t, env, "", "run", "greet", "--input", "nmae=Ann"); refused.code != 1 || !strings.Contains(refused.err, "/name") {
		t.Errorf("%+v", refused)
	}
	if listed := call(t, env, "", "executions", "list", "--workflow", "greet"); !strings.Contains(listed.out, "completed") {
		t.Errorf("%+v", listed)
	}
	if listed := call(t, env, "", "workflows", "list"); !strings.Contains(listed.out, "greet") {
		t.Errorf("%+v", listed)
	}
	if status := call(t, nil, "", "migrate", "status", "--data-dir", server.data); status.code != 0 {
		t.Errorf("%+v", status)
	}
	second := call(t, nil, "", "serve", "--addr", "127.0.0.1:0", "--data-dir", server.data)
	if second.code != 1 || !strings.Contains(second.err, "another Weftline") {
		t.Errorf("a second server on the same data: %+v", second)
	}
	if err := server.stop(); err != nil {
		t.Errorf("the server ends with %v", err)
	}
	if _, err := http.Get(server.url + "/healthz"); err == nil {
		t.Error("it still answers")
	}
}

func TestRunLocally(t *testing.T) {
	env := map[string]string{"DATABASE_URL": enginetest.EmptyDatabase(t)} // a scratch database is made beside it
	ran := call(t, env, "", "run", file(t, "greet.yaml", good), "--local", "--input", "name=Ann")
	if ran.code != 0 || !strings.Contains(ran.out, "Hello Ann") {
		t.Errorf("%+v", ran)
	}
	wrong := call(t, env, "", "run", file(t, "greet.yaml", good), "--local", "--input", "name=1")
	if wrong.code != 1 || !strings.Contains(wrong.err, "/name") {
		t.Errorf("%+v", wrong)
	}
}
