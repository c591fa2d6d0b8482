// Package workerclient runs tasks of worker activities in a program of your own: it registers with a Weftline
// server, waits for work, renews leases while your handlers run and sends what they come to. It needs nothing
// but the server's address and a credential (a token of scope worker, one of an issuer that the server trusts, or a
// client certificate), and imports nothing but the standard library.
//
//	client := workerclient.New("http://127.0.0.1:8080", os.Getenv("WEFTLINE_TOKEN"), workerclient.Options{Concurrency: 4})
//	client.Handle("render", func(ctx context.Context, task workerclient.Task) (any, error) {
//		return map[string]any{"frames": 24}, nil
//	})
//	err := client.Run(ctx)
package workerclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Task is one attempt of an activity. Input is its JSON. IdempotencyKey is the same for all attempts: give it
// to whatever you change, so that an attempt made twice takes effect once.
type Task struct {
	Execution, Workflow, Activity, Item, Name string
	Attempt                                   int
	Input                                     json.RawMessage
	IdempotencyKey, CorrelationID             string

	log *attemptLog
}

// Into reads the input into a value.
func (t Task) Into(value any) error { return json.Unmarshal(t.Input, value) }

// Handler makes an attempt. Its context ends when the lease is lost or the attempt is not wanted any more; what
// it returns then is dropped. An error fails the attempt; the activity's retry decides what follows.
type Handler func(ctx context.Context, task Task) (output any, err error)

// Failure is an error with a type that workflows can tell apart, such as payment.declined: a word of your own,
// a dot and another. RetryAfter is what you ask for before the next attempt, 0 = nothing.
type Failure struct {
	Type, Message string
	Detail        any
	RetryAfter    time.Duration
}

func (f *Failure) Error() string { return f.Type + ": " + f.Message }

// Options of a worker; zero values are the defaults in parentheses.
type Options struct {
	Concurrency  int               // attempts at one time (1)
	Labels       map[string]string // what affinity may ask for
	Workflows    []string          // workflows that it works for (all)
	Queues       []string          // queues that it serves (all)
	Region, Zone string
	Version      string        // of your program
	Grace        time.Duration // how long handlers may finish after Run's context ended (30 s)
	HTTP         *http.Client  // (one without a time-out; requests bound themselves); its TLS may hold a client certificate
	Log          *slog.Logger  // (slog.Default)

	// Token answers the token of a call in place of the fixed one, e.g. that of an issuer, which ends soon.
	Token func(ctx context.Context) (string, error)
}

// Client is one worker.
type Client struct {
	server, token string
	options       Options
	handlers      map[string]Handler

	mu   sync.Mutex
	id   string
	held map[string]context.CancelFunc // by lease
	last string                        // activity completed last
}

// New makes a worker of a server.
func New(server, token string, options Options) *Client {
	options.Concurrency = max(1, options.Concurrency)
	if options.Grace == 0 {
		options.Grace = 30 * time.Second
	}
	if options.HTTP == nil {
		options.HTTP = &http.Client{}
	}
	if options.Log == nil {
		options.Log = slog.Default()
	}
	return &Client{server: strings.TrimRight(server, "/") + "/api/v1", token: token, options: options,
		handlers: map[string]Handler{}, held: map[string]context.CancelFunc{}}
}

// Handle says who makes the attempts of a task. Call it before Run.
func (c *Client) Handle(task string, handler Handler) { c.handlers[task] = handler }

// Run works until ctx ends, then takes nothing new, lets handlers finish within the grace and answers nil. It
// answers an error only when the server refuses the worker: a wrong token, a wrong registration.
func (c *Client) Run(ctx context.Context) error {
	if len(c.handlers) == 0 {
		return errors.New("there is no handler: call Handle before Run")
	}
	interval, err := c.register(ctx)
	if err != nil {
		return stopped(ctx, err)
	}
	beating, stopBeating := context.WithCancel(context.WithoutCancel(ctx))
	working, abandon := context.WithCancel(context.WithoutCancel(ctx))
	var handlers, beats sync.WaitGroup
	beats.Go(func() { c.beat(beating, interval) })
	err = c.work(ctx, working, &handlers)
	c.drain()
	finish(&handlers, c.options.Grace)
	abandon()
	handlers.Wait()
	stopBeating()
	beats.Wait()
	return stopped(ctx, err)
}

// stopped: what ends because the caller asked for it is no error.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func finish(handlers *sync.WaitGroup, grace time.Duration) {
	done := make(chan struct{})
	go func() {
		handlers.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(grace):
	}
}

// register makes the worker known, trying again while the server cannot be reached.
func (c *Client) register(ctx context.Context) (interval time.Duration, err error) {
	hostname, _ := os.Hostname()
	if hostname == "" {
		hostname = "unknown"
	}
	request := map[string]any{"hostname": hostname, "version": c.options.Version, "cpu": runtime.NumCPU(), "architecture": runtime.GOARCH,
		"region": c.options.Region, "zone": c.options.Zone, "activities": slices.Sorted(maps.Keys(c.handlers)), "labels": c.options.Labels,
		"workflows": c.options.Workflows, "queues": c.options.Queues, "maxConcurrency": c.options.Concurrency}
	var ticket struct {
		WorkerID          string `json:"workerId"`
		HeartbeatInterval string `json:"heartbeatInterval"`
	}
	if err := c.insist(ctx, "/workers", request, &ticket); err != nil {
		return 0, fmt.Errorf("register the worker: %w", err)
	}
	c.mu.Lock()
	c.id = ticket.WorkerID
	c.mu.Unlock()
	if interval, err = time.ParseDuration(ticket.HeartbeatInterval); err != nil {
		interval = 5 * time.Second
	}
	c.options.Log.Info("registered", "worker", ticket.WorkerID)
	return interval, nil
}

func (c *Client) worker() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.id
}

// beat renews the leases until ctx ends.
func (c *Client) beat(ctx context.Context, interval time.Duration) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(interval):
		}
		c.mu.Lock()
		leases, last := slices.Collect(maps.Keys(c.held)), c.last
		c.mu.Unlock()
		var orders struct {
			Lost []string `json:"lost"`
		}
		err := c.call(ctx, interval, "/workers/"+c.worker()+"/heartbeat", map[string]any{"at": time.Now().UTC(), "activeExecutions": len(leases),
			"leases": append([]string{}, leases...), "lastCompletedActivity": last}, &orders)
		if err != nil {
			c.options.Log.Warn("a heartbeat was not acknowledged", "error", err)
			continue
		}
		for _, lease := range orders.Lost {
			c.letGo(lease)
		}
	}
}

// letGo ends the handler of a lost lease.
func (c *Client) letGo(lease string) {
	c.mu.Lock()
	cancel := c.held[lease]
	delete(c.held, lease)
	c.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// drain tells the server that nothing more is wanted. Without the telling the leases end by themselves.
func (c *Client) drain() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := c.call(ctx, 5*time.Second, "/workers/"+c.worker()+"/drain", nil, nil); err != nil && !isRefusal(err) {
		c.options.Log.Warn("the server could not be told that this worker stops", "error", err)
	}
}
