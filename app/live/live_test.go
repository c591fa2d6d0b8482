package live

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/gorilla/websocket"

	"weftline/app/auth"
	"weftline/app/metrics"
	"weftline/engine"
	"weftline/engine/execution"
)

var (
	team = uuid.MustParse("6ba7b812-9dad-11d1-80b4-00c04fd430c8")
	run  = uuid.MustParse("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
)

// history is a door with one execution whose events the test appends.
type history struct {
	engine.Door
	mu        sync.Mutex
	events    []execution.Event
	proposals []engine.Proposal
	watches   map[int]func(engine.Change)
	next      int
	reads     int
	editing   presence
}

func (h *history) Proposals(_ context.Context, _ engine.Who, filter engine.ProposalFilter) (engine.Page[engine.Proposal], error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if filter.State != "open" {
		return engine.Page[engine.Proposal]{}, nil
	}
	return engine.Page[engine.Proposal]{Items: h.proposals}, nil
}

// propose opens a proposal and says so.
func (h *history) propose(title string) {
	h.mu.Lock()
	h.proposals = append(h.proposals, engine.Proposal{Title: title, State: "open"})
	told := slices.Collect(maps.Values(h.watches))
	h.mu.Unlock()
	for _, f := range told {
		f(engine.Change{Team: team, Workflow: "w", Drafts: true})
	}
}

func (h *history) append(n int, hint bool) {
	h.mu.Lock()
	for range n {
		h.events = append(h.events, execution.Event{Seq: int64(len(h.events) + 1), Type: "VariablesSet", At: time.Unix(0, 0).UTC()})
	}
	last := int64(len(h.events))
	var told []func(engine.Change)
	for _, f := range h.watches {
		told = append(told, f)
	}
	h.mu.Unlock()
	for _, f := range told {
		if hint {
			f(engine.Change{Team: team, Execution: run, Workflow: "w", LastSeq: last})
		}
	}
}

func (h *history) Events(_ context.Context, _ engine.Who, id uuid.UUID, after int64, limit int) (engine.EventPage, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if id != run {
		return engine.EventPage{}, engine.Refuse("not_found", "no such execution")
	}
	h.reads++
	from := min(int(after), len(h.events))
	return engine.EventPage{Events: h.events[from:min(from+limit, len(h.events))], LastSeq: int64(len(h.events))}, nil
}

func (h *history) Execution(context.Context, engine.Who, uuid.UUID) (engine.ExecutionDetail, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return engine.ExecutionDetail{ID: run, Detail: execution.Detail{LastSeq: int64(len(h.events))}}, nil
}

func (h *history) Executions(context.Context, engine.Who, engine.ExecutionFilter) (engine.Page[engine.ExecutionSummary], error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return engine.Page[engine.ExecutionSummary]{Items: make([]engine.ExecutionSummary, len(h.events))}, nil
}

func (h *history) Watch(_ uuid.UUID, f func(engine.Change)) func() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next++
	id := h.next
	h.watches[id] = f
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.watches, id)
	}
}

func (h *history) watchers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.watches)
}

type people struct{}

func (people) Authenticate(_ context.Context, token string) (engine.Who, error) {
	if token != "good" {
		return engine.Who{}, engine.ErrUnknownCredential
	}
	return engine.Who{Team: team, User: "ann", Scopes: []string{"read"}}, nil
}

func (people) Session(_ context.Context, id string, _ engine.SessionLimits) (engine.Session, error) {
	if id != "good" {
		return engine.Session{}, engine.ErrUnknownCredential
	}
	return engine.Session{Who: engine.Who{Team: team, User: "ann", Roles: []string{"viewer"}}}, nil
}

func (p people) PeekSession(ctx context.Context, id string, limits engine.SessionLimits) (engine.Session, error) {
	return p.Session(ctx, id, limits)
}

func (people) StartSession(context.Context, engine.Person, engine.SessionLimits, string, string) (string, error) {
	return "", nil
}

type world struct {
	*history
	hub  *Hub
	addr string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	h := &history{watches: map[int]func(engine.Change){}}
	gate := auth.NewGate(auth.Options{Identity: people{}})
	hub := NewHub(Options{Door: h, Gate: gate, Log: slog.New(slog.DiscardHandler), Metrics: metrics.New()})
	app := fiber.New(fiber.Config{DisableStartupMessage: true, Immutable: true, ErrorHandler: func(c *fiber.Ctx, err error) error {
		return c.Status(400).SendString(codeOf(err) + ": " + err.Error())
	}})
	app.Server().KeepHijackedConns = true
	app.Get("/live", hub.Connect)
	app.Post("/ticket", func(c *fiber.Ctx) error {
		if _, err := gate.Read(c); err != nil {
			return err
		}
		return hub.Ticket(c)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = app.Listener(listener) }()
	t.Cleanup(func() {
		hub.Close()
		_ = app.Shutdown()
	})
	return &world{history: h, hub: hub, addr: listener.Addr().String()}
}

// client is the other side of a socket, following the rules of the protocol.
type client struct {
	t *testing.T
	*websocket.Conn
	epoch string
}

func (w *world) dial(t *testing.T, header http.Header, query string) (*client, *http.Response, error) {
	t.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{Subprotocol}, HandshakeTimeout: 10 * time.Second}
	socket, response, err := dialer.Dial("ws://"+w.addr+"/live"+query, header)
	if err != nil {
		return nil, response, err
	}
	t.Cleanup(func() { socket.Close() })
	c := &client{t: t, Conn: socket}
	c.epoch = c.read("welcome")["epoch"].(string)
	return c, response, nil
}

func (w *world) connect(t *testing.T) *client {
	t.Helper()
	c, _, err := w.dial(t, http.Header{"Authorization": {"Bearer good"}}, "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *client) send(frame map[string]any) {
	c.t.Helper()
	if err := c.WriteJSON(frame); err != nil {
		c.t.Fatal(err)
	}
}

// read waits for the next frame of a type; any other type but ping is a failure.
func (c *client) read(kind string) map[string]any {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	for {
		var frame map[string]any
		if err := c.ReadJSON(&frame); err != nil {
			c.t.Fatalf("waiting for %s: %v", kind, err)
		}
		if frame["type"] == kind {
			return frame
		}
		if frame["type"] != "ping" {
			c.t.Fatalf("waiting for %s: %v", kind, frame)
		}
	}
}

// follow reads ev frames until seq and checks that they are contiguous.
func (c *client) follow(from, until int64) (frames int) {
	c.t.Helper()
	for at := from; at < until; frames++ {
		frame := c.read("ev")
		events := frame["events"].([]any)
		if int64(frame["prev"].(float64)) != at || len(events) == 0 {
			c.t.Fatalf("after %d came prev %v with %d events", at, frame["prev"], len(events))
		}
		at += int64(len(events))
		if int64(frame["seq"].(float64)) != at {
			c.t.Fatalf("seq %v, but the events end at %d", frame["seq"], at)
		}
	}
	return frames
}

// closed reads to the end of the socket and answers its close code and the last frame.
func (c *client) closed() (code int, last map[string]any) {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	for {
		_, data, err := c.ReadMessage()
		if err != nil {
			closing, ok := err.(*websocket.CloseError)
			if !ok {
				c.t.Fatalf("the socket ended without a close frame: %v", err)
			}
			return closing.Code, last
		}
		last = nil
		_ = json.Unmarshal(data, &last)
	}
}

func subscribe(sid, topic string, from any) map[string]any {
	return map[string]any{"type": "sub", "sid": sid, "topic": topic, "from": from}
}

func TestSnapThenContiguousEvents(t *testing.T) {
	w := newWorld(t)
	w.append(3, false)
	c := w.connect(t)
	c.send(subscribe("s", "execution:"+run.String(), nil))
	snap := c.read("snap")
	if snap["seq"] != 3.0 || snap["state"].(map[string]any)["lastSeq"] != 3.0 {
		t.Fatalf("%v", snap)
	}
	for range 20 {
		w.append(7, true)
	}
	if frames := c.follow(3, 143); frames > 20 {
		t.Errorf("%d frames for 20 changes in a moment: they are not merged", frames)
	}
}

func TestResumeGoesOnWhereTheClientWas(t *testing.T) {
	w := newWorld(t)
	w.append(10, false)
	c := w.connect(t)
	c.send(subscribe("s", "execution:"+run.String(), map[string]any{"epoch": c.epoch, "seq": 4}))
	c.follow(4, 10)
	other := w.connect(t)
	other.send(subscribe("s", "execution:"+run.String(), map[string]any{"epoch": "another", "seq": 4}))
	if snap := other.read("snap"); snap["seq"] != 10.0 {
		t.Errorf("%v", snap)
	}
}

func TestLongAbsenceResyncs(t *testing.T) {
	w := newWorld(t)
	c := w.connect(t)
	c.send(subscribe("s", "execution:"+run.String(), nil))
	c.read("snap")
	c.send(map[string]any{"type": "visible", "visible": false})
	w.append(1, true)
	c.follow(0, 1)
	w.append(resyncFrom+500, true) // while the page is hidden, so nothing of it is sent for a second
	for {
		var frame map[string]any
		if err := c.ReadJSON(&frame); err != nil {
			t.Fatal(err)
		}
		if frame["type"] == "snap" {
			if frame["seq"] != float64(resyncFrom+501) {
				t.Errorf("%v", frame["seq"])
			}
			return
		}
		if frame["type"] != "resync" && frame["type"] != "ev" && frame["type"] != "lag" {
			t.Fatalf("%v", frame["type"])
		}
	}
}

func TestOneReadServesManySockets(t *testing.T) {
	w := newWorld(t)
	const sockets = 30
	var clients []*client
	for i := range sockets {
		c, _, err := w.dial(t, http.Header{"Authorization": {"Bearer good"}}, "")
		if err != nil || i >= socketsPerUser {
			break
		}
		c.send(subscribe("s", "execution:"+run.String(), nil))
		c.read("snap")
		clients = append(clients, c)
	}
	w.mu.Lock()
	before := w.reads
	w.mu.Unlock()
	w.append(5, true)
	for _, c := range clients {
		c.follow(0, 5)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if reads := w.reads - before; reads > 3 {
		t.Errorf("%d reads for one change and %d sockets", reads, len(clients))
	}
}

func TestASlowClientStopsNobody(t *testing.T) {
	w := newWorld(t)
	slow := w.connect(t)
	slow.send(subscribe("s", "execution:"+run.String(), nil)) // and never reads again
	quick := w.connect(t)
	quick.send(subscribe("s", "execution:"+run.String(), nil))
	quick.read("snap")
	for i := range int64(100) {
		w.append(50, true)
		quick.follow(i*50, i*50+50)
	}
}

func TestUnknownThings(t *testing.T) {
	w := newWorld(t)
	c := w.connect(t)
	for topic, code := range map[string]string{
		"execution:" + uuid.NewString(): "not_found", "execution:x": "bad_request", "nothing": "bad_request", "executions:limit=x": "bad_request",
	} {
		c.send(subscribe(topic, topic, nil))
		if frame := c.read("err"); frame["code"] != code || frame["sid"] != topic {
			t.Errorf("%s: %v", topic, frame)
		}
	}
	c.send(map[string]any{"type": "shout"})
	if code, _ := c.closed(); code != closeProtocol {
		t.Errorf("closed with %d", code)
	}
}

func TestListsAreSentAgainWhenTheyChange(t *testing.T) {
	w := newWorld(t)
	c := w.connect(t)
	c.send(subscribe("l", "executions:workflow=w", nil))
	c.read("snap")
	w.append(2, true)
	snap := c.read("snap")
	if items := snap["state"].(map[string]any)["items"].([]any); len(items) != 2 || snap["seq"] != 2.0 {
		t.Errorf("%v", snap)
	}
}

// The list of open proposals is sent again when a draft of the team changed, and only then.
func TestReviewsAreLive(t *testing.T) {
	w := newWorld(t)
	c := w.connect(t)
	c.send(subscribe("r", "reviews", nil))
	c.read("snap")
	w.propose("Pay in a better way")
	snap := c.read("snap")
	if items := snap["state"].(map[string]any)["items"].([]any); len(items) != 1 || items[0].(map[string]any)["title"] != "Pay in a better way" {
		t.Errorf("%v", snap)
	}
}

func TestUnsubscribedTopicsAreClosed(t *testing.T) {
	w := newWorld(t)
	c := w.connect(t)
	c.send(subscribe("a", "execution:"+run.String(), nil))
	c.read("snap")
	if w.watchers() != 1 {
		t.Fatal("nobody listens")
	}
	c.send(map[string]any{"type": "unsub", "sid": "a"})
	c.send(subscribe("b", "nothing", nil))
	c.read("err") // so the unsub was handled
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	if len(w.hub.topics) != 0 || w.hub.teams[team].users != 1 { // the socket itself listens for its rights
		t.Errorf("%d topics are open, %d listen", len(w.hub.topics), w.hub.teams[team].users)
	}
}

func TestLimits(t *testing.T) {
	w := newWorld(t)
	flood := w.connect(t)
	for range inboundRate + 1 {
		flood.send(map[string]any{"type": "pong"})
	}
	if code, _ := flood.closed(); code != closeLimits {
		t.Errorf("a flood was closed with %d", code)
	}
	large := w.connect(t)
	large.send(map[string]any{"type": "hello", "ticket": strings.Repeat("x", inboundMax)})
	if code, _ := large.closed(); code != closeLimits && code != websocket.CloseMessageTooBig {
		t.Errorf("a large frame was closed with %d", code)
	}
}

func TestShutdownSaysGoodbye(t *testing.T) {
	w := newWorld(t)
	c := w.connect(t)
	c.send(subscribe("s", "execution:"+run.String(), nil))
	c.read("snap")
	w.hub.Close()
	code, last := c.closed()
	if code != closeRestart || last["type"] != "bye" || last["code"] != float64(closeRestart) || last["retryMs"].(float64) <= 0 {
		t.Errorf("%d %v", code, last)
	}
	dialer := websocket.Dialer{Subprotocols: []string{Subprotocol}}
	late, _, err := dialer.Dial("ws://"+w.addr+"/live", http.Header{"Authorization": {"Bearer good"}})
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	if code, _ := (&client{t: t, Conn: late}).closed(); code != closeRestart {
		t.Errorf("a closed hub answers %d", code)
	}
}

func TestWhoMayConnect(t *testing.T) {
	w := newWorld(t)
	ours, cookie := "http://"+w.addr, "weftline_session=good"
	for name, c := range map[string]struct {
		header http.Header
		query  string
		ok     bool
	}{
		"nobody":                {nil, "", false},
		"wrong token":           {http.Header{"Authorization": {"Bearer bad"}}, "", false},
		"token":                 {http.Header{"Authorization": {"Bearer good"}}, "", true},
		"cookie, our page":      {http.Header{"Cookie": {cookie}, "Origin": {ours}}, "", true},
		"cookie, no origin":     {http.Header{"Cookie": {cookie}}, "", false},
		"cookie, other site":    {http.Header{"Cookie": {cookie}, "Origin": {"http://evil.example"}}, "", false},
		"cookie, suffix trick":  {http.Header{"Cookie": {cookie}, "Origin": {ours + ".evil.example"}}, "", false},
		"cookie, other port":    {http.Header{"Cookie": {cookie}, "Origin": {"http://127.0.0.1:1"}}, "", false},
		"cookie, null origin":   {http.Header{"Cookie": {cookie}, "Origin": {"null"}}, "", false},
		"invented ticket":       {nil, "?ticket=x", false},
		"token, foreign origin": {http.Header{"Authorization": {"Bearer good"}, "Origin": {"http://evil.example"}}, "", false},
	} {
		_, _, err := w.dial(t, c.header, c.query)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTicketsWorkOnce(t *testing.T) {
	w := newWorld(t)
	request, _ := http.NewRequest("POST", "http://"+w.addr+"/ticket", nil)
	request.Header.Set("Authorization", "Bearer good")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var given TicketAnswer
	if err := json.NewDecoder(response.Body).Decode(&given); err != nil || response.StatusCode != 201 {
		t.Fatal(response.Status, err)
	}
	if _, _, err := w.dial(t, nil, "?ticket="+given.Ticket); err != nil {
		t.Errorf("a fresh ticket is refused: %v", err)
	}
	if _, _, err := w.dial(t, nil, "?ticket="+given.Ticket); err == nil {
		t.Error("a used ticket is taken")
	}
}

func TestOldTicketsAreRefused(t *testing.T) {
	book := tickets{open: map[string]ticket{}}
	now := time.Unix(1000, 0)
	value, until := book.give(auth.Asking{}, now)
	if _, ok := book.take(value, until.Add(time.Millisecond)); ok {
		t.Error("an old ticket is taken")
	}
	if fmt.Sprint(until.Sub(now)) != "1m0s" {
		t.Errorf("a ticket lives %s", until.Sub(now))
	}
}

func TestPlainRequestsAreAnswered(t *testing.T) {
	w := newWorld(t)
	request, _ := http.NewRequest("GET", "http://"+w.addr+"/live", nil)
	request.Header.Set("Authorization", "Bearer good")
	request.Header.Set("Sec-WebSocket-Protocol", Subprotocol)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != 400 {
		t.Errorf("%d", response.StatusCode)
	}
}
