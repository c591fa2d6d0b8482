package cli

import (
	"context"
	"flag"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"weftline/app/config"
	"weftline/engine/instants"
	"weftline/engine/queue"
	"weftline/engine/store"
)

// doctor proves that every open execution has something that will drive it on.
func doctor(ctx context.Context, t Terminal, args []string) error {
	flags := flag.NewFlagSet("doctor", flag.ContinueOnError)
	flags.SetOutput(t.Err)
	c, err := config.Bind(flags, t.Env, config.Database)
	if err != nil {
		return err
	}
	asJSON := flags.Bool("json", false, "print one JSON object")
	flags.Usage = func() {
		fmt.Fprint(t.Out, "Usage: weftline doctor [flags]\n\n")
		flags.SetOutput(t.Out)
		flags.PrintDefaults()
	}
	if _, err := parse(flags, args, 0, 0); err != nil {
		return err
	}
	url, stop, err := openDatabase(ctx, c)
	if err != nil {
		return err
	}
	defer stop()
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	open, limbo, err := store.FindLimbo(ctx, pool)
	if err != nil {
		return err
	}
	quarantined, err := store.FindQuarantined(ctx, pool)
	if err != nil {
		return fmt.Errorf("look for quarantined executions: %w", err)
	}
	unserved, err := queue.FindUnserved(ctx, pool, nil)
	if err != nil {
		return fmt.Errorf("look for what no worker serves: %w", err)
	}
	if err := diagnose(t, *asJSON, open, limbo, quarantined, unserved); err != nil {
		return err
	}
	if len(limbo) > 0 {
		return exit(1)
	}
	return nil
}

// diagnose prints what was found: as an object {open, limbo: [], quarantined: [], unserved: []}, or in words.
func diagnose(t Terminal, asJSON bool, open int, limbo []store.Limbo, quarantined []store.Quarantined, unserved []queue.Unserved) error {
	if asJSON {
		found, err := instants.JSON(struct {
			Open        int                 `json:"open"`
			Limbo       []store.Limbo       `json:"limbo"`
			Quarantined []store.Quarantined `json:"quarantined"`
			Unserved    []queue.Unserved    `json:"unserved"`
		}{open, append([]store.Limbo{}, limbo...), append([]store.Quarantined{}, quarantined...), append([]queue.Unserved{}, unserved...)})
		if err == nil {
			_, err = fmt.Fprintf(t.Out, "%s\n", found)
		}
		return err
	}
	for _, l := range limbo {
		why := "nothing will drive it on"
		if l.Unread {
			why = "a message waits for it and nobody was told"
		}
		fmt.Fprintf(t.Out, "%s  %s  %s since %s: %s\n", l.Execution, l.Workflow, l.Status, l.UpdatedAt.UTC().Format("2006-01-02 15:04:05"), why)
	}
	for _, q := range quarantined {
		fmt.Fprintf(t.Out, "%s  %s  quarantined since %s: %s\n", q.Execution, q.Workflow, q.Since.UTC().Format("2006-01-02 15:04:05"), q.Reason)
	}
	for _, u := range unserved {
		if u.Attempts > 0 {
			fmt.Fprintf(t.Out, "%d attempts of workflow %s (team %s) wait for a worker of the queue %s, the oldest for %.0f s: none that is alive takes any of it\n",
				u.Attempts, u.Workflow, u.Team, u.Queue, u.Oldest)
			continue
		}
		fmt.Fprintf(t.Out, "%d executions of workflow %s (team %s, queue %s, partition %d, priority %s) wait for a worker, the oldest for %.0f s: none that is alive takes them\n",
			u.Depth, u.Workflow, u.Team, u.Queue, u.Partition, u.Priority, u.Oldest)
	}
	waiting, _ := queue.SumUnserved(unserved)
	fmt.Fprintf(t.Out, "%d open executions, %d in limbo, %d quarantined, %d that no worker serves\n", open, len(limbo), len(quarantined), waiting)
	return nil
}
