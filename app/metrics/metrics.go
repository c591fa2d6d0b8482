// Package metrics owns what /metrics shows: counters of requests and sockets, the runtime's own figures,
// and gauges that others register. It must not know what the figures mean to a workflow.
package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics is one registry; a process has one, tests make their own.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	sockets  prometheus.Gauge
	frames   *prometheus.CounterVec
}

// New makes a registry with the process's own figures in it.
func New() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "weftline_http_request_seconds", Help: "Time to answer a request, by route and status.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"method", "route", "status"}),
		sockets: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "weftline_live_sockets", Help: "Open live connections.",
		}),
		frames: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "weftline_live_frames_total", Help: "Frames sent to live connections, by type.",
		}, []string{"type"}),
	}
	m.registry.MustRegister(m.requests, m.sockets, m.frames,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Register adds figures of another part of the application.
func (m *Metrics) Register(more ...prometheus.Collector) { m.registry.MustRegister(more...) }

// Request counts one answered request. route is the pattern, never the path: ids must not become labels.
func (m *Metrics) Request(method, route string, status int, took time.Duration) {
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Observe(took.Seconds())
}

// Sockets counts live connections up and down.
func (m *Metrics) Sockets(change int) { m.sockets.Add(float64(change)) }

// Frame counts one frame sent to a live connection.
func (m *Metrics) Frame(kind string) { m.frames.WithLabelValues(kind).Inc() }

// Handler answers GET /metrics in the Prometheus text format.
func (m *Metrics) Handler() fiber.Handler {
	return adaptor.HTTPHandler(m.HTTP())
}

// HTTP is Handler for a listener of its own.
func (m *Metrics) HTTP() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
