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

func TestNewerDatabaseIsRefused(t *testing.T) {
	ctx, db := context.Background(), enginetest.EmptyDatabase(t)
	if err := migrations.UpFrom(ctx, db, files("create table a (id int);", "create table b (id int);")); err != nil {
		t.Fatal(err)
	}
	err := migrations.UpFrom(ctx, db, files("create table a (id int);"))
	if err == nil || !strings.Contains(err.Error(), "newer program") {
		t.Errorf("an older program on a newer database: %v", err)
	}
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
