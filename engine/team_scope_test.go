package engine

import (
	"log/slog"
	"testing"

	"github.com/google/uuid"

	"weftline/engine/enginetest"
)

// A statement that forgot its team sees and writes rows of the asker's team only; what runs in the background sees
// all.
func TestTheDatabaseKeepsTeamsApart(t *testing.T) {
	db, err := connect(t.Context(), Options{DatabaseURL: enginetest.Database(t), Log: slog.New(slog.DiscardHandler)}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
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
