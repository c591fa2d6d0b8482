package engine_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine"
	"weftline/engine/activity"
	"weftline/engine/enginetest"
	"weftline/engine/execution"
)

// world is an engine on a database of its own, with an http kind that calls a function of the test.
type world struct {
	*engine.Engine
	t    *testing.T
	url  string
	who  engine.Who
	http *fakeHTTP
	stop func()
}

// patience bounds every wait of a test; nothing is expected to take nearly as long.
const patience = 30 * time.Second

func newWorld(t *testing.T, change ...func(*engine.Options)) *world {
	t.Helper()
	return newWorldAt(t, enginetest.Database(t), change...)
}

func newWorldAt(t *testing.T, database string, change ...func(*engine.Options)) *world {
	t.Helper()
	w := &world{t: t, url: database, http: &fakeHTTP{}}
	w.open(change...)
	person, err := w.Identity().EnsureLocalUser(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	w.who = engine.Who{Team: person.Team, TeamName: engine.DefaultTeam, User: person.Name, Roles: []string{engine.RoleAdmin}, Groups: []string{"everybody"}}
	return w
}

// open starts an engine on the world's database.
func (w *world) open(change ...func(*engine.Options)) {
	w.t.Helper()
	options := engine.Options{DatabaseURL: w.url, Concurrency: 8, Committers: 2, Activities: activity.NewRegistry(),
		Log: slog.New(slog.DiscardHandler), Grace: time.Second}
	for _, f := range change {
		f(&options)
	}
	options.Activities.Register("http", w.http)
	e, err := engine.Open(w.t.Context(), options)
	if err != nil {
		w.t.Fatal(err)
	}
	w.Engine = e
	ended := make(chan error, 1)
	go func() { ended <- e.Run(context.WithoutCancel(w.t.Context())) }()
	w.stop = sync.OnceFunc(func() {
		closed := make(chan bool, 1)
		go func() { e.Close(context.Background()); closed <- true }()
		if err := enginetest.Receive(w.t, ended, "the end of the engine"); err != nil {
			w.t.Errorf("the engine ended with: %v", err)
		}
		enginetest.Receive(w.t, closed, "the engine's connections closed")
	})
	w.t.Cleanup(w.stop)
}

const textHead = "apiVersion: weftline/v1\nkind: Workflow\nmetadata: {name: %s}\nspec:\n"

// publish publishes a workflow; spec is what stands below spec.
func (w *world) publish(name, spec string) {
	w.t.Helper()
	text := fmt.Sprintf(textHead, name) + spec
	if _, err := w.SaveDraft(w.t.Context(), w.who, name, []byte(text), "", true); err != nil {
		w.t.Fatal(err)
	}
	if _, _, err := w.Publish(w.t.Context(), w.who, name, ""); err != nil {
		if report := w.Validate(w.t.Context(), []byte(text)); !report.Valid {
			w.t.Fatalf("%v: %+v", err, report.Errors)
		}
		w.t.Fatal(err)
	}
}

func (w *world) start(name string, input map[string]any) uuid.UUID {
	w.t.Helper()
	started, err := w.Start(w.t.Context(), w.who, engine.StartRequest{Workflow: name, Input: input})
	if err != nil {
		w.t.Fatal(err)
	}
	return started.ID
}

// until looks at an execution after each of its changes until it is as wanted.
func (w *world) until(id uuid.UUID, what string, wanted func(engine.ExecutionDetail) bool) engine.ExecutionDetail {
	w.t.Helper()
	changed := make(chan struct{}, 1)
	stop := w.Watch(w.who.Team, func(c engine.Change) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	defer stop()
	bound := time.After(patience)
	for {
		detail, err := w.Execution(w.t.Context(), w.who, id)
		if err != nil {
			w.t.Fatal(err)
		}
		if wanted(detail) {
			return detail
		}
		select {
		case <-changed:
		case <-time.After(time.Second):
		case <-bound:
			w.t.Fatalf("the execution is not %s, it is %s: %+v\n%s", what, detail.Status, detail.Waits, w.words(id))
		}
	}
}

// ends waits for the end of an execution and checks its history.
func (w *world) ends(id uuid.UUID, status string) engine.ExecutionDetail {
	w.t.Helper()
	detail := w.until(id, "over", func(d engine.ExecutionDetail) bool { return execution.IsTerminal(d.Status) })
	if detail.Status != status {
		w.t.Fatalf("status %s, expected %s; error %+v\n%s", detail.Status, status, detail.Error, w.words(id))
	}
	w.gapless(id)
	return detail
}

// waiting waits until an activity waits.
func (w *world) waiting(id uuid.UUID, activity string) engine.ExecutionDetail {
	w.t.Helper()
	return w.until(id, "waiting at "+activity, func(d engine.ExecutionDetail) bool { return d.Activities[activity].Status == "waiting" })
}

func (w *world) events(id uuid.UUID) []execution.Event {
	w.t.Helper()
	page, err := w.Events(w.t.Context(), w.who, id, 0, 1_000_000)
	if err != nil {
		w.t.Fatal(err)
	}
	return page.Events
}

// gapless checks that events count 1..n, that none is of an earlier instant than the one before it, and that at most one result of each activity was accepted.
func (w *world) gapless(id uuid.UUID) {
	w.t.Helper()
	completed := map[string]int{}
	var before time.Time
	for i, event := range w.events(id) {
		if event.At.Before(before) {
			w.t.Errorf("event %d is of %s, the one before it of %s\n%s", event.Seq, event.At, before, w.words(id))
		}
		before = event.At
		if event.Seq != int64(i+1) {
			w.t.Fatalf("event %d has the number %d", i+1, event.Seq)
		}
		if event.Type == execution.ActivityCompleted {
			completed[fmt.Sprint(event.Activity, "/", event.Item, event.Compensating)]++
		}
	}
	for activity, n := range completed {
		if n > 1 {
			w.t.Errorf("%s completed %d times", activity, n)
		}
	}
}

func (w *world) count(id uuid.UUID, kind execution.EventType) int {
	n := 0
	for _, event := range w.events(id) {
		if event.Type == kind {
			n++
		}
	}
	return n
}

// words is the history for the message of a failed test.
func (w *world) words(id uuid.UUID) string {
	text := ""
	for _, event := range w.events(id) {
		text += fmt.Sprintf("%d %s %s %s %d %+v\n", event.Seq, event.Type, event.Activity, event.Item, event.Attempt, event.Data)
	}
	return text
}

// fakeHTTP answers http activities with answer, or at once with status 200.
type fakeHTTP struct {
	mu     sync.Mutex
	calls  []activity.Call
	answer func(ctx context.Context, call activity.Call) activity.Outcome
}

func (f *fakeHTTP) Run(ctx context.Context, call activity.Call) activity.Outcome {
	f.mu.Lock()
	f.calls = append(f.calls, call)
	answer := f.answer
	f.mu.Unlock()
	if answer != nil {
		return answer(ctx, call)
	}
	return activity.Outcome{Value: map[string]any{"status": int64(200), "headers": map[string]any{}, "body": map[string]any{"ok": true}, "file": nil}}
}

func (f *fakeHTTP) answers(answer func(ctx context.Context, call activity.Call) activity.Outcome) {
	f.mu.Lock()
	f.answer = answer
	f.mu.Unlock()
}

func (f *fakeHTTP) made() []activity.Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]activity.Call{}, f.calls...)
}

// rows counts the rows of an execution in a table.
func (w *world) rows(table string, id uuid.UUID) int {
	w.t.Helper()
	var n int
	w.row("select count(*) from "+table+" where execution_id = $1", id, &n)
	return n
}

// row reads one value about an execution past the engine.
func (w *world) row(query string, id uuid.UUID, value any) {
	w.t.Helper()
	w.connected(func(conn *pgx.Conn) error { return conn.QueryRow(w.t.Context(), query, id).Scan(value) })
}

// exec changes the database behind the engine's back.
func (w *world) exec(statement string) {
	w.t.Helper()
	w.connected(func(conn *pgx.Conn) error {
		_, err := conn.Exec(w.t.Context(), statement)
		return err
	})
}

func (w *world) connected(f func(*pgx.Conn) error) {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.url)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = conn.Close(w.t.Context()) }()
	if err := f(conn); err != nil {
		w.t.Fatal(err)
	}
}
