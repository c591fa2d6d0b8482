package queue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"weftline/engine/enginetest"
	"weftline/engine/queue/balance"
	"weftline/engine/queue/order"
)

// smallWorld is a random queue, in the database and in the model.
type smallWorld struct {
	t     *testing.T
	dice  *rand.Rand
	db    *pgxpool.Pool
	model *model
	now   time.Time
	ids   []uuid.UUID // of workers
}

// Whatever waits, whoever is dead and whoever asks, the database answers what the model says.
func TestTheModelIsWhatTheDatabaseDoes(t *testing.T) {
	db := enginetest.Pool(t)
	for seed := range uint64(12) {
		w := &smallWorld{t: t, dice: rand.New(rand.NewPCG(seed, 7)), db: db, model: newModel()}
		w.fill()
		for range 12 {
			worker := w.ids[w.dice.IntN(len(w.ids))]
			if w.dice.IntN(3) == 0 {
				w.compareTakeOver(seed, worker)
			} else {
				w.compareClaim(seed, worker)
			}
		}
		w.same(seed)
	}
}

func (w *smallWorld) exec(sql string, args ...any) {
	w.t.Helper()
	if _, err := w.db.Exec(context.Background(), sql, args...); err != nil {
		w.t.Fatal(err)
	}
}

// fill makes teams, workers of which some are dead, and entries of which some are owned.
func (w *smallWorld) fill() {
	w.exec(`delete from ready; delete from executions; delete from workers; delete from teams`)
	if err := w.db.QueryRow(context.Background(), `select date_trunc('milliseconds', now())`).Scan(&w.now); err != nil {
		w.t.Fatal(err)
	}
	for range 5 {
		id, beat := uuid.New(), w.now.Add(time.Hour) // alive as long as the test may last
		state := "idle"
		switch w.dice.IntN(4) {
		case 0:
			beat = w.now.Add(-Lease - time.Second)
		case 1:
			state = "stopped"
		}
		w.exec(`insert into workers (id, hostname, version, state, region, zone, labels, activities, concurrency, heartbeat_at) values ($1, '', '', $2, '', '', '{}', '{}', 8, $3)`, id, state, beat)
		w.ids = append(w.ids, id)
		w.model.workers[id] = modelWorker{stopped: state == "stopped", beat: beat}
	}
	unknown := uuid.New() // a worker that was forgotten
	owners := append(slices.Clone(w.ids), unknown)
	priorities := []string{"low", "normal", "high", "critical"}
	for n := range 1 + w.dice.IntN(3) {
		team, weight := uuid.New(), 1+w.dice.IntN(4)
		w.exec(`insert into teams (id, name, policy) values ($1, $2, jsonb_build_object('schedulingWeight', $3::int))`, team, fmt.Sprint("team ", n), weight)
		turn := w.now.Add(-time.Minute)
		for range w.dice.IntN(25) {
			turn = turn.Add(time.Duration(1+w.dice.IntN(3000)) * time.Millisecond)
			e := modelEntry{partition: int16(w.dice.IntN(4)), turn: turn, Entry: order.Entry{Execution: uuid.New(), Team: team, Weight: weight,
				Priority: priorities[w.dice.IntN(4)], Since: w.now.Add(-time.Duration(w.dice.IntN(100)) * time.Second)}}
			var deadline *time.Time
			if w.dice.IntN(3) == 0 {
				e.Deadline = w.now.Add(time.Duration(w.dice.IntN(60)) * time.Second)
				deadline = &e.Deadline
			}
			var owner *uuid.UUID
			if w.dice.IntN(3) == 0 {
				owner = &owners[w.dice.IntN(len(owners))]
				e.owner, e.crashes = *owner, w.dice.IntN(3)
				w.model.owned[*owner] = append(w.model.owned[*owner], e)
			} else {
				w.model.wait(e)
			}
			w.exec(`insert into executions (id, team_id, partition, workflow, version, content_hash, mode, status, correlation_id, priority, started_by, created_at, updated_at, crashes)
				values ($1, $2, $3, '', 1, '', '', 'running', '', $4, '', now(), now(), $5)`, e.Execution, e.Team, e.partition, e.Priority, e.crashes)
			w.exec(`insert into ready (execution_id, partition, turn, team_id, workflow, priority, since, deadline, owner) values ($1, $2, $3, $4, '', $5, $6, $7, $8)`,
				e.Execution, e.partition, e.turn, e.Team, e.Priority, e.Since, deadline, owner)
		}
	}
}

func (w *smallWorld) compareClaim(seed uint64, worker uuid.UUID) {
	n := 1 + w.dice.IntN(12)
	var partitions []int16
	for p := range int16(4) {
		if w.dice.IntN(4) > 0 {
			partitions = append(partitions, p)
		}
	}
	name := order.Names()[w.dice.IntN(len(order.Names()))]
	policy, err := order.Named(name)
	if err != nil {
		w.t.Fatal(err)
	}
	running := map[uuid.UUID]int{}
	for _, team := range w.model.teams {
		running[team] = w.dice.IntN(4)
	}
	claims, _, err := New(w.db, worker, Serving{Partitions: partitions}, policy, nil).Claim(context.Background(), n, running, w.now, true)
	if err != nil {
		w.t.Fatal(err)
	}
	if partitions == nil {
		partitions = []int16{}
	}
	got, want := executionsOf(claims), entriesOf(w.model.claim(worker, n, partitions, running, policy, w.now))
	if !slices.Equal(got, want) {
		w.t.Fatalf("seed %d, %s: of %d asked the database gave %v, the model %v", seed, name, n, got, want)
	}
}

func (w *smallWorld) compareTakeOver(seed uint64, worker uuid.UUID) {
	n, aside := 1+w.dice.IntN(8), 2+w.dice.IntN(3)
	var groups []Group
	for c := Suspected; c < aside && w.dice.IntN(3) > 0; c++ {
		groups = append(groups, Group{Crashes: c, Most: w.dice.IntN(4)})
	}
	claims, err := New(w.db, worker, Serving{}, order.FIFO, nil).TakeOver(context.Background(), n, groups, aside)
	if err != nil {
		w.t.Fatal(err)
	}
	w.model.bury(w.now)
	got, want := executionsOf(claims), entriesOf(w.model.takeOver(worker, n, groups, aside))
	slices.SortFunc(got, compareIDs)
	slices.SortFunc(want, compareIDs)
	if !slices.Equal(got, want) {
		w.t.Fatalf("seed %d: of %d asked the database took over %v, the model %v", seed, n, got, want)
	}
}

// same compares who owns what.
func (w *smallWorld) same(seed uint64) {
	for _, worker := range w.ids {
		got, err := New(w.db, worker, Serving{}, order.FIFO, nil).Owned(context.Background())
		if err != nil {
			w.t.Fatal(err)
		}
		var want []uuid.UUID
		for _, e := range append(slices.Clone(w.model.left), w.model.owned[worker]...) {
			if e.owner == worker {
				want = append(want, e.Execution)
			}
		}
		slices.SortFunc(got, compareIDs)
		slices.SortFunc(want, compareIDs)
		if !slices.Equal(got, want) {
			w.t.Fatalf("seed %d: in the database a worker owns %v, in the model %v", seed, got, want)
		}
	}
}

func compareIDs(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) }

func executionsOf(claims []Claim) []uuid.UUID {
	ids := make([]uuid.UUID, len(claims))
	for i, claim := range claims {
		ids[i] = claim.Execution
	}
	return ids
}

func entriesOf(entries []modelEntry) []uuid.UUID {
	ids := make([]uuid.UUID, len(entries))
	for i, e := range entries {
		ids[i] = e.Execution
	}
	return ids
}

// A worker that goes on as long as there is more takes the whole line, however many it asks for at once.
func TestMoreIsSaidUntilTheLineIsTaken(t *testing.T) {
	for _, alone := range []bool{true, false} {
		db := enginetest.Pool(t)
		w := &smallWorld{t: t, db: db}
		worker, team := uuid.New(), uuid.New()
		w.exec(`insert into workers (id, hostname, version, state, region, zone, labels, activities, concurrency, heartbeat_at)
			values ($1, '', '', 'idle', '', '', '{}', '{}', 8, now())`, worker)
		w.exec(`insert into teams (id, name) values ($1, 'team')`, team)
		w.exec(`insert into ready (execution_id, partition, turn, team_id, workflow, priority, since)
			select gen_random_uuid(), 0, now() - interval '1 minute', $1, '', 'normal', now() - interval '1 minute' from generate_series(1, 17)`, team)
		share, err := balance.Named("least_loaded")
		if err != nil {
			t.Fatal(err)
		}
		q, taken := New(db, worker, Serving{Partitions: []int16{0}}, order.FIFO, share), 0
		for more := true; more; {
			var claims []Claim
			if claims, more, err = q.Claim(context.Background(), 4, nil, time.Now(), alone); err != nil {
				t.Fatal(err)
			}
			taken += len(claims)
			more = more && len(claims) > 0
		}
		if taken != 17 {
			t.Errorf("alone %v: %d of 17 were taken", alone, taken)
		}
	}
}

// A worker that was killed is dealt nothing from then on, long before its lease ends.
func TestTheKilledAreDealtNothing(t *testing.T) {
	db := enginetest.Pool(t)
	w := &smallWorld{t: t, db: db}
	worker, killed, team := uuid.New(), uuid.New(), uuid.New()
	serving := Serving{Partitions: []int16{0}}
	w.exec(`insert into workers (id, hostname, version, state, region, zone, labels, activities, concurrency, heartbeat_at, session_lock, pool)
		values ($1, '', '', 'idle', '', '', '{}', '{}', 8, now(), false, $3), ($2, '', '', 'idle', '', '', '{}', '{}', 8, now(), true, $3)`, worker, killed, serving.pool())
	w.exec(`insert into teams (id, name) values ($1, 'team')`, team)
	w.exec(`insert into ready (execution_id, partition, turn, team_id, workflow, priority, since)
		select gen_random_uuid(), 0, now(), $1, '', 'normal', now() from generate_series(1, 8)`, team)
	share, err := balance.Named("least_loaded")
	if err != nil {
		t.Fatal(err)
	}
	claims, _, err := New(db, worker, serving, order.FIFO, share).Claim(context.Background(), 8, nil, time.Now(), false)
	if err != nil || len(claims) != 8 {
		t.Errorf("%d of 8 were taken, %v", len(claims), err)
	}
}
