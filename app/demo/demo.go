// Package demo owns the small outside world that the example workflows call: a shop, an office and a few
// data feeds, served within the process under a host name of its own. No port is opened and no address
// of the network is reached, so the examples run anywhere, offline. It must not know the engine.
package demo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/valyala/fasthttp/fasthttputil"
)

// Host is the name that the examples call. The domain .internal is reserved for private use.
const Host = "demo.weftline.internal"

// Server is the demo world. Its memory is small and lost when the process ends.
type Server struct {
	server   *http.Server
	listener *fasthttputil.InmemoryListener
	calls    *counter
}

// Start serves the demo world until Close.
func Start() *Server {
	const headerTimeout = 10 * time.Second
	s := &Server{listener: fasthttputil.NewInmemoryListener(), calls: newCounter()}
	s.server = &http.Server{Handler: s.routes(), ReadHeaderTimeout: headerTimeout}
	go func() { _ = s.server.Serve(s.listener) }() // ends with Close, which is no failure
	return s
}

// Close ends the demo world; calls in flight lose their connection.
func (s *Server) Close() error { return s.server.Close() }

// Dial connects to the demo world from within the process.
func (s *Server) Dial(context.Context) (net.Conn, error) { return s.listener.Dial() }

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	s.shop(mux)
	s.office(mux)
	s.feeds(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		answer(w, http.StatusNotFound, map[string]any{"message": "the demo world has no " + r.Method + " " + r.URL.Path})
	})
	return mux
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the caller may have gone; there is nobody to tell
}

// read decodes the body of a request; what does not fit is answered with 400.
func read[T any](w http.ResponseWriter, r *http.Request) (body T, ok bool) {
	const largest = 64 << 10
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, largest)).Decode(&body); err != nil {
		answer(w, http.StatusBadRequest, map[string]any{"message": "the body does not fit: " + err.Error()})
		return body, false
	}
	return body, true
}

// receipt names what a request made: the same for every repetition with the same Idempotency-Key.
func receipt(prefix string, r *http.Request) string {
	sum := sha256.Sum256([]byte(r.URL.Path + " " + r.Header.Get("Idempotency-Key")))
	return prefix + "_" + hex.EncodeToString(sum[:4])
}

// counter counts calls by key; past its size it begins anew.
type counter struct {
	mu    sync.Mutex
	calls map[string]int
}

func newCounter() *counter { return &counter{calls: map[string]int{}} }

// next is the number of this call with the key, from 1.
func (c *counter) next(key string) int {
	const most = 10_000
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.calls) >= most {
		clear(c.calls)
	}
	c.calls[key]++
	return c.calls[key]
}

// busy fails the first calls with a key with 503 and reports whether it did.
func (s *Server) busy(w http.ResponseWriter, key string, failures int) bool {
	call := s.calls.next(key)
	if call > failures {
		return false
	}
	answer(w, http.StatusServiceUnavailable, map[string]any{"message": "busy, try again", "call": call})
	return true
}
