package localpg

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A home of mode 0700 cannot be entered by the user that root would drop to.
func TestRootInAPrivateHome(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	if err := (identity{kind: inNamespace, uid: 1, gid: 1}).canEnter("/"); err != nil {
		t.Skipf("user namespaces are refused here: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "data") // t.TempDir's parent has mode 0700
	if err := os.Chmod(filepath.Dir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	s := start(t, dir)
	run(t, s.URL(), "create table kept (v text)")
	run(t, s.URL(), writeRow)
	stop(t, s)
	info, err := os.Stat(filepath.Join(dir, dataName))
	if err != nil {
		t.Fatal(err)
	}
	if uid := info.Sys().(*syscall.Stat_t).Uid; uid != 0 {
		t.Errorf("the data in root's home belongs to %d", uid)
	}
	if got := run(t, start(t, dir).URL(), readRow); got != "row" {
		t.Errorf("after a restart the table holds %q", got)
	}
}

func TestRootDropsPrivileges(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	dir := openDir(t)
	start(t, dir)
	info, err := os.Stat(filepath.Join(dir, dataName))
	if err != nil {
		t.Fatal(err)
	}
	if uid := info.Sys().(*syscall.Stat_t).Uid; uid == 0 {
		t.Error("the data belongs to root although another user can reach it")
	}
}

func TestOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the other tests run as an ordinary user already")
	}
	user, err := unprivilegedUser()
	if err != nil {
		t.Skip(err)
	}
	dir := openDir(t)
	if err := os.Chown(dir, user.uid, user.gid); err != nil {
		t.Fatal(err)
	}
	if err := user.asChild(t); err != nil {
		t.Skipf("%s may not run the test binary: %v", os.Args[0], err)
	}
	_, line := startChild(t, dir, identity{asOther, user.uid, user.gid}.attributes())
	if !strings.HasPrefix(line, "postgres://") {
		t.Errorf("as an ordinary user: %s", line)
	}
}

// asChild reports whether the user may run the test binary, which go test builds into
// a private folder; it is opened up for this test.
func (i identity) asChild(t *testing.T) error {
	t.Helper()
	for dir := filepath.Dir(os.Args[0]); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o711); err != nil {
			return err
		}
	}
	return identity{asOther, i.uid, i.gid}.canEnter(filepath.Dir(os.Args[0]))
}
