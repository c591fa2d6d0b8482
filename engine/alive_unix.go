//go:build unix

package engine

import (
	"errors"
	"net"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// spokeUp reports that the server said something, or ended the connection, while nobody asked it anything: most
// often that it was shut down. It costs one system call and waits for nothing.
func spokeUp(conn *pgx.Conn) bool {
	socket := conn.PgConn().Conn()
	if secured, ok := socket.(interface{ NetConn() net.Conn }); ok {
		socket = secured.NetConn()
	}
	plain, ok := socket.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := plain.SyscallConn()
	if err != nil {
		return true
	}
	silent := false
	err = raw.Control(func(fd uintptr) { // Read would wait for whoever reads already
		var first [1]byte
		_, _, err := syscall.Recvfrom(int(fd), first[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		silent = errors.Is(err, syscall.EAGAIN)
	})
	return err != nil || !silent
}
