// Package enginetest owns what tests of the engine share: a migrated database for
// each test. It is imported by tests only and knows nothing of what they test.
//
// The databases live on the server that TEST_DATABASE_URL names, or else on a private
// PostgreSQL, one for each test binary that runs at the moment, in the system's
// temporary folder. Its cluster stays there, so only the first run ever pays for
// making it; the server ends with the test binary. A machine's crash may ruin it,
// since it does not wait for the disk; it is then made anew.
package enginetest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	testPrefix     = "weftline_test_"
	templatePrefix = "weftline_template_"

	setupBound = 2 * time.Minute // for making a database on a busy machine
)

// Database answers the URL of a fresh database with all migrations, dropped after the test.
func Database(t testing.TB) string {
	t.Helper()
	s := sharedServer(t)
	return s.create(t, s.template)
}

// EmptyDatabase answers the URL of a fresh database without any table.
func EmptyDatabase(t testing.TB) string {
	t.Helper()
	return sharedServer(t).create(t, "template0")
}

// Pool answers connections to a fresh migrated database, closed after the test.
func Pool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(context.Background(), Database(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func (s *server) create(t testing.TB, template string) string {
	t.Helper()
	name := testPrefix + randomHex()
	s.admin(t, "create database "+name+" template "+template+s.strategy)
	t.Cleanup(func() { s.admin(t, "drop database "+name+" with (force)") })
	return withDatabase(s.url, name)
}

// admin runs one statement on a connection of its own: a connection that stayed open
// would be a session that no test asked for.
func (s *server) admin(t testing.TB, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), setupBound)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.url.String())
	if err != nil {
		t.Fatalf("connect to the test server: %v", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func randomHex() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// withDatabase points the server's URL at another database.
func withDatabase(serverURL url.URL, name string) string {
	serverURL.Path = "/" + name
	return serverURL.String()
}
