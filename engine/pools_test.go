package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"weftline/engine"
	"weftline/engine/activity"
	"weftline/engine/queue"
	"weftline/engine/queue/balance"
	"weftline/engine/queue/order"
	"weftline/queries"
)

const inQueue = `
  affinity: {queue: %s}
  activities:
    - {id: a, type: http, inputs: {url: "https://example.com"}}
    - {id: b, type: http, needs: [a], inputs: {url: "https://example.com"}}
`

func serving(queues ...string) func(*engine.Options) {
	return func(o *engine.Options) { o.Queues = queues }
}

// drivenBy lists the workers that events of an execution name.
func (w *world) drivenBy(id uuid.UUID) []string {
	var workers []string
	for _, event := range w.events(id) {
		if event.Worker != "" && !slices.Contains(workers, event.Worker) {
			workers = append(workers, event.Worker)
		}
	}
	return workers
}

// A workflow names the queue of its executions: only pools that serve it drive them, wherever they are started,
// children too, and nobody takes over what is not theirs.
func TestAWorkflowNamesTheQueueOfItsExecutions(t *testing.T) {
	w := newWorld(t, serving("default"))
	w.publish("nightly", fmt.Sprintf(inQueue, "night"))
	w.publish("daily", chain(1))
	w.publish("parent", `
  activities:
    - {id: child, type: workflow, workflow: {name: nightly}}
`)
	lonely := w.start("nightly", nil)
	w.ends(w.start("daily", nil), "completed")
	detail := w.until(lonely, "waiting for a pool", func(d engine.ExecutionDetail) bool { return len(d.Waits) > 0 })
	if reason := detail.Waits[0].Reason; !strings.Contains(reason, "waits for a worker of the queue night: no worker that is alive takes executions of workflow nightly in the queue night") {
		t.Errorf("it says %q", reason)
	}
	if rows, err := w.Queue(t.Context(), w.who, "queue"); err != nil || len(rows) != 1 || rows[0].Key != "night" || rows[0].Depth != 1 {
		t.Errorf("the queue is %+v, %v", rows, err)
	}
	night := w.beside(serving("night"))
	for _, id := range []uuid.UUID{lonely, w.start("nightly", nil), night.start("nightly", nil)} {
		w.ends(id, "completed")
		if by := w.drivenBy(id); len(by) != 1 || by[0] != night.Worker().String() {
			t.Errorf("an execution of the queue night was driven by %v, not by %s", by, night.Worker())
		}
	}
	w.ends(w.start("parent", nil), "completed")
	for _, call := range night.http.made() {
		if call.Workflow != "nightly" {
			t.Errorf("the pool of the queue night ran an activity of %s", call.Workflow)
		}
	}
	if made := len(night.http.made()); made != 8 {
		t.Errorf("the pool of the queue made %d attempts, expected 8", made)
	}
}

// What a lost worker of another queue owned is left to pools of that queue. Others may attend it, as long as nobody
// alive serves that queue, and begin nothing of it.
func TestATakeoverKeepsToTheQueue(t *testing.T) {
	w := newWorld(t, serving("default"))
	w.publish("nightly", fmt.Sprintf(inQueue, "night"))
	id := w.start("nightly", nil)
	w.exec(`update ready set owner = '` + uuid.NewString() + `' where execution_id = '` + id.String() + `'`)
	w.ends(w.startDaily(), "completed")
	night := w.beside(serving("night"))
	w.ends(id, "completed")
	if made := night.http.made(); len(made) != 2 || !slices.Contains(w.drivenBy(id), night.Worker().String()) {
		t.Errorf("the pool of the queue made %+v; it was driven by %v", made, w.drivenBy(id))
	}
	if made := w.http.made(); slices.ContainsFunc(made, func(c activity.Call) bool { return c.Workflow == "nightly" }) {
		t.Errorf("a pool of another queue made %+v", made)
	}
}

func (w *world) startDaily() uuid.UUID {
	w.publish("daily", chain(1))
	return w.start("daily", nil)
}

// A pool may be for some workflows or some teams.
func TestPoolsOfWorkflowsAndTeams(t *testing.T) {
	for name, narrow := range map[string]func(*engine.Options){
		"workflows": func(o *engine.Options) { o.Workflows = []string{"mine"} },
		"teams":     func(o *engine.Options) { o.Teams = []string{engine.DefaultTeam} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.publish("mine", chain(2))
			w.publish("theirs", chain(2))
			w.stop()
			w.door()
			other := "theirs"
			mine, theirs := w.start("mine", nil), w.start(other, nil)
			if name == "teams" {
				w.exec(`with t as (insert into teams (name) values ('globex') returning id), e as (
					update executions set team_id = t.id from t where workflow = 'theirs')
					update ready set team_id = t.id from t where workflow = 'theirs'`)
			}
			pool := w.beside(narrow)
			w.ends(mine, "completed")
			if made := pool.http.made(); len(made) != 2 || slices.ContainsFunc(made, func(c activity.Call) bool { return c.Workflow != "mine" }) {
				t.Errorf("it made %+v", made)
			}
			var owned int
			w.row("select count(owner) from ready where execution_id = $1", theirs, &owned)
			if owned > 0 {
				t.Error("it owns what it does not work for")
			}
		})
	}
}

const backlog = 20_000

// However much waits for others: a claim reads only what is of its own pool.
func TestABacklogOfOthersCostsAPoolNothing(t *testing.T) {
	w := newWorld(t)
	w.stop()
	w.exec(`insert into teams (name) values ('globex')`)
	w.exec(fmt.Sprintf(`insert into ready (execution_id, partition, turn, team_id, workflow, queue)
		select gen_random_uuid(), n %% 32, now() - interval '1 hour', '%s', 'slow', 'slow' from generate_series(1, %d) n`, w.who.Team, backlog))
	w.exec(`insert into ready (execution_id, partition, turn, team_id, workflow, queue)
		select gen_random_uuid(), n, now(), (select id from teams where name = case when n < 3 then 'globex' else 'default' end), 'fast', 'fast' from generate_series(0, 5) n`)
	w.exec(fmt.Sprintf(`insert into work (execution_id, activity, item, compensating, attempt, hook, team_id, workflow, needs, queue, labels, prefer, turn, timeout_ms, body)
		select gen_random_uuid(), 'a', '', false, 1, '', '%s', 'slow', 'http', 'slow', '{}', '{}', now() - interval '1 hour', 0, '' from generate_series(1, %d) n`, w.who.Team, backlog))
	w.exec(`insert into work (execution_id, activity, item, compensating, attempt, hook, team_id, workflow, needs, queue, labels, prefer, turn, timeout_ms, body)
		select gen_random_uuid(), 'a', '', false, 1, '', (select id from teams where name = 'globex'), 'fast', 'http', 'fast', '{}', '{}', now(), 0, '' from generate_series(1, 3) n`)
	w.exec(`analyze ready, work`)
	for name, c := range map[string]struct{ teams, workflows, queues []string }{
		"teams": {teams: []string{"globex"}}, "workflows": {workflows: []string{"fast"}}, "queues": {queues: []string{"fast"}},
		"all of them": {[]string{"globex"}, []string{"fast"}, []string{"fast"}},
	} {
		t.Run(name, func(t *testing.T) {
			w.connected(func(conn *pgx.Conn) error {
				for range 8 { // after some times PostgreSQL plans without looking at the parameters
					w.claimsLittle(conn, c.teams, c.workflows, c.queues)
				}
				return nil
			})
		})
	}
}

// claimsLittle claims in a transaction that is undone, and counts the rows that it read.
func (w *world) claimsLittle(conn *pgx.Conn, teams, workflows, queues []string) {
	w.t.Helper()
	list := func(names []string) []string { return append([]string{}, names...) }
	var partitions []int16
	for n := range int16(32) {
		partitions = append(partitions, n)
	}
	err := pgx.BeginFunc(w.t.Context(), conn, func(tx pgx.Tx) error {
		before, err := rowsRead(w.t.Context(), tx)
		if err != nil {
			return err
		}
		q, me := queries.New(tx), uuid.New()
		claimed, err := q.ClaimReady(w.t.Context(), queries.ClaimReadyParams{Partitions: partitions, Queues: list(queues), Workflows: list(workflows),
			OfTeams: list(teams), Batch: 64, AtOnce: 64, Owner: &me})
		if err != nil {
			return err
		}
		leased, err := q.ClaimWork(w.t.Context(), queries.ClaimWorkParams{Needs: []string{"http"}, Queues: list(queues), Workflows: list(workflows), OfTeams: list(teams),
			Labels: []byte("{}"), Batch: 16, Worker: me, LeaseSeconds: 10})
		if err != nil {
			return err
		}
		read, err := rowsRead(w.t.Context(), tx)
		if err != nil {
			return err
		}
		if read -= before; len(claimed) == 0 || len(leased) != 3 || read > 200 {
			w.t.Errorf("%d executions and %d attempts were claimed for teams %v, workflows %v, queues %v; %d rows were read", len(claimed), len(leased), teams, workflows, queues, read)
		}
		return pgx.ErrTxCommitRollback // nothing stays
	})
	if err == nil || !strings.Contains(err.Error(), pgx.ErrTxCommitRollback.Error()) {
		w.t.Fatal(err)
	}
}

// rowsRead counts the rows of the queues that the transaction's session read so far.
func rowsRead(ctx context.Context, tx pgx.Tx) (read int64, err error) {
	err = tx.QueryRow(ctx, `select sum(seq_tup_read + idx_tup_fetch)::bigint from pg_stat_xact_user_tables where relname in ('ready', 'work')`).Scan(&read)
	return read, err
}

// Two workers find the same line and the same table: each takes its part and no more, until what is left has waited
// too long.
func TestWorkersTakeTheirQuotas(t *testing.T) {
	w := newWorld(t)
	w.stop()
	db, err := pgxpool.New(t.Context(), w.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	w.exec(`update workers set state = 'stopped'`)
	large, small := w.queueOf(db, 30), w.queueOf(db, 10)
	w.exec(fmt.Sprintf(`insert into ready (execution_id, partition, turn, team_id, workflow) select gen_random_uuid(), n, now(), '%s', 'x' from generate_series(0, 11) n`, w.who.Team))
	var since time.Time
	w.row("select max(since) from ready where $1::uuid is not null", uuid.New(), &since)
	claims := func(q *queue.Queue, now time.Time) int {
		t.Helper()
		claimed, _, err := q.Claim(t.Context(), 64, nil, now, false)
		if err != nil {
			t.Fatal(err)
		}
		return len(claimed)
	}
	if n := claims(small, since); n != 3 {
		t.Errorf("the small worker took %d of 12, expected 3", n)
	}
	if n := claims(small, since); n != 0 {
		t.Errorf("and then %d more", n)
	}
	if n := claims(small, since.Add(2*time.Second)); n != 9 {
		t.Errorf("of what nobody came for it took %d, expected 9", n)
	}
	if n := claims(large, since); n != 0 {
		t.Errorf("the large worker took %d of nothing", n)
	}
}

// queueOf registers a worker that is alive.
func (w *world) queueOf(db *pgxpool.Pool, slots int) *queue.Queue {
	w.t.Helper()
	var all queue.Serving
	for n := range int16(32) {
		all.Partitions = append(all.Partitions, n)
	}
	id := uuid.Must(uuid.NewV7())
	q := queue.New(db, id, all, order.TenantAware, balance.LeastLoaded)
	if err := q.Register(w.t.Context(), queue.Worker{ID: id, Hostname: "h", Concurrency: slots}); err != nil {
		w.t.Fatal(err)
	}
	return q
}

// A start stays where it came while there are slots, and is left to a worker with free ones after that.
func TestStartsAreSharedWhenSlotsAreTaken(t *testing.T) {
	w := newWorld(t, func(o *engine.Options) { o.Concurrency = 2 })
	stuck := func(ctx context.Context, _ activity.Call) activity.Outcome {
		<-ctx.Done()
		return activity.Outcome{}
	}
	w.http.answers(stuck)
	other := w.beside(func(o *engine.Options) { o.Concurrency = 8 })
	other.http.answers(stuck)
	w.publish("chain", chain(1))
	w.eventually("the two know of each other", func() bool {
		w.start("chain", nil)
		return len(other.http.made()) > 0
	})
}

// While a worker drives an execution everybody can see which, and how fresh what is stored is.
func TestWhoDrivesAnExecution(t *testing.T) {
	w := newWorld(t)
	g := &gate{pass: make(chan struct{})}
	w.http.answers(g.answer)
	w.publish("chain", chain(2))
	id := w.start("chain", nil)
	g.pass <- struct{}{}
	w.eventually("the second step", func() bool { return len(g.begun()) == 2 })
	detail := w.until(id, "saved", func(d engine.ExecutionDetail) bool { return d.SavedAt != nil })
	if detail.OwnerWorker == nil || *detail.OwnerWorker != w.Worker().String() || detail.OwnerHost == "" || detail.SavedAt.Before(*detail.StartedAt) {
		t.Errorf("%+v", detail)
	}
	close(g.pass)
	if detail := w.ends(id, "completed"); detail.SavedAt != nil || detail.OwnerHost != "" {
		t.Errorf("after its end it is driven by %s", detail.OwnerHost)
	}
}
