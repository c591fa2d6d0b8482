package enginetest

import (
	"fmt"
	"syscall"
)

// mountSmall puts a file system of so many bytes, in memory, at a folder. One that is there already is kept.
func mountSmall(dir string, bytes int) error {
	const magic = 0x01021994 // of tmpfs
	var there syscall.Statfs_t
	if err := syscall.Statfs(dir, &there); err == nil && there.Type == magic {
		return nil
	}
	return syscall.Mount("weftline-test", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0711", bytes))
}

func unmount(dir string) error { return syscall.Unmount(dir, 0) }
