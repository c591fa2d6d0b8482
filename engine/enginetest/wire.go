package enginetest

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
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
	deaf       int // replies to commits that are still to be dropped
	hole       bool
	filled     *sync.Cond // hole changed
}

// pair is one connection of the program and its continuation to the server.
type pair struct {
	near, far net.Conn
	deaf      bool // the reply to what is under way never arrives
}

// NewWire opens a way to a database; it ends with the test.
func NewWire(t testing.TB, database string) *Wire {
	t.Helper()
	config, err := pgconn.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	w := &Wire{pairs: map[*pair]bool{}}
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

// BlackHole makes the wire swallow everything in silence, or deliver it again.
func (w *Wire) BlackHole(hole bool) {
	w.mu.Lock()
	w.hole = hole
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
		p := &pair{near: near, far: far}
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
		if !first {
			w.see(p, message)
		}
		w.pass()
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
		w.pass()
		w.mu.Lock()
		deaf := p.deaf
		w.mu.Unlock()
		if deaf {
			return
		}
		if _, err := p.near.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// pass waits while the wire is a hole.
func (w *Wire) pass() {
	w.mu.Lock()
	for w.hole {
		w.filled.Wait()
	}
	w.mu.Unlock()
}

// Types of messages of PostgreSQL's protocol.
const (
	messageExecute = 'E'
	messageSync    = 'S'
	messageQuery   = 'Q'
)

func (w *Wire) see(p *pair, message []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch message[0] {
	case messageExecute:
		w.statements++
	case messageSync:
		w.trips++
	case messageQuery:
		w.statements++
		w.trips++
	}
	if w.deaf > 0 && message[0] == messageSync {
		w.deaf--
		p.deaf = true
	}
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
