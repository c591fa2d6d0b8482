package engine_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/activity"
)

// gate lets attempts of http activities through one by one and remembers their order.
type gate struct {
	mu   sync.Mutex
	keys []string
	pass chan struct{}
}

func (g *gate) answer(ctx context.Context, call activity.Call) activity.Outcome {
	g.mu.Lock()
	g.keys = append(g.keys, call.IdempotencyKey)
	g.mu.Unlock()
	select {
	case <-g.pass:
	case <-ctx.Done():
	}
	return activity.Outcome{Value: map[string]any{"status": int64(200)}}
}

func (g *gate) begun() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string{}, g.keys...)
}

const longChain = 1000

func (w *world) startUrgent(name string) uuid.UUID {
	w.t.Helper()
	started, err := w.Start(w.t.Context(), w.who, engine.StartRequest{Workflow: name, Priority: "critical"})
	if err != nil {
		w.t.Fatal(err)
	}
	return started.ID
}

// One slot, and as many long chains as the worker may own, or one: something critical waits for the step that
// is under way, and for the steps that began before its worker could have known of it.
func TestALongChainDelaysSomethingCriticalByTheStepItIsAt(t *testing.T) {
	for name, c := range map[string]struct{ chains, most int }{"one chain": {1, 1}, "a full worker": {8, 2}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(o *engine.Options) { o.Concurrency = 1 })
			g := &gate{pass: make(chan struct{})}
			w.http.answers(g.answer)
			w.publish("long", chain(longChain))
			w.publish("urgent", chain(1))
			for range c.chains {
				w.start("long", nil)
			}
			w.eventually("the first step", func() bool { return len(g.begun()) == 1 })
			urgent := w.startUrgent("urgent")
			before := len(g.begun())
			others := func() int { // steps of chains before the critical one; -1 while it has not begun
				return slices.IndexFunc(g.begun()[before:], func(key string) bool { return strings.HasPrefix(key, urgent.String()) })
			}
			w.eventually("the critical step", func() bool {
				if others() >= 0 {
					return true
				}
				w.settled(urgent)
				g.pass <- struct{}{}
				return false
			})
			if n := others(); n > c.most {
				t.Errorf("%d steps of chains began before the critical one, at most %d may", n, c.most)
			}
			close(g.pass)
			w.ends(urgent, "completed")
		})
	}
}

// settled waits until the pool has taken note of an execution: it is owned, or, for as long as the worker is full, its
// place is wanted, which is nowhere to be seen.
func (w *world) settled(id uuid.UUID) {
	noted := time.Now().Add(time.Second)
	w.eventually("the claim", func() bool {
		var n int
		w.row("select count(*) from ready where execution_id = $1 and owner is null", id, &n)
		return n == 0 || time.Now().After(noted)
	})
}

// Its worker has stopped, which others may not have noticed yet; its place in line is shown all the same.
func TestTheLineIsShown(t *testing.T) {
	w := newWorld(t)
	w.publish("chain", chain(1))
	w.stop()
	w.door()
	first, second := w.start("chain", nil), w.startUrgent("chain")
	for id, expected := range map[uuid.UUID]int64{second: 1, first: 2} {
		detail, err := w.Execution(t.Context(), w.who, id)
		if err != nil {
			t.Fatal(err)
		}
		if len(detail.Waits) != 1 || !slices.Contains([]string{"queue", "unserved"}, detail.Waits[0].Kind) || detail.Waits[0].Position != expected {
			t.Errorf("waits %+v, expected place %d", detail.Waits, expected)
		}
	}
	rows, err := w.Queue(t.Context(), w.who, "priority")
	if err != nil || len(rows) != 2 || rows[0].Key != "critical" || rows[0].Depth != 1 {
		t.Errorf("the queue is %+v, %v", rows, err)
	}
}

func TestTheWeightOfATeamIsItsPolicy(t *testing.T) {
	w := newWorld(t)
	for text, want := range map[string]int{`{}`: 1, `{"schedulingWeight": 0}`: 1, `{"schedulingWeight": 7}`: 7, `{"schedulingWeight": "much"}`: 1} {
		var got int
		w.row("select weight_of('"+text+"') where $1::uuid is not null", uuid.New(), &got)
		if got != want {
			t.Errorf("%s weighs %d", text, got)
		}
	}
	seven, wrong := 7, 1001
	if policy, err := w.ChangePolicy(t.Context(), w.who, engine.PolicyChange{SchedulingWeight: &seven}); err != nil || policy.SchedulingWeight != 7 {
		t.Errorf("%+v, %v", policy, err)
	}
	if _, err := w.ChangePolicy(t.Context(), w.who, engine.PolicyChange{SchedulingWeight: &wrong}); err == nil {
		t.Error("a weight of 1001 is accepted")
	}
}

// A team with a long line does not stop another one: with room for few, both get on.
func TestTeamsTakeTurns(t *testing.T) {
	w := newWorld(t)
	w.publish("chain", chain(1))
	w.stop()
	w.door()
	for range 30 {
		w.start("chain", nil)
	}
	var other uuid.UUID
	w.exec(`insert into teams (id, name) values ('` + uuid.NewString() + `', 'other')`)
	w.row(`select id from teams where name = 'other' and $1::uuid is not null`, uuid.New(), &other)
	last := w.start("chain", nil)
	w.exec(`update ready set team_id = '` + other.String() + `', turn = now() + interval '1 minute' where execution_id = '` + last.String() + `'`)
	heir := &world{t: t, url: w.url, who: w.who, http: &fakeHTTP{}}
	g := &gate{pass: make(chan struct{})}
	heir.http.answers(g.answer)
	heir.open(func(o *engine.Options) { o.Concurrency = 1 }) // owns eight at once
	heir.eventually("a claim", func() bool { return len(g.begun()) == 1 })
	var owned bool
	heir.row("select owner is not null from ready where execution_id = $1", last, &owned)
	if !owned {
		t.Error("the other team waits behind the first one's line")
	}
	close(g.pass)
	heir.ends(last, "completed")
}
