// Package migrations owns the database's schema: the embedded *.sql files and the
// runner that brings a database up to date. It knows nothing of what the tables mean.
//
// Every up file ends with
//
//	update schema_migrations set dirty = false where version = N;
//
// in the transaction of its own statements, so a database found dirty at N has nothing
// of N in it, whatever was killed when, and Up may simply try again. Only a file that
// cannot run in a transaction (create index concurrently) stands alone without that
// line; a database left dirty by one is for a person to look at.
package migrations

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"time"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	migratepgx "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	"github.com/golang-migrate/migrate/v4/source"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

//go:embed *.sql
var embedded embed.FS

// Files are the embedded migrations, named as golang-migrate wants them.
var Files fs.FS = embedded

// lockTimeout bounds the wait for another replica that is migrating, and for table
// locks that running replicas hold.
const lockTimeout = 10 * time.Minute

// Status says how the database's schema stands against this program.
type Status struct {
	Version int  // of the database; 0 before the first migration
	Latest  int  // that this program brings
	Oldest  int  // what a program must bring at least to work on a database that is newer than it
	Dirty   bool // a migration was cut off; Up heals it
}

// Current reports whether this program may work on the database.
func (s Status) Current() bool { return (s.Version == s.Latest || s.fits()) && !s.Dirty }

// fits reports that the database is newer than this program and still has all that it needs.
func (s Status) fits() bool { return s.Version > s.Latest && s.Oldest <= s.Latest }

// Up applies the missing migrations. Any number of replicas may call it at once: one
// works, the others wait for it. Cancelling ctx stops between two migrations.
func Up(ctx context.Context, databaseURL string) error {
	return up(ctx, databaseURL, Files)
}

// ReadStatus looks without changing anything but the empty version table.
func ReadStatus(ctx context.Context, databaseURL string) (Status, error) {
	r, err := open(ctx, databaseURL, Files)
	if err != nil {
		return Status{}, err
	}
	defer r.close()
	return r.status()
}

func up(ctx context.Context, databaseURL string, files fs.FS) error {
	r, err := open(ctx, databaseURL, files)
	if err != nil {
		return err
	}
	defer r.close()
	stop := context.AfterFunc(ctx, func() { r.migrate.GracefulStop <- true })
	defer stop()

	if newer, err := r.isNewer(); newer || err != nil {
		return err
	}
	err = r.migrate.Up()
	var dirty migrate.ErrDirty
	if errors.As(err, &dirty) {
		if err = r.heal(dirty.Version); err == nil {
			err = r.migrate.Up()
		}
	}
	if err != nil && !errors.Is(err, migrate.ErrNoChange) {
		return fmt.Errorf("migrate the database: %w", err)
	}
	if err := r.target.Run(strings.NewReader(guardTeams)); err != nil {
		return fmt.Errorf("guard the rows of teams: %w", err)
	}
	return ctx.Err()
}

// guardTeams has every table of a team guarded, those of later migrations too; see 000008.
const guardTeams = `do $$ begin if to_regproc('guard_teams') is not null then perform guard_teams(); end if; end $$`

// runner holds one connection to the database and the list of files.
type runner struct {
	files   fs.FS
	db      *sql.DB
	source  source.Driver
	target  database.Driver
	migrate *migrate.Migrate
}

func open(ctx context.Context, databaseURL string, files fs.FS) (*runner, error) {
	db, err := connect(ctx, databaseURL)
	if err != nil {
		return nil, err
	}
	driver, err := migratepgx.WithInstance(db, &migratepgx.Config{})
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("prepare the migration table: %w", err)
	}
	target := polite{driver}
	src, err := iofs.New(files, ".")
	if err != nil {
		target.Close()
		return nil, fmt.Errorf("read the embedded migrations: %w", err)
	}
	m, err := migrate.NewWithInstance("embedded", src, "postgresql", target)
	if err != nil {
		target.Close()
		return nil, err
	}
	m.LockTimeout = lockTimeout
	return &runner{files: files, db: db, source: src, target: target, migrate: m}, nil
}

// connect goes through pgxpool's parser, so that every form of DATABASE_URL that the
// program takes (pool_* parameters too) works here.
func connect(ctx context.Context, databaseURL string) (*sql.DB, error) {
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		return nil, fmt.Errorf("read the database URL: %w", err)
	}
	params := config.ConnConfig.RuntimeParams
	params["lock_timeout"] = fmt.Sprint(lockTimeout.Milliseconds())
	params["statement_timeout"] = "0"
	db := stdlib.OpenDB(*config.ConnConfig)
	if err := db.PingContext(ctx); err != nil {
		db.Close()
		return nil, fmt.Errorf("reach the database: %w", err)
	}
	return db, nil
}

func (r *runner) close() { _, _ = r.migrate.Close() } // nothing is pending on it

func (r *runner) status() (Status, error) {
	version, dirty, err := r.target.Version()
	if err != nil {
		return Status{}, fmt.Errorf("read the schema version: %w", err)
	}
	latest, err := r.latest()
	if err != nil {
		return Status{}, err
	}
	oldest, err := r.oldest()
	if err != nil {
		return Status{}, fmt.Errorf("read which programs the schema is for: %w", err)
	}
	return Status{Version: max(version, 0), Latest: latest, Oldest: oldest, Dirty: dirty}, nil
}

// oldest is 0 where no migration has said anything.
func (r *runner) oldest() (version int, err error) {
	var has bool
	if err := r.db.QueryRow(`select to_regclass('server_settings') is not null`).Scan(&has); err != nil || !has {
		return 0, err
	}
	err = r.db.QueryRow(`select coalesce(max(value::text::int), 0) from server_settings where key = 'oldest_program'`).Scan(&version)
	return version, err
}

func (r *runner) latest() (int, error) {
	v, err := r.source.First()
	for err == nil {
		var next uint
		if next, err = r.source.Next(v); err == nil {
			v = next
		}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("list the embedded migrations: %w", err)
	}
	return int(v), nil
}

// isNewer reports that a later release has migrated the database and this program may work on it as it is.
func (r *runner) isNewer() (bool, error) {
	s, err := r.status()
	if err != nil {
		return false, err
	}
	if s.Version > s.Latest && !s.fits() {
		return false, fmt.Errorf("the database has schema version %d, which needs a program that knows %d, and this one knows %d: "+
			"start the newer program, or restore a backup that fits this one", s.Version, s.Oldest, s.Latest)
	}
	return s.fits(), nil
}

// heal takes back the version mark of a migration of which nothing was applied. It
// looks again under the lock: a replica that waited for another one's healing must
// not undo the mark of work that has been done meanwhile.
func (r *runner) heal(version int) error {
	clears, err := clearsOwnMark(r.files, version)
	if err != nil {
		return err
	}
	if !clears {
		return fmt.Errorf("migration %d was cut off and does not run in a transaction: compare the schema with it, "+
			"then set schema_migrations by hand", version)
	}
	before, err := r.before(version)
	if err != nil {
		return err
	}
	if err := r.target.Lock(); err != nil {
		return err
	}
	now, dirty, err := r.target.Version()
	if err == nil && dirty && now == version {
		err = r.target.SetVersion(before, false)
	}
	return errors.Join(err, r.target.Unlock())
}

// before answers the version that precedes the given one, NilVersion for the first.
func (r *runner) before(version int) (int, error) {
	v, err := r.source.Prev(uint(version))
	if errors.Is(err, fs.ErrNotExist) {
		return database.NilVersion, nil
	}
	return int(v), err
}

var markLine = regexp.MustCompile(`(?i)update schema_migrations set dirty\s*=\s*false where version\s*=\s*(\d+);\s*$`)

// clearsOwnMark reports whether an up file ends with its own version's line.
func clearsOwnMark(files fs.FS, version int) (bool, error) {
	names, err := fs.Glob(files, fmt.Sprintf("%06d_*.up.sql", version))
	if err != nil {
		return false, err
	}
	if len(names) != 1 {
		return false, fmt.Errorf("migration %d has %d up files, not one", version, len(names))
	}
	text, err := fs.ReadFile(files, names[0])
	if err != nil {
		return false, err
	}
	line := markLine.FindSubmatch(text)
	return line != nil && string(line[1]) == fmt.Sprint(version), nil
}
