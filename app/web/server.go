// Package web is the Fiber application: the one route table, what stands before each handler (request id,
// credentials, rights, CSRF, limits, security headers), the form of errors, and the pages. It must not know
// how the engine works; it calls engine.Door.
package web

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"

	"weftline/app/api"
	"weftline/app/auth"
	"weftline/app/live"
	"weftline/app/login"
	"weftline/app/metrics"
	"weftline/engine"
	"weftline/engine/instants"
)

// Options say what a server serves and to whom.
type Options struct {
	Door        engine.Door
	Identity    Identity
	Vault       api.Vault
	Connections api.Connections
	Health      api.Health
	Log         *slog.Logger
	Metrics     *metrics.Metrics
	PayloadMax  int // bytes of one input, signal, event or form

	Local      *engine.Person // who visitors of pages are in local mode; nil outside it
	AnyAddress bool           // local mode is open to other machines
	Hosts      []string       // names that local mode answers to; empty = all

	Login     *login.Service       // nil in local mode
	Machines  *login.Machines      // nil when programs come with tokens of this server alone
	Limits    engine.SessionLimits // zero = engine.DefaultSessionLimits
	Fresh     time.Duration        // how old a sign-in may be for sensitive acts; 0 = any age
	PublicURL string               // with Login: the address that browsers use

	Arrival time.Duration // how long a request may take to arrive; 0 = a minute

	Mounts []Route // routes of built-in extras, such as the demo server
}

// Identity is what the server needs to know of tokens and sessions.
type Identity interface {
	auth.Identity
	api.Identity
	Members
}

// Server is the web application.
type Server struct {
	app     *fiber.App
	log     *slog.Logger
	gate    *auth.Gate
	hub     *live.Hub
	pages   *Pages
	metrics *metrics.Metrics
	routes  []Route

	hosts      []string
	payloadMax int
	requests   *auth.Throttle
	costly     *auth.Throttle // of those, what computes a lot
	draining   atomic.Bool
}

// requestsPerMinute of one user; far above what a person or a well-behaved program needs.
const requestsPerMinute = 600_000

// costlyPerMinute plans and runs of tests of one user: the designer asks for less while somebody types.
const costlyPerMinute = 300

// New puts the application together; Listen starts it.
func New(o Options) *Server {
	s := &Server{
		log: o.Log, metrics: o.Metrics, hosts: o.Hosts, payloadMax: o.PayloadMax,
		pages:    &Pages{Door: o.Door, Tokens: o.Identity, Members: o.Identity, Vault: o.Vault, Connections: o.Connections, Audit: o.Identity, Login: o.Login, attempts: auth.NewThrottle(attemptsMinute, time.Minute)},
		requests: auth.NewThrottle(requestsPerMinute, time.Minute), costly: auth.NewThrottle(costlyPerMinute, time.Minute),
	}
	gate := auth.Options{Identity: o.Identity, Local: o.Local, Limits: o.Limits, Fresh: o.Fresh}
	calling := api.Options{Door: o.Door, Identity: o.Identity, Vault: o.Vault, Connections: o.Connections, Health: o.Health, Table: s.operations}
	if o.Machines != nil {
		gate.Machines = o.Machines
	}
	if o.Login != nil {
		gate.Login, calling.Login = o.Login, o.Login
	}
	s.gate = auth.NewGate(gate)
	s.pages.Gate, calling.Limits = s.gate, s.gate.Limits()
	if o.Local != nil {
		s.pages.Local = &LocalNotice{AnyAddress: o.AnyAddress}
	}
	s.hub = live.NewHub(live.Options{Door: o.Door, Gate: s.gate, Log: o.Log, Metrics: o.Metrics})
	s.app = fiber.New(fiber.Config{
		JSONEncoder: instants.JSON,
		AppName:     "Weftline", DisableStartupMessage: true, ErrorHandler: s.fail,
		Immutable:         true, // strings of a request outlive it: the engine keeps some
		CaseSensitive:     true,
		StrictRouting:     true,
		UnescapePath:      true,
		StreamRequestBody: true, DisablePreParseMultipartForm: true, // see readBody
		ReadTimeout: cmp.Or(o.Arrival, time.Minute), WriteTimeout: 60 * time.Second, IdleTimeout: 2 * time.Minute,
		ReadBufferSize: 16 << 10, // bytes of request headers
	})
	s.app.Server().KeepHijackedConns = true // sockets are the hub's own, see package live
	s.app.Use(identify, secure(strings.HasPrefix(o.PublicURL, "https:")), s.observe, drainBody, s.refuseWhileDraining, s.refuseForeignHosts, refuseUnreadable)
	s.app.Get(staticPrefix+"*", serveStatic)
	s.routes = append(table(api.New(calling), s.hub, o.Metrics), append(s.pages.Routes(), o.Mounts...)...)
	for _, route := range s.routes {
		s.app.Add(route.Method, route.Path, s.guard(route))
	}
	return s
}

// App is the Fiber application, for tests.
func (s *Server) App() *fiber.App { return s.app }

// Routes is the whole route table.
func (s *Server) Routes() []Route { return s.routes }

// Serve answers on the listener until Shutdown.
func (s *Server) Serve(listener net.Listener) error { return s.app.Listener(listener) }

// Shutdown stops taking requests, lets those at work finish within the context, and tells the sockets.
func (s *Server) Shutdown(ctx context.Context) error {
	s.draining.Store(true)
	s.hub.Close()
	return s.app.ShutdownWithContext(ctx)
}

func accessLevel(path string, status int) slog.Level {
	switch {
	case status >= 500:
		return slog.LevelWarn
	case strings.HasPrefix(path, staticPrefix), path == "/healthz", path == "/readyz", path == "/metrics":
		return slog.LevelDebug
	}
	return slog.LevelInfo
}
