package cli

import (
	"context"
	"fmt"

	"weftline/app/config"
	"weftline/migrations"
)

func migrate(ctx context.Context, t Terminal, args []string) error {
	return choose(ctx, t, "migrate", args, []command{
		{"up", "", "applies what is missing", migrateUp},
		{"status", "", "shows the version; exits with 1 when something is missing", migrateStatus},
	})
}

func migrateUp(ctx context.Context, t Terminal, args []string) error {
	return onDatabase(ctx, t, "migrate up", args, func(url string) error {
		if err := migrations.Up(ctx, url); err != nil {
			return err
		}
		fmt.Fprintln(t.Out, "the database is up to date")
		return nil
	})
}

func migrateStatus(ctx context.Context, t Terminal, args []string) error {
	return onDatabase(ctx, t, "migrate status", args, func(url string) error {
		status, err := migrations.ReadStatus(ctx, url)
		if err != nil {
			return err
		}
		fmt.Fprintf(t.Out, "version %d of %d\n", status.Version, status.Latest)
		if !status.Current() {
			return exit(1)
		}
		return nil
	})
}

func onDatabase(ctx context.Context, t Terminal, name string, args []string, do func(url string) error) error {
	c, err := config.Load(name, args, t.Env, t.Out, config.Database)
	if err != nil {
		return err
	}
	url, stop, err := openDatabase(ctx, c)
	if err != nil {
		return err
	}
	defer stop()
	return do(url)
}
