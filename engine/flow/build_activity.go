package flow

import (
	"slices"
	"strconv"
	"strings"

	"weftline/engine/expr"
)

func (b *builder) activity(n *node, depth int, policy CompensationPolicy) *Activity {
	kind := n.get("type").text()
	a := &Activity{
		ID: n.get("id").text(), Type: kind, Pos: n.pos,
		Description: n.get("description").text(), Join: join(n.get("join")),
		When: b.programs[n.get("when")], SkipPasses: n.get("onSkip").text() == "pass",
		Inputs: b.inputsOf(n, kind), Outputs: b.named(n.get("outputs")), Retry: b.retryOf(n, kind),
		Timeout: durationOf(n.get("timeout"), attemptTimeout[kind]), TotalTimeout: durationOf(n.get("totalTimeout"), 0),
		QueueTimeout: durationOf(n.get("queueTimeout"), 0), Repeat: b.repeat(n.get("repeat")),
		Continues: n.get("onFailure").text() == "continue", Priority: n.get("priority").text(),
		Once: n.get("once").bool(false), Checkpoint: n.get("checkpoint").bool(false),
		IdempotencyKey: b.optional(n.get("idempotencyKey")), Semaphore: b.semaphore(n.get("semaphore")),
	}
	a.Name = textOr(n.get("name"), a.ID)
	a.Affinity = b.affinityOf(n.get("affinity"))
	if a.Affinity == nil {
		a.Affinity = b.affinityOf(b.affinity)
	}
	if undo := n.get("compensate"); undo != nil && undo.kind == mapNode {
		a.Compensate = b.activity(undo, depth, policy)
		if !undo.get("retry").given() {
			a.Compensate.Retry = policy.Retry
		}
	}
	b.block(a, n, depth, policy)
	b.where[a] = n
	return a
}

// retryOf: spec.retry reaches the connectors only, and never what undoes.
func (b *builder) retryOf(n *node, kind string) Retry {
	if slices.Contains(leafTypes, kind) && !strings.HasSuffix(n.path, "compensate") {
		return retryPolicy(b.retry, n.get("retry"))
	}
	return retryPolicy(n.get("retry"))
}

// inputsOf puts the inputs over the defaults of the type; maps are merged deeply, lists replaced.
func (b *builder) inputsOf(n *node, kind string) *expr.Value {
	given := n.get("inputs")
	standard := b.defaults.get(kind)
	if !slices.Contains(leafTypes, kind) || strings.HasSuffix(n.path, "compensate") {
		standard = nil
	}
	switch {
	case given == nil && standard == nil:
		return expr.Constant(map[string]any{})
	case standard == nil:
		return b.valueOf(given)
	case given == nil:
		return b.valueOf(standard)
	}
	return b.valueOf(mergeNodes(standard, given))
}

func mergeNodes(under, over *node) *node {
	if under.kind != mapNode || over.kind != mapNode {
		return over
	}
	merged := &node{kind: mapNode, pos: over.pos, path: over.path}
	for _, e := range under.entries {
		if top := over.get(e.name); top != nil {
			e.value = mergeNodes(e.value, top)
		}
		merged.entries = append(merged.entries, e)
	}
	for _, e := range over.entries {
		if under.get(e.name) == nil {
			merged.entries = append(merged.entries, e)
		}
	}
	return merged
}

func join(n *node) Join {
	if n != nil && n.kind == mapNode {
		return Join{Mode: JoinNOfM, N: n.get("n_of_m").int(1), CancelRest: n.get("cancelRest").bool(false)}
	}
	return Join{Mode: JoinMode(textOr(n, string(JoinAll)))}
}

func (b *builder) repeat(n *node) *Repeat {
	if !n.given() || n.kind != mapNode {
		return nil
	}
	return &Repeat{Until: b.programs[n.get("until")], Every: b.valueOf(n.get("every")), Max: n.get("max").int(1),
		Backoff: textOr(n.get("backoff"), "fixed")}
}

func (b *builder) semaphore(n *node) *Semaphore {
	if !n.given() || n.kind != mapNode {
		return nil
	}
	return &Semaphore{Name: n.get("name").text(), Permits: n.get("permits").int(1), Key: b.optional(n.get("key"))}
}

// optional is nil when nothing was given.
func (b *builder) optional(n *node) *expr.Value {
	if !n.given() {
		return nil
	}
	return b.valueOf(n)
}

// block sets the part of the activity's own type.
func (b *builder) block(a *Activity, n *node, depth int, policy CompensationPolicy) {
	block := n.get(a.Type)
	switch a.Type {
	case TypeHuman:
		a.Human = b.human(block)
	case TypeWait:
		timer := block.get("timer")
		a.Wait = &Wait{After: b.optional(timer.get("after")), At: b.optional(timer.get("at")), Timezone: timer.get("timezone").text()}
	case TypeEvent:
		a.Event = &Event{Name: b.valueOf(block.get("name")), Correlation: b.programs[block.get("correlation")],
			Where: b.programs[block.get("where")], Count: block.get("count").int(1), Schema: b.schemas[block.get("schema")]}
	case TypeEmit:
		a.Emit = &Emit{Name: b.valueOf(block.get("name")), Key: b.programs[block.get("key")], Payload: b.valueOf(block.get("payload"))}
	case TypeWorkflow:
		a.Workflow = &Child{Name: block.get("name").text(), Version: block.get("version").text(), Wait: block.get("wait").bool(true),
			Abandon: block.get("onCancel").text() == "abandon", DedupeKey: b.optional(block.get("dedupeKey"))}
	case TypeForEach:
		a.ForEach = b.forEach(block, a, depth, policy)
	case TypeSwitch:
		a.Switch = b.switchOf(block)
	case TypeFail:
		a.Fail = &Fail{Error: b.valueOf(block.get("error")), Message: b.valueOf(block.get("message")), Detail: b.valueOf(block.get("detail"))}
	case TypeEnd:
		a.End = &End{Output: b.optional(block.get("output"))}
	}
}

func (b *builder) human(n *node) *Human {
	h := &Human{
		Title: b.valueOf(n.get("title")), Description: b.valueOf(n.get("description")), Assignee: b.optional(n.get("assignee")),
		Users: b.optional(n.at("candidates", "users")), Groups: b.optional(n.at("candidates", "groups")),
		Quorum: n.get("quorum").int(1), NotActor: n.get("notActor").bool(false), NotSameAs: n.get("notSameAs").texts(),
		Outcomes: textsOr(n.get("outcomes"), "approved", "rejected"), Due: b.optional(n.get("due")),
		OnDue: textOr(n.get("onDue"), "expired"), Remind: durations(n.get("remind")), Comment: n.get("allowComment").bool(true),
		Data: b.valueOf(n.get("data")),
	}
	if form := b.schemas[n.get("form")]; form != nil {
		h.Form = form.Source
	}
	for _, e := range items(n.get("escalate")) {
		h.Escalate = append(h.Escalate, Escalation{After: durationOf(e.get("after"), 0), Users: e.at("to", "users").texts(), Groups: e.at("to", "groups").texts()})
	}
	return h
}

func (b *builder) switchOf(n *node) *Switch {
	s := &Switch{Default: n.get("default").text()}
	for _, each := range items(n.get("cases")) {
		s.Cases = append(s.Cases, Case{Name: each.get("name").text(), When: b.programs[each.get("when")]})
	}
	return s
}

// maxLoops is how deep loops may stand in loops.
const maxLoops = 2

func (b *builder) forEach(n *node, a *Activity, depth int, policy CompensationPolicy) *ForEach {
	fe := &ForEach{Items: b.valueOf(n.get("items")), As: textOr(n.get("as"), "item"), Key: b.programs[n.get("key")],
		MaxConcurrent: b.optional(n.get("maxConcurrent")), Stop: n.get("onItemFailure").text() == "stop", Collect: b.named(n.get("collect"))}
	if fe.MaxConcurrent == nil {
		fe.MaxConcurrent = expr.Constant(int64(10))
	}
	if tolerate := n.get("tolerate"); tolerate.given() {
		fe.TolerateCount = tolerate.int(0)
		if percent, ok := strings.CutSuffix(tolerate.text(), "%"); ok {
			share, _ := strconv.ParseFloat(percent, 64)
			fe.TolerateIsShare, fe.TolerateShare = true, share/100
		}
	}
	if depth+1 > maxLoops {
		b.ps.add("E211", n, "use a child workflow for the inner part", "loops stand %d deep, at most %d are allowed", depth+1, maxLoops)
		return fe
	}
	if one := n.get("activity"); one != nil && one.kind == mapNode {
		fe.Activity = b.activity(one, depth+1, policy)
	}
	if many := n.get("activities"); many != nil && many.kind == listNode {
		fe.Body = b.graph(b.readList(many, a.ID), depth+1, policy)
	}
	return fe
}
