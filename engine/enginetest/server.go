package enginetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"weftline/app/localpg"
	"weftline/migrations"
)

// server is where this test binary makes its databases.
type server struct {
	url      url.URL // of an administrator's database on it
	template string  // a migrated database that tests get copies of
	strategy string  // how to copy it fast
}

var shared = sync.OnceValues(func() (*server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), setupBound)
	defer cancel()
	return open(ctx)
})

func sharedServer(t testing.TB) *server {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatalf("no test database: %v", err)
	}
	return s
}

func open(ctx context.Context) (*server, error) {
	address := os.Getenv("TEST_DATABASE_URL")
	private := address == ""
	if private {
		var err error
		if address, err = startPrivate(ctx); err != nil {
			return nil, err
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("TEST_DATABASE_URL must have the form postgres://…: %w", err)
	}
	s := &server{url: *u}
	return s, s.prepare(ctx, private)
}

// startPrivate takes the first cluster that no other test binary holds. The server is
// never stopped: it ends with the process.
func startPrivate(ctx context.Context) (string, error) {
	base := filepath.Join(os.TempDir(), "weftline-test-"+strconv.Itoa(os.Getuid()))
	if err := os.MkdirAll(base, 0o711); err != nil {
		return "", err
	}
	for slot := 0; ; slot++ {
		dir := filepath.Join(base, strconv.Itoa(slot))
		s, err := startSlot(ctx, dir)
		if err == nil {
			return s.URL(), nil
		}
		if inUse := (*localpg.InUseError)(nil); !errors.As(err, &inUse) {
			return "", err
		}
	}
}

func startSlot(ctx context.Context, dir string) (*localpg.Server, error) {
	return startAnew(ctx, serverOptions(dir))
}

func serverOptions(dir string) localpg.Options {
	return localpg.Options{DataDir: dir, Settings: map[string]string{
		"fsync":              "off",
		"full_page_writes":   "off",
		"max_connections":    "300",
		"autovacuum_naptime": "1min",
	}}
}

// startAnew makes a cluster that does not start once more.
func startAnew(ctx context.Context, options localpg.Options) (*localpg.Server, error) {
	s, err := localpg.Start(ctx, options)
	if inUse := (*localpg.InUseError)(nil); err == nil || errors.As(err, &inUse) {
		return s, err
	}
	if removeErr := removeWithin(options.DataDir); removeErr != nil {
		return nil, errors.Join(err, removeErr)
	}
	return localpg.Start(ctx, options)
}

// removeWithin empties a folder, which may be a mount point.
func removeWithin(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, entry.Name())))
	}
	return err
}

// prepare makes the template unless another test binary has made it. Only a private
// server is swept: on a shared one, what looks left over may be in use.
func (s *server) prepare(ctx context.Context, private bool) error {
	conn, err := pgx.Connect(ctx, s.url.String())
	if err != nil {
		return fmt.Errorf("connect to the test server: %w", err)
	}
	defer conn.Close(ctx)
	hash, err := schemaHash()
	if err != nil {
		return err
	}
	s.template = templatePrefix + hash
	if !strings.HasPrefix(conn.PgConn().ParameterStatus("server_version"), "14.") {
		s.strategy = " strategy file_copy" // 14 knows no other; later ones log each page by default
	}
	if private {
		if err := s.sweep(ctx, conn); err != nil {
			return err
		}
	}
	const lock = 7_345_901 // any number that nothing else on a test server uses
	if _, err := conn.Exec(ctx, "select pg_advisory_lock($1)", lock); err != nil {
		return err
	}
	return s.makeTemplate(ctx, conn) // closing the connection lets the lock go
}

// makeTemplate renames as its last step: a half-migrated template never has the name.
func (s *server) makeTemplate(ctx context.Context, conn *pgx.Conn) error {
	var exists bool
	err := conn.QueryRow(ctx, "select exists (select from pg_database where datname = $1)", s.template).Scan(&exists)
	if err != nil || exists {
		return err
	}
	half := s.template + "_half"
	if err := execAll(ctx, conn, "drop database if exists "+half+" with (force)", "create database "+half+" template template0"); err != nil {
		return err
	}
	if err := migrations.Up(ctx, withDatabase(s.url, half)); err != nil {
		return err
	}
	return execAll(ctx, conn, "alter database "+half+" rename to "+s.template)
}

// sweep drops what killed test binaries and older schemas have left behind.
func (s *server) sweep(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, `select datname from pg_database
		where starts_with(datname, $1) or (starts_with(datname, $2) and datname <> $3)`,
		testPrefix, templatePrefix, s.template)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := execAll(ctx, conn, "drop database "+name+" with (force)"); err != nil {
			return err
		}
	}
	return nil
}

func execAll(ctx context.Context, conn *pgx.Conn, statements ...string) error {
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// schemaHash changes with any migration, so that edited ones get a new template.
func schemaHash() (string, error) {
	names, err := fs.Glob(migrations.Files, "*.up.sql") // in order of their names
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for _, name := range names {
		text, err := fs.ReadFile(migrations.Files, name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%s\n%s\n", name, text)
	}
	return hex.EncodeToString(hash.Sum(nil)[:6]), nil
}
