package engine

import (
	"context"
	"log/slog"
	"testing"

	"github.com/google/uuid"

	"weftline/engine/enginetest"
)

// What row security costs a request: a page of 50 rows of a list as the owner of the tables, whom no policy binds;
// as one team, on a connection that is bound to it already; and as two teams in turn on one connection, which is
// bound anew each time.
func BenchmarkRowSecurity(b *testing.B) {
	ctx := b.Context()
	db, _, err := connect(ctx, Options{DatabaseURL: enginetest.Database(b), Connections: 1, Log: slog.New(slog.DiscardHandler)}.withDefaults())
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	teams := [2]uuid.UUID{uuid.New(), uuid.New()}
	for _, team := range teams {
		if _, err := db.Exec(ctx, "insert into teams (id, name) values ($1, $1::uuid::text)", team); err != nil {
			b.Fatal(err)
		}
		if _, err := db.Exec(ctx, "insert into audit (team_id, actor, action) select $1, 'ann', 'x' from generate_series(1, 10000)", team); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := db.Exec(ctx, "vacuum analyze audit"); err != nil { // as a database that has run for a while
		b.Fatal(err)
	}
	identity := NewIdentity(db)
	for _, c := range []struct {
		name  string
		scope func(n int) (context.Context, uuid.UUID)
	}{
		{"owner", func(int) (context.Context, uuid.UUID) { return ctx, teams[0] }},
		{"one team", func(int) (context.Context, uuid.UUID) { return InTeam(ctx, teams[0]), teams[0] }},
		{"two teams in turn", func(n int) (context.Context, uuid.UUID) { return InTeam(ctx, teams[n%2]), teams[n%2] }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				scope, team := c.scope(n)
				page, err := identity.Audit(scope, Who{Team: team}, AuditFilter{PageRequest: PageRequest{Limit: 50}})
				if err != nil || len(page.Items) != 50 {
					b.Fatalf("%d rows, %v", len(page.Items), err)
				}
			}
		})
	}
}
