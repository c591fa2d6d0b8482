package localpg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	pidFileName = "postmaster.pid"

	readyPoll    = 2 * time.Millisecond
	readyBound   = 10 * time.Minute // recovery after a crash may have much to do
	sharedMemory = "pre-existing shared memory block"
	sharedGrace  = 30 * time.Second // for the backends of a killed postmaster to notice
)

// process is a running postmaster. err is valid once done is closed.
type process struct {
	cmd      *exec.Cmd
	done     chan struct{}
	err      error
	stopping atomic.Bool
}

// start runs the server and waits until it takes connections. Backends of a postmaster
// that was killed hold its memory until they notice, so that refusal is tried again.
func (c *cluster) start(ctx context.Context) (*process, error) {
	deadline := time.Now().Add(sharedGrace)
	for {
		p, output, err := c.startOnce(ctx)
		if err == nil || !strings.Contains(output, sharedMemory) || time.Now().After(deadline) {
			return p, err
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// startOnce answers what the server logged when it did not come up.
func (c *cluster) startOnce(ctx context.Context) (p *process, output string, err error) {
	log, err := openLog(filepath.Join(c.base, logName))
	if err != nil {
		return nil, "", err
	}
	defer log.Close()
	info, err := log.Stat()
	if err != nil {
		return nil, "", err
	}
	p, err = c.spawn(log)
	if err != nil {
		return nil, "", fmt.Errorf("start PostgreSQL: %w", err)
	}
	if err = c.awaitReady(ctx, p); err != nil {
		_ = p.stop(ctx) // the failure to start is what matters
		output = logSince(log, info.Size())
		return nil, output, fmt.Errorf("%w; the end of %s:\n%s", err, log.Name(), output)
	}
	return p, "", nil
}

// spawn starts the child on a thread that lives as long as the child does: the kernel
// sends the child its death signal when the thread that made it ends.
func (c *cluster) spawn(log *os.File) (*process, error) {
	cmd := exec.Command(filepath.Join(c.bin, "postgres"), "-D", c.data, "-k", runDir(c.base))
	for _, name := range slices.Sorted(maps.Keys(c.settings)) {
		cmd.Args = append(cmd.Args, "-c", name+"="+c.settings[name])
	}
	cmd.Dir = c.base
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = c.identity.attributes()
	dieWithParent(cmd.SysProcAttr)

	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.done)
		}
	}()
	return p, <-started
}

// awaitReady watches the status that the postmaster writes into its pid file, which
// costs it nothing, where trying to connect would fork a backend each time.
func (c *cluster) awaitReady(ctx context.Context, p *process) error {
	ctx, cancel := context.WithTimeout(ctx, readyBound)
	defer cancel()
	slow := time.AfterFunc(3*time.Second, func() { c.log.Info("waiting for the database to recover", slog.String("log", c.base+"/"+logName)) })
	defer slow.Stop()
	for {
		select {
		case <-p.done:
			return fmt.Errorf("PostgreSQL did not start: %w", p.err)
		default:
		}
		if f := readPIDFile(filepath.Join(c.data, pidFileName)); f.pid == p.cmd.Process.Pid && f.status == "ready" {
			return nil
		}
		if err := pause(ctx, readyPoll); err != nil {
			return fmt.Errorf("PostgreSQL is not ready: %w", err)
		}
	}
}

// stop asks for a fast shutdown (clients are cut off, data is checkpointed) and, when
// ctx ends, for an immediate one.
func (p *process) stop(ctx context.Context) error {
	p.stopping.Store(true)
	_ = p.cmd.Process.Signal(syscall.SIGINT) // fails only when it has ended
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
	}
	_ = p.cmd.Process.Signal(syscall.SIGQUIT)
	<-p.done
	return fmt.Errorf("PostgreSQL was stopped without its last checkpoint: %w", ctx.Err())
}

// pidFile is what the postmaster tells about itself.
type pidFile struct {
	pid    int
	status string // "starting", "ready", "stopping"; "" before it is written
}

// readPIDFile answers zeros for a missing or half-written file.
func readPIDFile(path string) pidFile {
	text, err := os.ReadFile(path)
	if err != nil {
		return pidFile{}
	}
	lines := strings.Split(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil {
		return pidFile{}
	}
	const statusLine = 7
	if len(lines) <= statusLine {
		return pidFile{pid: pid}
	}
	return pidFile{pid, strings.TrimSpace(lines[statusLine])}
}

// ensureDatabase also proves that the server answers.
func ensureDatabase(ctx context.Context, runDir string) error {
	conn, err := pgx.Connect(ctx, socketURL(runDir, dbName))
	if err == nil {
		return conn.Close(ctx)
	}
	var missing *pgconn.PgError
	if !errors.As(err, &missing) || missing.Code != pgerrcode.InvalidCatalogName {
		return fmt.Errorf("connect to the private PostgreSQL: %w", err)
	}
	admin, err := pgx.Connect(ctx, socketURL(runDir, "postgres"))
	if err != nil {
		return fmt.Errorf("connect to the private PostgreSQL: %w", err)
	}
	_, err = admin.Exec(ctx, "create database "+dbName)
	return errors.Join(err, admin.Close(ctx))
}
