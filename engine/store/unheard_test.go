package store_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"weftline/engine/enginetest"
	"weftline/engine/execution"
	"weftline/engine/store"
)

// unheard is a store whose answers can be lost, with a way past that to the same database.
func unheard(t *testing.T) (s *store.Store, wire *enginetest.Wire, past *pgxpool.Pool) {
	t.Helper()
	past = enginetest.Pool(t)
	wire = enginetest.NewWire(t, past.Config().ConnString())
	pool, err := pgxpool.New(t.Context(), wire.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if s, err = store.Open(t.Context(), pool, store.Options{Partitions: 32, Committers: 1, Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, wire, past
}

func exec(t *testing.T, db *pgxpool.Pool, statement string, arguments ...any) {
	t.Helper()
	if _, err := db.Exec(t.Context(), statement, arguments...); err != nil {
		t.Error(err)
	}
}

func number(t *testing.T, db *pgxpool.Pool, query string, arguments ...any) (n int) {
	t.Helper()
	if err := db.QueryRow(t.Context(), query, arguments...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// An owner that parks and does not hear of it tries again. Meanwhile the execution may have been woken and claimed by the
// same process: that is another row, which must stay.
func TestParkingUnheardLeavesTheNextRowAlone(t *testing.T) {
	s, wire, past := unheard(t)
	first := begin(uuid.New())
	commit(t, s, first)
	wire.DropReplyTo("delete from ready r using p", func() {
		message := execution.Message{Pause: &execution.Control{By: "ann"}}
		if _, err := s.Deliver(t.Context(), first.Execution, message); err != nil {
			t.Error(err)
		}
		exec(t, past, `update ready set owner = $2 where execution_id = $1`, first.Execution, first.Owner)
	})
	park := &store.Flush{Execution: first.Execution, Team: first.Team, Owner: first.Owner, At: time.Now(), Leave: &store.Leave{Wakes: 1}}
	if commit(t, s, park).Parked {
		t.Error("it believes that it parked what was claimed after that")
	}
	if _, inbox, owned, err := s.Look(t.Context(), first.Execution, first.Owner); err != nil || !owned || len(inbox) != 1 {
		t.Errorf("owned %v with %d messages, %v", owned, len(inbox), err)
	}
}

// An owner that lends attempts and does not hear of it tries again. Meanwhile they may have been made, or be under way:
// nobody may be offered them again.
func TestAnOfferUnheardIsMadeOnce(t *testing.T) {
	s, wire, past := unheard(t)
	first := begin(uuid.New())
	commit(t, s, first)
	offer := func(name string) store.Offer {
		return store.Offer{WorkKey: store.WorkKey{Activity: name, Attempt: 1}, Needs: "http", Priority: "normal", Body: []byte("{}")}
	}
	lend := &store.Flush{Execution: first.Execution, Team: first.Team, Owner: first.Owner, At: time.Now(), Offers: []store.Offer{offer("made"), offer("leased"), offer("open")}}
	wire.DropReplyTo("insert into work", func() {
		result, err := s.EncodeResult(execution.Result{Activity: "made", Attempt: 1})
		if err != nil {
			t.Error(err)
		}
		exec(t, past, `delete from work where activity = 'made'`)
		exec(t, past, `select deliver($1, $2)`, first.Execution, result)
		exec(t, past, `update work set worker_id = $1, lease = $1 where activity = 'leased'`, uuid.New())
	})
	commit(t, s, lend)
	if n := number(t, past, `select count(*) from work where activity = 'made'`); n != 0 {
		t.Error("an attempt that has its result is offered again")
	}
	if n := number(t, past, `select count(*) from work where worker_id is null`); n != 1 {
		t.Errorf("%d attempts are open, one is", n)
	}
}

// A write that nobody waits for any more, since its owner gave the execution up, is not made later.
func TestAnAbandonedWriteIsNotMade(t *testing.T) {
	s, wire, _ := unheard(t)
	first := begin(uuid.New())
	commit(t, s, first)
	ctx, giveUp := context.WithCancel(t.Context())
	wire.BlackHole(true) // the first try does not arrive
	time.AfterFunc(20*time.Millisecond, func() { giveUp(); wire.Cut(); wire.BlackHole(false) })
	if _, err := s.Commit(ctx, next(first, "late")); !errors.Is(err, context.Canceled) {
		t.Fatalf("answered %v", err)
	}
	commit(t, s, next(first, "heir")) // behind it in the same line, and with its number
}
