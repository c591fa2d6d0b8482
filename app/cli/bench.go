package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/pprof"
	"strings"

	"weftline/app/config"
	"weftline/app/localpg"
	"weftline/engine/bench"
	"weftline/migrations"
)

// benchmark prints one line of JSON a workload. Each runs on a database of its own, which is dropped after
// it: on the server of --database-url, else on a temporary private PostgreSQL.
func benchmark(ctx context.Context, t Terminal, args []string) error {
	flags := t.flags("bench")
	c, err := config.Bind(flags, t.Env, config.Database)
	if err != nil {
		return err
	}
	options := bench.Options{Version: Version(), Log: slog.New(slog.NewTextHandler(t.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	flags.StringVar(&options.Mode, "mode", "local_sync", "server, local_sync or local_async")
	flags.IntVar(&options.Instances, "instances", 0, "executions to run; 0 is the workload's own number")
	flags.IntVar(&options.Workers, "workers", 4, "workers")
	flags.IntVar(&options.Concurrency, "concurrency", 16, "activities at the same time for each worker")
	profile := flags.String("cpu-profile", "", "write a processor profile of this process to a file, for go tool pprof")
	flags.Usage = func() {
		fmt.Fprintf(t.Out, "Usage: weftline bench WORKLOAD…\n\nWorkloads: %s\n\n", strings.Join(bench.Workloads(), ", "))
		flags.SetOutput(t.Out)
		flags.PrintDefaults()
	}
	names, err := parse(flags, args, 1, -1)
	if err != nil {
		return err
	}
	server, stop, err := benchServer(ctx, c)
	if err != nil {
		return err
	}
	defer stop()
	finish, err := startProfile(*profile)
	if err != nil {
		return err
	}
	defer finish()
	for _, name := range names {
		options.Workload = name
		if err := measure(ctx, server, options, t.Out); err != nil {
			return err
		}
	}
	return nil
}

// startProfile writes a processor profile until finish is called; without a path it does nothing.
func startProfile(path string) (finish func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		_ = file.Close()
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close()
	}, nil
}

func benchServer(ctx context.Context, c *config.Config) (address string, stop func(), err error) {
	if c.DatabaseURL != "" {
		return c.DatabaseURL, func() {}, nil
	}
	folder, err := os.MkdirTemp("", "weftline-bench-")
	if err != nil {
		return "", nil, err
	}
	server, err := localpg.Start(ctx, localpg.Options{DataDir: folder, BinDir: c.PostgresBin})
	if err != nil {
		os.RemoveAll(folder)
		return "", nil, err
	}
	return server.URL(), func() {
		stopDatabase(server)
		os.RemoveAll(folder)
	}, nil
}

// measure runs one workload on a fresh database of the server.
func measure(ctx context.Context, server string, options bench.Options, out io.Writer) error {
	address, drop, err := scratchDatabase(ctx, server)
	if err != nil {
		return err
	}
	defer drop()
	if err := migrations.Up(ctx, address); err != nil {
		return err
	}
	options.DatabaseURL = address
	result, err := bench.Run(ctx, options)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(result)
}
