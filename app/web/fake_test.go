package web

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgconn"

	"weftline/app/auth"
	"weftline/app/metrics"
	"weftline/engine"
	"weftline/engine/execution"
	"weftline/engine/flow"
)

var (
	known   = uuid.MustParse("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
	unknown = uuid.MustParse("6ba7b811-9dad-11d1-80b4-00c04fd430c8")
	team    = uuid.MustParse("6ba7b812-9dad-11d1-80b4-00c04fd430c8")
)

// fakeDoor answers what the tests need; any other call panics, which is a 500 and fails the test.
type fakeDoor struct {
	engine.Door
	started engine.StartRequest
	waiting engine.Pressure
	draft   *engine.Draft
	signals int
	broken  int // so many reads and starts still find the connection to the database broken
}

// breaks is the error of a broken connection, as often as there are some.
func (f *fakeDoor) breaks() error {
	if f.broken == 0 {
		return nil
	}
	f.broken--
	return &pgconn.PgError{Code: pgerrcode.AdminShutdown}
}

func (f *fakeDoor) Pressure() engine.Pressure { return f.waiting }

func (f *fakeDoor) Start(_ context.Context, _ engine.Who, request engine.StartRequest) (engine.Started, error) {
	if err := f.breaks(); err != nil {
		return engine.Started{}, err
	}
	f.started = request
	switch request.Workflow {
	case "none":
		return engine.Started{}, engine.Refuse("not_found", "there is no workflow none")
	case "full":
		return engine.Started{Skipped: true}, nil
	case "panics":
		panic("a fault in the engine")
	case "strict":
		return engine.Started{}, &engine.Error{Code: "invalid_input", Message: "the input does not fit",
			Problems: []flow.Problem{{Path: "/amount", Code: "E401", Severity: "error", Message: "amount is missing"}}}
	}
	return engine.Started{ID: known, Workflow: request.Workflow, Version: 1, Status: "created"}, nil
}

func (f *fakeDoor) Execution(_ context.Context, _ engine.Who, id uuid.UUID) (engine.ExecutionDetail, error) {
	if err := f.breaks(); err != nil {
		return engine.ExecutionDetail{}, err
	}
	if id != known {
		return engine.ExecutionDetail{}, engine.Refuse("not_found", "there is no such execution")
	}
	return engine.ExecutionDetail{ID: id, Workflow: "w", Version: 1, Detail: execution.Detail{Status: "running", LastSeq: 3}}, nil
}

func (f *fakeDoor) Executions(context.Context, engine.Who, engine.ExecutionFilter) (engine.Page[engine.ExecutionSummary], error) {
	return engine.Page[engine.ExecutionSummary]{}, nil
}

func (f *fakeDoor) Signal(context.Context, engine.Who, uuid.UUID, string, any, string) error {
	f.signals++
	return nil
}

func (f *fakeDoor) Validate(_ context.Context, text []byte) flow.Report {
	return flow.Report{Valid: len(text) > 0, Name: "w"}
}

func (f *fakeDoor) SaveDraft(_ context.Context, who engine.Who, name string, text []byte, ifMatch string, create bool) (engine.Draft, error) {
	if f.draft != nil && (create || ifMatch != f.draft.ETag) {
		return engine.Draft{}, &engine.Error{Code: "stale", Message: "somebody else saved", Draft: f.draft}
	}
	f.draft = &engine.Draft{Name: name, Text: string(text), ETag: uuid.NewString(), Valid: true, By: who.User, At: time.Now()}
	return *f.draft, nil
}

func (f *fakeDoor) Draft(context.Context, engine.Who, string) (engine.Draft, error) {
	if f.draft == nil {
		return engine.Draft{}, engine.Refuse("not_found", "there is no draft")
	}
	return *f.draft, nil
}

// fakeIdentity knows tokens named after what they may do, and remembers answers.
type fakeIdentity struct {
	Identity // what no test needs panics, which is a 500
	answers  map[string]json.RawMessage
	bodies   map[string]string
}

func (f *fakeIdentity) Authenticate(_ context.Context, token string) (engine.Who, error) {
	scopes, ok := strings.CutPrefix(token, "may-")
	if !ok {
		return engine.Who{}, engine.ErrUnknownCredential
	}
	return engine.Who{Team: team, TeamName: "default", User: token, Scopes: strings.Split(scopes, "+")}, nil
}

func (f *fakeIdentity) Session(_ context.Context, id string, _ engine.SessionLimits) (engine.Session, error) {
	if id != "good" {
		return engine.Session{}, engine.ErrUnknownCredential
	}
	return engine.Session{Who: engine.Who{Team: team, TeamName: "default", User: "local", Roles: []string{"admin"}}, CSRF: "csrf-of-good"}, nil
}

func (f *fakeIdentity) PeekSession(ctx context.Context, id string, limits engine.SessionLimits) (engine.Session, error) {
	return f.Session(ctx, id, limits)
}

func (f *fakeIdentity) StartSession(context.Context, engine.Person, engine.SessionLimits, string, string) (string, error) {
	return "good", nil
}

func (f *fakeIdentity) CreateToken(_ context.Context, _ engine.Who, request engine.TokenRequest) (engine.Token, string, error) {
	return engine.Token{ID: known, Name: request.Name, Scopes: request.Scopes}, "wft_secret", nil
}

func (f *fakeIdentity) Tokens(context.Context, engine.Who, engine.PageRequest) (engine.Page[engine.Token], error) {
	return engine.Page[engine.Token]{}, nil
}

func (f *fakeIdentity) DeleteToken(context.Context, engine.Who, uuid.UUID) error { return nil }

func (f *fakeIdentity) Audit(context.Context, engine.Who, engine.AuditFilter) (engine.Page[engine.AuditEntry], error) {
	return engine.Page[engine.AuditEntry]{}, nil
}

func (f *fakeIdentity) Once(_ context.Context, _ engine.Who, operation, key string, body []byte, act func() (json.RawMessage, error)) (json.RawMessage, error) {
	key = operation + " " + key
	if first, ok := f.answers[key]; ok {
		if f.bodies[key] != string(body) {
			return nil, engine.Refuse("idempotency_mismatch", "another body")
		}
		return first, nil
	}
	answer, err := act()
	if err == nil {
		f.answers[key], f.bodies[key] = answer, string(body)
	}
	return answer, err
}

// fakeConnections keep nothing.
type fakeConnections struct{}

func (fakeConnections) PutConnection(context.Context, engine.Who, engine.Connection) (engine.Connection, error) {
	return engine.Connection{}, nil
}
func (fakeConnections) DeleteConnection(context.Context, engine.Who, string) error { return nil }
func (fakeConnections) Connections(context.Context, engine.Who, engine.PageRequest) (engine.Page[engine.Connection], error) {
	return engine.Page[engine.Connection]{}, nil
}
func (fakeConnections) TestConnection(context.Context, engine.Who, string) (engine.ConnectionTest, error) {
	return engine.ConnectionTest{}, nil
}

// fakeVault keeps nothing.
type fakeVault struct{}

func (fakeVault) PutSecret(context.Context, engine.Who, engine.SecretChange) error { return nil }
func (fakeVault) Hide(_ engine.Who, text string) (string, error)                   { return text, nil }
func (fakeVault) Reveal(_ engine.Who, hidden string) (string, error)               { return hidden, nil }
func (fakeVault) SecretsInUse(context.Context, engine.Who) (map[string][]string, error) {
	return nil, nil
}
func (fakeVault) DeleteSecret(context.Context, engine.Who, string) error { return nil }
func (fakeVault) Secrets(context.Context, engine.Who, engine.PageRequest) (engine.Page[engine.Secret], error) {
	return engine.Page[engine.Secret]{}, nil
}

type alwaysReady struct{}

func (alwaysReady) Ready(context.Context) error { return nil }

func (alwaysReady) Degraded(context.Context) (string, error) { return "", nil }

func newTestServer(t *testing.T, change func(*Options)) (*Server, *fakeDoor) {
	t.Helper()
	door := &fakeDoor{}
	options := Options{
		Door: door, Identity: &fakeIdentity{answers: map[string]json.RawMessage{}, bodies: map[string]string{}},
		Vault: fakeVault{}, Connections: fakeConnections{}, Health: alwaysReady{}, Log: slog.New(slog.DiscardHandler), Metrics: metrics.New(), PayloadMax: 1 << 20,
	}
	if change != nil {
		change(&options)
	}
	server := New(options)
	t.Cleanup(func() { _ = server.Shutdown(context.Background()) })
	return server, door
}

// request is one call; headers are name, value, name, value …
type request struct {
	method, path, body string
	headers            []string
}

type answer struct {
	*http.Response
	text string
}

func (a answer) problem(t *testing.T) Failure {
	t.Helper()
	var problem Failure
	if err := json.Unmarshal([]byte(a.text), &problem); err != nil {
		t.Fatalf("no problem document: %d %.300s", a.StatusCode, a.text)
	}
	return problem
}

func ask(t *testing.T, s *Server, r request) answer {
	t.Helper()
	sent := httptest.NewRequest(r.method, r.path, strings.NewReader(r.body))
	if r.body != "" {
		sent.Header.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	}
	for i := 0; i < len(r.headers); i += 2 {
		sent.Header.Set(r.headers[i], r.headers[i+1])
	}
	response, err := s.App().Test(sent, -1)
	if err != nil {
		t.Fatalf("%s %s: %v", r.method, r.path, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", r.method, r.path, err)
	}
	return answer{response, string(body)}
}

func bearer(scopes string) []string { return []string{"Authorization", "Bearer may-" + scopes} }

func with(headers []string, more ...string) []string {
	return append(append([]string{}, headers...), more...)
}

func sendUser(c *fiber.Ctx) error { return c.SendString(auth.Who(c).User) }

// listen serves on a free port and answers its address.
func listen(t *testing.T, s *Server) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(listener) }()
	return "http://" + listener.Addr().String()
}
