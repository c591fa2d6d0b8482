package worker

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// usage measures how much of the machine this process takes.
type usage struct {
	mu   sync.Mutex
	at   time.Time
	used time.Duration // processor time as of at
}

// shares are of all cores since the last call, and of the machine's memory; 0 where it cannot be told.
func (u *usage) shares() (cpu, memory float64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	now, used := time.Now(), processorTime()
	if passed := now.Sub(u.at); !u.at.IsZero() && passed > 0 {
		cpu = min(1, float64(used-u.used)/float64(passed)/float64(runtime.NumCPU()))
	}
	u.at, u.used = now, used
	if total := MachineMemory(); total > 0 {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		memory = min(1, float64(stats.Sys-stats.HeapReleased)/float64(total))
	}
	return cpu, memory
}

func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// MachineMemory is the machine's memory in bytes, 0 where it cannot be told.
func MachineMemory() int64 {
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "MemTotal:"); ok {
			kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib << 10
		}
	}
	return 0
}
