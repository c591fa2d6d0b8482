package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/pprof"
	"strings"
	"time"

	"weftline/app/config"
	"weftline/app/localpg"
	"weftline/engine"
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
	flags.StringVar(&options.Balance, "balance", "", "policy by which replicas share work, as of serve; for even and fanout-items")
	var soak bench.Soak
	flags.DurationVar(&soak.Duration, "duration", time.Hour, "of soak")
	flags.DurationVar(&soak.Every, "every", time.Minute, "between two lines of soak")
	flags.Float64Var(&soak.Rate, "rate", 0, "starts a second of soak; 0 is as many as there are answers to")
	profile := flags.String("cpu-profile", "", "write a processor profile of this process to a file, for go tool pprof")
	flags.Usage = func() {
		fmt.Fprintf(t.Out, "Usage: weftline bench WORKLOAD…\n\nWorkloads: %s, and %s, which works for a duration and prints lines on the way\n\n", strings.Join(bench.Workloads(), ", "), soakWorkload)
		flags.SetOutput(t.Out)
		flags.PrintDefaults()
	}
	names, err := parse(flags, args, 1, -1)
	if err != nil {
		return err
	}
	if soak.Duration <= 0 || soak.Every <= 0 || soak.Rate < 0 {
		return errors.New("--duration and --every must be longer than nothing and --rate not below 0")
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
		if err := measure(ctx, server, options, soak, t); err != nil {
			return err
		}
	}
	return nil
}

// soakWorkload is the one that is measured over time, not over a number of executions.
const soakWorkload = "soak"

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
func measure(ctx context.Context, server string, options bench.Options, soak bench.Soak, t Terminal) error {
	address, drop, err := scratchDatabase(ctx, server)
	if err != nil {
		return err
	}
	defer drop()
	if err := migrations.Up(ctx, address); err != nil {
		return err
	}
	options.DatabaseURL = address
	out := json.NewEncoder(t.Out)
	if options.Workload == soakWorkload {
		return bench.RunSoak(ctx, options, soak, func(line bench.SoakLine) error { return out.Encode(line) })
	}
	options.Front = func(ctx context.Context, e *engine.Engine, who engine.Who) (bench.Starter, func(), error) {
		return benchFront(ctx, t, e, who, options.Log)
	}
	result, err := bench.Run(ctx, options)
	if err != nil {
		return err
	}
	return out.Encode(result)
}
