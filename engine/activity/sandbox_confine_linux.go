package activity

import (
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// sandboxData bounds the memory of the whole process, the interpreter included: what the watch is too slow
// to see ends there.
const sandboxData = 1 << 30 // bytes

// confine gives up for good what a sandbox does not need: it cannot open files or sockets, write to files,
// leave a core, or gain rights by starting a program.
func confine() error {
	time.Sleep(time.Millisecond) // the runtime opens what its timers need while it still can
	for name, bound := range map[string]struct {
		resource int
		most     uint64
	}{
		"open files": {syscall.RLIMIT_NOFILE, 0},
		"file size":  {syscall.RLIMIT_FSIZE, 0},
		"core":       {syscall.RLIMIT_CORE, 0},
		"data":       {syscall.RLIMIT_DATA, sandboxData},
	} {
		limit := unix.Rlimit{Cur: bound.most, Max: bound.most}
		if err := unix.Setrlimit(bound.resource, &limit); err != nil {
			return fmt.Errorf("limit %s of the sandbox: %w", name, err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new rights: %w", err)
	}
	return nil
}

// processorTime is what the process has used of it.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// boundScript limits a running script process and everything that it starts: memory of each, size of a file.
func boundScript(pid int, memory int64) error {
	for resource, most := range map[int]uint64{unix.RLIMIT_DATA: uint64(memory), unix.RLIMIT_FSIZE: scriptFile, unix.RLIMIT_CORE: 0} {
		if err := unix.Prlimit(pid, resource, &unix.Rlimit{Cur: most, Max: most}, nil); err != nil {
			return fmt.Errorf("limit the process: %w", err)
		}
	}
	return nil
}
