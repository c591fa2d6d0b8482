package cli

import (
	"context"
	"fmt"

	"weftline/app/config"
)

// workerPool runs a worker pool without the web application, on the database of a server, until it is told to
// stop. It then takes nothing new, lets running activities finish and leaves the rest to others.
func workerPool(ctx context.Context, t Terminal, args []string) error {
	c, err := config.Load("worker", args, t.Env, t.Out, config.Keys, config.Database, config.Pool, config.Queueing, config.Limiting, config.Logging)
	if err != nil {
		return err
	}
	log := newLog(t, c)
	app, err := startApplication(ctx, c, log, true)
	if err != nil {
		return err
	}
	defer app.stop()
	fmt.Fprintf(t.Out, "Weftline worker %s is ready\n", app.engine.Worker())
	select {
	case <-ctx.Done():
		log.Info("draining: nothing new is taken")
		return nil
	case err := <-app.ended():
		return err
	}
}
