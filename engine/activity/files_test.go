package activity_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"weftline/engine/activity"
)

// shelf keeps files in memory, for one team.
type shelf struct {
	mu    sync.Mutex
	team  string
	files map[string][3]string // name, kind, content

	broken bool // nothing more can be kept
}

func (s *shelf) Most() int64 { return 1 << 20 }

func (s *shelf) Save(_ context.Context, team, name, kind string, content []byte) (map[string]any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken {
		return nil, errors.New("no room")
	}
	id := fmt.Sprintf("file-%d", len(s.files))
	s.files[id] = [3]string{name, kind, string(content)}
	return map[string]any{"$file": id, "name": name, "size": int64(len(content))}, nil
}

func (s *shelf) Load(_ context.Context, team, id string) (string, string, []byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	file, ok := s.files[id]
	if !ok || team != s.team {
		return "", "", nil, activity.ErrNoFile
	}
	return file[0], file[1], []byte(file[2]), nil
}

// withFiles is a registry with one kind and files.
func withFiles(kind string, runner activity.Runner) (*activity.Registry, *shelf) {
	registry, files := activity.NewRegistry(), &shelf{team: "t", files: map[string][3]string{}}
	registry.Register(kind, runner)
	registry.KeepFiles(files)
	return registry, files
}

func TestAnAnswerMayBeKeptAsAFile(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gone.bin" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/pdf")
		w.Header().Set("Content-Disposition", `attachment; filename="../invoice 7.pdf"`)
		_, _ = io.WriteString(w, "%PDF\x00\xff")
	})
	registry, files := withFiles("http", loopback(t))
	call := activity.Call{Type: "http", Team: "t", Input: map[string]any{"url": server + "/a", "saveAs": "file"}}
	got := result(t, registry.Run(t.Context(), call))
	if got["body"] != nil || got["status"] != int64(200) {
		t.Errorf("result %v", got)
	}
	id := got["file"].(map[string]any)["$file"].(string)
	if file := files.files[id]; file != [3]string{"invoice 7.pdf", "application/pdf", "%PDF\x00\xff"} {
		t.Errorf("kept %q", file)
	}
	call.Input = map[string]any{"url": server + "/gone.bin", "saveAs": "file"}
	wantError(t, registry.Run(t.Context(), call), "http.404")
	if len(files.files) != 1 {
		t.Errorf("%d files are kept", len(files.files))
	}
}

func TestAScriptTakesAndLeavesFiles(t *testing.T) {
	registry, files := withFiles("script", newScript(t, languages("bash")))
	files.files["in"] = [3]string{"in.txt", "text/plain", "first\nsecond\n"}
	call := activity.Call{Type: "script", Team: "t", Input: map[string]any{"language": "bash",
		"source": `tail -n 1 data/in.txt > "$WF_FILES/last.txt"; mkdir "$WF_FILES/folder"`, "files": map[string]any{"data/in.txt": map[string]any{"$file": "in"}}}}
	left := result(t, registry.Run(t.Context(), call))["files"].(map[string]any)
	if len(left) != 1 {
		t.Fatalf("left %v", left)
	}
	id := left["last.txt"].(map[string]any)["$file"].(string)
	if file := files.files[id]; file[2] != "second\n" || !strings.HasPrefix(file[1], "text/plain") {
		t.Errorf("kept %q", file)
	}
	call.Team = "another"
	wantError(t, registry.Run(t.Context(), call), "input.invalid", "data/in.txt", "no file")
}

func TestAMailMayCarryFiles(t *testing.T) {
	box := newMailbox(t)
	registry, files := withFiles("email", box.kind(t))
	registry.Connect(func(context.Context, string, string, string) (activity.Connection, error) {
		return box.connection(nil), nil
	})
	files.files["f"] = [3]string{"plan.csv", "text/csv", "a;b"}
	result(t, registry.Run(t.Context(), activity.Call{Type: "email", Team: "t", Input: map[string]any{
		"to": "ann@example.com", "subject": "S", "text": "T",
		"attachments": []any{map[string]any{"$file": "f"}, map[string]any{"$file": "f", "name": "other.csv"}}}}))
	sent := box.one(t).content
	for _, name := range []string{"plan.csv", "other.csv"} {
		if !strings.Contains(sent, name) {
			t.Errorf("%s is not attached", name)
		}
	}
	wantError(t, registry.Run(t.Context(), activity.Call{Type: "email", Team: "t", Input: map[string]any{
		"to": "ann@example.com", "subject": "S", "text": "T", "attachments": []any{map[string]any{"$file": "none"}}}}), "input.invalid", "no file")
}

func TestARequestMayTrustACertificateOfItsOwn(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "hello") }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	if got := result(t, run(t, loopback(t), map[string]any{"url": server.URL, "tls": map[string]any{"ca": ca}})); got["body"] != "hello" {
		t.Errorf("result %v", got)
	}
	for words, tls := range map[string]map[string]any{"no certificate": {"ca": "x"}, "no pair": {"cert": "x", "key": "y"}, "insecure": {"insecure": "true"}} {
		wantError(t, run(t, loopback(t), map[string]any{"url": server.URL, "tls": tls}), "input.invalid", words)
	}
}

func TestARequestMayGoThroughAProxy(t *testing.T) {
	var asked string
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		_, _ = io.WriteString(w, "by proxy")
	})
	got := result(t, run(t, loopback(t), map[string]any{"url": "http://far.example/x", "proxy": proxy}))
	if got["body"] != "by proxy" || asked != "http://far.example/x" {
		t.Errorf("result %v, asked %q", got, asked)
	}
	closed := activity.NewHTTP(activity.HTTPOptions{})
	address, _ := url.Parse(proxy)
	wantError(t, run(t, closed, map[string]any{"url": "http://far.example/x", "proxy": "http://" + address.Host}), "http.address_refused")
	wantError(t, run(t, loopback(t), map[string]any{"url": "http://far.example", "proxy": "ftp://x"}), "input.invalid", "proxy")
}

// TestLinesOfALogAreMasked: what a script prints of a secret nobody reads.
func TestLinesOfALogAreMasked(t *testing.T) {
	registry, _ := withFiles("script", newScript(t))
	var lines []string
	result(t, registry.Run(t.Context(), activity.Call{Type: "script", Team: "t", Secrets: []string{"hunter2-log"},
		Input: javascript("console.log('the key is ' + input)", "hunter2-log"),
		Log:   func(_, line string) { lines = append(lines, line) }}))
	if len(lines) != 1 || lines[0] != "the key is ***" {
		t.Errorf("lines %q", lines)
	}
}

// TestRowsMayBeKeptAsAFile: of a query, within the limits of files, before what the query did is committed.
func TestRowsMayBeKeptAsAFile(t *testing.T) {
	db := warehouse(t)
	registry, files := withFiles("sql", newSQL(t))
	registry.Connect(func(context.Context, string, string, string) (activity.Connection, error) { return db, nil })
	run := func(input map[string]any) activity.Outcome {
		t.Helper()
		input["connection"], input["saveAs"] = "warehouse", "file"
		return registry.Run(t.Context(), activity.Call{Type: "sql", Team: "t", Input: input})
	}
	got := result(t, run(map[string]any{"query": "select n as id, 'a\"' || n as name, null as gone from generate_series(1, 2) n"}))
	file, _ := got["file"].(map[string]any)
	id, _ := file["$file"].(string)
	want := [3]string{"rows.json", "application/json", `[
{"gone":null,"id":1,"name":"a\"1"},
{"gone":null,"id":2,"name":"a\"2"}
]
`}
	if files.files[id] != want || got["rows"] != nil || got["rowsAffected"] != int64(2) || len(got["columns"].([]any)) != 3 {
		t.Errorf("result %v, kept %q", got, files.files[id])
	}
	empty := result(t, run(map[string]any{"query": "select 1 as one where false"}))
	if kept := files.files[empty["file"].(map[string]any)["$file"].(string)]; kept[2] != "[]\n" {
		t.Errorf("no rows are kept as %q", kept[2])
	}
	wantError(t, run(map[string]any{"query": "create table t (n int)", "mode": "exec"}), "input.invalid", "only the mode query")
	wantError(t, run(map[string]any{"query": "select generate_series(1, 3) as n", "maxRows": int64(2)}), "output.too_large", "more than 2 rows")
	wantError(t, run(map[string]any{"query": "select repeat('x', 2000000) as n"}), "output.too_large", "larger than the limit")

	result(t, statement(t, db, map[string]any{"query": "create table taken (n int)", "mode": "exec"}))
	files.broken = true
	wantError(t, run(map[string]any{"query": "insert into taken values (1) returning n"}), "engine.files")
	if left := result(t, statement(t, db, map[string]any{"query": "select n from taken"}))["rows"].([]any); len(left) != 0 {
		t.Errorf("the file was not kept, but %v is committed", left)
	}
}
