package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"weftline/engine/enginetest"
)

// enoughForACheckpoint is so large that this release stores the state with the flush that it is in.
var enoughForACheckpoint = strings.Repeat("x", 300<<10)

// Every kind of thing that two releases share: what runs here and there, what waits, what a remote worker makes.
const mixedWorkflow = `apiVersion: weftline/v1
kind: Workflow
metadata: {name: mixed}
spec:
  input: {type: object, properties: {large: {type: string}}}
  activities:
    - {id: first, type: set, outputs: {number: "1"}}
    - {id: far, type: worker, needs: [first], inputs: {task: render, input: 7}}
    - {id: pause, type: wait, needs: [far], wait: {timer: {after: 100ms}}}
    - id: each
      type: for_each
      needs: [pause]
      for_each: {items: "[1, 2, 3]", activity: {type: set, outputs: {number: item}}}
`

// Which releases take part.
const (
	thisRelease = "this"
	nextRelease = "next"
)

// A release is rolled out over the one before, and rolled back, on one database under load: nobody is refused,
// nothing fails, nothing stays.
func TestTwoReleasesOnOneDatabase(t *testing.T) {
	if _, err := nextProgram(); err != nil {
		t.Fatal(err)
	}
	for name, order := range map[string][2]string{"the next one joins": {thisRelease, nextRelease}, "the one before joins": {nextRelease, thisRelease}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &mixed{t: t, database: enginetest.Database(t), wants: "Bearer a-token-for-tests-only"}
			first := m.serve(order[0])
			m.sendTo(first.url)
			m.publish(first.url)
			dismiss := m.hire()
			stop := m.load()
			m.moreStarts(20)
			second := m.serve(order[1])
			m.moreStarts(20)
			m.sendTo(second.url)
			first.end()
			m.moreStarts(20)
			again := m.serve(order[0]) // as after a crash, or since the roll-out is taken back
			m.sendTo(again.url)
			second.end()
			m.moreStarts(20)
			stop()
			m.allEnd()
			m.nothingIsForgotten()
			dismiss()
		})
	}
}

// mixed is a database with servers of two releases, clients that start executions, and an old remote worker.
type mixed struct {
	t        *testing.T
	database string
	wants    string
	started  atomic.Int64

	sending sync.RWMutex // held while a client is answered, so that nobody is sent to a server that is about to end
	front   string       // the URL where clients are sent
}

// sendTo sends clients to a server from now on; whoever asks another one has his answer by then.
func (m *mixed) sendTo(url string) {
	m.sending.Lock()
	m.front = url
	m.sending.Unlock()
}

func (m *mixed) current() string {
	m.sending.RLock()
	defer m.sending.RUnlock()
	return m.front
}

// release is a server of one, as a process of its own.
type release struct {
	url string
	end func()
}

func (m *mixed) serve(which string) release {
	m.t.Helper()
	program, err := os.Executable()
	if which == nextRelease {
		program, err = nextProgram()
	}
	if err != nil {
		m.t.Fatal(err)
	}
	process := exec.Command(program, "serve", "--addr", "127.0.0.1:0", "--data-dir", m.t.TempDir())
	process.Env = append(os.Environ(), releaseVariable+"="+which, "DATABASE_URL="+m.database, "WEFTLINE_BOOTSTRAP_TOKEN=a-token-for-tests-only")
	var log bytes.Buffer
	process.Stderr = &log
	out, err := process.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		m.t.Fatal(err)
	}
	end := sync.OnceFunc(func() {
		_ = process.Process.Signal(syscall.SIGTERM)
		if err := process.Wait(); err != nil {
			m.t.Errorf("a server of release %s ended with %v\n%s", which, err, log.String())
		}
	})
	m.t.Cleanup(end)
	line, _ := bufio.NewReader(out).ReadString('\n')
	_, url, ok := strings.Cut(strings.TrimSpace(line), "ready at ")
	if !ok {
		m.t.Fatalf("release %s does not start: %q\n%s", which, line, log.String())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return release{url, end}
}

func (m *mixed) publish(url string) {
	m.t.Helper()
	env := map[string]string{"WEFTLINE_URL": url, "WEFTLINE_TOKEN": "a-token-for-tests-only"}
	if got := call(m.t, env, "", "run", file(m.t, "mixed.yaml", mixedWorkflow)); got.code != 0 {
		m.t.Fatalf("%+v", got)
	}
	m.started.Add(1)
}

// hire has an old remote worker work until it is dismissed.
func (m *mixed) hire() (dismiss func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { m.oldWorker(ctx) })
	dismiss = func() {
		cancel()
		work.Wait()
	}
	m.t.Cleanup(dismiss)
	return dismiss
}

// load starts executions and reads until stop.
func (m *mixed) load() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for ctx.Err() == nil {
				input := map[string]any{}
				if m.started.Load()%5 == 0 {
					input["large"] = enoughForACheckpoint
				}
				if m.ask("POST", "/api/v1/workflows/mixed/executions", map[string]any{"input": input}, nil) {
					m.started.Add(1)
				}
				m.ask("GET", "/api/v1/executions?limit=20", nil, nil)
				m.ask("GET", "/api/v1/workers", nil, nil)
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
	stop = func() {
		cancel()
		all.Wait()
	}
	m.t.Cleanup(stop)
	return stop
}

// ask makes a request that must be answered well.
func (m *mixed) ask(method, path string, body, answer any) bool {
	m.sending.RLock()
	defer m.sending.RUnlock()
	status, text, err := m.send(context.Background(), method, m.front+path, body, answer)
	if err == nil && status < 300 {
		return true
	}
	m.t.Errorf("%s %s: %d %s %v", method, path, status, text, err)
	return false
}

func (m *mixed) send(ctx context.Context, method, url string, body, answer any) (int, string, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return 0, "", err
	}
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(encoded))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Authorization", m.wants)
	request.Header.Set("Content-Type", "application/json")
	request.Close = true // a server that ends must not end a request that was sent to it in the same moment
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err == nil && answer != nil && response.StatusCode < 300 {
		err = json.Unmarshal(text, answer)
	}
	return response.StatusCode, string(text), err
}

// oldWorker is a remote worker as it was when the protocol was first published. It says and reads no more than that
// release knew: never add to it. It registers where clients are sent, and again where they are sent next.
func (m *mixed) oldWorker(ctx context.Context) {
	for ctx.Err() == nil {
		url := m.current()
		var ticket struct {
			WorkerID string `json:"workerId"`
		}
		status, text, err := m.send(ctx, "POST", url+"/api/v1/workers", map[string]any{"hostname": "old", "activities": []string{"render"}, "maxConcurrency": 4}, &ticket)
		if err != nil || status >= 300 {
			if ctx.Err() == nil && url == m.current() {
				m.t.Errorf("the old worker cannot register: %d %s %v", status, text, err)
				return
			}
			continue
		}
		for ctx.Err() == nil && url == m.current() {
			m.oldPoll(ctx, url, ticket.WorkerID)
		}
	}
}

func (m *mixed) oldPoll(ctx context.Context, url, worker string) {
	var answer struct {
		Items []struct {
			LeaseID  string          `json:"leaseId"`
			Activity string          `json:"activity"`
			Attempt  int             `json:"attempt"`
			Input    json.RawMessage `json:"input"`
		} `json:"items"`
	}
	status, text, err := m.send(ctx, "POST", url+"/api/v1/workers/"+worker+"/poll", map[string]any{"max": 4, "waitSeconds": 1}, &answer)
	if ctx.Err() == nil && url == m.current() && (err != nil || status >= 300) {
		m.t.Errorf("the old worker gets no work: %d %s %v", status, text, err)
	}
	for _, item := range answer.Items {
		done := map[string]any{"activity": item.Activity, "attempt": item.Attempt, "output": map[string]any{"of": item.Input}}
		status, text, err := m.send(ctx, "POST", url+"/api/v1/work/"+item.LeaseID+"/complete", done, nil)
		if ctx.Err() == nil && url == m.current() && (err != nil || status >= 300) {
			m.t.Errorf("what the old worker did is not taken: %d %s %v", status, text, err)
		}
	}
}

// mixedPatience bounds every wait; nothing is expected to take nearly as long.
const mixedPatience = time.Minute

// moreStarts waits until so many more executions were started.
func (m *mixed) moreStarts(n int64) {
	m.t.Helper()
	enough := m.started.Load() + n
	m.eventually("executions are started", func() bool { return m.started.Load() >= enough || m.t.Failed() })
}

func (m *mixed) eventually(what string, holds func() bool) {
	m.t.Helper()
	for bound := time.Now().Add(mixedPatience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(bound) {
			m.t.Fatalf("in vain: %s", what)
		}
	}
}

// allEnd waits until every execution completed.
func (m *mixed) allEnd() {
	m.t.Helper()
	m.eventually("all executions are over", func() bool {
		var open struct{ Items []struct{ Status string } }
		// in one question: between two of them an execution may go from one status to another
		return !m.ask("GET", "/api/v1/executions?limit=1&status=created,running,waiting", nil, &open) || len(open.Items) == 0
	})
	var completed int64
	for cursor := ""; ; {
		var page struct {
			Items      []struct{ Status, ID string }
			NextCursor string `json:"nextCursor"`
		}
		if !m.ask("GET", "/api/v1/executions?limit=100&cursor="+cursor, nil, &page) {
			return
		}
		for _, one := range page.Items {
			if completed++; one.Status != "completed" {
				m.t.Errorf("execution %s is %s", one.ID, one.Status)
			}
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if completed != m.started.Load() {
		m.t.Errorf("%d executions were started, %d are there", m.started.Load(), completed)
	}
}

// nothingIsForgotten reads what the next release says of what it remembers: as many activities had completed as the
// history shows, whoever drove the execution until then and stored its state.
func (m *mixed) nothingIsForgotten() {
	m.t.Helper()
	said, handedOver := 0, 0
	for cursor := ""; ; {
		var page struct {
			Items      []struct{ ID string }
			NextCursor string `json:"nextCursor"`
		}
		if !m.ask("GET", "/api/v1/executions?limit=100&cursor="+cursor, nil, &page) {
			return
		}
		for _, one := range page.Items {
			asides, completed := m.asides(one.ID)
			said += asides
			if asides > 0 && asides < completed {
				handedOver++
			}
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	m.t.Logf("%d executions, of which both releases drove %d; what is remembered was said %d times", m.started.Load(), handedOver, said)
	if handedOver == 0 {
		m.t.Error("no execution was driven by both releases")
	}
}

// asides is how often the next release spoke in an execution, and how many activities completed.
func (m *mixed) asides(execution string) (asides, completed int) {
	m.t.Helper()
	var history struct {
		Events []struct {
			Seq  int64
			Type string
			Data struct{ Completed, AsOf int64 }
		}
	}
	if !m.ask("GET", "/api/v1/executions/"+execution+"/events?limit=500", nil, &history) {
		return 0, 0
	}
	var ends []int64
	for _, event := range history.Events {
		switch event.Type {
		case "ActivityCompleted":
			ends = append(ends, event.Seq)
		case "ActivityRemembered":
			asides++
			before := int64(0)
			for _, end := range ends {
				if end <= event.Data.AsOf {
					before++
				}
			}
			if before != event.Data.Completed {
				m.t.Errorf("execution %s, event %d: %d activities had completed, %d are remembered", execution, event.Seq, before, event.Data.Completed)
			}
		}
	}
	return asides, len(ends)
}
