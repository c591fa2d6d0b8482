package web

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"weftline/app/live"
	"weftline/app/metrics"
	"weftline/engine"
	"weftline/engine/enginetest"
)

// replica is one server of several on the same database.
func replica(t *testing.T, database string) string {
	t.Helper()
	e, err := engine.Open(t.Context(), engine.Options{DatabaseURL: database, SecretKeys: [][]byte{make([]byte, 32)}, Log: quietLog})
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- e.Run(ctxOf(t)) }()
	if err := e.Identity().EnsureBootstrapToken(t.Context(), adminToken); err != nil {
		t.Fatal(err)
	}
	server := New(Options{Door: e, Identity: e.Identity(), Vault: e.Vault(), Connections: e.Services(), Health: alwaysReady{}, Log: quietLog, Metrics: metrics.New(), PayloadMax: 1 << 20})
	base := listen(t, server)
	t.Cleanup(func() {
		_ = server.Shutdown(ctxOf(t))
		e.Close(ctxOf(t))
		<-ran
	})
	return base
}

// designer is somebody who has a workflow open over a socket.
type designer struct {
	t      *testing.T
	socket *websocket.Conn
}

func openDesigner(t *testing.T, base, workflow string) designer {
	t.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{live.Subprotocol}}
	socket, _, err := dialer.Dial("ws"+strings.TrimPrefix(base, "http")+"/api/v1/live", http.Header{"Authorization": {"Bearer " + adminToken}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	if err := socket.WriteJSON(map[string]any{"type": "sub", "sid": "s", "topic": "workflow:" + workflow, "editing": true}); err != nil {
		t.Fatal(err)
	}
	return designer{t, socket}
}

// sees reads until so many are said to work on the workflow.
func (d designer) sees(editors int) {
	d.t.Helper()
	d.seesThat(func(list []engine.Editor) bool { return len(list) == editors })
}

// seesAt reads until somebody is said to have that activity selected.
func (d designer) seesAt(activity string) {
	d.t.Helper()
	d.seesThat(func(list []engine.Editor) bool {
		return slices.ContainsFunc(list, func(e engine.Editor) bool { return e.Activity == activity })
	})
}

func (d designer) point(activity string) {
	d.t.Helper()
	if err := d.socket.WriteJSON(map[string]any{"type": "at", "sid": "s", "at": activity}); err != nil {
		d.t.Fatal(err)
	}
}

func (d designer) seesThat(fits func([]engine.Editor) bool) {
	d.t.Helper()
	_ = d.socket.SetReadDeadline(time.Now().Add(30 * time.Second))
	for {
		var frame struct {
			Type  string
			State struct{ Editing []engine.Editor }
		}
		if err := d.socket.ReadJSON(&frame); err != nil {
			d.t.Fatalf("waiting for the editors: %v", err)
		}
		if frame.Type == "snap" && fits(frame.State.Editing) {
			return
		}
	}
}

// Who has a workflow open on one replica is seen on the other, also when they leave, and when their replica was
// lost without a word.
func TestEditorsAreSeenAcrossReplicas(t *testing.T) {
	pool := enginetest.Pool(t)
	database := pool.Config().ConnString()
	one := replica(t, database)
	two := replica(t, database)
	admin := caller{t, one, adminToken}
	admin.must(200, "PUT", "/workflows/hello/draft", hello, "If-None-Match", "*", "Content-Type", "application/yaml")
	ann := openDesigner(t, one, "hello")
	ann.sees(1)
	bob := openDesigner(t, two, "hello")
	bob.sees(2)
	ann.sees(2)
	bob.point("greet")
	ann.seesAt("greet")
	ann.point(strings.Repeat("x", 1000)) // what is no id is cut, and harms nobody
	bob.seesAt(strings.Repeat("x", 100))
	other := openDesigner(t, two, "hello")
	ann.sees(3)
	other.socket.Close()
	ann.sees(2)
	bob.socket.Close()
	ann.sees(1)
	if _, err := pool.Exec(t.Context(), `insert into editors (socket, team_id, workflow, person, seen_at)
		select 'lost', id, 'hello', 'cy', now() - interval '1 hour' from teams limit 1`); err != nil {
		t.Fatal(err)
	}
	cy := openDesigner(t, two, "hello")
	cy.sees(2)
	ann.sees(2)
}
