package flow

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"weftline/engine/expr"
)

// The checks of names and types in expressions, place by place.

func sortedWords(words []string) []string {
	slices.Sort(words)
	return words
}

// examine checks every expression below n. A place that wants a kind of value is given it in want.
func (b *builder) examine(n *node, scope *expr.Scope, want expr.Kind) (t *expr.Type) {
	n.walk(func(each *node) bool {
		for _, p := range b.places[each] {
			var errors []*expr.Error
			t, errors = p.program.Check(scope)
			for _, e := range errors {
				b.ps.expression(each, p.offset, e)
			}
			if t != nil && t.Kind != 0 && t.Kind&(expr.Text|expr.Number|expr.Boolean) == 0 && len(errors) == 0 && embedded(each, p) {
				b.ps.put(Problem{Path: each.path, Pos: each.pos, Code: expr.CodeEmbedded, Severity: "error", Hint: "use toJSON(...), or ?? \"\" for null",
					Message: fmt.Sprintf("a %s cannot stand inside a text", t.Kind)})
			}
			if want != expr.Any && t != nil && t.Kind != 0 && t.Kind&want == 0 && len(errors) == 0 {
				b.unfit(each, p, t, want)
			}
		}
		return true
	})
	return t
}

// embedded reports whether an expression stands inside a text, with something around it.
func embedded(n *node, p placed) bool {
	return strings.TrimSpace(n.raw) != p.program.Source() && strings.Contains(n.raw, "${{") && !wholeExpression(n)
}

func (b *builder) unfit(n *node, p placed, t *expr.Type, want expr.Kind) {
	code, hint := expr.CodeType, ""
	if want == expr.Boolean {
		code, hint = "E313", "compare it with something, there is no truthiness"
	}
	problem := Problem{Path: n.path, Pos: n.pos, Code: code, Severity: severityOf(code), Hint: hint,
		Message: fmt.Sprintf("the expression is a %s, a %s is needed here", t.Kind, want)}
	b.ps.put(problem)
}

// expressions checks all expressions of a workflow.
func (b *builder) expressions(w *Workflow, spec *node) {
	trigger := &expr.Scope{Roots: map[string]*expr.Type{"trigger": triggerType}, Absent: absentRoot}
	b.triggerExpressions(spec, trigger)
	roots := map[string]*expr.Type{
		"inputs": inputsType(w.Input), "trigger": triggerType, "execution": executionType(false), "vars": nil,
	}
	roots["vars"] = b.variableTypes(w, spec.get("variables"), roots)
	b.examine(spec.at("limits", "concurrencyKey"), &expr.Scope{Roots: roots, Absent: absentRoot}, expr.Any)
	main := &surroundings{graph: w.Graph, roots: roots}
	sure := b.listExpressions(main)
	all := everyIndex(w.Graph)
	b.examine(spec.get("output"), b.scope(main, -1, sure.atTheEnd(), all), expr.Any)
	for _, hook := range []*Graph{w.OnError, w.OnExit} {
		if hook == nil {
			continue
		}
		inHook := maps.Clone(roots)
		inHook["execution"], inHook["error"] = executionType(true), errorType
		visible := b.scope(main, -1, nil, all).Roots["activities"]
		b.listExpressions(&surroundings{graph: hook, roots: inHook, outer: visible, hook: true})
	}
}

func everyIndex(g *Graph) indexSet {
	all := indexSet{}
	for i := range g.Activities {
		all.add(i)
	}
	return all
}

func (b *builder) triggerExpressions(spec *node, scope *expr.Scope) {
	for _, key := range []string{"schedule", "webhooks", "events"} {
		for _, n := range items(spec.get(key)) {
			b.examine(n.get("when"), scope, expr.Boolean)
			b.examine(n.get("dedupeKey"), scope, expr.Text|expr.Number)
			want := expr.Object
			if key == "schedule" {
				want = expr.Any // an expression for each key
			}
			b.examine(n.get("input"), scope, want)
		}
	}
}

// variableTypes checks the variables in the order they are computed.
func (b *builder) variableTypes(w *Workflow, n *node, roots map[string]*expr.Type) *expr.Type {
	fields := map[string]*expr.Type{}
	for _, v := range w.Variables {
		fields[v.Name] = nil
	}
	vars := expr.Struct(fields)
	scope := &expr.Scope{Roots: maps.Clone(roots), Absent: absentRoot}
	scope.Roots["vars"] = vars
	for _, v := range w.Variables {
		at := n.get(v.Name)
		t := b.examine(at, scope, expr.Any)
		if literal, constant := v.Value.Literal(); constant {
			fields[v.Name] = typeOfValue(literal)
		} else if at.kind == textNode && len(b.places[at]) == 1 && v.Value.Fields() == nil && len(v.Value.Programs()) == 1 && wholeExpression(at) {
			fields[v.Name] = t
		}
	}
	return vars
}

// wholeExpression reports whether a template is one expression and nothing else.
func wholeExpression(n *node) bool {
	spans, err := expr.Split(n.raw)
	return err == nil && len(spans) == 1 && spans[0].Expression
}

func typeOfValue(v any) *expr.Type {
	switch x := v.(type) {
	case map[string]any:
		fields := map[string]*expr.Type{}
		for key, value := range x {
			fields[key] = typeOfValue(value)
		}
		return expr.Struct(fields)
	case []any:
		return expr.ListOfType(nil)
	}
	return expr.Of(expr.KindOf(v))
}

// listExpressions checks a list of activities, earlier ones first.
func (b *builder) listExpressions(in *surroundings) *certainty {
	in.outputs = map[int]*expr.Type{}
	sure := newCertainty(in.graph)
	before := in.graph.ancestors()
	for _, i := range inOrder(in.graph) {
		a := in.graph.Activities[i]
		scope := b.scope(in, i, sure.before(i), before[i])
		if in.graph.needsFailure(i) {
			scope = scope.With(map[string]*expr.Type{"error": errorType})
		}
		in.outputs[i] = b.activityExpressions(a, scope, in)
		b.undoExpressions(a, i, scope, in)
	}
	return sure
}

// inOrder sorts so that every activity comes after those it needs.
func inOrder(g *Graph) []int {
	var order []int
	seen := make([]bool, len(g.Activities))
	var visit func(int)
	visit = func(i int) {
		if seen[i] {
			return
		}
		seen[i] = true
		for _, e := range g.Activities[i].In {
			visit(e.From)
		}
		order = append(order, i)
	}
	for i := range g.Activities {
		visit(i)
	}
	return order
}

func (g *Graph) needsFailure(i int) bool {
	return slices.ContainsFunc(g.Activities[i].In, func(e Edge) bool {
		return slices.ContainsFunc(e.Ports, func(p Port) bool { return p.Name == PortFailure })
	})
}

var secretsType = &expr.Type{Kind: expr.Object, Open: true, Named: true}

// activityExpressions checks one activity and gives the type of its outputs.
func (b *builder) activityExpressions(a *Activity, scope *expr.Scope, in *surroundings) *expr.Type {
	n := b.where[a]
	b.examine(n.get("when"), scope, expr.Boolean)
	repeating := scope
	if a.Repeat != nil {
		repeating = scope.With(map[string]*expr.Type{"iteration": numberType})
	}
	resolved := repeating
	if slices.Contains(leafTypes, a.Type) {
		resolved = repeating.With(map[string]*expr.Type{"secrets": secretsType})
	}
	b.examine(n.get("inputs"), resolved, expr.Any)
	if slices.Contains(leafTypes, a.Type) {
		b.examine(b.defaults.get(a.Type), resolved, expr.Any)
	}
	result := b.resultType(n)
	b.examine(n.at("repeat", "until"), repeating.With(map[string]*expr.Type{"self": result}), expr.Boolean)
	b.examine(n.at("repeat", "every"), repeating, expr.Any)
	b.examine(n.get("idempotencyKey"), repeating, expr.Any)
	b.examine(n.at("semaphore", "key"), scope, expr.Any)
	b.blockExpressions(a, n.get(a.Type), scope, in)
	declared := n.get("outputs")
	if declared == nil || declared.kind != mapNode {
		return result
	}
	fields := map[string]*expr.Type{}
	withResult := scope.With(map[string]*expr.Type{"result": result})
	if a.Type == TypeSet {
		withResult = scope
	}
	for _, e := range declared.entries {
		fields[e.name] = b.examine(e.value, withResult, expr.Any)
	}
	return expr.Struct(fields)
}

// undoExpressions checks compensate, which may read the activity itself, its inputs too.
func (b *builder) undoExpressions(a *Activity, i int, scope *expr.Scope, in *surroundings) {
	if a.Compensate == nil {
		return
	}
	self := activityType(in.outputs[i])
	self.Fields["inputs"], self.Fields["input"] = nil, nil
	activities := *scope.Roots["activities"]
	if a.ID != "" {
		activities.Fields = map[string]*expr.Type{a.ID: self}
	}
	b.activityExpressions(a.Compensate, scope.With(map[string]*expr.Type{"activities": &activities, "result": b.resultType(b.where[a])}), in)
}

func (b *builder) blockExpressions(a *Activity, n *node, scope *expr.Scope, in *surroundings) {
	if n == nil {
		return
	}
	switch a.Type {
	case TypeForEach:
		b.loopExpressions(a, n, scope, in)
	case TypeEvent:
		b.examine(n.get("name"), scope, expr.Text)
		b.examine(n.get("correlation"), scope, expr.Text|expr.Number)
		b.examine(n.get("where"), scope.With(map[string]*expr.Type{"event": eventType}), expr.Boolean)
	case TypeSwitch:
		for _, each := range items(n.get("cases")) {
			b.examine(each.get("when"), scope, expr.Boolean)
		}
	default:
		b.examine(n, scope, expr.Any)
	}
}

func (b *builder) loopExpressions(a *Activity, n *node, scope *expr.Scope, in *surroundings) {
	t := b.examine(n.get("items"), scope, expr.List|expr.Null)
	if l := n.get("items"); l != nil && l.kind == listNode {
		t = nil
	}
	b.examine(n.get("maxConcurrent"), scope, expr.Number)
	item := (*expr.Type)(nil)
	if t != nil && t.Kind&expr.List != 0 {
		item = t.Elem
	}
	inside := map[string]*expr.Type{"index": numberType, a.ForEach.As: item}
	b.examine(n.get("key"), scope.With(inside), expr.Text|expr.Number|expr.Boolean)
	roots := maps.Clone(scope.With(inside).Roots)
	body := &surroundings{roots: roots, outer: scope.Roots["activities"], hook: in.hook}
	collect := scope.With(inside)
	switch {
	case a.ForEach.Body != nil:
		body.graph = a.ForEach.Body
		sure := b.listExpressions(body)
		collect = b.scope(body, -1, sure.atTheEnd(), everyIndex(body.graph))
	case a.ForEach.Activity != nil:
		single := a.ForEach.Activity
		body.graph = &Graph{Activities: []*Activity{single}, ByID: map[string]*Activity{}}
		body.outputs = map[int]*expr.Type{0: b.activityExpressions(single, scope.With(inside), in)}
		b.undoExpressions(single, 0, scope.With(inside), body)
		collect = collect.With(map[string]*expr.Type{"result": body.outputs[0], "outputs": body.outputs[0]})
	}
	b.examine(n.get("collect"), collect, expr.Any)
}
