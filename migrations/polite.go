package migrations

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/golang-migrate/migrate/v4/database"
	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// tableWait is how long a migration waits for the lock of a table that running replicas use. Everybody who
	// wants the table meanwhile waits behind it, so it is short; and it is shorter than the second after which
	// PostgreSQL looks for deadlocks, so that it is never a replica that has to give way.
	tableWait = "300ms"
	tryAgain  = 200 * time.Millisecond
)

// polite is a database whose migrations give way to running replicas, and try again.
type polite struct{ database.Driver }

// Run applies one migration. One that runs in a transaction leaves nothing behind when it gives way.
func (p polite) Run(migration io.Reader) error {
	text, err := io.ReadAll(migration)
	if err != nil {
		return err
	}
	if !markLine.Match(text) {
		return p.Driver.Run(bytes.NewReader(text))
	}
	text = append([]byte("set local lock_timeout = '"+tableWait+"';\n"), text...)
	for bound := time.Now().Add(lockTimeout); ; time.Sleep(tryAgain) {
		if err = p.Driver.Run(bytes.NewReader(text)); !gaveWay(err) || time.Now().After(bound) {
			return err
		}
	}
}

func gaveWay(err error) bool {
	var failed database.Error
	var pg *pgconn.PgError
	if errors.As(err, &failed) {
		err = failed.OrigErr
	}
	return errors.As(err, &pg) && (pg.Code == pgerrcode.LockNotAvailable || pg.Code == pgerrcode.DeadlockDetected)
}
