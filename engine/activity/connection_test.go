package activity_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"weftline/engine/activity"
	"weftline/engine/expr"
	"weftline/engine/flow"
)

// over runs one attempt of a kind through a registry that knows the connections.
func over(t *testing.T, kind string, runner activity.Runner, input map[string]any, connections ...activity.Connection) activity.Outcome {
	t.Helper()
	registry := activity.NewRegistry()
	registry.Register(kind, runner)
	registry.Connect(func(_ context.Context, team, _, name string) (activity.Connection, error) {
		for _, connection := range connections {
			if connection.Name == name && team == "team-1" {
				return connection, nil
			}
		}
		return activity.Connection{}, fmt.Errorf("%w here", activity.ErrNoConnection)
	})
	return registry.Run(t.Context(), activity.Call{Type: kind, Team: "team-1", Input: input, Attempt: 1, IdempotencyKey: "e1/send"})
}

func TestConnectionsThatCannotBeUsed(t *testing.T) {
	ai := activity.Connection{Name: "assistant", Kind: "ai"}
	input := map[string]any{"connection": "assistant", "query": "select 1"}
	wantError(t, over(t, "sql", activity.NewSQL(activity.SQLOptions{}), input), "connection.not_found", "assistant")
	wantError(t, over(t, "sql", activity.NewSQL(activity.SQLOptions{}), input, ai), "input.invalid", "kind ai")
}

func TestSettingsOfConnectionsAreChecked(t *testing.T) {
	for _, c := range []struct {
		kind     string
		settings map[string]any
		secrets  map[string]string
		word     string // "" = good
	}{
		{"sql", map[string]any{"host": "db.example", "database": "shop", "user": "app", "port": int64(6432)}, map[string]string{"password": "DB"}, ""},
		{"smtp", map[string]any{"host": "mail.example", "security": "tls"}, nil, ""},
		{"ai", map[string]any{"baseUrl": "https://ai.example/v1"}, map[string]string{"apiKey": "KEY"}, ""},
		{"http", map[string]any{"baseUrl": "https://shop.example"}, nil, ""},
		{"http", map[string]any{"baseUrl": "https://shop.example", "auth": "kerberos"}, nil, "settings.auth"},
		{"ftp", nil, nil, "kind"},
		{"sql", map[string]any{"host": "db.example", "user": "app"}, nil, "settings.database"},
		{"sql", map[string]any{"host": "/var/run/postgresql", "database": "x", "user": "app"}, nil, "settings.host"},
		{"sql", map[string]any{"host": "db.example", "database": "x", "user": "app", "sslmode": "prefer"}, nil, "settings.sslmode"},
		{"sql", map[string]any{"host": "db.example", "database": "x", "user": "app", "password": "hunter2"}, nil, "settings.password is unknown"},
		{"sql", map[string]any{"host": "db.example", "database": "x", "user": "app"}, map[string]string{"apiKey": "KEY"}, "secrets.apiKey"},
		{"smtp", map[string]any{"host": "mail.example", "port": "many"}, nil, "settings.port"},
		{"smtp", map[string]any{"host": "mail.example", "security": "some"}, nil, "starttls"},
		{"ai", map[string]any{"baseUrl": "https://user:pass@ai.example"}, nil, "credentials"},
		{"ai", map[string]any{"baseUrl": "file:///etc"}, nil, "http"},
		{"ai", map[string]any{"baseUrl": map[string]any{}}, nil, "baseUrl"},
	} {
		err := activity.CheckConnection(c.kind, c.settings, c.secrets)
		if c.word == "" && err != nil || c.word != "" && (err == nil || !strings.Contains(err.Error(), c.word)) {
			t.Errorf("%s %v %v: %v, want %q", c.kind, c.settings, c.secrets, err, c.word)
		}
	}
}

func TestConnectionOfAnActivity(t *testing.T) {
	named := expr.Constant(map[string]any{"connection": "here"})
	for _, c := range []struct {
		step       flow.Activity
		name, kind string
	}{
		{flow.Activity{Type: flow.TypeSQL, Inputs: named}, "here", "sql"},
		{flow.Activity{Type: flow.TypeAI, Inputs: named}, "here", "ai"},
		{flow.Activity{Type: flow.TypeEmail, Inputs: named}, "here", "smtp"},
		{flow.Activity{Type: flow.TypeEmail}, "default", "smtp"},
		{flow.Activity{Type: flow.TypeHTTP, Inputs: named}, "here", "http"},
		{flow.Activity{Type: flow.TypeHTTP}, "", "http"},
		{flow.Activity{Type: flow.TypeScript, Inputs: named}, "", ""},
	} {
		if name, kind := activity.ConnectionOf(&c.step); name != c.name || kind != c.kind {
			t.Errorf("%s: %q %q", c.step.Type, name, kind)
		}
	}
}

func TestRequestsOverAConnection(t *testing.T) {
	address := serve(t, echo)
	shop := activity.Connection{Name: "shop", Kind: "http", Settings: map[string]any{"baseUrl": address + "/v2", "auth": "bearer"},
		Secrets: map[string]string{"token": "hunter2-token"}}
	ask := func(input map[string]any) activity.Outcome {
		input["connection"] = "shop"
		return over(t, "http", loopback(t), input, shop)
	}
	body := result(t, ask(map[string]any{"url": "/orders", "query": map[string]any{"page": int64(2)}}))["body"].(map[string]any)
	if sent := fmt.Sprint(body["headers"]); body["query"] != "page=2" || !strings.Contains(sent, "Authorization:[Bearer ***]") {
		t.Errorf("the service saw %v", body)
	}
	wantError(t, ask(map[string]any{"url": "https://elsewhere.example/"}), "input.invalid", "must be a path")
	wantError(t, ask(map[string]any{"url": "/", "auth": map[string]any{"type": "bearer", "token": "x"}}), "input.invalid", "auth")
	for status, works := range map[int]bool{200: true, 404: true, 401: false, 403: false, 500: false} {
		shop.Settings["baseUrl"] = serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		if err := loopback(t).Test(t.Context(), shop); (err == nil) != works {
			t.Errorf("status %d: %v", status, err)
		}
	}
}
