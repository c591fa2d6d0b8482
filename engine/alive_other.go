//go:build !unix

package engine

import "github.com/jackc/pgx/v5"

// spokeUp cannot be told here; a connection that the server ended is found by its first use.
func spokeUp(*pgx.Conn) bool { return false }
