package cli

import (
	"context"
	"errors"
	"time"

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
