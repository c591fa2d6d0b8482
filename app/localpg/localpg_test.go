package localpg

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// These tests run real servers, whose states outlive a process; each waits for what
// it needs under one generous bound.
const bound = 2 * time.Minute

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	t.Cleanup(cancel)
	return ctx
}

// openDir is a folder that an unprivileged user may pass through, unlike t.TempDir.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "localpg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

// made is a data folder whose cluster exists already: a copy, since making one takes
// longer than all that most tests do with it.
func made(t *testing.T) string {
	t.Helper()
	template, err := makeTemplate()
	if err != nil {
		t.Fatal(err)
	}
	dir := openDir(t)
	if out, err := exec.Command("cp", "-a", filepath.Join(template, dataName), dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// makeTemplate leaves its folder to TestMain.
var makeTemplate = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "localpg-template-")
	if err != nil {
		return "", err
	}
	templates = append(templates, dir)
	if err := os.Chmod(dir, 0o711); err != nil {
		return "", err
	}
	s, err := Start(context.Background(), Options{DataDir: dir})
	if err != nil {
		return "", err
	}
	return dir, s.Stop(context.Background())
})

var templates []string

func start(t *testing.T, dir string) *Server {
	t.Helper()
	s, err := Start(testContext(t), Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(context.Background()) })
	return s
}

func stop(t *testing.T, s *Server) {
	t.Helper()
	if err := s.Stop(testContext(t)); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, dbURL, statement string) string {
	t.Helper()
	ctx := testContext(t)
	conn, err := pgx.Connect(ctx, dbURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	var answer string
	if err := conn.QueryRow(ctx, statement).Scan(&answer); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		t.Fatalf("%s: %v", statement, err)
	}
	return answer
}

const (
	writeRow = "with made as (insert into kept values ('row')) select ''"
	readRow  = "select string_agg(v, ',') from kept"
)

func TestDataOutlivesAStop(t *testing.T) {
	dir := made(t)
	s := start(t, dir)
	run(t, s.URL(), "create table kept (v text)")
	run(t, s.URL(), writeRow)
	stop(t, s)
	if got := run(t, start(t, dir).URL(), readRow); got != "row" {
		t.Errorf("after a restart the table holds %q", got)
	}
}

func TestListensOnItsSocketOnlyAndIsDurable(t *testing.T) {
	s := start(t, openDir(t))
	for setting, want := range map[string]string{
		"listen_addresses": "", "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on",
	} {
		if got := run(t, s.URL(), "show "+setting); got != want {
			t.Errorf("%s is %q, want %q", setting, got, want)
		}
	}
	u, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(u.Query().Get("host"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o700 {
		t.Errorf("the socket's folder has mode %o: with trust authentication others could enter", info.Mode().Perm())
	}
}

func TestSecondStartSaysWhoHoldsTheData(t *testing.T) {
	dir := made(t)
	first := start(t, dir)
	_, err := Start(testContext(t), Options{DataDir: dir})
	var inUse *InUseError
	if !errors.As(err, &inUse) {
		t.Fatalf("second start: %v", err)
	}
	if inUse.PID != strconv.Itoa(os.Getpid()) || inUse.URL != first.URL() {
		t.Errorf("the error names pid %s and %s, want %d and %s", inUse.PID, inUse.URL, os.Getpid(), first.URL())
	}
	stop(t, first)
	start(t, dir)
}

func TestStopTwiceAnswersTheSame(t *testing.T) {
	s := start(t, made(t))
	stop(t, s)
	stop(t, s)
	select {
	case err := <-s.Died():
		t.Errorf("a stop that was asked for was reported as a death: %v", err)
	default:
	}
}

func TestKilledServerIsStartedAgain(t *testing.T) {
	dir := made(t)
	s := start(t, dir)
	run(t, s.URL(), "create table kept (v text)")
	run(t, s.URL(), writeRow)
	killed := s.process
	if err := killed.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if got := run(t, s.eventually(t, killed).URL(), readRow); got != "row" {
		t.Errorf("after a crash the table holds %q", got)
	}
	stop(t, s)
}

// eventually waits until another process runs, or the server is given up.
func (s *Server) eventually(t *testing.T, not *process) *Server {
	t.Helper()
	for limit := time.Now().Add(bound); time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
		select {
		case err := <-s.Died():
			t.Fatal(err)
		default:
		}
		s.mu.Lock()
		again := s.process != not
		s.mu.Unlock()
		if again {
			return s
		}
	}
	t.Fatal("it was not started again")
	return nil
}

func TestAServerThatCannotStartAgainIsReported(t *testing.T) {
	dir := made(t)
	s := start(t, dir)
	if err := os.WriteFile(filepath.Join(dir, dataName, "postgresql.conf"), []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.process.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-s.Died():
		if !strings.Contains(err.Error(), logName) {
			t.Errorf("%q does not say where to look", err)
		}
	case <-time.After(bound):
		t.Fatal("the death was not reported")
	}
}

// A pid file whose pid is another program's by now must not stop a start.
func TestStalePIDFileWithAReusedPID(t *testing.T) {
	dir := made(t)
	stop(t, start(t, dir))
	stale := strconv.Itoa(os.Getpid()) + "\n" + filepath.Join(dir, dataName) + "\n"
	if err := os.WriteFile(filepath.Join(dir, dataName, pidFileName), []byte(stale), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, dir)
}

func TestDataOfAnotherMajorVersionIsLeftAlone(t *testing.T) {
	dir := made(t)
	stop(t, start(t, dir))
	version := filepath.Join(dir, dataName, "PG_VERSION")
	if err := os.WriteFile(version, []byte("9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := listing(t, filepath.Join(dir, dataName))
	_, err := Start(testContext(t), Options{DataDir: dir})
	if err == nil || !strings.Contains(err.Error(), "PostgreSQL 9") || !strings.Contains(err.Error(), "left as it is") {
		t.Fatalf("start on data of version 9: %v", err)
	}
	if after := listing(t, filepath.Join(dir, dataName)); after != before {
		t.Errorf("the data was touched:\n%s\nwas\n%s", after, before)
	}
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, "\n")
}

func TestNoBinariesSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", "")
	_, err := Start(testContext(t), Options{DataDir: openDir(t), BinDir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "install") || !strings.Contains(err.Error(), "DATABASE_URL") {
		t.Errorf("without binaries: %v", err)
	}
}

func TestCutOffCreationIsBegunAnew(t *testing.T) {
	dir := openDir(t)
	half := filepath.Join(dir, dataName+".new-half")
	if err := os.Mkdir(half, 0o700); err != nil {
		t.Fatal(err)
	}
	start(t, dir)
	if _, err := os.Stat(half); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the half-made cluster is still there: %v", err)
	}
}

func TestDeepFolderMovesTheSocket(t *testing.T) {
	base := openDir(t)
	deep := filepath.Join(base, strings.Repeat("d", 60), strings.Repeat("e", 60))
	if err := os.MkdirAll(deep, 0o711); err != nil {
		t.Fatal(err)
	}
	s := start(t, deep)
	if run(t, s.URL(), "select 'up'") != "up" {
		t.Error("the server does not answer")
	}
	t.Cleanup(func() { os.RemoveAll(runDir(deep)) })
}

func TestForeignSocketFolderIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to make another user's folder")
	}
	dir := made(t)
	stop(t, start(t, dir))
	const stranger = 12345
	if err := os.Chown(filepath.Join(dir, "run"), stranger, stranger); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(testContext(t), Options{DataDir: dir}); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Errorf("start with another user's socket folder: %v", err)
	}
}

// childDirEnv turns the test binary into an application that can be killed.
const childDirEnv = "LOCALPG_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDirEnv); dir != "" {
		os.Exit(child(dir))
	}
	code := m.Run()
	for _, dir := range templates {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

func child(dir string) int {
	s, err := Start(context.Background(), Options{DataDir: dir})
	if err != nil {
		println(err.Error())
		return 1
	}
	println(s.URL())
	_, _ = io.Copy(io.Discard, os.Stdin) // lives until its parent lets go
	_ = s.Stop(context.Background())
	return 0
}

// startChild runs an application of its own and answers its first line.
func startChild(t *testing.T, dir string, attributes *syscall.SysProcAttr) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDirEnv+"="+dir)
	cmd.SysProcAttr = attributes
	cmd.Dir = "/"
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil {
		t.Fatalf("the application said nothing: %v", err)
	}
	return cmd, strings.TrimSpace(line)
}

func TestKilledApplicationLeavesNothingInTheWay(t *testing.T) {
	dir := made(t)
	app, dbURL := startChild(t, dir, nil)
	run(t, dbURL, "create table kept (v text)")
	run(t, dbURL, writeRow)
	if err := app.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = app.Wait()
	if got := run(t, start(t, dir).URL(), readRow); got != "row" {
		t.Errorf("after the application was killed the table holds %q", got)
	}
}

func TestBothKilledAtOnce(t *testing.T) {
	dir := made(t)
	app, dbURL := startChild(t, dir, nil)
	run(t, dbURL, "create table kept (v text)")
	run(t, dbURL, writeRow)
	postmaster := readPIDFile(filepath.Join(dir, dataName, pidFileName)).pid
	if err := errors.Join(syscall.Kill(postmaster, syscall.SIGKILL), app.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	_ = app.Wait()
	if got := run(t, start(t, dir).URL(), readRow); got != "row" {
		t.Errorf("after both were killed the table holds %q", got)
	}
}
