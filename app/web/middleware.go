package web

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"weftline/app/auth"
	"weftline/engine"
)

type (
	requestIDKey struct{}
	nonceKey     struct{}
	tlsKey       struct{}
)

func requestIDOf(c *fiber.Ctx) string {
	id, _ := c.Locals(requestIDKey{}).(string)
	return id
}

func nonceOf(c *fiber.Ctx) string {
	nonce, _ := c.Locals(nonceKey{}).(string)
	return nonce
}

var usableRequestID = regexp.MustCompile(`^[A-Za-z0-9._-]{8,64}$`)

// identify gives each request an id: the client's own when it is harmless, else a new one.
func identify(c *fiber.Ctx) error {
	id := c.Get(fiber.HeaderXRequestID)
	if !usableRequestID.MatchString(id) {
		id = uuid.NewString()
	}
	c.Locals(requestIDKey{}, id)
	c.Set(fiber.HeaderXRequestID, id)
	return c.Next()
}

// observe writes one access line a request and counts it. It never logs headers, queries or bodies.
func (s *Server) observe(c *fiber.Ctx) error {
	began := time.Now()
	if err := s.guarded(c); err != nil {
		if err := s.fail(c, err); err != nil {
			return err
		}
	}
	status, took := c.Response().StatusCode(), time.Since(began)
	s.metrics.Request(c.Method(), c.Route().Path, status, took)
	asking, _ := auth.Of(c)
	s.log.Log(c.UserContext(), accessLevel(c.Path(), status), "request", "request", requestIDOf(c), "method", c.Method(),
		"path", c.Path(), "status", status, "ms", took.Milliseconds(), "user", asking.User, "address", c.IP())
	return nil
}

// guarded runs the rest and turns a panic into an error, so that one request never ends the process.
func (s *Server) guarded(c *fiber.Ctx) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %v\n%s", fault, debug.Stack())
		}
	}()
	return c.Next()
}

const aYearOfTLS = "max-age=31536000; includeSubDomains"

// secure sets the headers that every answer carries. Styles that scripts insert need the nonce. Browsers come over
// TLS when the public address says so, or when this server, or the proxy before it, took the request by TLS.
func secure(public bool) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if tls := public || c.Protocol() == "https"; tls {
			c.Locals(tlsKey{}, tls)
			c.Set(fiber.HeaderStrictTransportSecurity, aYearOfTLS)
		}
		setPolicies(c)
		return c.Next()
	}
}

func overTLS(c *fiber.Ctx) bool {
	tls, _ := c.Locals(tlsKey{}).(bool)
	return tls
}

func setPolicies(c *fiber.Ctx) {
	nonce := newNonce()
	c.Locals(nonceKey{}, nonce)
	c.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-"+nonce+"'; "+
		"img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "+
		"frame-ancestors 'none'; object-src 'none'")
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderReferrerPolicy, "same-origin")
	c.Set("Cross-Origin-Opener-Policy", "same-origin")
	c.Set("Cross-Origin-Resource-Policy", "same-origin")
	c.Set(fiber.HeaderPermissionsPolicy, "camera=(), geolocation=(), microphone=(), payment=()")
	if !strings.HasPrefix(c.Path(), staticPrefix) {
		c.Set(fiber.HeaderCacheControl, "no-store")
	}
}

func newNonce() string {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // never fails, says crypto/rand
	return base64.RawStdEncoding.EncodeToString(raw[:])
}

// refuseForeignHosts stops DNS rebinding: in local mode only names of this very machine are answered, so a
// page of another site cannot reach the signed-in user through a name that it points here.
func (s *Server) refuseForeignHosts(c *fiber.Ctx) error {
	if len(s.hosts) == 0 {
		return c.Next()
	}
	host := string(c.Request().Host())
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if !slices.Contains(s.hosts, strings.ToLower(strings.Trim(host, "[]"))) {
		return engine.Refuse("forbidden", "local mode answers only to the names "+strings.Join(s.hosts, ", "))
	}
	return c.Next()
}

// refuseUnreadable answers addresses that no stored text can equal: PostgreSQL holds UTF-8 without NUL.
func refuseUnreadable(c *fiber.Ctx) error {
	if !readable(c.Path()) {
		return engine.Refuse("not_found", "there is nothing here: the address is not text")
	}
	for name, value := range c.Queries() {
		if !readable(name) || !readable(value) {
			return engine.Refuse("bad_request", "the query of the address is not text")
		}
	}
	return c.Next()
}

func readable(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

// refuseWhileDraining sends clients elsewhere while the server ends; health stays readable.
func (s *Server) refuseWhileDraining(c *fiber.Ctx) error {
	if s.draining.Load() && c.Path() != "/healthz" && c.Path() != "/readyz" {
		c.Context().SetConnectionClose()
		return &engine.Error{Code: "not_ready", Message: "the server is restarting", RetryAfterSeconds: 1}
	}
	return c.Next()
}
