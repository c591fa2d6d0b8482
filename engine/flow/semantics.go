package flow

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"weftline/engine/expr"
)

const maxActivities = 1000

// semantics are the checks over the whole, after every part was checked by itself.
func (b *builder) semantics(w *Workflow, root *node) {
	spec := root.get("spec")
	if n := len(b.where); n > maxActivities {
		b.ps.add("E501", spec.keyNode("activities"), "move parts into child workflows", "the file has %d activities, at most %d are allowed", n, maxActivities)
		return
	}
	if w.Graph == nil {
		return
	}
	b.checkTriggers(spec)
	for g, l := range b.listOf {
		b.checkGraph(g, l)
	}
	for a, n := range b.where {
		b.checkParts(a, n, w)
	}
	b.expressions(w, spec)
}

func (b *builder) checkTriggers(spec *node) {
	for _, n := range items(spec.get("schedule")) {
		b.exactlyOne(n, "a schedule", "cron", "every", "at")
		if n.get("cron") != nil && n.get("timezone") == nil {
			b.ps.add("W704", n.get("cron"), "add timezone: Europe/Berlin", "a schedule without a time zone runs in UTC")
		}
	}
	for _, n := range items(spec.get("webhooks")) {
		if kind := n.at("auth", "type").text(); kind != "" && kind != "none" && n.at("auth", "secret") == nil {
			b.ps.add("E402", n.get("auth"), "secret: NAME_OF_A_SECRET", "auth of type %s needs %q", kind, "secret")
		}
	}
}

// exactlyOne reports when none or several of keys are given.
func (b *builder) exactlyOne(n *node, what string, keys ...string) {
	var given []string
	for _, key := range keys {
		if n.get(key) != nil {
			given = append(given, key)
		}
	}
	switch len(given) {
	case 0:
		b.ps.add("E402", n, "", "%s needs one of %s", what, list(keys))
	case 1:
	default:
		b.ps.add("E417", n.keyNode(given[1]), "remove one of them", "%s takes only one of %s", what, list(given))
	}
}

func (b *builder) checkGraph(g *Graph, l *listed) {
	c := newCertainty(g)
	memo := make([]choices, len(g.Activities))
	for i, a := range g.Activities {
		n := l.nodes[i]
		if a.Join.Mode == JoinNOfM && a.Join.N > len(a.In) {
			b.ps.add("E206", n.get("join"), fmt.Sprintf("use at most %d", len(a.In)), "activity %q waits for %d edges, it has %d", a.ID, a.Join.N, len(a.In))
		}
		if n.at("join") != nil && len(a.In) == 0 && len(l.needs[i]) == 0 {
			b.ps.add("W711", n.get("join"), "remove it, or add needs", "activity %q joins nothing: it has no needs", a.ID)
		}
		if _, clash := c.demands(i, memo); clash >= 0 {
			b.ps.add("E207", placeOf(n, "join"), "use join: all, which waits for the branch that was taken",
				"activity %q can never run: its needs ask for several outcomes of %q at once", a.ID, g.Activities[clash].ID)
		}
		b.plainSwitch(g, a, n)
	}
}

// plainSwitch reports needs on a decision without a port: they never fire.
func (b *builder) plainSwitch(g *Graph, a *Activity, n *node) {
	for _, e := range a.In {
		source := g.Activities[e.From]
		if !e.Plain || len(e.Ports) > 0 || source.Type != TypeSwitch || source.Switch.Gate() || a.Join.Mode == JoinDone {
			continue
		}
		hint := "name a port"
		if ports := switchPorts(b.where[source]); len(ports) > 0 {
			hint = fmt.Sprintf("name a port: %s.%s", source.ID, ports[0])
		}
		code, what := "W710", "this need never fires"
		if len(a.In) == 1 || a.Join.Mode == JoinEvery {
			code, what = "E207", fmt.Sprintf("activity %q can never run", a.ID)
		}
		b.ps.add(code, placeOf(n, "needs"), hint, "%s: the switch %q ends in one of its ports", what, source.ID)
	}
}

func placeOf(n *node, key string) *node {
	if at := n.get(key); at != nil {
		return at
	}
	return n
}

// checkParts checks one activity, bodies and compensations included.
func (b *builder) checkParts(a *Activity, n *node, w *Workflow) {
	block := n.get(a.Type)
	switch a.Type {
	case TypeWait:
		if timer := block.get("timer"); timer != nil {
			b.exactlyOne(timer, "a timer", "after", "at")
		}
	case TypeForEach:
		if block != nil && block.kind == mapNode {
			b.exactlyOne(block, "a loop", "activity", "activities")
			b.checkItemName(block.get("as"))
		}
	case TypeHuman:
		b.checkHuman(a, block, w)
	case TypeSwitch:
		b.checkCases(block)
	case TypeEvent:
		if a.Timeout == 0 && block != nil {
			b.ps.add("W703", n, "add timeout: 2d, and needs: [x.timeout] for what happens then", "an event without timeout may be awaited for ever")
		}
	case TypeFail:
		b.checkFail(block.get("error"))
	case TypeHTTP:
		b.checkHTTP(a, n)
	}
	b.checkAdvice(a, n, w)
}

// rootNames are what expressions read; an item cannot be named like one.
var rootNames = []string{"inputs", "vars", "activities", "execution", "trigger", "secrets", "index", "result", "self", "iteration", "error", "event", "nil"}

func (b *builder) checkItemName(as *node) {
	if slices.Contains(rootNames, as.text()) {
		b.ps.add("E210", as, "choose another word, for example item", "%q already means something in expressions", as.raw)
	}
}

func (b *builder) checkCases(block *node) {
	seen := map[string]bool{}
	for _, each := range items(block.get("cases")) {
		name := each.get("name")
		if name.text() != "" && seen[name.raw] {
			b.ps.add("E404", name, "join the conditions with or", "the case %q stands twice", name.raw)
		}
		seen[name.text()] = true
	}
}

func (b *builder) checkHuman(a *Activity, block *node, w *Workflow) {
	if block == nil || block.kind != mapNode {
		return
	}
	if block.get("assignee") == nil && block.at("candidates", "users") == nil && block.at("candidates", "groups") == nil {
		b.ps.add("E402", block, "candidates: {groups: [managers]}, or assignee: ann", "a human task needs people: candidates or an assignee")
	}
	if on := block.get("onDue"); on.text() != "" && !slices.Contains(append(a.Human.Outcomes, "expired"), on.raw) {
		b.ps.add("E415", on, "use one of: "+list(append(a.Human.Outcomes, "expired")), "onDue names %q, which is no outcome", on.raw).suggest(on, append(a.Human.Outcomes, "expired"))
	}
	for i, outcome := range a.Human.Outcomes {
		if slices.Contains(a.Human.Outcomes[:i], outcome) {
			b.ps.add("E404", block.get("outcomes").items[i], "remove it", "the outcome %q stands twice", outcome)
		}
	}
	for _, same := range items(block.get("notSameAs")) {
		if first := b.first[same.text()]; first == nil {
			b.ps.add("E204", same, "", "notSameAs names %q, which does not exist", same.raw).suggest(same, b.humans())
		}
	}
	if block.get("due") == nil {
		b.ps.add("W702", block, "add due: 2d, and needs: [x.expired] for what happens then", "a human task without due may wait for ever")
	}
	b.tooLong(block.get("due"), w)
}

func (b *builder) humans() []string {
	var ids []string
	for a := range b.where {
		if a.Type == TypeHuman && a.ID != "" {
			ids = append(ids, a.ID)
		}
	}
	return sortedWords(ids)
}

// reserved are the first words of the engine's own error types.
var reserved = []string{"http", "transport", "timeout", "script", "sql", "expr", "input", "output", "human", "event", "switch",
	"repeat", "for_each", "child", "cancelled", "engine", "limit", "class", "email", "ai", "worker", "policy"}

// IsReservedError reports whether a type of error begins with one of the engine's own words.
func IsReservedError(kind string) bool {
	first, _, _ := strings.Cut(kind, ".")
	return slices.Contains(reserved, first)
}

func (b *builder) checkFail(n *node) {
	if n == nil || n.kind != textNode || strings.Contains(n.raw, "${{") {
		return
	}
	first, rest, dotted := strings.Cut(n.raw, ".")
	switch {
	case !dotted || rest == "" || !patternForm.MatchString(n.raw) || strings.Contains(n.raw, "*"):
		b.ps.add("E418", n, "write it with a dot, for example order.declined", "%q is not an error type", n.raw)
	case slices.Contains(reserved, first):
		b.ps.add("E418", n, "begin with a word of your own, for example order.declined", "error types that begin with %s. are the engine's own", first)
	}
}

// authNeeds are the settings that each way to authenticate needs.
var authNeeds = map[string][]string{
	"basic": {"username", "password"}, "bearer": {"token"}, "api_key": {"name", "value"},
	"hmac": {"secret"}, "oauth2": {"tokenUrl", "clientId", "clientSecret"},
}

func (b *builder) checkHTTP(a *Activity, n *node) {
	inputs := n.get("inputs")
	if inputs.get("body").given() && inputs.get("form").given() {
		b.ps.add("E417", inputs.keyNode("form"), "remove one of them", "a request has a body or a form, not both")
	}
	if auth := inputs.get("auth"); auth != nil {
		for _, key := range authNeeds[auth.get("type").text()] {
			if auth.get(key) == nil {
				b.ps.add("E402", auth, "", "auth of type %s needs %q", auth.get("type").text(), key)
			}
		}
	}
	method := inputs.get("method").text()
	if key := n.get("idempotencyKey"); key != nil && key.kind == textNode && key.raw == "" && a.Retry.Attempts > 1 && (method == "POST" || method == "PATCH") {
		b.ps.add("W705", key, "leave the key on, or do not retry", "a %s that is retried without an idempotency key may take effect twice", method)
	}
}

// checkAdvice are the warnings that depend on limits and mode.
func (b *builder) checkAdvice(a *Activity, n *node, w *Workflow) {
	if w.Mode.Mode == "local_async" && !a.Once && !a.Checkpoint && actsOutside(a, n) && a.ID != "" {
		b.ps.add("W706", n.get("id"), "add once: true or checkpoint: true", "in local_async a crash runs %q again: it acts outside", a.ID)
	}
	if a.Type == TypeWait {
		b.tooLong(n.at("wait", "timer", "after"), w)
	}
}

func actsOutside(a *Activity, n *node) bool {
	switch a.Type {
	case TypeEmail, TypeScript, TypeWorker, TypeAI:
		return true
	case TypeSQL:
		mode := n.at("inputs", "mode").text()
		return mode == "exec" || mode == "batch"
	case TypeHTTP:
		method := n.at("inputs", "method").text()
		if method == "" || method == "GET" || method == "HEAD" {
			return false
		}
		key := n.get("idempotencyKey")
		return method != "POST" && method != "PATCH" || key != nil && key.raw == ""
	}
	return false
}

// tooLong warns about a fixed wait that the execution does not outlive.
func (b *builder) tooLong(n *node, w *Workflow) {
	if n.text() == "" || w.Limits.Timeout == 0 {
		return
	}
	if d, err := expr.ParseDuration(n.raw); err == nil && d > w.Limits.Timeout {
		b.ps.add("W707", n, "shorten it, or raise limits.timeout", "this waits %s, but the execution ends after %s",
			expr.FormatDuration(d), expr.FormatDuration(w.Limits.Timeout.Round(time.Millisecond)))
	}
}
