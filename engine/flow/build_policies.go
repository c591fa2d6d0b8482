package flow

import (
	"slices"
	"strings"
	"time"
)

// retryable are the errors that are tried again when a policy names none.
var retryable = []string{"transport.*", "timeout.attempt", "http.5xx", "http.408", "http.425", "http.429",
	"script.exit", "sql.transient", "engine.worker_lost"}

// attemptTimeout is the longest time of one attempt by type, unless an activity says otherwise.
var attemptTimeout = map[string]time.Duration{
	TypeHTTP: 30 * time.Second, TypeScript: 10 * time.Minute, TypeSQL: time.Minute, TypeEmail: 30 * time.Second, TypeAI: 2 * time.Minute,
}

// retryPolicy merges the layers of a policy, later ones over earlier ones, and fills in the defaults.
// Without any layer there is one attempt.
func retryPolicy(layers ...*node) Retry {
	merged := map[string]*node{}
	said := false
	for _, layer := range layers {
		if !layer.given() {
			continue
		}
		said = true
		if layer.kind == intNode {
			merged["attempts"] = layer
		}
		for _, e := range layer.entries {
			merged[e.name] = e.value
		}
	}
	r := Retry{
		Attempts: merged["attempts"].int(3), Strategy: textOr(merged["strategy"], "exponential"),
		Delay: durationOf(merged["delay"], 2*time.Second), MaxDelay: durationOf(merged["maxDelay"], time.Minute),
		Errors: textsOr(merged["errors"], retryable...), Except: merged["except"].texts(),
	}
	if !said {
		r.Attempts = 1
	}
	r.Jitter = textOr(merged["jitter"], "none")
	if merged["jitter"] == nil && r.Strategy == "exponential" {
		r.Jitter = "full"
	}
	return r
}

func (b *builder) limits(n *node) Limits {
	l := Limits{
		MaxConcurrent: n.get("maxConcurrent").int(0), ConcurrencyKey: b.programs[n.get("concurrencyKey")],
		OnLimit: textOr(n.get("onLimit"), "queue"), QueueMax: n.get("queueMax").int(1000),
		MaxParallel: n.get("maxParallel").int(50), MaxMemory: parseSize(n.get("maxMemory").text()),
		Priority: textOr(n.get("priority"), "normal"), Timeout: durationOf(n.get("timeout"), 0),
		OnFailFast: textOr(n.get("onFailFast"), "finish"), FailFast: n.get("failFast").bool(true),
		HistoryRetention: durationOf(n.get("historyRetention"), 90*24*time.Hour),
	}
	if rate := n.get("maxPerSecond"); rate.given() {
		switch v := rate.value.(type) {
		case int64:
			l.MaxPerSecond = float64(v)
		case float64:
			l.MaxPerSecond = v
		}
	}
	return l
}

func mode(n *node) Mode {
	return Mode{Mode: textOr(n.get("mode"), "default"), MaxActivities: n.get("maxActivities").int(64),
		FlushEvery: durationOf(n.get("flushEvery"), 50*time.Millisecond)}
}

func (b *builder) compensation(n *node) CompensationPolicy {
	on := textsOr(n.get("runOn"), "failure", "timeout")
	p := CompensationPolicy{
		OnFailure: slices.Contains(on, "failure"), OnTimeout: slices.Contains(on, "timeout"), OnCancel: slices.Contains(on, "cancel"),
		Parallel: n.get("order").text() == "parallel", Stop: n.get("onError").text() == "stop",
		Retry: retryPolicy(n.get("retry")),
	}
	if !n.get("retry").given() {
		p.Retry = retryPolicy(&node{kind: intNode, value: int64(5)})
	}
	return p
}

func (b *builder) affinityOf(n *node) *Affinity {
	if !n.given() {
		return nil
	}
	return &Affinity{Labels: textMap(n.get("labels")), Prefer: textMap(n.get("prefer")), Queue: n.get("queue").text(),
		WaitFor: durationOf(n.get("waitFor"), 5*time.Second)}
}

func (b *builder) triggers(w *Workflow, spec *node) {
	for _, n := range items(spec.get("schedule")) {
		w.Schedules = append(w.Schedules, b.schedule(n))
	}
	for _, n := range items(spec.get("webhooks")) {
		auth := n.pos
		if given := n.get("auth"); given.given() {
			auth = given.pos
		}
		w.Webhooks = append(w.Webhooks, WebhookTrigger{PathPos: n.get("path").pos, AuthPos: auth,
			Path: n.get("path").text(), Method: textOr(n.get("method"), "POST"),
			AuthType: textOr(n.at("auth", "type"), "none"), Secret: n.at("auth", "secret").text(),
			Header: textOr(n.at("auth", "header"), "X-Weftline-Signature"),
			Input:  b.programs[n.get("input")], When: b.programs[n.get("when")], DedupeKey: b.programs[n.get("dedupeKey")],
			Respond: textOr(n.get("respond"), "accepted"),
		})
	}
	for _, n := range items(spec.get("events")) {
		w.Events = append(w.Events, EventTrigger{Name: n.get("name").text(), When: b.programs[n.get("when")],
			Input: b.programs[n.get("input")], DedupeKey: b.programs[n.get("dedupeKey")]})
	}
}

func items(n *node) []*node {
	if n == nil {
		return nil
	}
	return n.items
}

func (b *builder) schedule(n *node) ScheduleTrigger {
	s := ScheduleTrigger{Pos: n.pos,
		Cron: strings.Join(strings.Fields(n.get("cron").text()), " "), At: n.get("at").text(), Every: durationOf(n.get("every"), 0),
		Timezone: textOr(n.get("timezone"), "UTC"), Overlap: textOr(n.get("overlap"), "skip"),
		CatchUp: textOr(n.get("catchUp"), "none"), CatchUpLimit: n.get("catchUpLimit").int(100),
		DSTGap: textOr(n.at("dst", "gap"), "shift"), DSTOverlap: textOr(n.at("dst", "overlap"), "first"),
		StartDeadline: durationOf(n.get("startDeadline"), time.Hour), Jitter: durationOf(n.get("jitter"), 0),
		Paused: n.get("paused").bool(false), Calendar: n.get("calendar").text(),
	}
	if input := n.get("input"); input.given() {
		s.Input = b.valueOf(input)
	}
	return s
}
