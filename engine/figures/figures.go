// Package figures counts what the engine does, for /metrics. Labels are words of the engine, never ids or
// names that people choose. It must not know how anything is done.
package figures

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Figures of one process. Make them with New.
type Figures struct {
	dispatched, renewals, expired, recovered, requeued, retries prometheus.Counter
	handbacks, failures                                         *prometheus.CounterVec
	waited, localRun                                            prometheus.Histogram
	executions, activities                                      *prometheus.HistogramVec
}

// New makes figures that nobody sees until they are registered.
func New() *Figures {
	return &Figures{
		dispatched: counter("dispatched_total", "Attempts that began."),
		renewals:   counter("lease_renewals_total", "Heartbeats of this worker that were acknowledged."),
		expired:    counter("leases_expired_total", "Executions taken from lost workers."),
		recovered:  counter("recoveries_total", "Executions taken from lost workers that go on here."),
		requeued:   counter("requeues_total", "Executions handed back to the queue with work left to do."),
		retries:    counter("retries_total", "Attempts that failed and are tried again."),
		handbacks:  counters("handbacks_total", "Times that an owner let go of an execution, by reason.", "reason"),
		failures:   counters("failures_total", "Activities that failed for good, by class of error.", "class"),
		waited:     histogram("scheduling_seconds", "From ready to claimed.", prometheus.ExponentialBuckets(.001, 2, 16)),
		localRun:   histogram("local_run_steps", "Activities that an owner ran before it let go.", prometheus.ExponentialBuckets(1, 2, 12)),
		executions: histograms("execution_seconds", "From the start of an execution to its end, by status.", prometheus.ExponentialBuckets(.005, 3, 14), "status"),
		activities: histograms("activity_seconds", "Duration of attempts, by type of activity.", prometheus.ExponentialBuckets(.0005, 3, 14), "type"),
	}
}

const prefix = "weftline_"

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: prefix + name, Help: help})
}

func counters(name, help, label string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, []string{label})
}

func histogram(name, help string, buckets []float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: prefix + name, Help: help, Buckets: buckets})
}

func histograms(name, help string, buckets []float64, label string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: prefix + name, Help: help, Buckets: buckets}, []string{label})
}

// Collectors are what a registry takes.
func (f *Figures) Collectors() []prometheus.Collector {
	return []prometheus.Collector{f.dispatched, f.renewals, f.expired, f.recovered, f.requeued, f.retries, f.handbacks,
		f.failures, f.waited, f.localRun, f.executions, f.activities}
}

// Dispatched counts an attempt that began.
func (f *Figures) Dispatched() { f.dispatched.Inc() }

// Renewed counts an acknowledged heartbeat.
func (f *Figures) Renewed() { f.renewals.Inc() }

// Lost counts an execution that was taken from a lost worker.
func (f *Figures) Lost() { f.expired.Inc() }

// Recovered counts one of them that goes on.
func (f *Figures) Recovered() { f.recovered.Inc() }

// Claimed notes how long an execution waited for a worker.
func (f *Figures) Claimed(waited time.Duration) { f.waited.Observe(max(0, waited.Seconds())) }

// HandedBack notes why an owner let go and how many activities it ran; requeued when work was left to do.
func (f *Figures) HandedBack(reason string, steps int, requeued bool) {
	f.handbacks.WithLabelValues(reason).Inc()
	f.localRun.Observe(float64(steps))
	if requeued {
		f.requeued.Inc()
	}
}

// Attempt notes how long one took.
func (f *Figures) Attempt(kind string, took time.Duration) {
	f.activities.WithLabelValues(kind).Observe(max(0, took.Seconds()))
}

// Retry counts an attempt that is tried again.
func (f *Figures) Retry() { f.retries.Inc() }

// Failed counts an activity that failed for good.
func (f *Figures) Failed(class string) { f.failures.WithLabelValues(class).Inc() }

// Ended notes how long an execution took.
func (f *Figures) Ended(status string, took time.Duration) {
	f.executions.WithLabelValues(status).Observe(max(0, took.Seconds()))
}
