package store_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"weftline/engine/enginetest"
	"weftline/engine/store"
)

// archive is a database with weeks of history.
type archive struct {
	t    *testing.T
	pool *pgxpool.Pool
	*store.Store
}

func newArchive(t *testing.T) *archive {
	pool := enginetest.Pool(t)
	s, err := store.Open(t.Context(), pool, store.Options{Partitions: 32, Committers: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &archive{t, pool, s}
}

func (a *archive) exec(statement string, arguments ...any) {
	a.t.Helper()
	if _, err := a.pool.Exec(a.t.Context(), statement, arguments...); err != nil {
		a.t.Fatalf("%s: %v", statement, err)
	}
}

func ask[T any](a *archive, question string, arguments ...any) (answer T) {
	a.t.Helper()
	if err := a.pool.QueryRow(a.t.Context(), question, arguments...).Scan(&answer); err != nil {
		a.t.Fatalf("%s: %v", question, err)
	}
	return answer
}

// week is the beginning of the week so many before this one, as SQL.
func week(ago int) string { return fmt.Sprintf("week_of(now() - interval '%d days')", 7*ago) }

// addWeek makes the period of a week.
func (a *archive) addWeek(ago int) {
	a.exec(fmt.Sprintf("select add_history_period(%s, %s)", week(ago), week(ago-1)))
}

// hasWeek reports whether the table of a week is there.
func (a *archive) hasWeek(ago int) bool {
	return ask[bool](a, fmt.Sprintf("select to_regclass(history_table(%s)) is not null", week(ago)))
}

// ended writes n executions of five flushes that began early in a week, ended soon after, and are kept until an instant.
func (a *archive) ended(n, ago int, keptUntil string) {
	a.exec(fmt.Sprintf(`with begun as (
			insert into executions (id, team_id, partition, workflow, version, content_hash, mode, status, correlation_id, priority,
				started_by, created_at, updated_at, finished_at, keep_until)
			select (left(first_id(%[1]s + interval '1 hour')::text, 15) || right(gen_random_uuid()::text, 21))::uuid, t.id, n %% 32, 'old', 1, '', 'local_sync',
				'completed', '', 'normal', 'ann', %[1]s, %[1]s, %[1]s, %[3]s
			from (select id from teams limit 1) as t, generate_series(1, %[2]d) as n
			returning id
		)
		insert into history (execution_id, first_seq, last_seq, at, events)
		select id, seq, seq, %[1]s, convert_to(repeat(md5(id::text || seq), 19), 'UTF8') from begun, generate_series(1, 5) as seq`,
		week(ago), n, keptUntil))
}

func (a *archive) forget() {
	a.t.Helper()
	if err := a.Forget(a.t.Context()); err != nil {
		a.t.Fatal(err)
	}
}

// logOf is how many bytes of write-ahead log an act takes.
func (a *archive) logOf(act func()) int64 {
	a.exec("checkpoint")
	before := ask[string](a, "select pg_current_wal_insert_lsn()::text")
	act()
	return ask[int64](a, "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1::text::pg_lsn)::bigint", before)
}

// held runs an act while another session keeps a snapshot in which it read a table.
func (a *archive) held(table string, act func(holder *pgx.Conn)) {
	a.t.Helper()
	holder, err := pgx.ConnectConfig(a.t.Context(), a.pool.Config().ConnConfig.Copy())
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = holder.Close(context.WithoutCancel(a.t.Context())) }()
	err = pgx.BeginTxFunc(a.t.Context(), holder, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
		var n int
		if err := tx.QueryRow(a.t.Context(), "select count(*) from "+table).Scan(&n); err != nil {
			return err
		}
		act(holder)
		return nil
	})
	if err != nil {
		a.t.Fatal(err)
	}
}

// A period goes as a whole when the last that began in it is past its retention, whatever snapshot is held of other
// tables: for a part of the log that deleting its rows takes, and everybody else stays.
func TestAPeriodIsDroppedAsAWhole(t *testing.T) {
	const executions = 2000
	a := newArchive(t)
	a.addWeek(14)
	a.ended(executions, 14, "now() - interval '1 minute'")
	a.ended(executions, 15, "now() - interval '1 minute'") // has no table of its own
	a.ended(10, 13, "now() + interval '30 days'")
	a.held("executions", func(*pgx.Conn) {
		a.exec("update executions set keep_until = 'infinity' where id < first_id(" + week(14) + ")")
		dropped := a.logOf(a.forget)
		if a.hasWeek(14) || ask[int](a, "select count(*) from history_periods where ends_at < now()") != 0 {
			t.Fatal("the week is still there")
		}
		a.exec("update executions set keep_until = now() where keep_until = 'infinity'")
		deleted := a.logOf(a.forget)
		t.Logf("bytes of log: %d for the histories of a week that is dropped, %d where they are deleted", dropped, deleted)
		if 2*dropped > deleted {
			t.Error("dropping should take less than half of the log")
		}
	})
	if executions, histories := ask[int](a, "select count(*) from executions"), ask[int](a, "select count(*) from history"); executions != 10 || histories != 50 {
		t.Errorf("%d executions with %d rows of history stay, 10 with 50 should", executions, histories)
	}
}

// Who reads the history, or keeps a snapshot in which he did, puts the dropping off; nobody waits for it meanwhile.
func TestAReaderOfTheHistoryPutsDroppingOff(t *testing.T) {
	for _, long := range []bool{false, true} {
		t.Run(fmt.Sprintf("for long %t", long), func(t *testing.T) {
			a := newArchive(t)
			a.addWeek(14)
			a.ended(20, 14, "now() - interval '1 minute'")
			a.held("history", func(holder *pgx.Conn) {
				if long {
					a.wait(holder)
				}
				a.forget()
				if n := ask[int](a, "select count(*) from executions"); n != 0 || !a.hasWeek(14) {
					t.Errorf("%d executions are left; the table is there: %t", n, a.hasWeek(14))
				}
				commit(t, a.Store, begin(uuid.New()))
				if n := ask[int](a, "select count(*) from pg_locks where not granted or mode = 'AccessExclusiveLock' and relation = 'history'::regclass"); n != 0 {
					t.Errorf("%d locks are waited for", n)
				}
			})
			a.forget()
			if a.hasWeek(14) {
				t.Error("the week is there after the reader has gone")
			}
			if n := ask[int](a, "select count(*) from history"); n != 1 {
				t.Errorf("%d rows of history are left, not what was written meanwhile alone", n)
			}
		})
	}
}

// wait returns when the transaction of a session has lasted for more than a second.
func (a *archive) wait(holder *pgx.Conn) {
	a.t.Helper()
	const question = "select clock_timestamp() - xact_start > interval '1 second' from pg_stat_activity where pid = $1"
	for bound := time.Now().Add(time.Minute); !ask[bool](a, question, holder.PgConn().PID()); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(bound) {
			a.t.Fatal("the transaction does not get older")
		}
	}
}

// Where somebody keeps an execution of a week for much longer than the others, theirs are deleted one by one.
func TestWhatEndsEarlierThanItsPeriodIsDeletedAlone(t *testing.T) {
	a := newArchive(t)
	a.addWeek(14)
	a.ended(300, 14, "now() - interval '1 minute'")
	a.ended(1, 14, "now() + interval '30 days'")
	a.forget()
	if n := ask[int](a, "select count(*) from history"); n != 5 || !a.hasWeek(14) {
		t.Errorf("%d rows of history are left, 5 should be", n)
	}
}

// A week that was to go soon, and then does not since one of its executions was begun again: the histories of the
// others go after all, and that one stays.
func TestAPeriodThatDoesNotGoIsSwept(t *testing.T) {
	a := newArchive(t)
	a.addWeek(14)
	a.ended(300, 14, "now() - interval '1 minute'")
	a.ended(1, 14, "now() + interval '6 days'")
	a.forget()
	if n := ask[int](a, "select count(*) from history"); n != 301*5 {
		t.Fatalf("%d rows of history are there before the week goes", n)
	}
	a.exec("update executions set keep_until = null, finished_at = null, status = 'running'")
	a.exec("update history_periods set closing_since = now() - interval '8 days 1 minute' where closing_since is not null")
	a.forget()
	if n := ask[int](a, "select count(*) from history h join executions e on e.id = h.execution_id"); n != 5 {
		t.Errorf("of the history that lives %d rows are left", n)
	}
	if n := ask[int](a, "select count(*) from history"); n != 5 {
		t.Errorf("%d rows of history are left, 5 should be", n)
	}
	if n := ask[int](a, "select count(*) from history_periods where closing_since is not null"); n != 0 {
		t.Error("the week is still about to go")
	}
}

// The weeks to come get their tables without anybody looking through a large rest, except one of which something is
// there already. Whatever no table is there for gets into the rest.
func TestWeeksToComeGetTheirTables(t *testing.T) {
	for _, large := range []bool{false, true} {
		t.Run(fmt.Sprintf("beside a large rest %t", large), func(t *testing.T) {
			a := newArchive(t)
			for ago := range 3 { // as in a database that was at work before there were periods
				a.exec(fmt.Sprintf("do $$ begin execute 'drop table ' || history_table(%s); end $$", week(-ago)))
			}
			a.exec("delete from history_periods")
			if large {
				a.ended(3500, 1, "now() + interval '1 year'")
			}
			commit(t, a.Store, begin(uuid.New()))
			a.exec("insert into history select first_id(" + week(-2) + "), 1, 1, now(), 'made by a clock that is ahead'")
			for range 2 {
				if err := a.AddPeriods(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if a.hasWeek(0) || !a.hasWeek(-1) || a.hasWeek(-2) {
				t.Errorf("tables of this week %t, the next %t, the one after %t", a.hasWeek(0), a.hasWeek(-1), a.hasWeek(-2))
			}
			if n := ask[int](a, "select count(*) from pg_constraint where conrelid = 'history_rest'::regclass and contype = 'c'"); n != 0 {
				t.Error("the rest is still shut")
			}
			commit(t, a.Store, begin(uuid.New()))
			a.exec("insert into history select first_id(" + week(-1) + "), 1, 1, now(), 'x'")
			a.exec("insert into history select first_id(" + week(-30) + "), 1, 1, now(), 'nobody was here for months'")
			if rest, coming := ask[int](a, "select count(*) from history_rest where execution_id >= first_id(week_of(now()))"), ask[int](a, "select count(*) from history")-ask[int](a, "select count(*) from history_rest"); rest != 4 || coming != 1 {
				t.Errorf("%d rows in the rest and %d in the next week", rest, coming)
			}
		})
	}
}

// A process that is killed while it looks through the rest leaves it shut for a week to come. It is open again before
// that week begins.
func TestARestThatWasLeftShutIsOpened(t *testing.T) {
	a := newArchive(t)
	a.exec("do $$ begin execute 'drop table ' || history_table(" + week(0) + "); end $$")
	a.exec("delete from history_periods where begins_at = " + week(0))
	a.exec(fmt.Sprintf("select shut_rest(%s, %s)", week(0), week(-1)))
	if _, err := a.pool.Exec(t.Context(), "insert into history select first_id(now()), 1, 1, now(), 'x'"); err == nil {
		t.Fatal("the rest is not shut")
	}
	if err := a.AddPeriods(t.Context()); err != nil {
		t.Fatal(err)
	}
	commit(t, a.Store, begin(uuid.New()))
}
