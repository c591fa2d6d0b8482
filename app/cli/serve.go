package cli

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"time"

	"weftline/app/config"
	"weftline/app/web"
)

// serve runs the whole application until it is told to stop, or until something that it needs has ended.
func serve(ctx context.Context, t Terminal, args []string) error {
	began := time.Now()
	if err := config.CheckEnvironment(t.Environ); err != nil {
		return err
	}
	c, err := config.Load("serve", args, t.Env, t.Out, config.AllGroups...)
	if err != nil {
		return err
	}
	log := newLog(t, c)
	listener, err := net.Listen("tcp", c.Addr) // before anything else: a port in use is the commonest fault
	if err != nil {
		return fmt.Errorf("cannot listen on %s; is it in use? try --addr 127.0.0.1:0: %w", c.Addr, err)
	}
	defer listener.Close()
	if listener, err = secured(listener, c.TLS); err != nil {
		return err
	}
	log.Debug("configuration", "settings", c.String())
	app, err := startApplication(ctx, c, log, false)
	if err != nil {
		return err
	}
	defer app.stop()
	local, err := app.people(ctx)
	if err != nil {
		return err
	}
	server := app.server(local, listener.Addr())
	serving := make(chan error, 1)
	go func() { serving <- server.Serve(listener) }()
	fmt.Fprintf(t.Out, "Weftline is ready at %s\n", app.shownAddress(listener.Addr()))
	for _, p := range c.Providers {
		log.Info("sign-in", "provider", p.ID, "issuer", p.Issuer, "redirect", app.publicURL(listener.Addr())+"/login/"+p.ID+"/callback")
	}
	if c.LocalModeAnyAddress {
		log.Warn("local mode is open to other machines: whoever reaches this address is admin", "address", listener.Addr().String())
	}
	log.Info("ready", "address", listener.Addr().String(), "version", Version(), "ms", time.Since(began).Milliseconds())
	select {
	case <-ctx.Done():
		log.Info("stopping")
		err = nil
	case err = <-app.ended():
	case err = <-serving:
	}
	drain(server, log)
	return err
}

// shownAddress is what a person opens.
func (a *application) shownAddress(addr net.Addr) string {
	if len(a.config.Providers) > 0 {
		return a.publicURL(addr)
	}
	return a.scheme() + "://" + addr.String()
}

// drain answers open requests and tells the sockets; the engine ends after that.
func drain(server *web.Server, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), graceOfClients)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		log.Warn("some requests were cut off", "error", err)
	}
}

func newLog(t Terminal, c *config.Config) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.LogLevel.Slog()}
	if c.LogFormat == config.JSONLog {
		return slog.New(slog.NewJSONHandler(t.Err, options))
	}
	return slog.New(slog.NewTextHandler(t.Err, options))
}
