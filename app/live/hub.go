// Package live owns the live protocol: who watches what, over WebSockets. It tells pages what changed as
// soon as it is committed, resumes them where they were, and never lets a slow page stop others. What it
// sends is read from the engine after a hint; it must not know how executions work, and nothing depends on
// it: a page without a socket shows the same over plain HTTP.
package live

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/gorilla/websocket"

	"weftline/app/auth"
	"weftline/app/metrics"
	"weftline/engine"
)

const (
	socketsPerUser = 20
	readsAtOnce    = 8 // reads of the store by all sockets together
)

// Options are what a hub works with.
type Options struct {
	Door    engine.Door
	Gate    *auth.Gate
	Log     *slog.Logger
	Metrics *metrics.Metrics
}

// Hub holds all sockets and topics of this process.
type Hub struct {
	door    engine.Door
	gate    *auth.Gate
	log     *slog.Logger
	metrics *metrics.Metrics
	epoch   string // of this process: a page of an earlier one gets the state anew
	tickets tickets
	reads   chan struct{}
	hints   hints

	mu     sync.Mutex
	closed bool
	conns  map[*conn]struct{}
	topics map[topicKey]topic
	states map[topicKey]*stateTopic // those of topics that a change must be offered to one by one
	teams  map[uuid.UUID]*watch

	editors map[*subscription]editing // of designers
	done    chan struct{}             // closed with the hub
}

// topicKey: topics of a person are theirs alone, others belong to the team.
type topicKey struct {
	team uuid.UUID
	user string
	name string
}

// watch is the hub's one ear for a team, kept while a socket or a topic of the team is open.
type watch struct {
	stop  func()
	users int
}

// NewHub makes a hub without sockets.
func NewHub(o Options) *Hub {
	h := &Hub{door: o.Door, gate: o.Gate, log: o.Log, metrics: o.Metrics, epoch: uuid.NewString(),
		tickets: tickets{open: map[string]ticket{}}, reads: make(chan struct{}, readsAtOnce),
		conns: map[*conn]struct{}{}, topics: map[topicKey]topic{}, states: map[topicKey]*stateTopic{}, teams: map[uuid.UUID]*watch{},
		editors: map[*subscription]editing{}, done: make(chan struct{})}
	h.hints.wake = make(chan struct{}, 1)
	go h.dispatch()
	go h.keepEditing()
	return h
}

// TicketAnswer is a one-time ticket: GET /api/v1/live?ticket=… within 60 s.
type TicketAnswer struct {
	Ticket    string    `json:"ticket"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// Ticket answers POST /api/v1/live/ticket.
func (h *Hub) Ticket(c *fiber.Ctx) error {
	asking, _ := auth.Of(c)
	value, until := h.tickets.give(asking, time.Now())
	if value == "" {
		return engine.Refuse("rate_limited", "too many tickets are open")
	}
	return c.Status(fiber.StatusCreated).JSON(TicketAnswer{Ticket: value, ExpiresAt: until})
}

// Connect answers GET /api/v1/live. It checks the credential itself, since a ticket will do as well.
func (h *Hub) Connect(c *fiber.Ctx) error {
	asking, err := h.admit(c)
	if err != nil {
		return err
	}
	if !offers(c, Subprotocol) {
		return engine.Refuse("bad_request", "the WebSocket handshake must offer the subprotocol "+Subprotocol)
	}
	return upgrade(c, func(socket *websocket.Conn) { h.serve(newConn(h, socket, asking)) })
}

// admit: browsers send cookies to sockets of other sites too, so a cookie counts only from our own origin.
func (h *Hub) admit(c *fiber.Ctx) (auth.Asking, error) {
	if origin := c.Get(fiber.HeaderOrigin); origin != "" && !sameOrigin(origin, string(c.Request().Host())) {
		return auth.Asking{}, engine.Refuse("forbidden", "sockets from another origin are refused")
	}
	if value := c.Query("ticket"); value != "" {
		asking, ok := h.tickets.take(value, time.Now())
		if !ok {
			return auth.Asking{}, engine.Refuse("unauthenticated", "the ticket was used or is too old")
		}
		return asking, nil
	}
	asking, err := h.gate.Read(c)
	switch {
	case err != nil:
		return auth.Asking{}, err
	case asking.Session != "" && c.Get(fiber.HeaderOrigin) == "":
		return auth.Asking{}, engine.Refuse("forbidden", "a socket with a session cookie needs an Origin header")
	case !auth.May(asking.Who, auth.Read):
		return auth.Asking{}, engine.Refuse("forbidden", "this needs the right read")
	}
	return asking, nil
}

// serve runs one socket to its end.
func (h *Hub) serve(c *conn) {
	if !h.add(c) {
		c.goodbye(restart())
		_ = c.socket.Close()
		return
	}
	h.metrics.Sockets(+1)
	go c.read()
	c.write()
	<-c.done // the writer has closed the socket, so the reader ends
	h.drop(c)
	h.metrics.Sockets(-1)
}

func (h *Hub) add(c *conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	same := 0
	for other := range h.conns {
		if who := other.who(); who.User == c.asking.User && who.Team == c.asking.Team {
			same++
		}
	}
	h.conns[c] = struct{}{}
	h.listen(c.asking.Team)
	if same >= socketsPerUser {
		c.end(farewell{code: closeLimits, text: "too many sockets"})
	}
	return true
}

func (h *Hub) drop(c *conn) {
	h.mu.Lock()
	delete(h.conns, c)
	h.unlisten(c.who().Team)
	h.mu.Unlock()
	c.mu.Lock()
	subs := c.subs
	c.subs = map[string]*subscription{}
	c.mu.Unlock()
	for _, sub := range subs {
		h.leave(c, sub)
	}
}

// Close tells all sockets that this process ends.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.closed = true
	close(h.done)
	h.hints.close()
	for c := range h.conns {
		c.end(restart())
	}
}

// read lets a bounded number of sockets read at a time.
func (h *Hub) read(ctx context.Context, sub *subscription) ([]any, error) {
	h.reads <- struct{}{}
	defer func() { <-h.reads }()
	return sub.topic.next(ctx, sub)
}
