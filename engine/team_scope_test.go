package engine

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"weftline/engine/enginetest"
	"weftline/queries"
)

// A statement that forgot its team sees and writes rows of the asker's team only; what runs in the background sees
// all. So it is where connections are bound to teams, and where each transaction is, as behind a pooler.
func TestTheDatabaseKeepsTeamsApart(t *testing.T) {
	t.Run("a connection", func(t *testing.T) {
		_, asked, err := connect(t.Context(), Options{DatabaseURL: enginetest.Database(t), Log: slog.New(slog.DiscardHandler)}.withDefaults())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(asked.(*pgxpool.Pool).Close)
		keepsTeamsApart(t, asked)
	})
	t.Run("a transaction", func(t *testing.T) { keepsTeamsApart(t, teamPool{enginetest.Pool(t)}) })
}

func keepsTeamsApart(t *testing.T, db queries.Pool) {
	ctx := t.Context()
	teams := []uuid.UUID{uuid.New(), uuid.New()}
	for i, team := range teams {
		if _, err := db.Exec(ctx, "insert into teams (id, name) values ($1, $2)", team, "team"+string(rune('a'+i))); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(ctx, "insert into workflows (team_id, name, title) values ($1, 'same', 'same')", team); err != nil {
			t.Fatal(err)
		}
	}
	count := func(want int, where string, of ...uuid.UUID) {
		t.Helper()
		ctx := ctx
		if len(of) > 0 {
			ctx = InTeam(ctx, of[0])
		}
		var n int
		if err := db.QueryRow(ctx, "select count(*) from workflows "+where).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n != want {
			t.Errorf("%v: %d workflows %s, want %d", of, n, where, want)
		}
	}
	for range 3 { // connections change hands
		count(2, "")
		count(1, "", teams[0])
		count(1, "", teams[1])
		count(0, "where team_id = '"+teams[1].String()+"'", teams[0])
	}
	inFirst := InTeam(ctx, teams[0])
	if _, err := db.Exec(inFirst, "insert into workflows (team_id, name, title) values ($1, 'planted', 'x')", teams[1]); err == nil {
		t.Error("a row of another team was written")
	}
	if tag, err := db.Exec(inFirst, "delete from workflows"); err != nil || tag.RowsAffected() != 1 {
		t.Errorf("deleted %d, %v", tag.RowsAffected(), err)
	}
	count(1, "", teams[1])
	if _, err := db.Exec(ctx, "truncate audit"); err == nil {
		t.Error("the audit was emptied")
	}
	for _, statement := range []string{"update audit set actor = 'x'", "delete from audit"} {
		if _, err := db.Exec(ctx, statement); err == nil {
			t.Errorf("%s went through", statement)
		}
	}
}

// What is asked alone in the transaction of a team is there when the answer is, gives its connection back however it
// ends, and leaves no team on it.
func TestAStatementOfATeamIsATransaction(t *testing.T) {
	config, err := pgxpool.ParseConfig(enginetest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	db, team := teamPool{pool}, uuid.New()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a connection that is not given back would be waited for
	defer cancel()
	bound := InTeam(ctx, team)
	if _, err := db.Exec(ctx, "insert into teams (id, name) values ($1, 'one')", team); err != nil {
		t.Fatal(err)
	}
	const insert = "insert into workflows (team_id, name, title) values ($1, $2, 'x') returning name"
	for i, ask := range []func(name string) error{
		func(name string) error { _, err := db.Exec(bound, insert, team, name); return err },
		func(name string) error { return db.QueryRow(bound, insert, team, name).Scan(&name) },
		func(name string) error {
			rows, err := db.Query(bound, insert, team, name)
			if err != nil {
				return err
			}
			_, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		},
		func(name string) error { // read to no end
			rows, err := db.Query(bound, insert, team, name)
			if err != nil {
				return err
			}
			rows.Close()
			return rows.Err()
		},
	} {
		name := "w" + strconv.Itoa(i)
		if err := ask(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := ask(name); err == nil {
			t.Errorf("%s was taken twice", name)
		}
		var here int
		var me, owner string
		if err := db.QueryRow(ctx, "select count(*), current_user, session_user from workflows where name = $1", name).Scan(&here, &me, &owner); err != nil {
			t.Fatal(err)
		}
		if here != 1 || me != owner {
			t.Errorf("%s: %d rows; asked by %s of %s", name, here, me, owner)
		}
	}
	var none string
	if err := db.QueryRow(bound, "select name from workflows where name = 'nobody'").Scan(&none); !errors.Is(err, pgx.ErrNoRows) {
		t.Errorf("nothing is found as %v", err)
	}
	if err := db.QueryRow(bound, "select 1/0").Scan(new(int)); err == nil {
		t.Error("a statement that fails went well")
	}
	if _, err := db.Query(bound, "select nothing from nowhere"); err == nil {
		t.Error("a statement that cannot be read went well")
	}
	if err := pool.Ping(ctx); err != nil {
		t.Error(err)
	}
}

// A new table with a team is guarded, or says in 000008 why not.
func TestEveryTableOfATeamIsGuarded(t *testing.T) {
	db := enginetest.Pool(t)
	rows, err := db.Query(t.Context(), `select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
		where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace and a.attname = 'team_id' and not c.relrowsecurity order by 1`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			t.Fatal(err)
		}
		if table != "memberships" && table != "sessions" {
			t.Errorf("%s has no row security", table)
		}
	}
}
