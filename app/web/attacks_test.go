package web

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/gorilla/websocket"

	"weftline/app/live"
	"weftline/engine"
)

// A form that was opened before its person lost the role is judged by the rights of now.
func TestAnOldCopyOfAFormHasTheRightsOfNow(t *testing.T) {
	w := newLoginWorld(t, nil)
	w.op.Claims = groups("admins")
	b := w.browser()
	b.mustSignIn()
	w.exec("insert into users (id, name, issuer, subject, provider) values ('00000000-0000-0000-0000-0000000000aa', 'another-admin', 'i', 's', 'corp')")
	w.exec("insert into memberships (team_id, user_id, roles) select id, '00000000-0000-0000-0000-0000000000aa', '{admin}' from teams where name = 'default'")
	old := url.Values{"name": {"LATE"}, "value": {"typed an hour ago"}, "_csrf": {b.csrf()}}
	w.op.Claims = groups("staff")
	w.browser().mustSignIn() // elsewhere: the provider says now that they are a viewer
	if got := b.send("POST", "/settings/secrets", old.Encode()); got.status != http.StatusForbidden {
		t.Errorf("the old form: %d %.300s", got.status, got.body)
	}
	if n := w.text("select count(*)::text from secrets"); n != "0" {
		t.Errorf("%s secrets are stored", n)
	}
}

// A page that was opened in one team sends nothing into another that a second tab switched to.
func TestAPageOfAnotherTeamSendsNothing(t *testing.T) {
	w := newLoginWorld(t, nil)
	w.config.Rules = append(w.config.Rules, rule("others", "author"))
	w.op.Claims = groups("admins", "others")
	b := w.browser()
	b.mustSignIn()
	first := b.me()["team"]
	page := url.Values{"name": {"drawn"}, "_csrf": {b.csrf()}}
	target := "other"
	if first == target {
		target = engine.DefaultTeam
	}
	switched := b.post("/account/team", url.Values{"team": {w.text("select id::text from teams where name = '" + target + "'")}})
	if now := b.me()["team"]; switched.status != http.StatusSeeOther || now != target {
		t.Fatalf("from %v to %v: %d", first, now, switched.status)
	}
	if got := b.send("POST", "/new", page.Encode()); got.status != http.StatusForbidden {
		t.Errorf("the form of the first tab: %d %.300s", got.status, got.body)
	}
	if n := w.text("select count(*)::text from workflows"); n != "0" {
		t.Errorf("%s workflows are there", n)
	}
}

// Whoever begins sign-in after sign-in has to wait.
func TestBeginningsOfASignInAreThrottled(t *testing.T) {
	w := newLoginWorld(t, nil)
	for range 2 * attemptsMinute {
		got := w.browser().get("/login/corp")
		switch got.status {
		case http.StatusSeeOther:
			continue
		case http.StatusTooManyRequests:
			if got.header.Get("Retry-After") == "" {
				t.Error("429 without Retry-After")
			}
			return
		}
		t.Fatalf("%d %.300s", got.status, got.body)
	}
	t.Error("a sign-in can be begun as often as one likes")
}

// rawAnswer sends bytes as they are, which no client of the library would, and answers the bytes that come back.
func rawAnswer(t *testing.T, base, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(bufio.NewReader(conn))
	return string(text)
}

// What comes from outside never makes a line of its own in the header of an answer.
func TestAnswersCannotBeSplit(t *testing.T) {
	w := newTwins(t)
	admin := w.as(engine.DefaultTeam, "admin")
	const evil = "%0d%0aX-Evil:%20yes%0d%0a%0d%0abody"
	file := admin.must(201, "POST", "/files?name=a"+evil+`%22;x=%22.txt`, "text", "Content-Type", "text/plain")["id"].(string)
	const auth = "Authorization: Bearer " + engine.DefaultTeam + ":admin\r\nHost: x\r\nConnection: close\r\n"
	for name, request := range map[string]string{
		"the name of a file":     "GET /api/v1/files/" + file + " HTTP/1.1\r\n" + auth + "\r\n",
		"the address":            "GET /workflows/a" + evil + " HTTP/1.1\r\n" + auth + "\r\n",
		"a redirect":             "GET /executions/" + evil + "/history.json HTTP/1.1\r\n" + auth + "\r\n",
		"the way back":           "GET /login?return=/x" + evil + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		"the id of the request":  "GET /healthz HTTP/1.1\r\n" + auth + "X-Request-Id: abcdefgh\x0bX-Evil: yes\r\n\r\n",
		"a folded header":        "GET /healthz HTTP/1.1\r\n" + auth + "X-Request-Id: abcdefgh\r\n X-Evil: yes\r\n\r\n",
		"a bare carriage return": "GET /healthz HTTP/1.1\r\n" + auth + "X-Request-Id: abcdefgh\rX-Evil: yes\r\n\r\n",
	} {
		header, _, _ := strings.Cut(rawAnswer(t, w.base, request), "\r\n\r\n")
		for line := range strings.SplitSeq(strings.ReplaceAll(header, "\r", "\n"), "\n") {
			if strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), "x-evil") {
				t.Errorf("%s makes a header:\n%s", name, header)
			}
		}
		if strings.Count(header, "HTTP/1.1") != 1 {
			t.Errorf("%s: %q is not one answer", name, header)
		}
	}
	answer := rawAnswer(t, w.base, "GET /api/v1/files/"+file+" HTTP/1.1\r\n"+auth+"\r\n")
	if !strings.Contains(answer, "Content-Disposition: attachment; filename=") {
		t.Errorf("a file of an odd name is no download:\n%s", answer)
	}
}

// An address with dots leads to nothing outside of what is served, however it is spelled.
func TestPathsLeadNowhereElse(t *testing.T) {
	w := newTwins(t)
	for _, path := range []string{"/static/../go.mod", "/static/../../go.mod", "/static/%2e%2e/%2e%2e/go.mod", "/static/..%2f..%2fgo.mod", "/static/..%5c..%5cgo.mod",
		"/static//etc/passwd", "/static/%00", "/static/....//....//etc/passwd", "/api/v1/files/..%2f..%2fetc%2fpasswd", "/api/v1/files/%2e%2e%2fme", "/../../etc/passwd"} {
		answer := rawAnswer(t, w.base, "GET "+path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer "+engine.DefaultTeam+":admin\r\n\r\n")
		if strings.HasPrefix(answer, "HTTP/1.1 200") || strings.Contains(answer, "module weftline") || strings.Contains(answer, "root:") {
			t.Errorf("%s: %.300s", path, answer)
		}
	}
}

// Over sockets, too, the things of another team are as if they did not exist, and its changes are not told.
func TestTwinTeamsOverSocketsAndHooks(t *testing.T) {
	w := newTwins(t)
	mine, theirs := w.ids[engine.DefaultTeam], w.ids["other"]
	dialer := websocket.Dialer{Subprotocols: []string{live.Subprotocol}}
	conn, _, err := dialer.Dial("ws"+strings.TrimPrefix(w.base, "http")+"/api/v1/live", http.Header{"Authorization": {"Bearer " + engine.DefaultTeam + ":admin"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for sid, topic := range map[string]string{"theirs": "execution:" + theirs["executions"], "nobodys": "execution:" + uuid.Nil.String(), "mine": "execution:" + mine["executions"],
		"list": "executions:", "tasks": "tasks:", "counts": "counts", "flow": "workflow:twin"} {
		if err := conn.WriteJSON(map[string]any{"type": "sub", "sid": sid, "topic": topic}); err != nil {
			t.Fatal(err)
		}
	}
	other := w.as("other", "admin")
	other.must(200, "POST", "/tasks/"+theirs["tasks"]+"/claim", `{}`)
	other.must(202, "POST", "/workflows/twin/executions", `{"input": {"mark": "mark-of-other"}}`)
	other.must(202, "POST", "/executions/"+theirs["executions"]+"/pause", `{}`)
	mineToo := w.as(engine.DefaultTeam, "admin")
	mineToo.must(202, "POST", "/executions/"+mine["executions"]+"/cancel", `{}`) // comes after what the other team did

	refused := map[string]string{}
	_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	for done := false; !done; {
		_, text, err := conn.ReadMessage()
		if err != nil {
			t.Fatalf("the end of the own execution never came: %v", err)
		}
		frame := jsonOf(t, string(text))
		if frame["type"] == "err" {
			refused[fmt.Sprint(frame["sid"])] = fmt.Sprint(frame["code"])
		}
		if strings.Contains(string(text), "mark-of-other") || strings.Contains(string(text), theirs["executions"]) && frame["type"] != "err" || strings.Contains(string(text), theirs["tasks"]) {
			t.Errorf("the socket tells what the other team has: %.500s", text)
		}
		done = frame["sid"] == "mine" && strings.Contains(string(text), "cancelled") && len(refused) > 1
	}
	if refused["theirs"] != "not_found" || refused["nobodys"] != "not_found" {
		t.Errorf("refused: %v", refused)
	}
}
