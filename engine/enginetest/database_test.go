package enginetest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

func count(t *testing.T, databaseURL, query string) int {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	var n int
	if err := conn.QueryRow(ctx, query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestDatabasesAreMigratedAndApart(t *testing.T) {
	a, b := Database(t), Database(t)
	if a == b {
		t.Fatalf("two tests share %s", a)
	}
	if count(t, a, "select count(*) from schema_migrations where not dirty") != 1 {
		t.Error("the database is not migrated")
	}
	count(t, a, "with made as (insert into teams (name) values ('only-here')) select 0")
	if count(t, b, "select count(*) from teams where name = 'only-here'") != 0 {
		t.Error("a row of one test is seen by another")
	}
}

func TestEmptyDatabaseHasNoTable(t *testing.T) {
	if n := count(t, EmptyDatabase(t), "select count(*) from pg_tables where schemaname = 'public'"); n != 0 {
		t.Errorf("it has %d tables", n)
	}
}

func TestDatabasesAreDroppedAfterTheTest(t *testing.T) {
	var name string
	t.Run("using one", func(t *testing.T) {
		if err := Pool(t).QueryRow(context.Background(), "select current_database()").Scan(&name); err != nil {
			t.Fatal(err)
		}
	})
	left := "select count(*) from pg_database where datname = '" + name + "'"
	if count(t, EmptyDatabase(t), left) != 0 {
		t.Errorf("%s is still there", name)
	}
}
