package enginetest

import (
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// OverTCP says how to reach a database over TCP, also when its server listens on a Unix socket only.
func OverTCP(t testing.TB, databaseURL string) *pgconn.Config {
	t.Helper()
	config, err := pgconn.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(config.Host, "/") {
		socket := filepath.Join(config.Host, ".s.PGSQL."+strconv.Itoa(int(config.Port)))
		config.Host, config.Port = "127.0.0.1", relay(t, socket)
	}
	return config
}

// relay leads a TCP port to a Unix socket.
func relay(t testing.TB, socket string) uint16 {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			outer, err := listener.Accept()
			if err != nil {
				return
			}
			inner, err := net.Dial("unix", socket)
			if err != nil {
				outer.Close()
				continue
			}
			go func() { _, _ = io.Copy(inner, outer); inner.Close() }()
			go func() { _, _ = io.Copy(outer, inner); outer.Close() }()
		}
	}()
	return uint16(listener.Addr().(*net.TCPAddr).Port)
}

// Dump is what pg_dump writes of a whole database.
func Dump(t testing.TB, databaseURL string) string {
	t.Helper()
	programs, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pg_dump") // newer ones dump older servers
	slices.Reverse(programs)
	program := "pg_dump"
	if len(programs) > 0 {
		program = programs[0]
	}
	var complaints strings.Builder
	dump := exec.CommandContext(t.Context(), program, "--dbname", databaseURL)
	dump.Stderr = &complaints
	out, err := dump.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, complaints.String())
	}
	return string(out)
}
