package execution

import (
	"cmp"
	"slices"
	"time"

	"weftline/engine/expr"
	"weftline/engine/flow"
	"weftline/engine/instants"
)

// reader is what an expression reads: the state as seen from one place. Only what the expression names is
// built.
type reader struct {
	wf    *flow.Workflow
	st    *State
	at    place          // zero = the execution itself
	extra map[string]any // result, self, iteration, event, error …
	now   int64          // stands for the start until there is one
	// masked reads twins in place of values; extraShown holds those of extra that differ.
	masked     bool
	extraShown map[string]any
	secrets    map[string]string // nil = placeholders
}

func (r reader) eval(p *expr.Program) (any, error) {
	v, err := p.Eval(r.env(p.References()))
	return solid(v), err
}

func (r reader) value(v *expr.Value) (any, error) {
	if literal, ok := v.Literal(); ok {
		return literal, nil
	}
	got, err := v.Eval(r.env(v.References()))
	return solid(got), err
}

func (r reader) condition(p *expr.Program) (bool, error) { return p.EvalBool(r.env(p.References())) }

// named evaluates a list of named values in order.
func (r reader) named(list []flow.Named) (map[string]any, error) {
	out := make(map[string]any, len(list))
	for _, n := range list {
		v, err := r.value(n.Value)
		if err != nil && r.masked {
			v, err = Mask, nil
		}
		if err != nil {
			return nil, err
		}
		out[n.Name] = v
	}
	return out, nil
}

func (r reader) env(refs expr.References) expr.Env {
	env := make(expr.Env, len(refs.Roots))
	for _, root := range refs.Roots {
		if v, ok := r.root(root, refs); ok {
			env[root] = v
		}
	}
	return env
}

func (r reader) root(name string, refs expr.References) (any, bool) {
	if v, ok := r.extraShown[name]; ok && r.masked && v != nil {
		return v, true
	}
	if v, ok := r.extra[name]; ok {
		return v, true
	}
	switch name {
	case "inputs":
		return r.inputs(), true
	case "vars":
		return r.variables(), true
	case "activities":
		return r.activities(refs.Activities), true
	case "execution":
		return r.execution(), true
	case "trigger":
		return r.trigger(), true
	case "secrets":
		return r.secretValues(refs.Secrets), true
	case "error":
		return r.failure(), true
	}
	return r.loopRoot(name)
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// loopRoot finds item and index of the nearest loop, and the names of all loops around.
func (r reader) loopRoot(name string) (any, bool) {
	for p := r.at; p.loop != nil; p = *p.loop {
		l, def := p.loop.run.Loop, p.loop.act.ForEach
		if l == nil {
			continue
		}
		if name == "index" {
			return int64(p.item), true
		}
		if name == def.As || name == "item" && def.As == "" {
			if r.masked && l.ShownItems != nil {
				return l.ShownItems[p.item], true
			}
			return l.Items[p.item], true
		}
	}
	return nil, false
}

// inputs has every declared input, null where none was given.
func (r reader) inputs() map[string]any {
	if r.st.inputs == nil {
		r.st.inputs = withDeclared(r.wf, r.st.Created.Input)
	}
	if r.masked {
		return maskInput(r.wf, r.st.inputs, r.st.Created.Hidden)
	}
	return r.st.inputs
}

func (r reader) variables() map[string]any {
	if r.masked && r.st.ShownVariables != nil {
		return r.st.ShownVariables
	}
	return orEmpty(r.st.Variables)
}

func (r reader) trigger() map[string]any {
	if r.masked {
		return r.st.shownTrigger(r.wf)
	}
	return orEmpty(r.st.Created.Trigger)
}

func withDeclared(wf *flow.Workflow, input map[string]any) map[string]any {
	var declared map[string]any
	if wf.Input != nil {
		declared, _ = wf.Input.Source["properties"].(map[string]any)
	}
	all := make(map[string]any, len(declared)+len(input))
	for name := range declared {
		all[name] = nil
	}
	for name, v := range input {
		all[name] = v
	}
	return all
}

func (r reader) secretValues(names []string) map[string]any {
	values := make(map[string]any, len(names))
	for _, name := range names {
		if r.secrets == nil {
			values[name] = Mask
		} else if v, ok := r.secrets[name]; ok {
			values[name] = v
		}
	}
	return values
}

func (r reader) execution() map[string]any {
	c := &r.st.Created
	view := map[string]any{
		"id": c.ID.String(), "workflow": c.Workflow, "version": int64(c.Version),
		"startedAt": text(cmp.Or(r.st.Started, r.now)), "actor": c.StartedBy, "attempt": int64(r.st.Drives),
		"correlationId": r.correlation(), "labels": labelView(c.Labels), "priority": c.Priority,
		"status": r.st.Status, "input": orEmpty(c.Input),
	}
	if r.masked {
		view["input"] = maskInput(r.wf, orEmpty(c.Input), c.Hidden)
	}
	if r.st.Ending != nil {
		view["status"] = endStatus(r.st)
	}
	return view
}

func (r reader) correlation() string { return correlationOf(&r.st.Created) }

func correlationOf(c *Created) string {
	if c.CorrelationID == "" {
		return c.ID.String()
	}
	return c.CorrelationID
}

func labelView(labels map[string]string) map[string]any {
	view := make(map[string]any, len(labels))
	for k, v := range labels {
		view[k] = v
	}
	return view
}

// activities shows those that the expression names, looked for from the inside out.
func (r reader) activities(names []string) map[string]any {
	all := make(map[string]any, len(names))
	for _, name := range names {
		if p, ok := r.visible(name); ok {
			all[name] = r.view(p)
		}
	}
	return all
}

func (r reader) visible(name string) (place, bool) {
	for p := r.at; p.scope != nil; p = *p.loop {
		if p.graph != nil {
			if act := p.graph.ByID[name]; act != nil {
				return p.sibling(act.Index), true
			}
		}
		if p.loop == nil {
			break
		}
	}
	if act := r.wf.Graph.ByID[name]; act != nil && len(r.st.Main.Runs) > 0 {
		return place{graph: r.wf.Graph, scope: &r.st.Main}.sibling(act.Index), true
	}
	return place{}, false
}

// view is what expressions see of one activity. Inputs are seen only by what undoes it.
func (r reader) view(p place) map[string]any {
	if r.masked && r.st.hides(r.wf) {
		return r.withInputs(p, activityView(p, shownOutputOf(p.act, p.run)))
	}
	if p.run.view == nil || !p.run.Phase.over() {
		p.run.view = activityView(p, outputOf(p.act, p.run))
	}
	return r.withInputs(p, p.run.view)
}

func (r reader) withInputs(p place, view map[string]any) map[string]any {
	if r.at.undo && r.at.key == p.key {
		withInputs := map[string]any{"inputs": p.run.Input, "input": p.run.Input}
		for k, v := range view {
			withInputs[k] = v
		}
		return withInputs
	}
	return view
}

func activityView(p place, output any) map[string]any {
	r := p.run
	failure := errorView(r.Error)
	started, ended := orNull(text(r.Begun)), orNull(text(r.Ended))
	outcome := orNull(r.Outcome)
	return map[string]any{
		"status": r.Phase.String(), "outcome": outcome, "decision": outcome,
		"outputs": output, "output": output, "error": failure,
		"attempts": int64(r.Attempt), "attempt": int64(r.Attempt),
		"startedAt": started, "endedAt": ended, "finishedAt": ended,
	}
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// outputOf is the output of an activity. That of a loop without outputs of its own is put together from
// its items, also after a failure.
func outputOf(act *flow.Activity, r *run) any {
	if r.Output == nil && act.ForEach != nil && act.Outputs == nil && r.Loop != nil && r.Phase.over() {
		return r.Loop.output(r.Loop.Results)
	}
	return r.Output
}

// shownOutputOf is what people may see of it.
func shownOutputOf(act *flow.Activity, r *run) any {
	if r.Output == nil && act.ForEach != nil && act.Outputs == nil && r.Loop != nil && r.Phase.over() {
		return r.Loop.output(r.Loop.shownResults())
	}
	return seen(r.Output, r.Shown)
}

// shownResults are the results of a loop as people may see them.
func (l *loop) shownResults() []any {
	if len(l.ShownResults) == 0 {
		return l.Results
	}
	shown := slices.Clone(l.Results)
	for i, twin := range l.ShownResults {
		shown[i] = twin
	}
	return shown
}

func (l *loop) output(results []any) map[string]any {
	failures := []any{}
	for i := range l.Results {
		if err := l.Errors[i]; err != nil {
			failures = append(failures, map[string]any{"index": int64(i), "key": l.key(i), "error": errorView(err)})
		}
	}
	return map[string]any{
		"results": results, "failures": failures,
		"completed": int64(l.Completed), "failed": int64(l.Failed),
	}
}

// failure is the error that a hook or the consumer of a failure handles, else null.
func (r reader) failure() any {
	if r.at.hook != "" {
		if len(r.st.Errors) > 0 {
			return errorView(&r.st.Errors[0])
		}
		return nil
	}
	if r.at.graph == nil || r.at.act == nil || r.at.isItem {
		return nil
	}
	for i := range r.at.act.In {
		src := r.at.sibling(r.at.act.In[i].From)
		for _, port := range r.at.act.In[i].Ports {
			if port.Name == flow.PortFailure && src.run.Error != nil && src.run.Phase.over() {
				return errorView(src.run.Error)
			}
		}
	}
	return nil
}

func errorView(e *Error) any {
	if e == nil {
		return nil
	}
	view := map[string]any{
		"type": e.Type, "class": e.Class, "message": e.Message, "detail": e.Detail,
		"activity": orNull(e.Activity), "item": orNull(e.Item), "attempt": nil,
	}
	if e.Attempt > 0 {
		view["attempt"] = int64(e.Attempt)
	}
	return view
}

// text is an instant as expressions see it; "" = none.
func text(ms int64) string {
	if ms == 0 {
		return ""
	}
	return instants.Text(instant(ms))
}

// durationOf reads a resolved value as a duration.
func durationOf(v any) (time.Duration, error) {
	switch d := v.(type) {
	case string:
		return expr.ParseDuration(d)
	}
	return 0, failure("input.invalid", classActivity, "%v is not a duration: write 30s, 10m or PT1H", v)
}
