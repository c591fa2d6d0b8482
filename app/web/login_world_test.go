package web

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"weftline/app/auth"
	"weftline/app/config"
	"weftline/app/login"
	"weftline/app/login/logintest"
	"weftline/app/metrics"
	"weftline/engine"
	"weftline/engine/enginetest"
)

// loginWorld is a whole server with a provider that does what the test wants.
type loginWorld struct {
	t        *testing.T
	op       *logintest.Provider
	base     string
	database string
	engine   *engine.Engine
	log      *lockedBuffer
	fresh    time.Duration // of sign-ins for sensitive acts; 0 = any age

	mu     sync.Mutex
	ahead  time.Duration // of the service's clock
	config config.Provider
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (w *loginWorld) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.ahead)
}

func (w *loginWorld) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ahead += d
}

// rule gives a role in the default team to a group.
func rule(group, role string) config.Rule {
	return config.Rule{Claim: "groups", Value: group, Role: role, Team: "default"}
}

func groups(names ...string) map[string]any {
	list := []any{}
	for _, name := range names {
		list = append(list, name)
	}
	return map[string]any{"sub": "u1", "preferred_username": "ann", "email": "ann@example.org", "email_verified": true, "groups": list, "sid": "s1"}
}

// newLoginWorld has the rules admins → admin, staff → viewer and, in another team, others → author.
func newLoginWorld(t *testing.T, change func(*config.Provider), options ...func(*loginWorld)) *loginWorld {
	t.Helper()
	w := &loginWorld{t: t, op: logintest.New(t), database: enginetest.Database(t), log: &lockedBuffer{}}
	w.op.Claims = groups("staff")
	w.config = config.Provider{ID: "corp", Name: "Corp", Issuer: w.op.URL, ClientID: logintest.ClientID, ClientSecret: logintest.ClientSecret,
		Scopes: []string{"openid"}, NameClaim: "preferred_username", GroupsClaim: "groups", Algorithms: []string{"ES256"},
		Rules: []config.Rule{rule("admins", "admin"), rule("staff", "viewer"), {Claim: "groups", Value: "others", Role: "author", Team: "other"}}}
	if change != nil {
		change(&w.config)
	}
	for _, option := range options {
		option(w)
	}
	w.start()
	return w
}

func (w *loginWorld) start() {
	t := w.t
	ctx := context.Background()
	log := slog.New(slog.NewTextHandler(w.log, nil))
	e, err := engine.Open(ctx, engine.Options{DatabaseURL: w.database, SecretKeys: [][]byte{make([]byte, 32)}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- e.Run(ctx) }()
	t.Cleanup(func() { e.Close(ctx); <-ran })
	w.engine = e
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.base = "http://" + listener.Addr().String()
	server := New(Options{Door: e, Identity: e.Identity(), Vault: e.Vault(), Connections: e.Services(), Health: alwaysReady{}, Log: log,
		Metrics: metrics.New(), PayloadMax: 1 << 20, PublicURL: w.base, Fresh: w.fresh,
		Login: login.New(login.Options{Providers: []config.Provider{w.config}, PublicURL: w.base, Identity: e.Identity(), Limits: engine.DefaultSessionLimits,
			Grace: 15 * time.Minute, Fresh: w.fresh, Log: log, Now: w.now})})
	t.Cleanup(func() { _ = server.Shutdown(ctx) })
	go func() { _ = server.Serve(listener) }()
}

func (w *loginWorld) exec(statement string, args ...any) {
	w.t.Helper()
	conn, err := pgx.Connect(context.Background(), w.database)
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(context.Background(), statement, args...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *loginWorld) text(query string) string {
	w.t.Helper()
	conn, err := pgx.Connect(context.Background(), w.database)
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var text string
	if err := conn.QueryRow(context.Background(), query).Scan(&text); err != nil {
		w.t.Fatal(err)
	}
	return text
}

// due makes every session's provider be asked again at its next request.
func (w *loginWorld) due() { w.exec("update sessions set refresh_at = now() - interval '1 second'") }

// browser keeps cookies as a browser on one site does, Secure ones too: this machine counts as safe.
type browser struct {
	w       *loginWorld
	cookies map[string]string
	set     []*http.Cookie // of the last answer
}

func (w *loginWorld) browser() *browser { return &browser{w: w, cookies: map[string]string{}} }

type visit struct {
	status int
	body   string
	header http.Header
}

func (v visit) to() string { return v.header.Get("Location") }

func (b *browser) send(method, address, body string, headers ...string) visit {
	b.w.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = b.w.base + address
	}
	request, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		b.w.t.Fatal(err)
	}
	request.Header.Set("Accept", "text/html")
	if body != "" {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	ours := strings.HasPrefix(address, b.w.base)
	for name, value := range b.cookies {
		if ours {
			request.AddCookie(&http.Cookie{Name: name, Value: value})
		}
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		b.w.t.Fatal(err)
	}
	defer response.Body.Close()
	content, _ := io.ReadAll(response.Body)
	if ours {
		b.set = response.Cookies()
		for _, cookie := range b.set {
			if gone(cookie) {
				delete(b.cookies, cookie.Name)
			} else {
				b.cookies[cookie.Name] = cookie.Value
			}
		}
	}
	return visit{response.StatusCode, string(content), response.Header}
}

// gone: the server takes the cookie back.
func gone(cookie *http.Cookie) bool {
	return cookie.MaxAge < 0 || !cookie.Expires.IsZero() && cookie.Expires.Before(time.Now())
}

func (b *browser) get(address string, headers ...string) visit {
	b.w.t.Helper()
	return b.send("GET", address, "", headers...)
}

// atProvider begins a sign-in and answers the address that the provider sends the browser back to.
func (b *browser) atProvider(query string) string {
	b.w.t.Helper()
	begun := b.get("/login/corp" + query)
	if begun.status != http.StatusSeeOther {
		b.w.t.Fatalf("a sign-in does not begin: %d %.500s", begun.status, begun.body)
	}
	back := b.get(begun.to())
	if back.status != http.StatusSeeOther {
		b.w.t.Fatalf("the provider answers %d %s", back.status, back.body)
	}
	return back.to()
}

func (b *browser) signIn() visit {
	b.w.t.Helper()
	return b.get(b.atProvider(""))
}

// mustSignIn signs in and answers who the person is.
func (b *browser) mustSignIn() map[string]any {
	b.w.t.Helper()
	done := b.signIn()
	if done.status != http.StatusSeeOther || b.session() == "" {
		b.w.t.Fatalf("not signed in: %d %.1500s\n%s", done.status, done.body, b.w.log)
	}
	return b.me()
}

func (b *browser) session() string { return b.cookies[auth.HostCookieName] }

// me is what /api/v1/me says, nil when nobody is signed in.
func (b *browser) me() map[string]any {
	b.w.t.Helper()
	got := b.get("/api/v1/me", "Accept", "application/json")
	if got.status == http.StatusUnauthorized {
		return nil
	}
	return jsonOf(b.w.t, got.body)
}

func (b *browser) roles() string {
	b.w.t.Helper()
	me := b.me()
	if me == nil {
		return "nobody"
	}
	var roles []string
	for _, role := range me["roles"].([]any) {
		roles = append(roles, role.(string))
	}
	return strings.Join(roles, ",")
}

// csrf reads the token from a page.
func (b *browser) csrf() string {
	b.w.t.Helper()
	_, rest, ok := strings.Cut(b.get("/account").body, `name="csrf-token" content="`)
	token, _, _ := strings.Cut(rest, `"`)
	if !ok || token == "" {
		b.w.t.Fatal("no CSRF token on the page")
	}
	return token
}

func (b *browser) post(path string, fields url.Values, headers ...string) visit {
	b.w.t.Helper()
	if fields == nil {
		fields = url.Values{}
	}
	fields.Set("_csrf", b.csrf())
	return b.send("POST", path, fields.Encode(), headers...)
}
