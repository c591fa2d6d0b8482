// Package config owns what can be set from outside: one Config, read from flags, then
// from the environment, then from defaults, and checked as a whole. It knows the names
// and forms of settings, never what a package does with them.
//
// The table in settings.go drives flags, environment, --help and the documentation.
package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"
)

// Config is everything that a command may need to know. Zero values say "none" where a
// comment does not say otherwise.
type Config struct {
	Addr                string // host:port to listen on
	TLS                 TLS
	LocalModeAnyAddress bool   // local mode may listen on another address than loopback
	BootstrapToken      string // an admin token of this value is made at start
	SecretKey           string // keys that encrypt secrets, base64, the first one encrypts; "" = see docs
	SecretKeyFile       string // file that holds them
	Examples            bool   // load the example workflows on first start, serve their demo endpoints
	EgressAllow         []netip.Prefix

	DatabaseURL string // "" runs a private PostgreSQL in DataDir
	ListenURL   string // the same database past a connection pooler, "" = DatabaseURL
	DataDir     string
	PostgresBin string // folder of the private PostgreSQL's binaries; "" searches

	ExecutionMode ExecutionMode
	Scheduling    string // who is next, a policy of engine/queue/order
	Balance       string // who takes it, a policy of engine/queue/balance
	Backpressure  Backpressure
	Worker        Worker
	Queue         Queue
	Limits        Limits

	PublicURL       string // address that browsers use, without a slash at the end; "" = localhost
	OIDCFile        string
	OIDC            Provider   // the one provider that flags and environment describe
	Providers       []Provider // what people sign in with, after Validate; none = local mode
	SessionIdle     time.Duration
	SessionAbsolute time.Duration
	SessionFresh    time.Duration // sensitive acts need a sign-in that is no older, 0 = any age
	SessionGrace    time.Duration // how long a session lives while its provider does not answer

	WorkerIssuer   string // whose tokens programs may come with, "" = nobody's
	WorkerAudience string // whom these tokens must be for
	WorkerRules    []Rule // what programs may do: Role is a scope of tokens

	LogFormat LogFormat
	LogLevel  LogLevel
}

// Worker describes the pool in this process to the scheduler.
type Worker struct {
	Labels      map[string]string
	Region      string
	Zone        string
	Concurrency int      // activities at the same time
	Scripts     []string // languages beside JavaScript that scripts may be written in
	Teams       []string // that it works for; none = all
	Workflows   []string // that it works for; none = all
	Queues      []string // of executions and work that it serves; none = all
	Partitions  []int    // that it claims executions from; none = all
}

// TLS names files in PEM; none = plain HTTP.
type TLS struct {
	Certificate, Key string
	ClientCA         string // certificates by which clients may prove themselves are signed by these
}

// Queue says how executions are spread.
type Queue struct {
	PartitionCount int  // stored in the database; a start with another count is refused
	Stealing       bool // what waits for a slot is offered to other pools

	QuarantineAfter int // crashes in a row
}

// Backpressure says how much may wait before starts are held back; zero does not count.
type Backpressure struct {
	QueueAge   time.Duration
	QueueDepth int
	Action     PressureAction
}

// Limits are refused with 413 or 422, the limit in the message.
type Limits struct {
	PayloadBytes int // of one input, signal, event or form
	OutputBytes  int // of one activity's output
	ForEachItems int
}

// Validate checks what single values cannot: it answers every fault at once.
func (c *Config) Validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	faults = append(faults, c.checkLogin(), c.checkAddr(), c.checkFiles(), c.checkMachines())
	check(c.DataDir != "" || c.DatabaseURL != "", "data-dir is empty: name a folder, or set DATABASE_URL")
	check(c.BootstrapToken == "" || len(c.BootstrapToken) >= minTokenLength,
		"WEFTLINE_BOOTSTRAP_TOKEN has %d characters: an admin token needs at least %d", len(c.BootstrapToken), minTokenLength)

	check(c.Worker.Concurrency >= 1, "concurrency is %d: at least 1 activity must run at a time", c.Worker.Concurrency)
	check(c.Backpressure.QueueAge >= 0 && c.Backpressure.QueueDepth >= 0, "backpressure-queue-age and backpressure-queue-depth must not be below 0")
	count := c.Queue.PartitionCount
	check(count >= 1 && count <= maxPartitions, "partition-count is %d: from 1 to %d", count, maxPartitions)

	check(c.Queue.QuarantineAfter >= 1, "quarantine-after is %d: an execution whose process died is set aside after 1 crash at the earliest", c.Queue.QuarantineAfter)

	for _, partition := range c.Worker.Partitions {
		check(partition < count, "partitions names %d: there are %d, from 0 to %d", partition, count, count-1)
	}

	check(c.Limits.PayloadBytes > 0, "limit-payload must be above 0")
	check(c.Limits.OutputBytes > 0, "limit-output must be above 0")
	check(c.Limits.ForEachItems > 0, "limit-for-each-items must be above 0")
	return errors.Join(faults...)
}

const (
	minTokenLength = 16   // what is guessed in no time is no credential
	maxPartitions  = 1024 // each costs a claim query's attention
)

// checkAddr keeps local mode, which signs everybody in as admin, off the network.
func (c *Config) checkAddr() error {
	host, _, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return fmt.Errorf("addr %q must have the form host:port: %w", c.Addr, err)
	}
	if len(c.Providers) > 0 || c.LocalModeAnyAddress || isLoopback(host) {
		return nil
	}
	return fmt.Errorf("addr %s can be reached from other machines, and in local mode whoever reaches it is admin: "+
		"listen on 127.0.0.1, set up sign-in by a provider (docs/login.md), or set WEFTLINE_LOCAL_MODE_ANY_ADDRESS=true if something else guards it", c.Addr)
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

func (c *Config) checkFiles() error {
	var faults []error
	if c.PostgresBin != "" {
		if _, err := os.Stat(c.PostgresBin); err != nil {
			faults = append(faults, fmt.Errorf("postgres-bin: %w", err))
		}
	}
	return errors.Join(faults...)
}

// String lists every setting as the flags would be written, secrets hidden.
func (c *Config) String() string {
	var b strings.Builder
	for _, s := range Settings() {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s=%s", s.Name, s.show(c))
	}
	return b.String()
}
