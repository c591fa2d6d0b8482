package cli

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"github.com/google/uuid"

	"weftline/app/config"
	"weftline/engine"
	"weftline/engine/bench"
)

// benchConnections are kept open by the client of the workload http, one for each start at one time.
const benchConnections = 64

// benchFront serves the whole application over the engine on loopback and starts executions by its API, with a
// token, as any program does.
func benchFront(ctx context.Context, t Terminal, e *engine.Engine, who engine.Who, log *slog.Logger) (start bench.Starter, stop func(), err error) {
	c, err := config.Bind(flag.NewFlagSet("bench", flag.ContinueOnError), t.Env)
	if err != nil {
		return nil, nil, err
	}
	_, token, err := e.Identity().CreateToken(ctx, who, engine.TokenRequest{Name: "bench", Scopes: []string{engine.ScopeRun}})
	if err != nil {
		return nil, nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	app := &application{config: c, log: log, engine: e, identity: e.Identity()}
	server := app.server(nil, listener.Addr())
	serving := make(chan error, 1)
	go func() { serving <- server.Serve(listener) }()
	transport := &http.Transport{MaxIdleConnsPerHost: benchConnections}
	caller := &client{base: "http://" + listener.Addr().String(), token: token, http: http.Client{Transport: transport}}
	return caller.start, func() {
		transport.CloseIdleConnections()
		drain(server, log)
		<-serving
	}, nil
}

// start begins an execution and answers its id.
func (c *client) start(ctx context.Context, workflow string, input map[string]any) (uuid.UUID, error) {
	started, err := c.post(ctx, "/workflows/"+escape(workflow)+"/executions", map[string]any{"input": input})
	if err != nil {
		return uuid.Nil, err
	}
	id, err := uuid.Parse(fieldText(started, "id"))
	if err != nil {
		return uuid.Nil, fmt.Errorf("the answer to a start has no id: %w", err)
	}
	return id, nil
}
