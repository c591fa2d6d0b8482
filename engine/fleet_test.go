package engine_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/activity"
)

// beside opens another replica on the same database.
func (w *world) beside(change ...func(*engine.Options)) *world {
	other := &world{t: w.t, url: w.url, who: w.who, http: &fakeHTTP{}}
	other.open(change...)
	return other
}

func labelled(labels map[string]string, region string, queues ...string) func(*engine.Options) {
	return func(o *engine.Options) { o.Labels, o.Region, o.Queues = labels, region, queues }
}

// An activity runs on a worker that has its labels and serves its queue, whoever owns the execution.
func TestAffinityIsHonoured(t *testing.T) {
	w := newWorld(t, labelled(nil, "us"))
	gpu := w.beside(labelled(map[string]string{"gpu": "true"}, "eu", "renders"))
	w.publish("placed", `
  activities:
    - {id: near, type: http, inputs: {url: "https://example.com"}}
    - {id: far, type: http, needs: [near], inputs: {url: "https://example.com"}, affinity: {labels: {gpu: "true"}, prefer: {region: eu}, queue: renders}}
`)
	var ids []uuid.UUID
	for range 5 {
		ids = append(ids, w.start("placed", nil))
	}
	for _, id := range ids {
		w.ends(id, "completed")
	}
	for _, call := range w.http.made() {
		if call.Activity != "near" {
			t.Errorf("%s was made by a worker without its labels", call.Activity)
		}
	}
	if made := gpu.http.made(); len(made) != 5 || slices.ContainsFunc(made, func(c activity.Call) bool { return c.Activity != "far" }) {
		t.Errorf("the worker with the labels made %+v", made)
	}
}

// Nobody has the labels: the queue time-out says so.
func TestNobodyHasTheLabels(t *testing.T) {
	w := newWorld(t)
	w.publish("placed", `
  activities:
    - {id: far, type: http, inputs: {url: "https://example.com"}, affinity: {labels: {gpu: "true"}}, queueTimeout: 100ms}
`)
	if detail := w.ends(w.start("placed", nil), "failed"); detail.Error.Type != "timeout.queue" {
		t.Errorf("%+v", detail.Error)
	}
}

// A preference that nobody can keep is dropped after its time.
func TestAPreferenceIsDropped(t *testing.T) {
	w := newWorld(t)
	w.publish("placed", `
  activities:
    - {id: far, type: http, inputs: {url: "https://example.com"}, affinity: {prefer: {region: moon}, waitFor: 50ms}}
`)
	w.ends(w.start("placed", nil), "completed")
}

// A backlog in one queue does not hold up another's worker.
func TestABacklogStaysInItsQueue(t *testing.T) {
	w := newWorld(t)
	w.publish("slow", `
  activities:
    - {id: a, type: http, inputs: {url: "https://example.com"}, affinity: {queue: nobody}}
`)
	w.publish("fast", `
  activities:
    - {id: a, type: http, inputs: {url: "https://example.com"}, affinity: {queue: fast}}
`)
	w.stop()
	replica := w.beside(labelled(nil, "", "default"))
	fast := w.beside(labelled(nil, "", "fast"))
	for range 50 {
		replica.start("slow", nil)
	}
	replica.ends(replica.start("fast", nil), "completed")
	if made := fast.http.made(); len(made) != 1 || len(replica.http.made()) != 0 {
		t.Errorf("the worker of the queue made %d attempts, the other %d", len(made), len(replica.http.made()))
	}
}

// Pools on disjoint partitions drive every execution exactly once, each only its own.
func TestPoolsOnDisjointPartitions(t *testing.T) {
	serves := func(from, to int) func(*engine.Options) {
		return func(o *engine.Options) {
			for n := from; n <= to; n++ {
				o.Serves = append(o.Serves, n)
			}
		}
	}
	w := newWorld(t, serves(0, 10))
	pools := []*world{w, w.beside(serves(11, 20)), w.beside(serves(21, 31))}
	w.publish("chain", chain(2))
	var ids []uuid.UUID
	for range 60 {
		ids = append(ids, w.start("chain", nil))
	}
	for _, id := range ids {
		w.ends(id, "completed")
	}
	bounds := [][2]int{{0, 10}, {11, 20}, {21, 31}}
	total := 0
	for i, pool := range pools {
		for _, call := range pool.http.made() {
			total++
			var partition int
			w.row(`select partition from executions where id = $1`, uuid.MustParse(call.Execution), &partition)
			if partition < bounds[i][0] || partition > bounds[i][1] {
				t.Errorf("pool %d made an attempt of partition %d", i, partition)
			}
		}
	}
	if total != 120 {
		t.Errorf("%d attempts of 120 activities", total)
	}
}

// Replicas are replaced one by one under load: no attempt is cut off, none is made twice.
func TestARollingRestartInterruptsNothing(t *testing.T) {
	w := newWorld(t)
	var made atomic.Int32
	answer := func(context.Context, activity.Call) activity.Outcome {
		made.Add(1)
		time.Sleep(5 * time.Millisecond)
		return activity.Outcome{Value: map[string]any{"status": int64(200)}}
	}
	w.http.answers(answer)
	w.publish("chain", chain(8))
	start := func() *world {
		replica := w.beside(func(o *engine.Options) { o.Grace = 10 * time.Second })
		replica.http.answers(answer)
		return replica
	}
	fleet := []*world{start(), start(), start()}
	w.stop()
	var ids []uuid.UUID
	for i := range 60 {
		ids = append(ids, fleet[i%3].start("chain", nil))
	}
	for i := range fleet {
		heir := start()
		fleet[i].stop()
		fleet[i] = heir
	}
	for _, id := range ids {
		fleet[0].ends(id, "completed")
		if lost := fleet[0].count(id, "LeaseExpired"); lost != 0 {
			t.Errorf("%d leases expired", lost)
		}
	}
	if n := made.Load(); n != 480 {
		t.Errorf("%d attempts of 480 activities", n)
	}
}

// forEach is a loop over a list, whose items are http activities.
const forEach = `
  input: {type: object, properties: {list: {type: array}}}
  limits: {maxParallel: 300}
  activities:
    - id: each
      type: for_each
      for_each: {items: inputs.list, maxConcurrent: 300, activity: {type: http, inputs: {url: "https://example.com"}}}
`

// spread runs a loop of n items on replicas of four slots and answers how many items each replica made.
func spread(t *testing.T, n int, change ...func(*engine.Options)) []int {
	change = append(change, func(o *engine.Options) { o.Concurrency = 4 })
	w := newWorld(t, change...)
	fleet := []*world{w, w.beside(change...), w.beside(change...)}
	var both sync.Map
	for _, replica := range fleet {
		replica.http.answers(func(_ context.Context, call activity.Call) activity.Outcome {
			if _, twice := both.LoadOrStore(call.Item, true); twice {
				t.Errorf("item %s was made twice", call.Item)
			}
			time.Sleep(50 * time.Millisecond) // an activity that takes its time
			return activity.Outcome{Value: map[string]any{"status": int64(200)}}
		})
	}
	w.publish("each", forEach)
	w.eventually("the replicas know each other", func() bool {
		workers, err := w.Workers(t.Context(), w.who)
		if err != nil || len(workers) != 3 {
			return false
		}
		newest := slices.MaxFunc(workers, func(a, b engine.Worker) int { return a.StartedAt.Compare(b.StartedAt) })
		return !slices.ContainsFunc(workers, func(one engine.Worker) bool { return one.LastHeartbeat.Before(newest.StartedAt) })
	})
	list := make([]any, n)
	for i := range list {
		list[i] = i
	}
	detail := w.ends(w.start("each", map[string]any{"list": list}), "completed")
	if outputs, _ := detail.Activities["each"].Output.(map[string]any); outputs["completed"] != int64(n) {
		t.Errorf("%v items completed", outputs["completed"])
	}
	counts := make([]int, len(fleet))
	for i, replica := range fleet {
		counts[i] = len(replica.http.made())
	}
	return counts
}

// Items beyond the owner's slots run on the others, each once, and the owner alone writes the history.
func TestItemsBeyondTheSlotsAreShared(t *testing.T) {
	counts := spread(t, 120)
	if counts[0]+counts[1]+counts[2] != 120 || counts[0] < 10 || counts[1] < 10 || counts[2] < 10 {
		t.Errorf("the replicas made %v items", counts)
	}
}

// With work stealing off everything stays with the owner.
func TestWorkStealingCanBeOff(t *testing.T) {
	counts := spread(t, 40, func(o *engine.Options) { o.KeepsWork = true })
	if slices.Max(counts) != 40 {
		t.Errorf("the replicas made %v items", counts)
	}
}
