package cli

import (
	"context"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"weftline/engine"
	"weftline/engine/queue"
)

// engineFigures are what the engine counted and what is asked when the figures are read.
func engineFigures(e *engine.Engine) []prometheus.Collector {
	gauge := func(name, help string, read func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "weftline_" + name, Help: help}, read)
	}
	return append(e.Figures().Collectors(), newQueueFigures(e),
		gauge("slots", "Attempts that may run in this process at one time.", func() float64 { all, _ := e.Slots(); return float64(all) }),
		gauge("slots_busy", "Attempts that run in this process.", func() float64 { _, busy := e.Slots(); return float64(busy) }),
		gauge("backpressure", "1 while starts are held back.", func() float64 {
			if e.Pressure().On() {
				return 1
			}
			return 0
		}))
}

// queueFigures ask the database once each time they are read; what it does not answer is left out.
type queueFigures struct {
	engine                                                    *engine.Engine
	depth, oldest, unserved, unservedOldest, workers, desired *prometheus.Desc
}

func newQueueFigures(e *engine.Engine) *queueFigures {
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("weftline_"+name, help, labels, nil)
	}
	return &queueFigures{engine: e,
		depth:          describe("queue_depth", "Executions that are ready and have no worker."),
		oldest:         describe("queue_oldest_seconds", "How long the oldest of them has waited."),
		unserved:       describe("queue_unserved", "Executions that are ready and that no worker that is alive takes."),
		unservedOldest: describe("queue_unserved_oldest_seconds", "How long the oldest of them has waited."),
		workers:        describe("workers", "Workers of all replicas, by state; lost ones are offline for an hour.", "state"),
		desired:        describe("workers_desired", "Workers that would keep the wait of ready executions below ten seconds.")}
}

// Describe lists the figures.
func (q *queueFigures) Describe(to chan<- *prometheus.Desc) {
	to <- q.depth
	to <- q.oldest
	to <- q.unserved
	to <- q.unservedOldest
	to <- q.workers
	to <- q.desired
}

const figuresWithin = 2 * time.Second

// Collect reads them.
func (q *queueFigures) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), figuresWithin)
	defer cancel()
	backlog, err := q.engine.Backlog(ctx)
	if err != nil {
		return
	}
	states, err := q.engine.WorkersByState(ctx)
	if err != nil {
		return
	}
	unserved, err := q.engine.Unserved(ctx)
	if err != nil {
		return
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	gauge(q.depth, float64(backlog.Depth))
	gauge(q.oldest, backlog.OldestAge)
	depth, oldest := queue.SumUnserved(unserved)
	gauge(q.unserved, float64(depth))
	gauge(q.unservedOldest, oldest)
	for _, state := range []string{"idle", "busy", "draining", "offline"} {
		gauge(q.workers, float64(states[state]), state)
	}
	gauge(q.desired, desiredWorkers(states["idle"]+states["busy"], backlog.Depth, backlog.OldestAge))
}

// longestWait is the wait in seconds that desiredWorkers aims at.
const longestWait = 10

// desiredWorkers is how many workers would keep the wait below longestWait: as many as there are, times the
// wait over the wait that is aimed at. Without a line it is the number of workers there are.
func desiredWorkers(alive, depth int, oldest float64) float64 {
	if depth == 0 {
		return float64(alive)
	}
	return math.Ceil(float64(max(1, alive)) * max(1, oldest/longestWait))
}
