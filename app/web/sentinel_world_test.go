package web

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"weftline/app/live"
	"weftline/app/metrics"
	"weftline/engine"
	"weftline/engine/activity"
	"weftline/engine/enginetest"
	"weftline/engine/flow"
)

// sentinels are values that must be found nowhere, each by what it is put in as. Most hold characters that
// every encoding writes in its own way; a token has to fit a header.
var sentinels = map[string]string{
	"input":             `se"nti/nel+in?put&<1>`,
	"secret":            `se"nti/nel+sec?ret&<2>`,
	"form":              `se"nti/nel+fo?rm&<3>`,
	"connection secret": `se"nti/nel+conn?ection&<4>`,
	"refused input":     `se"nti/nel+refu?sed&<5>`,
	"token":             `wft_sentinel-to/ken+6=`,
	"worker's token":    `wft_sentinel-wor/ker+7=`,
}

// spelledOut are the ways in which a sentinel could be written somewhere.
func spelledOut(sentinel string) map[string]string {
	inJSON, _ := json.Marshal(sentinel)
	bare := strings.Trim(string(inJSON), `"`)
	forms := map[string]string{"plain": sentinel, "JSON": bare, "JSON in JSON": strings.ReplaceAll(bare, `\`, `\\`),
		"JSON without HTML": strings.ReplaceAll(sentinel, `"`, `\"`), "HTML": html.EscapeString(sentinel),
		"URL": url.QueryEscape(sentinel), "path": url.PathEscape(sentinel), "hex": hex.EncodeToString([]byte(sentinel)),
		"upper case": strings.ToUpper(sentinel), "a part": sentinel[4:17]}
	for shift := range 3 { // bytes that stand before it in what is encoded
		for name, encoding := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64 for URLs": base64.RawURLEncoding} {
			encoded := encoding.EncodeToString([]byte(strings.Repeat("x", shift) + sentinel))
			forms[fmt.Sprint(name, ", shifted by ", shift)] = encoded[(shift*8+5)/6 : (shift+len(sentinel))*8/6]
		}
	}
	return forms
}

// mustNotTell fails for every sentinel in a text.
func mustNotTell(t *testing.T, where, text string) {
	t.Helper()
	for what, sentinel := range sentinels {
		for way, form := range spelledOut(sentinel) {
			if at := strings.Index(text, form); at >= 0 {
				t.Errorf("%s tells the %s (%s): …%q…", where, what, way, text[max(0, at-200):min(len(text), at+len(form)+60)])
				break
			}
		}
	}
}

// outside is the world that activities reach: an address that repeats whatever it is sent, a model that does
// too, a mail server that refuses with what it was told, and a database.
type outside struct {
	web, mail string // host:port
	database  activity.Connection

	mu   sync.Mutex
	seen strings.Builder // what arrived, to show that the values did reach what was to use them
}

func newOutside(t *testing.T) *outside {
	t.Helper()
	o := &outside{}
	server := httptest.NewServer(http.HandlerFunc(o.repeat))
	t.Cleanup(server.Close)
	o.web = strings.TrimPrefix(server.URL, "http://")
	mail, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mail.Close() })
	o.mail = mail.Addr().String()
	go func() {
		for {
			conn, err := mail.Accept()
			if err != nil {
				return
			}
			go o.refuseMail(conn)
		}
	}()
	config := enginetest.OverTCP(t, enginetest.EmptyDatabase(t))
	o.database = activity.Connection{Settings: map[string]any{"host": config.Host, "port": config.Port, "database": config.Database,
		"user": config.User, "sslmode": "disable"}, Secrets: map[string]string{"password": config.Password}}
	return o
}

func (o *outside) hear(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen.WriteString(text + "\n")
}

func (o *outside) heard() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seen.String()
}

// repeat answers with all that it was sent, in several spellings; /refuse does so with status 400.
func (o *outside) repeat(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	said := fmt.Sprint(r.URL.String(), " ", r.Header, " ", string(body))
	o.hear(said)
	w.Header().Set("Content-Type", "application/json")
	for name, values := range r.Header {
		w.Header().Set("X-Was-"+name, base64.StdEncoding.EncodeToString([]byte("a"+values[0])))
	}
	if strings.HasSuffix(r.URL.Path, "/refuse") {
		w.WriteHeader(http.StatusBadRequest)
	}
	var sent any
	_ = json.Unmarshal(body, &sent) // not every body is JSON
	content := said
	if question, ok := sent.(map[string]any); ok && question["messages"] != nil {
		content = fmt.Sprint("you asked ", question["messages"])
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"said": said, "sent": sent, "query": url.QueryEscape(said), "base64": base64.URLEncoding.EncodeToString([]byte(said)),
		"choices": []any{map[string]any{"message": map[string]any{"content": content}, "finish_reason": "stop"}}})
}

// refuseMail refuses a mail with all that it was told.
func (o *outside) refuseMail(conn net.Conn) {
	defer conn.Close()
	var told strings.Builder
	lines := bufio.NewScanner(conn)
	fmt.Fprint(conn, "220 mail\r\n")
	for data := false; lines.Scan(); {
		line := lines.Text()
		told.WriteString(line + " ")
		switch verb, _, _ := strings.Cut(line, " "); {
		case data && line == ".":
			o.hear(told.String())
			fmt.Fprintf(conn, "550 no mail: %s\r\n", told.String())
			data = false
		case data:
		case verb == "EHLO":
			fmt.Fprint(conn, "250 mail\r\n")
		case verb == "DATA":
			data = true
			fmt.Fprint(conn, "354 go on\r\n")
		case verb == "QUIT":
			return
		default:
			fmt.Fprint(conn, "250 ok\r\n")
		}
	}
}

// wiretap keeps all that a server sends, but for the connections of a worker: its work does hold the values.
type wiretap struct {
	net.Listener
	mu    sync.Mutex
	conns []*tapped
}

type tapped struct {
	net.Conn
	mu      sync.Mutex
	in, out bytes.Buffer
}

func (w *wiretap) Accept() (net.Conn, error) {
	conn, err := w.Listener.Accept()
	if err != nil {
		return nil, err
	}
	tap := &tapped{Conn: conn}
	w.mu.Lock()
	w.conns = append(w.conns, tap)
	w.mu.Unlock()
	return tap, nil
}

func (t *tapped) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	t.mu.Lock()
	t.in.Write(p[:n])
	t.mu.Unlock()
	return n, err
}

func (t *tapped) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.out.Write(p)
	t.mu.Unlock()
	return t.Conn.Write(p)
}

// aside marks requests whose answer may hold a value: the content of a file.
const aside = "X-Aside"

// sent is what everybody was sent, but the holder of a token and who asked aside.
func (w *wiretap) sent(but string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all strings.Builder
	for _, conn := range w.conns {
		conn.mu.Lock()
		if asked := conn.in.String(); !strings.Contains(asked, but) && !strings.Contains(asked, aside) {
			all.Write(conn.out.Bytes())
		}
		conn.mu.Unlock()
	}
	return all.String()
}

// sentinelWorld is a whole server with every kind of activity.
type sentinelWorld struct {
	t        *testing.T
	database string
	log      *lockedBuffer
	tap      *wiretap
	server   *Server
	outside  *outside
	admin    caller
	frames   *lockedBuffer // of the sockets, as their clients read them
}

func newSentinelWorld(t *testing.T, mode string) *sentinelWorld {
	t.Helper()
	w := &sentinelWorld{t: t, database: enginetest.Database(t), log: &lockedBuffer{}, frames: &lockedBuffer{}, outside: newOutside(t)}
	log := slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	ctx := ctxOf(t)
	e, err := engine.Open(ctx, engine.Options{DatabaseURL: w.database, Mode: mode, SecretKeys: [][]byte{bytes.Repeat([]byte{7}, 32)}, Log: log, Activities: w.kinds()})
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- e.Run(ctx) }()
	t.Cleanup(func() {
		e.Close(ctx)
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
	if err := e.Identity().EnsureBootstrapToken(ctx, sentinels["token"]); err != nil {
		t.Fatal(err)
	}
	figures := metrics.New()
	figures.Register(e.Figures().Collectors()...)
	w.server = New(Options{Door: e, Identity: e.Identity(), Vault: e.Vault(), Connections: e.Services(), Health: alwaysReady{}, Log: log, Metrics: figures, PayloadMax: 1 << 20})
	t.Cleanup(func() { _ = w.server.Shutdown(ctx) })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.tap = &wiretap{Listener: listener}
	go func() { _ = w.server.Serve(w.tap) }()
	w.admin = caller{t, "http://" + listener.Addr().String(), sentinels["token"]}
	return w
}

func (w *sentinelWorld) kinds() *activity.Registry {
	w.t.Helper()
	egress, err := activity.ParseEgress("127.0.0.0/8, ::1")
	if err != nil {
		w.t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	scripts, err := activity.NewScript(activity.ScriptOptions{Sandbox: []string{program, sandboxWord}, Languages: []string{"bash"}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(scripts.Close)
	kinds, web := activity.NewRegistry(), activity.NewHTTP(activity.HTTPOptions{Egress: egress})
	kinds.Register(flow.TypeScript, scripts)
	kinds.Register(flow.TypeHTTP, web)
	kinds.Register(flow.TypeAI, activity.NewAI(web))
	kinds.Register(flow.TypeSQL, activity.NewSQL(activity.SQLOptions{Egress: egress}))
	kinds.Register(flow.TypeEmail, activity.NewEmail(activity.EmailOptions{Egress: egress}))
	return kinds
}

// listenTo records a socket with these topics from now on.
func (w *sentinelWorld) listenTo(topics ...string) {
	w.t.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{live.Subprotocol}}
	socket, _, err := dialer.Dial("ws"+strings.TrimPrefix(w.admin.base, "http")+"/api/v1/live", http.Header{"Authorization": {"Bearer " + w.admin.token}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { socket.Close() })
	for i, topic := range topics {
		if err := socket.WriteJSON(map[string]any{"type": "sub", "sid": fmt.Sprint(i), "topic": topic}); err != nil {
			w.t.Fatal(err)
		}
	}
	go func() {
		for {
			_, frame, err := socket.ReadMessage()
			if err != nil {
				return
			}
			_, _ = w.frames.Write(append(frame, '\n'))
		}
	}()
}

var dumpedBytes = regexp.MustCompile(`\\\\x[0-9a-f]+`)

// everythingStored is a dump of the whole database, with what is kept as bytes readable beside.
func (w *sentinelWorld) everythingStored() string {
	w.t.Helper()
	dump := enginetest.Dump(w.t, w.database)
	var all strings.Builder
	all.WriteString(dump)
	for _, field := range dumpedBytes.FindAllString(dump, -1) {
		if content, err := hex.DecodeString(field[3:]); err == nil {
			all.WriteString("\n")
			all.Write(content)
		}
	}
	return all.String()
}
