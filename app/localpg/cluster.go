package localpg

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// settings are for a machine that PostgreSQL shares with the application and perhaps
// a person's desktop: little memory, few processes, cheap commits in groups. The first
// block is what the package relies on; whoever wants to tune uses a server of his own.
var settings = map[string]string{
	"listen_addresses":        "",
	"unix_socket_permissions": "0700",
	"port":                    "5432", // only part of the socket's name
	"fsync":                   "on",
	"full_page_writes":        "on",
	"synchronous_commit":      "on",
	"logging_collector":       "off",
	"log_destination":         "stderr",

	"shared_buffers":                      "128MB",
	"max_connections":                     "100",
	"max_wal_size":                        "1GB",
	"checkpoint_timeout":                  "15min",
	"wal_compression":                     "on",
	"random_page_cost":                    "1.1",
	"jit":                                 "off",
	"max_parallel_workers_per_gather":     "0",
	"autovacuum_naptime":                  "10s",
	"autovacuum_max_workers":              "2",
	"idle_in_transaction_session_timeout": "60s",
	"timezone":                            "UTC",
	"log_timezone":                        "UTC",
	"log_checkpoints":                     "off",
	"log_line_prefix":                     "%m [%p] ",
}

// Unix socket addresses hold 104 bytes on macOS and 108 on Linux, the end mark included.
const maxSocketPath = 103

// leftoverGrace bounds the wait for a server that an earlier process left behind.
const leftoverGrace = 60 * time.Second

// cluster is the data folder with the binaries and the identity that may run it.
type cluster struct {
	base     string
	data     string
	bin      string
	identity identity
	settings map[string]string
	log      *slog.Logger
}

func openCluster(base string, o Options) (*cluster, error) {
	data := filepath.Join(base, dataName)
	major, err := dataMajor(data)
	if err != nil {
		return nil, err
	}
	found, err := findBinaries(base, o, major)
	if err != nil {
		return nil, err
	}
	who, err := chooseIdentity(base, data)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(settings)
	maps.Copy(all, o.Settings)
	return &cluster{base: base, data: data, bin: found.bin, identity: who, settings: all, log: o.Log}, nil
}

// dataMajor is 0 where no data exists yet.
func dataMajor(data string) (int, error) {
	text, err := os.ReadFile(filepath.Join(data, "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("%s/PG_VERSION holds %q, which is no version of PostgreSQL that Weftline runs on", data, text)
	}
	return major, nil
}

// makeIfMissing builds the cluster aside and renames it into place, so that a start
// that was cut off leaves nothing behind that looks like data.
func (c *cluster) makeIfMissing(ctx context.Context) error {
	if _, err := os.Stat(c.data); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	c.log.Info("making the database", slog.String("folder", c.data))
	if err := removeAll(filepath.Join(c.base, dataName+".new-*")); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(c.base, dataName+".new-")
	if err != nil {
		return err
	}
	if err := c.identity.own(fresh); err != nil {
		return err
	}
	if out, err := c.initdb(ctx, fresh).CombinedOutput(); err != nil {
		return errors.Join(fmt.Errorf("initdb: %w\n%s", err, out), os.RemoveAll(fresh))
	}
	syscall.Sync() // in place of initdb's sync of each file, which takes seconds on a busy disk
	return os.Rename(fresh, c.data)
}

func (c *cluster) initdb(ctx context.Context, dir string) *exec.Cmd {
	args := []string{"--no-sync", "-D", dir, "-U", role, "-A", "trust", "-E", "UTF8"}
	if runtime.GOOS == "darwin" {
		args = append(args, "--lc-collate=C", "--lc-ctype=UTF-8")
	} else {
		args = append(args, "--locale=C.UTF-8")
	}
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, "initdb"), args...)
	cmd.SysProcAttr = c.identity.attributes()
	cmd.Dir = c.base
	return cmd
}

// clearLeftovers makes way for a new server. The folder's lock is held, so a server
// that still runs here was left behind by a process that died, and a pid file without
// its server is only in the way: the pid may be another program's by now.
func (c *cluster) clearLeftovers(ctx context.Context) error {
	pidFile := filepath.Join(c.data, pidFileName)
	if pid := readPIDFile(pidFile).pid; pid > 0 && isPostmaster(pid, c.data) {
		c.log.Info("stopping the database that an earlier run left behind", slog.Int("pid", pid))
		if err := stopLeftover(ctx, pid, c.data); err != nil {
			return err
		}
	}
	if err := os.Remove(pidFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return c.prepareRunDir()
}

func stopLeftover(ctx context.Context, pid int, data string) error {
	ctx, cancel := context.WithTimeout(ctx, leftoverGrace)
	defer cancel()
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop the PostgreSQL that an earlier run left behind (pid %d): %w", pid, err)
	}
	for isPostmaster(pid, data) {
		if pause(ctx, 5*time.Millisecond) != nil {
			return fmt.Errorf("the PostgreSQL that an earlier run left behind (pid %d) does not stop: end it by hand", pid)
		}
	}
	return nil
}

// prepareRunDir empties the socket's folder: a socket file of a killed server, with the
// pid of a process that nobody has reaped, would look alive to the new one.
func (c *cluster) prepareRunDir() error {
	dir := runDir(c.base)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := c.identity.checkOwned(dir); err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return err
	}
	if err := removeAll(filepath.Join(dir, ".s.PGSQL.*")); err != nil {
		return err
	}
	return c.identity.own(dir)
}

// runDir holds the socket: inside the data folder, or in the system's temporary folder
// where the path would be too long for a socket address.
func runDir(base string) string {
	dir := filepath.Join(base, "run")
	if len(dir)+len("/.s.PGSQL.5432") <= maxSocketPath {
		return dir
	}
	hash := fnv.New64a()
	hash.Write([]byte(dir))
	return filepath.Join(os.TempDir(), fmt.Sprintf("weftline-%d-%x", os.Getuid(), hash.Sum64()))
}

func removeAll(glob string) error {
	paths, err := filepath.Glob(glob)
	for _, p := range paths {
		err = errors.Join(err, os.RemoveAll(p))
	}
	return err
}
