package enginetest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// Wire is a way to a database that counts what goes over it and that a test can break.
type Wire struct {
	url              string
	network, address string
	listener         net.Listener

	mu         sync.Mutex
	pairs      map[*pair]bool
	statements int
	trips      int
	byText     map[string]int
	ignored    []string
	deaf       int        // replies to commits that are still to be dropped
	holes      [2]bool    // by direction: what is sent is held back
	filled     *sync.Cond // holes changed
	lost       string     // statements with this text never arrive; "" = all do
	slow       slowAnswer // the next answer that is
}

// Directions of a wire.
const (
	toServer = iota
	toProgram
)

// pair is one connection of the program and its continuation to the server.
type pair struct {
	near, far net.Conn
	deaf      bool              // the reply to what is under way never arrives
	slow      *slowAnswer       // of what was executed since the last sync, nil = none
	answering *slowAnswer       // of what was executed before it
	mute      bool              // nothing that the program says from now on arrives
	listens   bool              // it is for notifications
	prepared  map[string]string // statements by their names
	bound     string            // text of the statement that is executed next
	counts    bool              // something that counts was executed since the last sync
}

// slowAnswer is one before which something happens.
type slowAnswer struct {
	text      string // in the statement; "" = none
	meanwhile func()
	dropped   bool
}

// NewWire opens a way to a database; it ends with the test.
func NewWire(t testing.TB, database string) *Wire {
	t.Helper()
	config, err := pgconn.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	w := &Wire{pairs: map[*pair]bool{}, byText: map[string]int{}}
	w.filled = sync.NewCond(&w.mu)
	w.network, w.address = pgconn.NetworkAddress(config.Host, config.Port)
	if w.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	login := url.User(config.User)
	if config.Password != "" {
		login = url.UserPassword(config.User, config.Password)
	}
	w.url = (&url.URL{Scheme: "postgres", User: login, Host: w.listener.Addr().String(), Path: "/" + config.Database, RawQuery: "sslmode=disable"}).String()
	go w.accept()
	t.Cleanup(func() {
		_ = w.listener.Close()
		w.BlackHole(false)
		w.Cut()
	})
	return w
}

// URL is the database's by this way.
func (w *Wire) URL() string { return w.url }

// Counts says how many statements were executed and how many times an answer was waited for.
func (w *Wire) Counts() (statements, roundTrips int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.statements, w.trips
}

// Ignore leaves statements out of Counts whose text has one of these words in it, and round trips that are for
// nothing else.
func (w *Wire) Ignore(words ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ignored = words
}

// Statements says how often each text was executed, those that Counts leaves out included.
func (w *Wire) Statements() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.byText)
}

// Cut breaks every connection.
func (w *Wire) Cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for p := range w.pairs {
		p.close()
	}
}

// DropReplies lets the server do the next n pieces of work and breaks their connections before the answers.
func (w *Wire) DropReplies(n int) {
	w.mu.Lock()
	w.deaf = n
	w.mu.Unlock()
}

// DropReplyTo lets the server do the next piece of work that holds a text, has something happen, and then breaks the
// connection before the answer.
func (w *Wire) DropReplyTo(text string, meanwhile func()) {
	w.slowDown(slowAnswer{text: text, meanwhile: meanwhile, dropped: true})
}

// BeforeReplyTo has something happen between the next piece of work that holds a text and its answer.
func (w *Wire) BeforeReplyTo(text string, meanwhile func()) {
	w.slowDown(slowAnswer{text: text, meanwhile: meanwhile})
}

func (w *Wire) slowDown(answer slowAnswer) {
	w.mu.Lock()
	w.slow = answer
	w.mu.Unlock()
}

// CutListening breaks the connections on which notifications are waited for.
func (w *Wire) CutListening() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for p := range w.pairs {
		if p.listens {
			p.close()
		}
	}
}

// Lose makes statements that contain a text vanish, with all that follows on their connections; everything else
// goes on. With "" nothing vanishes any more.
func (w *Wire) Lose(text string) {
	w.mu.Lock()
	w.lost = text
	w.mu.Unlock()
}

// Heal ends everything that was done to the wire.
func (w *Wire) Heal() {
	w.BlackHole(false)
	w.DropReplies(0)
	w.DropReplyTo("", nil)
	w.Lose("")
}

// BlackHole makes the wire hold everything back in silence, or deliver it.
func (w *Wire) BlackHole(hole bool) { w.dig(hole, hole) }

// OneWay makes the wire hold back what the server says, or deliver it; the server hears everything.
func (w *Wire) OneWay(hole bool) { w.dig(false, hole) }

func (w *Wire) dig(requests, replies bool) {
	w.mu.Lock()
	w.holes = [2]bool{toServer: requests, toProgram: replies}
	w.mu.Unlock()
	w.filled.Broadcast()
}

func (w *Wire) accept() {
	for {
		near, err := w.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial(w.network, w.address)
		if err != nil {
			_ = near.Close()
			continue
		}
		p := &pair{near: near, far: far, prepared: map[string]string{}}
		w.mu.Lock()
		w.pairs[p] = true
		w.mu.Unlock()
		go w.requests(p)
		go w.replies(p)
	}
}

func (p *pair) close() {
	_ = p.near.Close()
	_ = p.far.Close()
}

func (w *Wire) end(p *pair) {
	p.close()
	w.mu.Lock()
	delete(w.pairs, p)
	w.mu.Unlock()
}

// requests forwards what the program sends, message by message. The first message has no type.
func (w *Wire) requests(p *pair) {
	defer w.end(p)
	for first := true; ; first = false {
		message, err := readMessage(p.near, !first)
		if err != nil {
			return
		}
		if !first && !w.see(p, message) {
			continue
		}
		w.pass(toServer)
		if _, err := p.far.Write(message); err != nil {
			return
		}
	}
}

// replies forwards what the server answers, unless the program is not to hear it.
func (w *Wire) replies(p *pair) {
	defer w.end(p)
	buffer := make([]byte, 32<<10)
	for {
		n, err := p.far.Read(buffer)
		if err != nil {
			return
		}
		w.pass(toProgram)
		w.mu.Lock()
		deaf, slow := p.deaf, p.answering
		p.answering = nil
		w.mu.Unlock()
		if slow != nil && slow.meanwhile != nil {
			slow.meanwhile()
		}
		if deaf || slow != nil && slow.dropped {
			return
		}
		if _, err := p.near.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// pass waits while the wire holds a direction back.
func (w *Wire) pass(direction int) {
	w.mu.Lock()
	for w.holes[direction] {
		w.filled.Wait()
	}
	w.mu.Unlock()
}

// Types of messages of PostgreSQL's protocol.
const (
	messageParse   = 'P'
	messageBind    = 'B'
	messageExecute = 'E'
	messageSync    = 'S'
	messageQuery   = 'Q'
)

// see takes note of a message of the program; false when it is lost.
func (w *Wire) see(p *pair, message []byte) (arrives bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch message[0] {
	case messageParse:
		name, text := twoTexts(message[5:])
		p.prepared[name] = text
	case messageBind:
		_, name := twoTexts(message[5:]) // after the name of the portal
		p.bound = p.prepared[name]
		p.mute = p.mute || w.lost != "" && strings.Contains(p.bound, w.lost)
	case messageExecute:
		w.execute(p, p.bound)
	case messageQuery:
		text, _ := twoTexts(message[5:])
		w.execute(p, text)
		w.sync(p)
		p.listens = p.listens || strings.HasPrefix(text, "listen ")
	case messageSync:
		w.sync(p)
	}
	if w.deaf > 0 && message[0] == messageSync {
		w.deaf--
		p.deaf = true
	}
	if p.slow != nil && message[0] == messageSync {
		p.slow, p.answering = nil, p.slow
	}
	return !p.mute
}

// twoTexts are those that a message begins with, each ended by NUL.
func twoTexts(message []byte) (first, second string) {
	a, rest, _ := bytes.Cut(message, []byte{0})
	b, _, _ := bytes.Cut(rest, []byte{0})
	return string(a), string(b)
}

func (w *Wire) execute(p *pair, text string) {
	w.byText[text]++
	if w.slow.text != "" && strings.Contains(text, w.slow.text) {
		slow := w.slow
		p.slow, w.slow = &slow, slowAnswer{}
	}
	if !slices.ContainsFunc(w.ignored, func(word string) bool { return strings.Contains(text, word) }) {
		w.statements++
		p.counts = true
	}
}

func (w *Wire) sync(p *pair) {
	if p.counts {
		w.trips++
	}
	p.counts = false
}

// largestMessage bounds what a frame may claim to hold.
const largestMessage = 256 << 20

func readMessage(from io.Reader, typed bool) ([]byte, error) {
	head := make([]byte, 4, 5)
	if typed {
		head = head[:5]
	}
	if _, err := io.ReadFull(from, head); err != nil {
		return nil, err
	}
	size := int(binary.BigEndian.Uint32(head[len(head)-4:])) - 4
	if size < 0 || size > largestMessage {
		return nil, errors.New("not a message of PostgreSQL's protocol")
	}
	message := append(head, make([]byte, size)...)
	_, err := io.ReadFull(from, message[len(head):])
	return message, err
}
