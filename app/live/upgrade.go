package live

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"
	"github.com/gorilla/websocket"
	"github.com/valyala/fasthttp/fasthttpadaptor"
)

// upgrader: the origin was checked before, with the credential at hand.
var upgrader = websocket.Upgrader{
	ReadBufferSize: 1024, WriteBufferSize: 1024, WriteBufferPool: &sync.Pool{},
	Subprotocols: []string{Subprotocol},
	CheckOrigin:  func(*http.Request) bool { return true },
}

// upgrade makes a WebSocket of a Fiber request and hands it to serve in a goroutine of its own.
//
// Fiber gives away a connection only after its handler has returned, while gorilla wants it during the
// handshake. So the handshake is tried first without a connection, to answer a faulty one as plain HTTP,
// and done again when the connection is there. serve owns the connection from then on; Fiber's timeouts,
// limits and shutdown do not reach it. The server must run with KeepHijackedConns.
func upgrade(c *fiber.Ctx, serve func(*websocket.Conn)) error {
	request, err := copyRequest(c)
	if err != nil {
		return fiber.ErrBadRequest
	}
	trial := &handshake{header: http.Header{}}
	if _, _ = upgrader.Upgrade(trial, request, nil); !trial.valid {
		for name, values := range trial.header {
			c.Set(name, strings.Join(values, ", "))
		}
		return fiber.NewError(trial.status, strings.TrimSpace(string(trial.body)))
	}
	c.Status(fiber.StatusSwitchingProtocols) // for the access log; the answer itself is gorilla's
	c.Context().HijackSetNoResponse(true)
	c.Context().Hijack(func(wrapped net.Conn) {
		raw := wrapped.(interface{ UnsafeConn() net.Conn }).UnsafeConn()
		socket, err := upgrader.Upgrade(&handshake{header: http.Header{}, conn: raw}, request, nil)
		if err != nil {
			_ = raw.Close()
			return
		}
		go serve(socket)
	})
	return nil
}

// copyRequest owns its strings: Fiber's are gone when the handler has returned.
func copyRequest(c *fiber.Ctx) (*http.Request, error) {
	var shared http.Request
	if err := fasthttpadaptor.ConvertRequest(c.Context(), &shared, true); err != nil {
		return nil, err
	}
	header := http.Header{}
	for name, values := range shared.Header {
		for _, value := range values {
			header.Add(strings.Clone(name), strings.Clone(value))
		}
	}
	return &http.Request{Method: strings.Clone(shared.Method), Host: strings.Clone(shared.Host), Header: header, URL: shared.URL}, nil
}

// handshake is the http.ResponseWriter that gorilla needs; without a connection it only finds out whether
// the handshake is valid.
type handshake struct {
	header http.Header
	status int
	body   []byte
	conn   net.Conn
	valid  bool
}

var errTrial = errors.New("trial without a connection")

func (h *handshake) Header() http.Header    { return h.header }
func (h *handshake) WriteHeader(status int) { h.status = status }

func (h *handshake) Write(body []byte) (int, error) {
	h.body = append(h.body, body...)
	return len(body), nil
}

func (h *handshake) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	h.valid = true
	if h.conn == nil {
		return nil, nil, errTrial
	}
	return h.conn, bufio.NewReadWriter(bufio.NewReaderSize(h.conn, 16), bufio.NewWriterSize(h.conn, 16)), nil
}
