package localpg

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// lockBase takes the folder for this process. The kernel gives the lock back however
// the process dies, so there is no stale lock.
func lockBase(base string) (*os.File, error) {
	path := filepath.Join(base, "weftline.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		defer f.Close()
		return nil, inUse(base, f)
	}
	if err == nil {
		err = writePID(f)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	return f, nil
}

func inUse(base string, lock *os.File) error {
	text, _ := io.ReadAll(io.LimitReader(lock, 32)) // who it is only helps; that it is there is sure
	pid := strings.TrimSpace(string(text))
	if pid == "" {
		pid = "unknown"
	}
	return &InUseError{DataDir: base, PID: pid, URL: socketURL(runDir(base), dbName)}
}

func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}
