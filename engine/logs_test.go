package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"weftline/engine"
	"weftline/engine/activity"
	"weftline/engine/execution"
)

// logLines keeps what was logged as JSON.
type logLines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// about answers the lines that name an execution.
func (l *logLines) about(t *testing.T, id string) (lines []map[string]any) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for text := range strings.Lines(l.text.String()) {
		line := map[string]any{}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		if line["execution"] == id {
			lines = append(lines, line)
		}
	}
	return lines
}

func debugLog(l *logLines) func(*engine.Options) {
	return func(o *engine.Options) {
		o.Log = slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
}

const twice = `
  affinity: {queue: %s}
  activities:
    - {id: a, type: http, inputs: {url: "https://example.com"}, retry: {attempts: 2, delay: 1ms, errors: [http.5xx]}}
`

// Every line about an execution says of which workflow, who did it, under which lease, what happened and by which
// correlation id; lines about activities name them and the attempt.
func TestLinesSayWhatTheyAreAbout(t *testing.T) {
	log := &logLines{}
	w := newWorld(t, debugLog(log))
	w.http.answers(func(_ context.Context, call activity.Call) activity.Outcome {
		if call.Attempt == 1 {
			return activity.Outcome{Err: &execution.Error{Type: "http.503", Class: "external", Message: "not now"}}
		}
		return activity.Outcome{Value: map[string]any{"status": int64(200)}}
	})
	w.publish("twice", strings.ReplaceAll(twice, "%s", "default"))
	started, err := w.Start(t.Context(), w.who, engine.StartRequest{Workflow: "twice", CorrelationID: "order 7"})
	if err != nil {
		t.Fatal(err)
	}
	w.ends(started.ID, "completed")
	w.stop()
	seen := map[string]int{}
	for _, line := range log.about(t, started.ID.String()) {
		event, _ := line["event"].(string)
		seen[event]++
		for _, name := range []string{"time", "event", "execution", "workflow", "worker", "lease", "correlation"} {
			if text, _ := line[name].(string); text == "" {
				t.Errorf("a line does not say its %s: %v", name, line)
			}
		}
		if line["correlation"] != "order 7" || line["workflow"] != "twice" || line["worker"] != w.Worker().String() {
			t.Errorf("a line is about something else: %v", line)
		}
		if strings.HasPrefix(event, "Activity") || strings.HasPrefix(event, "Attempt") {
			if line["activity"] != "a" || line["attempt"] == nil && event != string(execution.ActivityReady) {
				t.Errorf("a line does not name its activity and attempt: %v", line)
			}
		}
		if event == "AttemptEnded" {
			attempt := int(line["attempt"].(float64))
			if line["span"] != activity.SpanOf(started.ID.String(), "a", "", attempt) || line["trace"] != strings.ReplaceAll(started.ID.String(), "-", "") {
				t.Errorf("the span is not that of the request: %v", line)
			}
		}
		if event == string(execution.ActivityRetryScheduled) && line["level"] != "INFO" {
			t.Errorf("a retry is not for everybody to see: %v", line)
		}
	}
	for event, n := range map[string]int{"AttemptEnded": 2, "ActivityRetryScheduled": 1, "ActivityCompleted": 1, "WorkflowCompleted": 1} {
		if seen[event] != n {
			t.Errorf("%d lines of %s, expected %d; seen %v", seen[event], event, n, seen)
		}
	}
}

// An attempt that another worker makes is told under its lease.
func TestLinesOfAnErrandNameItsLease(t *testing.T) {
	log := &logLines{}
	w := newWorld(t, labelled(nil, "", "default"))
	other := w.beside(labelled(nil, "", "other"), debugLog(log))
	w.publish("split", `
  activities:
    - {id: a, type: http, inputs: {url: "https://example.com"}, affinity: {queue: other}}
`)
	id := w.start("split", nil)
	w.ends(id, "completed")
	other.stop()
	events := map[string]bool{}
	for _, line := range log.about(t, id.String()) {
		if lease, _ := line["lease"].(string); lease == "" || lease == other.Worker().String() || line["worker"] != other.Worker().String() || line["correlation"] != id.String() || line["activity"] != "a" {
			t.Errorf("%v", line)
		}
		events[line["event"].(string)] = true
	}
	if !events["ErrandBegan"] || !events["ErrandEnded"] {
		t.Errorf("seen %v", events)
	}
}
