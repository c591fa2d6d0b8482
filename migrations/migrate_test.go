package migrations_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"weftline/engine/enginetest"
	"weftline/migrations"
)

// Without its own line a migration that was cut off could not be told from one that
// was applied; see the package's comment.
func TestEveryUpFileClearsItsOwnMark(t *testing.T) {
	names, err := fs.Glob(migrations.Files, "*.up.sql")
	if err != nil || len(names) == 0 {
		t.Fatalf("no migrations: %v %v", names, err)
	}
	for i, name := range names {
		var version int
		if _, err := fmt.Sscanf(name, "%06d_", &version); err != nil || version != i+1 {
			t.Errorf("%s: versions must count from 1 without gaps (%v)", name, err)
		}
		text, err := fs.ReadFile(migrations.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		concurrent := regexp.MustCompile(`(?i)\bconcurrently\b`).Match(text)
		own := regexp.MustCompile(fmt.Sprintf(`update schema_migrations set dirty\s*=\s*false where version\s*=\s*%d;\s*$`, version))
		if !concurrent && !own.Match(text) {
			t.Errorf("%s must end with: update schema_migrations set dirty = false where version = %d;", name, version)
		}
		if _, err := fs.Stat(migrations.Files, strings.Replace(name, ".up.", ".down.", 1)); err != nil {
			t.Errorf("%s has no way back: %v", name, err)
		}
	}
}

func TestUpBringsADatabaseToTheLatestVersion(t *testing.T) {
	ctx, db := context.Background(), enginetest.EmptyDatabase(t)
	before := status(t, db)
	if before.Version != 0 || before.Latest == 0 || before.Current() {
		t.Errorf("an empty database has status %+v", before)
	}
	for range 2 { // the second has nothing to do
		if err := migrations.Up(ctx, db); err != nil {
			t.Fatal(err)
		}
	}
	if after := status(t, db); !after.Current() || after.Version != before.Latest {
		t.Errorf("after Up: %+v", after)
	}
}

func status(t *testing.T, db string) migrations.Status {
	t.Helper()
	s, err := migrations.ReadStatus(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestManyReplicasMigrateOnce(t *testing.T) {
	db := enginetest.EmptyDatabase(t)
	slow := "select pg_sleep(0.3); create table made_once (id int);"
	files := files(slow, "create table made_next (id int);")
	errs := make([]error, 6)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = migrations.UpFrom(context.Background(), db, files) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestCutOffMigrationHealsByItself(t *testing.T) {
	for _, version := range []int{1, 2} {
		t.Run(fmt.Sprint("version ", version), func(t *testing.T) {
			ctx, db := context.Background(), enginetest.EmptyDatabase(t)
			all := files("create table a (id int);", "create table b (id int);")
			if err := migrations.UpFrom(ctx, db, all); err != nil {
				t.Fatal(err)
			}
			cutOff(t, db, version)
			if err := migrations.UpFrom(ctx, db, all); err != nil {
				t.Fatal(err)
			}
			exec(t, db, "select a.id, b.id from a, b")
		})
	}
}

// cutOff leaves the database as a kill in the middle of a migration does: the mark is
// set and nothing of the migration, nor of later ones, is there.
func cutOff(t *testing.T, db string, version int) {
	t.Helper()
	exec(t, db, "drop table b")
	if version == 1 {
		exec(t, db, "drop table a")
	}
	exec(t, db, fmt.Sprintf("update schema_migrations set version = %d, dirty = true", version))
}

// A replica that found the database dirty may come to heal it after another one has.
func TestReplicasHealOnce(t *testing.T) {
	ctx, db := context.Background(), enginetest.EmptyDatabase(t)
	all := files("create table a (id int);", "select pg_sleep(0.1); create table b (id int);")
	if err := migrations.UpFrom(ctx, db, all); err != nil {
		t.Fatal(err)
	}
	cutOff(t, db, 2)
	errs := make([]error, 4)
	var replicas sync.WaitGroup
	for i := range errs {
		replicas.Go(func() { errs[i] = migrations.UpFrom(ctx, db, all) })
	}
	replicas.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestFailedMigrationSaysWhyAndLeavesNothing(t *testing.T) {
	ctx, db := context.Background(), enginetest.EmptyDatabase(t)
	err := migrations.UpFrom(ctx, db, files("create table a (id int); select no_such_column from a;"))
	if err == nil || !strings.Contains(err.Error(), "no_such_column") {
		t.Fatalf("broken migration: %v", err)
	}
	if err := migrations.UpFrom(ctx, db, files("create table a (id int);")); err != nil {
		t.Errorf("the corrected migration: %v", err)
	}
}

func TestUntransactionalMigrationIsLeftToAPerson(t *testing.T) {
	ctx, db := context.Background(), enginetest.EmptyDatabase(t)
	all := files("create table a (id int);")
	all["000002_index.up.sql"] = &fstest.MapFile{Data: []byte("create index concurrently a_id on a (id);")}
	if err := migrations.UpFrom(ctx, db, all); err != nil {
		t.Fatal(err)
	}
	exec(t, db, "update schema_migrations set dirty = true")
	if err := migrations.UpFrom(ctx, db, all); err == nil || !strings.Contains(err.Error(), "by hand") {
		t.Errorf("dirty without a transaction: %v", err)
	}
}

// A release is rolled back, or a replica of the release before starts again: what a migration added disturbs nobody.
func TestAProgramWorksOnASchemaThatOnlyGrew(t *testing.T) {
	ctx, db := context.Background(), enginetest.EmptyDatabase(t)
	if err := migrations.UpFrom(ctx, db, files("create table a (id int);", "create table b (id int);")); err != nil {
		t.Fatal(err)
	}
	if err := migrations.UpFrom(ctx, db, files("create table a (id int);")); err != nil {
		t.Errorf("an older program on a newer database: %v", err)
	}
	if err := migrations.UpFrom(ctx, db, files("create table a (id int);", "create table b (id int);", "create table c (id int);")); err != nil {
		t.Errorf("the next one after it: %v", err)
	}
}

func TestASchemaThatTookSomethingAwayRefusesOlderPrograms(t *testing.T) {
	ctx, db := context.Background(), enginetest.EmptyDatabase(t)
	steps := []string{"create table server_settings (key text primary key, value jsonb not null);", "create table b (id int);",
		"drop table b; insert into server_settings values ('oldest_program', '2');"}
	if err := migrations.UpFrom(ctx, db, files(steps...)); err != nil {
		t.Fatal(err)
	}
	if err := migrations.UpFrom(ctx, db, files(steps[:2]...)); err != nil {
		t.Errorf("a program that does without: %v", err)
	}
	err := migrations.UpFrom(ctx, db, files(steps[:1]...))
	if err == nil || !strings.Contains(err.Error(), "newer program") {
		t.Errorf("a program that does not do without: %v", err)
	}
}

// A migration that needs a table which a replica holds waits for it without holding up the replica for long, and
// takes part in no deadlock that a replica would lose.
func TestAMigrationGivesWayToWhoHoldsATable(t *testing.T) {
	ctx, db := context.Background(), enginetest.EmptyDatabase(t)
	exec(t, db, "create table a (id int); create table b (id int)")
	replica, err := pgx.Connect(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = replica.Close(ctx) }()
	transaction, err := replica.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := transaction.Exec(ctx, "insert into b values (1)"); err != nil {
		t.Fatal(err)
	}
	migrated := make(chan error, 1)
	go func() {
		migrated <- migrations.UpFrom(ctx, db, files("alter table a add column x int; alter table b add column x int;"))
	}()
	awaitLockOn(t, db, "a")
	if _, err := transaction.Exec(ctx, "insert into a values (1)"); err != nil { // the other way round
		t.Errorf("a replica has to give way: %v", err)
	}
	if err := transaction.Commit(ctx); err != nil {
		t.Error(err)
	}
	if err := <-migrated; err != nil {
		t.Error(err)
	}
	exec(t, db, "insert into a (id, x) values (1, 2); insert into b (id, x) values (1, 2)")
}

// awaitLockOn waits until somebody has a table for himself.
func awaitLockOn(t *testing.T, db, table string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for bound := time.Now().Add(time.Minute); time.Now().Before(bound); {
		var held bool
		const ask = `select exists (select from pg_locks l join pg_class c on c.oid = l.relation where c.relname = $1 and l.mode = 'AccessExclusiveLock' and l.granted)`
		if err := conn.QueryRow(context.Background(), ask, table).Scan(&held); err != nil {
			t.Fatal(err)
		}
		if held {
			return
		}
	}
	t.Fatal("nobody takes the table")
}

// files numbers the statements and gives each the line that it must end with.
func files(statements ...string) fstest.MapFS {
	all := fstest.MapFS{}
	for i, s := range statements {
		text := fmt.Sprintf("%s\nupdate schema_migrations set dirty = false where version = %d;\n", s, i+1)
		all[fmt.Sprintf("%06d_step.up.sql", i+1)] = &fstest.MapFile{Data: []byte(text)}
	}
	return all
}

func exec(t *testing.T, db, statement string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement); err != nil {
		t.Fatal(err)
	}
}

// periodsBegin is the migration from which on the history is kept in periods.
const periodsBegin = 21

// A database at work keeps its history where it is: the table becomes the rest, nothing is copied, and what is written
// from then on by programs that were there before is found beside it.
func TestHistoryGetsPeriodsWithoutBeingCopied(t *testing.T) {
	ctx, db := context.Background(), enginetest.EmptyDatabase(t)
	if err := migrations.UpFrom(ctx, db, before(t, periodsBegin)); err != nil {
		t.Fatal(err)
	}
	older, err := pgx.Connect(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = older.Close(ctx) }()
	const insert, count = `insert into history select gen_random_uuid(), n, n, now(), 'x' from generate_series(1, $1::int) n`, `select count(*) from history`
	file := func(table string) (node uint32) {
		if err := older.QueryRow(ctx, "select pg_relation_filenode($1::regclass)", table).Scan(&node); err != nil {
			t.Fatal(err)
		}
		return node
	}
	write := func(want int) {
		t.Helper()
		var rows int
		if _, err := older.Exec(ctx, insert, 100); err != nil { // a statement that was prepared before
			t.Fatal(err)
		}
		if err := older.QueryRow(ctx, count).Scan(&rows); err != nil || rows != want {
			t.Errorf("%d rows are found instead of %d, %v", rows, want, err)
		}
	}
	write(100)
	was := file("history")
	if err := migrations.Up(ctx, db); err != nil {
		t.Fatal(err)
	}
	write(200)
	if is := file("history_rest"); is != was {
		t.Errorf("the rows are in the file %d and were in %d", is, was)
	}
	down, err := fs.ReadFile(migrations.Files, fmt.Sprintf("%06d_history_periods.down.sql", periodsBegin))
	if err != nil {
		t.Fatal(err)
	}
	exec(t, db, string(down))
	write(300)
}

// before are the migrations below a version.
func before(t *testing.T, version int) fs.FS {
	t.Helper()
	names, err := fs.Glob(migrations.Files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	some := fstest.MapFS{}
	for _, name := range names {
		if name >= fmt.Sprintf("%06d", version) {
			continue
		}
		text, err := fs.ReadFile(migrations.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		some[name] = &fstest.MapFile{Data: text}
	}
	return some
}
