package localpg

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// identity is who the server's processes are. PostgreSQL refuses to run as root, so
// root either drops to another user, who then owns the data, or, where that user cannot
// reach the folder (a home of mode 0700), runs it in a user namespace in which root's
// own id has that user's number; the data then stays root's.
type identity struct {
	kind     kind
	uid, gid int // of the other user; unused for asSelf
}

type kind int

const (
	asSelf kind = iota
	asOther
	inNamespace
)

// unprivileged are users that root may drop to, best first.
var unprivileged = []string{"postgres", "nobody", "daemon"}

func chooseIdentity(base, data string) (identity, error) {
	if os.Geteuid() != 0 {
		return identity{kind: asSelf}, nil
	}
	other, err := unprivilegedUser()
	if err != nil {
		return identity{}, err
	}
	if info, err := os.Stat(data); err == nil {
		return identityOf(info, other), nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return identity{}, err
	}
	var tried error
	for _, k := range []kind{asOther, inNamespace} {
		candidate := identity{k, other.uid, other.gid}
		if err := candidate.canEnter(base); err == nil {
			return candidate, nil
		} else {
			tried = errors.Join(tried, err)
		}
	}
	return identity{}, fmt.Errorf("PostgreSQL does not run as root, and an unprivileged user cannot reach %s: "+
		"use a --data-dir outside a private home, start Weftline as an ordinary user, or set DATABASE_URL (%w)", base, tried)
}

// identityOf keeps to the way in which existing data was made.
func identityOf(data fs.FileInfo, other identity) identity {
	owner := data.Sys().(*syscall.Stat_t)
	if owner.Uid == 0 {
		return identity{inNamespace, other.uid, other.gid}
	}
	return identity{asOther, int(owner.Uid), int(owner.Gid)}
}

func unprivilegedUser() (identity, error) {
	for _, name := range unprivileged {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(u.Uid)
		gid, gidErr := strconv.Atoi(u.Gid)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return identity{}, fmt.Errorf("user %s: %w", name, err)
		}
		return identity{uid: uid, gid: gid}, nil
	}
	return identity{}, fmt.Errorf("PostgreSQL does not run as root and none of the users %v exists: "+
		"start Weftline as an ordinary user or set DATABASE_URL", unprivileged)
}

// attributes start a child as this identity, in a process group of its own: the
// terminal's Ctrl-C must reach the application first, which drains before it stops
// the database.
func (i identity) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	switch i.kind {
	case asOther:
		a.Credential = &syscall.Credential{Uid: uint32(i.uid), Gid: uint32(i.gid)}
	case inNamespace:
		a.Cloneflags = syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: i.uid, HostID: 0, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: i.gid, HostID: 0, Size: 1}}
	}
	return a
}

// canEnter asks the kernel by trying, since access lists and containers decide too.
func (i identity) canEnter(dir string) error {
	cmd := exec.Command("/bin/sh", "-c", `test "$(id -u)" != 0 && cd "$0"`, dir)
	cmd.SysProcAttr = i.attributes()
	cmd.Dir = "/"
	return cmd.Run()
}

// own gives a new folder to the user that the server runs as.
func (i identity) own(path string) error {
	if i.kind != asOther {
		return nil
	}
	return os.Chown(path, i.uid, i.gid)
}

// checkOwned refuses a folder that somebody else has put in our way.
func (i identity) checkOwned(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	uid := int(info.Sys().(*syscall.Stat_t).Uid)
	if ours := uid == os.Geteuid() || (i.kind == asOther && uid == i.uid); !ours || !info.IsDir() {
		return fmt.Errorf("%s belongs to another user: remove it, or use a --data-dir with a shorter path", path)
	}
	return nil
}

// dieWithParent has the kernel stop the server cleanly when the application is killed.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGINT }

// isPostmaster tells a server on this data from another program that has got its pid.
func isPostmaster(pid int, data string) bool {
	cwd, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "cwd"))
	return err == nil && cwd == data
}
