// Package localpg owns the private PostgreSQL of the embedded default: it finds the
// server's binaries, makes a cluster in the data folder, runs it as a child process
// and stops it. It knows nothing of Weftline's tables, and never deletes or upgrades
// data that exists.
//
// The server listens on a Unix socket in a 0700 folder only, so there is no port to
// choose and no password to keep: who may enter the folder may use the database.
package localpg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	role     = "weftline" // the cluster's superuser and its only role
	dbName   = "weftline"
	dataName = "pg"           // the cluster, inside the data folder
	logName  = "postgres.log" // the server's log, inside the data folder

	maxLogBytes = 10 << 20 // an older log is kept aside once, as postgres.log.old
)

// Options say where the database lives and how it is run.
type Options struct {
	DataDir  string            // holds everything; made if missing
	BinDir   string            // with postgres and initdb; "" searches the usual places
	Settings map[string]string // PostgreSQL settings over the package's own
	Log      *slog.Logger      // tells of slow steps; nil is silent
}

// Server is a running PostgreSQL that ends with this process, and is started again when it ends otherwise.
type Server struct {
	url      string
	lock     *os.File
	died     chan error
	alive    context.Context // until Stop
	cancel   context.CancelFunc
	stopOnce sync.Once
	stopErr  error

	mu      sync.Mutex
	process *process
}

// InUseError says that another process runs on the data folder.
type InUseError struct {
	DataDir string
	PID     string // as the other process wrote it, or "unknown"
	URL     string // reaches its database, once it is up
}

func (e *InUseError) Error() string {
	return fmt.Sprintf("another Weftline (pid %s) already runs on %s: stop it, use another --data-dir, "+
		"or set DATABASE_URL='%s' to join its database as one more replica", e.PID, e.DataDir, e.URL)
}

// Start brings the database up and answers when it takes connections. A folder that
// another process holds gives *InUseError; data of a major version whose binaries are
// missing, or no binaries at all, give an error that says what to install.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	base, err := prepareBase(o.DataDir)
	if err != nil {
		return nil, err
	}
	lock, err := lockBase(base)
	if err != nil {
		return nil, err
	}
	process, err := bringUp(ctx, base, o)
	if err != nil {
		lock.Close()
		return nil, err
	}
	s := &Server{url: socketURL(runDir(base), dbName), process: process, lock: lock, died: make(chan error, 1)}
	s.alive, s.cancel = context.WithCancel(context.Background())
	go s.watch(base, o)
	return s, nil
}

// URL is a postgres:// address for pgx, valid while the server runs.
func (s *Server) URL() string { return s.url }

// Died receives once when the server ended without Stop having been called and cannot be started again.
func (s *Server) Died() <-chan error { return s.died }

// Stop shuts the server down: at once for its clients, with a checkpoint for its data.
// When ctx ends first, it is stopped without the checkpoint and recovers at the next
// start. Calling it again answers the same.
func (s *Server) Stop(ctx context.Context) error {
	s.stopOnce.Do(func() {
		s.cancel() // a start in progress ends
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stopErr = s.process.stop(ctx)
		s.lock.Close()
	})
	return s.stopErr
}

// watch starts the server again whenever it was killed; its clients connect again by themselves.
func (s *Server) watch(base string, o Options) {
	for process := s.process; process != nil; {
		<-process.done
		if process.stopping.Load() {
			return
		}
		o.Log.Error("PostgreSQL ended unexpectedly and is started again", "cause", process.err)
		next, err := s.revive(base, o)
		if err != nil && s.alive.Err() == nil {
			s.died <- fmt.Errorf("PostgreSQL ended unexpectedly (%v) and does not start again: %w; see %s",
				process.err, err, filepath.Join(base, logName))
		}
		process = next
	}
}

// revive answers nil when the server cannot be started or is not wanted any more.
func (s *Server) revive(base string, o Options) (*process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next, err := bringUp(s.alive, base, o)
	if err != nil {
		return nil, err
	}
	s.process = next
	return next, nil
}

// bringUp runs under the folder's lock.
func bringUp(ctx context.Context, base string, o Options) (*process, error) {
	c, err := openCluster(base, o)
	if err != nil {
		return nil, err
	}
	if err := c.makeIfMissing(ctx); err != nil {
		return nil, err
	}
	if err := c.clearLeftovers(ctx); err != nil {
		return nil, err
	}
	p, err := c.start(ctx)
	if err != nil {
		return nil, err
	}
	if err := ensureDatabase(ctx, runDir(base)); err != nil {
		return nil, errors.Join(err, p.stop(ctx))
	}
	return p, nil
}

// prepareBase answers the folder's real path: PostgreSQL reports paths without symlinks.
// Root's folder may be passed through by the user that PostgreSQL runs as, not listed.
func prepareBase(dir string) (string, error) {
	mode := os.FileMode(0o700)
	if os.Geteuid() == 0 {
		mode = 0o711
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return "", fmt.Errorf("make the data folder: %w", err)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

func socketURL(runDir, database string) string {
	u := url.URL{Scheme: "postgres", Path: "/" + database}
	u.RawQuery = url.Values{"host": {runDir}, "user": {role}}.Encode()
	return u.String()
}

// openLog keeps the log from growing for ever on machines that run for years.
func openLog(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxLogBytes {
		if err := os.Rename(path, path+".old"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
}

// logSince reads what was written after offset, its last 2,000 bytes at most.
func logSince(log *os.File, offset int64) string {
	const keep = 2000
	end, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	from := max(offset, end-keep)
	text := make([]byte, end-from)
	n, _ := log.ReadAt(text, from) // a short read still shows what there is
	return string(text[:n])
}

// pause waits for d or for ctx, whichever ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
