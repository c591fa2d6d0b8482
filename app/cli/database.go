package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/app/config"
	"weftline/app/localpg"
)

// openDatabase answers the address of the database to work on: DATABASE_URL, or the private one of the data
// folder: a running one is joined, else it is started until stop.
func openDatabase(ctx context.Context, c *config.Config) (url string, stop func(), err error) {
	if c.DatabaseURL != "" {
		return c.DatabaseURL, func() {}, nil
	}
	server, err := localpg.Start(ctx, localpg.Options{DataDir: c.DataDir, BinDir: c.PostgresBin})
	var inUse *localpg.InUseError
	if errors.As(err, &inUse) && inUse.URL != "" {
		return inUse.URL, func() {}, nil
	}
	if err != nil {
		return "", nil, err
	}
	return server.URL(), func() { stopDatabase(server) }, nil
}

// stopDatabase gives the private PostgreSQL time for its checkpoint.
func stopDatabase(server *localpg.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_ = server.Stop(ctx) // its data is safe either way; the next start recovers
}

// scratchDatabase makes an empty database on a server, for as long as drop is not called.
func scratchDatabase(ctx context.Context, server string) (address string, drop func(), err error) {
	parsed, err := url.Parse(server)
	if err != nil || parsed.Scheme == "" {
		return "", nil, fmt.Errorf("write the database as postgres://…")
	}
	admin, err := pgx.Connect(ctx, server)
	if err != nil {
		return "", nil, err
	}
	name := "weftline_scratch_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	if _, err := admin.Exec(ctx, "create database "+name); err != nil {
		admin.Close(ctx)
		return "", nil, err
	}
	parsed.Path = "/" + name
	return parsed.String(), func() {
		ctx := context.WithoutCancel(ctx)
		_, _ = admin.Exec(ctx, "drop database if exists "+name+" with (force)") // a left-over costs space only
		admin.Close(ctx)
	}, nil
}
