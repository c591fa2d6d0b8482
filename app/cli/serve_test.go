package cli

import (
	"bytes"
	"context"
	"encoding/json"
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
	scheduleFromTheTerminal(t, env)
	louder := file(t, "greet.yaml", strings.ReplaceAll(good, "Hello", "HELLO"))
	if proposed := call(t, env, "", "workflows", "propose", louder, "--title", "Louder"); proposed.code != 0 || proposed.out != "proposal 1 of greet\n" {
		t.Errorf("%+v", proposed)
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

// scheduleFromTheTerminal makes a schedule, pauses it, lets it tick, and removes it.
func scheduleFromTheTerminal(t *testing.T, env map[string]string) {
	t.Helper()
	good := func(args ...string) outcome {
		t.Helper()
		got := call(t, env, "", append([]string{"schedules"}, args...)...)
		if got.code != 0 {
			t.Fatalf("schedules %v: %+v", args, got)
		}
		return got
	}
	made := good("create", "greet", "--cron", "0 6 * * 1-5", "--timezone", "Europe/Berlin", "--input", "name=Eve", "--json")
	var schedule struct{ ID, Cron, Timezone string }
	if err := json.Unmarshal([]byte(made.out), &schedule); err != nil || schedule.Cron != "0 6 * * 1-5" || schedule.Timezone != "Europe/Berlin" {
		t.Fatalf("%v %+v", err, made)
	}
	if listed := good("list", "--workflow", "greet"); !strings.Contains(listed.out, schedule.ID) || !strings.Contains(listed.out, "0 6 * * 1-5") {
		t.Errorf("%+v", listed)
	}
	if ticked := good("trigger", schedule.ID); !strings.Contains(ticked.out, "started") {
		t.Errorf("%+v", ticked)
	}
	if ticks := good("ticks", schedule.ID); !strings.Contains(ticks.out, "started") {
		t.Errorf("%+v", ticks)
	}
	if paused := good("pause", schedule.ID); !strings.Contains(paused.out, "paused") {
		t.Errorf("%+v", paused)
	}
	if resumed := good("resume", schedule.ID); !strings.Contains(resumed.out, "next 2") {
		t.Errorf("%+v", resumed)
	}
	good("delete", schedule.ID)
	if gone := call(t, env, "", "schedules", "show", schedule.ID); gone.code != 1 || !strings.Contains(gone.err, "not_found") {
		t.Errorf("%+v", gone)
	}
	if wrong := call(t, env, "", "schedules", "create", "greet", "--cron", "nonsense", "--input", "name=Eve"); wrong.code != 1 {
		t.Errorf("%+v", wrong)
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
