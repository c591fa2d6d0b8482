package engine_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine"
	"weftline/engine/enginetest"
)

// pooler starts PgBouncer in transaction mode before a database, with two connections to it.
func pooler(t *testing.T, database string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if program = "/usr/sbin/pgbouncer"; !isFile(program) {
			t.Skip("PgBouncer is not on this machine: apt-get install pgbouncer")
		}
	}
	wire := enginetest.NewWire(t, database) // a TCP address of the database
	config, err := pgx.ParseConfig(wire.URL())
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	_ = listener.Close()
	folder := t.TempDir()
	settings := fmt.Sprintf(`[databases]
%s = host=127.0.0.1 port=%d dbname=%s user=%s password=%s pool_size=4
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
`, config.Database, config.Port, config.Database, config.User, config.Password, port)
	file := filepath.Join(folder, "pgbouncer.ini")
	if err := os.WriteFile(file, []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, file)
	if os.Getuid() == 0 { // it refuses to be root
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		for dir := folder; strings.HasPrefix(dir, os.TempDir()) && dir != os.TempDir(); dir = filepath.Dir(dir) {
			_ = os.Chmod(dir, 0o755)
		}
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	return fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?sslmode=disable", config.User, port, config.Database)
}

func isFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Two replicas behind a pooler in transaction mode work like others, with a direct address for LISTEN and without.
func TestReplicasBehindAPooler(t *testing.T) {
	for name, direct := range map[string]bool{"with a direct address": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			database := enginetest.Database(t)
			pooled := pooler(t, database)
			listening := func(o *engine.Options) {
				if direct {
					o.ListenURL = database
				}
			}
			w := &world{t: t, url: pooled, http: &fakeHTTP{}}
			w.eventually("PgBouncer answers", func() bool {
				conn, err := pgx.Connect(t.Context(), pooled)
				if err == nil {
					_ = conn.Close(t.Context())
				}
				return err == nil
			})
			w = newWorldAt(t, pooled, listening)
			other := w.beside(listening)
			w.publish("chain", chain(3))
			var ids []uuid.UUID
			for range 40 {
				ids = append(ids, w.start("chain", nil), other.start("chain", nil))
			}
			for _, id := range ids {
				w.ends(id, "completed")
			}
			w.requestsAreBound(ids[0])
			past := &world{t: t, url: database}
			var locks int // each replica holds its own for as long as it lives
			past.row("select count(*) from pg_locks where locktype = 'advisory' and $1::uuid is not null", uuid.New(), &locks)
			if want := map[string]int{"with a direct address": 2}[name]; locks != want {
				t.Errorf("%d session locks are held, expected %d", locks, want)
			}
		})
	}
}

// requestsAreBound starts and reads as a request of the team does, and asks for a row of it as one of another team.
func (w *world) requestsAreBound(id uuid.UUID) {
	w.t.Helper()
	inTeam := engine.InTeam(w.t.Context(), w.who.Team)
	started, err := w.Start(inTeam, w.who, engine.StartRequest{Workflow: "chain"})
	if err != nil {
		w.t.Fatal(err)
	}
	w.ends(started.ID, "completed")
	if _, err := w.Execution(inTeam, w.who, id); err != nil {
		w.t.Errorf("a row of the team itself: %v", err)
	}
	if _, err := w.Execution(engine.InTeam(w.t.Context(), uuid.New()), w.who, id); code(err) != "not_found" {
		w.t.Errorf("a row of another team: %v", err)
	}
}
