//go:build !linux

package localpg

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// identity is who the server's processes are: always this process's own user here.
type identity struct{}

func chooseIdentity(_, _ string) (identity, error) {
	if os.Geteuid() == 0 {
		return identity{}, errors.New("PostgreSQL does not run as root: start Weftline as an ordinary user or set DATABASE_URL")
	}
	return identity{}, nil
}

// attributes put the child in a process group of its own: the terminal's Ctrl-C must
// reach the application first, which drains before it stops the database.
func (identity) attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func (identity) own(string) error { return nil }

// checkOwned refuses a folder that somebody else has put in our way.
func (identity) checkOwned(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(owner.Uid) != os.Geteuid() || !info.IsDir() {
		return fmt.Errorf("%s belongs to another user: remove it, or use a --data-dir with a shorter path", path)
	}
	return nil
}

// dieWithParent has no counterpart here: a server that outlives a killed application
// is stopped by the next start.
func dieWithParent(*syscall.SysProcAttr) {}

// isPostmaster tells a server on this data from another program that has got its pid.
func isPostmaster(pid int, data string) bool {
	out, err := exec.Command("ps", "-p", strconv.Itoa(pid), "-o", "command=").Output()
	return err == nil && strings.Contains(string(out), data)
}
