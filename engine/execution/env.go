package execution

import (
	"cmp"
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
	return p.Eval(r.env(p.References()))
}

func (r reader) value(v *expr.Value) (any, error) {
	if literal, ok := v.Literal(); ok {
		return literal, nil
	}
	return v.Eval(r.env(v.References()))
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

func (r reader) env(refs expr.References) expr.Env { return &scene{r, refs} }

// scene is the state as one expression or value reads it.
type scene struct {
	reader
	refs expr.References
}

// Root gives what a name stands for.
func (r *scene) Root(name string) (any, bool) {
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
		return (*activitiesView)(r), true
	case "execution":
		return r.execution(), true
	case "trigger":
		return r.trigger(), true
	case "secrets":
		return r.secretValues(r.refs.Secrets), true
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

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
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
