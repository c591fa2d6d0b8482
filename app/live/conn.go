package live

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/gorilla/websocket"

	"weftline/app/auth"
	"weftline/engine"
	"weftline/engine/instants"
)

const (
	pingEvery     = 25 * time.Second
	silenceMax    = 2*pingEvery + 10*time.Second // two pings unanswered
	writeTime     = 10 * time.Second
	visibleFrames = 33 * time.Millisecond // least time between flushes of a page that is seen
	hiddenFrames  = time.Second           // and of one that is not
	inboundMax    = 8 << 10               // bytes of a client's frame
	inboundRate   = 20                    // frames a second from a client
	subsMax       = 32
)

// conn is one socket. Its reader takes the client's frames; its writer is the only one that sends. Nothing
// queues up but what is behind: each subscription remembers how far it was sent, and the writer asks the
// topic for the rest when it may send again.
type conn struct {
	hub    *Hub
	socket *websocket.Conn
	id     string
	wake   chan struct{} // capacity 1: something is to be sent
	doubt  chan struct{} // capacity 1: the credential must be looked at
	done   chan struct{} // closed when the reader has ended
	ending chan farewell // capacity 1: the writer says goodbye and closes

	mu      sync.Mutex
	asking  auth.Asking
	subs    map[string]*subscription
	notices []any // err frames to be sent; bounded by the client's own frame rate
	hidden  bool
}

// subscription is one topic of one socket. sent and wantsState belong to the writer.
type subscription struct {
	sid        string
	name       string
	topic      topic
	sent       int64
	wantsState bool
}

type farewell struct {
	code    int
	text    string
	retryMs int
}

func newConn(hub *Hub, socket *websocket.Conn, asking auth.Asking) *conn {
	return &conn{hub: hub, socket: socket, id: uuid.NewString(), asking: asking, subs: map[string]*subscription{},
		wake: make(chan struct{}, 1), doubt: make(chan struct{}, 1), done: make(chan struct{}), ending: make(chan farewell, 1)}
}

// poke wakes the writer; it never blocks.
func (c *conn) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// end asks the writer to close; the first reason counts.
func (c *conn) end(last farewell) {
	select {
	case c.ending <- last:
	default:
	}
}

// restart spreads the reconnects of many pages over a few seconds.
func restart() farewell {
	return farewell{code: closeRestart, text: "restart", retryMs: 500 + rand.IntN(2500)}
}

// read handles the client's frames until the socket ends.
func (c *conn) read() {
	defer close(c.done)
	c.socket.SetReadLimit(inboundMax)
	second, count := time.Now(), 0
	for {
		_ = c.socket.SetReadDeadline(time.Now().Add(silenceMax))
		_, data, err := c.socket.ReadMessage()
		if err != nil {
			if errors.Is(err, websocket.ErrReadLimit) {
				c.end(farewell{code: closeLimits, text: "frame too large"})
			}
			return
		}
		if time.Since(second) > time.Second {
			second, count = time.Now(), 0
		}
		if count++; count > inboundRate {
			c.end(farewell{code: closeLimits, text: "too many frames"})
			continue
		}
		var frame fromClient
		if err := json.Unmarshal(data, &frame); err != nil {
			c.end(farewell{code: closeProtocol, text: "not a JSON frame"})
			continue
		}
		c.handle(frame)
	}
}

func (c *conn) handle(frame fromClient) {
	switch frame.Type {
	case "hello", "pong":
	case "sub":
		c.subscribe(frame)
	case "unsub":
		c.unsubscribe(frame.SID)
	case "at":
		c.point(frame)
	case "visible":
		c.mu.Lock()
		c.hidden = frame.Visible != nil && !*frame.Visible
		c.mu.Unlock()
	case "auth":
		c.renew(frame.Ticket)
	default:
		c.end(farewell{code: closeProtocol, text: "unknown frame type"})
	}
	c.poke()
}

func (c *conn) who() engine.Who {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asking.Who
}

func (c *conn) subscribe(frame fromClient) {
	c.mu.Lock()
	_, taken := c.subs[frame.SID]
	full := len(c.subs) >= subsMax
	c.mu.Unlock()
	switch {
	case frame.SID == "" || taken:
		c.notice(errorFrame{Type: "err", SID: frame.SID, Code: "bad_request"})
		return
	case full:
		c.end(farewell{code: closeLimits, text: "too many subscriptions"})
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	sub, err := c.hub.subscribe(ctx, c, frame)
	if err != nil {
		c.notice(errorFrame{Type: "err", SID: frame.SID, Code: codeOf(err)})
		return
	}
	c.mu.Lock()
	c.subs[frame.SID] = sub
	c.mu.Unlock()
}

func (c *conn) unsubscribe(sid string) {
	c.mu.Lock()
	sub := c.subs[sid]
	delete(c.subs, sid)
	c.mu.Unlock()
	if sub != nil {
		c.hub.leave(c, sub)
	}
}

// point tells the others which activity is selected where a subscription has its workflow open.
func (c *conn) point(frame fromClient) {
	c.mu.Lock()
	sub := c.subs[frame.SID]
	c.mu.Unlock()
	if sub != nil {
		c.hub.pointEditing(sub, frame.At)
	}
}

func (c *conn) notice(frame any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notices = append(c.notices, frame)
}

// write sends until the socket ends.
func (c *conn) write() {
	defer c.socket.Close()
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	c.send(welcomeFrame{Type: "welcome", ConnID: c.id, Epoch: c.hub.epoch, Now: instants.Text(time.Now()), PingSeconds: int(pingEvery.Seconds()), Pointers: true})
	for {
		select {
		case <-c.done:
			return
		case last := <-c.ending:
			c.goodbye(last)
			return
		case <-c.doubt:
			c.check()
		case <-ping.C:
			c.ping()
		case <-c.wake:
			c.flush()
			c.rest()
		}
	}
}

// rest keeps the pace: what changes meanwhile is merged into the next flush.
func (c *conn) rest() {
	c.mu.Lock()
	pause := visibleFrames
	if c.hidden {
		pause = hiddenFrames
	}
	c.mu.Unlock()
	select {
	case <-time.After(pause):
	case <-c.done:
	case <-c.doubt:
		c.suspect()
	case last := <-c.ending:
		c.ending <- last
	}
}

// flush sends what is behind, one frame a subscription and round.
func (c *conn) flush() {
	c.mu.Lock()
	notices, subs := c.notices, make([]*subscription, 0, len(c.subs))
	c.notices = nil
	for _, sub := range c.subs {
		subs = append(subs, sub)
	}
	c.mu.Unlock()
	for _, frame := range notices {
		c.send(frame)
	}
	for _, sub := range subs {
		c.forward(sub)
	}
}

func (c *conn) forward(sub *subscription) {
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	frames, err := c.hub.read(ctx, sub)
	if err != nil {
		c.send(errorFrame{Type: "err", SID: sub.sid, Code: codeOf(err)})
		c.unsubscribe(sub.sid)
		return
	}
	for _, frame := range frames {
		c.send(frame)
	}
	if len(frames) > 0 && sub.sent < sub.topic.head() {
		c.poke()
	}
}

// ping carries the heads, so that a page notices what it has lost; it also looks whether the credential is
// still good and whether a hint was lost on this side.
func (c *conn) ping() {
	c.mu.Lock()
	heads := map[string]int64{}
	for sid, sub := range c.subs {
		heads[sid] = sub.topic.head()
		if followed, ok := sub.topic.(*executionTopic); ok {
			followed.ask()
		}
	}
	c.mu.Unlock()
	if c.check() {
		c.send(pingFrame{Type: "ping", T: instants.Text(time.Now()), Heads: heads})
	}
}

func (c *conn) send(frame any) {
	_ = c.socket.SetWriteDeadline(time.Now().Add(writeTime))
	if err := c.deliver(frame); err != nil {
		c.end(farewell{code: closeTooSlow, text: "the client reads too slowly"})
		return
	}
	c.hub.metrics.Frame(kindOf(frame))
}

func (c *conn) deliver(frame any) error {
	body, err := instants.JSON(frame)
	if err != nil {
		return err
	}
	return c.socket.WriteMessage(websocket.TextMessage, body)
}

func (c *conn) goodbye(last farewell) {
	deadline := time.Now().Add(time.Second)
	_ = c.socket.SetWriteDeadline(deadline)
	_ = c.deliver(byeFrame{Type: "bye", Code: last.code, RetryMs: last.retryMs})
	_ = c.socket.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(last.code, last.text), deadline)
}

// codeOf is the stable word of a refusal, "internal" for a fault and "" for nil.
func codeOf(err error) string {
	var refusal *engine.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refusal):
		return refusal.Code
	}
	return "internal"
}

func kindOf(frame any) string {
	switch frame.(type) {
	case snapFrame:
		return "snap"
	case eventsFrame:
		return "ev"
	case pingFrame:
		return "ping"
	}
	return "other"
}
