package execution

import (
	"slices"

	"weftline/engine/flow"
)

// activitiesView shows the activities that an expression names, looked for from the inside out.
type activitiesView scene

// Key is one of them.
func (r *activitiesView) Key(name string) (any, bool) {
	if !slices.Contains(r.refs.Activities, name) {
		return nil, false
	}
	p, ok := r.visible(name)
	if !ok {
		return nil, false
	}
	return &activityView{reader: &r.reader, place: p}, true
}

// Whole is all of them.
func (r *activitiesView) Whole() map[string]any {
	all := make(map[string]any, len(r.refs.Activities))
	for _, name := range r.refs.Activities {
		if p, ok := r.visible(name); ok {
			all[name] = (&activityView{reader: &r.reader, place: p}).Whole()
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

// activityView is what expressions see of one activity.
type activityView struct {
	reader *reader
	place
}

var activityKeys = []string{"status", "outcome", "decision", "outputs", "output", "error", "attempts", "attempt",
	"startedAt", "endedAt", "finishedAt", "inputs", "input"}

// Whole is all that they see of it.
func (v *activityView) Whole() map[string]any {
	all := make(map[string]any, len(activityKeys))
	for _, name := range activityKeys {
		if value, ok := v.Key(name); ok {
			all[name] = value
		}
	}
	return all
}

// Key is a part of it. Inputs are seen only by what undoes it.
func (v *activityView) Key(name string) (any, bool) {
	switch name {
	case "status":
		return v.run.Phase.String(), true
	case "outcome", "decision":
		return orNull(v.run.Outcome), true
	case "outputs", "output":
		return v.outputs(), true
	case "error":
		return errorView(v.run.Error), true
	case "attempts", "attempt":
		return int64(v.run.Attempt), true
	case "startedAt":
		return orNull(text(v.run.Begun)), true
	case "endedAt", "finishedAt":
		return orNull(text(v.run.Ended)), true
	case "inputs", "input":
		return v.run.Input, v.reader.at.undo && v.reader.at.key == v.key
	}
	return nil, false
}

func (v *activityView) outputs() any {
	if v.reader.masked && v.reader.st.hides(v.reader.wf) {
		return shownOutputOf(v.act, v.run)
	}
	return outputOf(v.act, v.run)
}

// outputOf is the output of an activity. That of a loop without outputs of its own is put together from
// its items, also after a failure.
func outputOf(act *flow.Activity, r *run) any {
	if r.Output != nil || !joinsItems(act, r) {
		return r.Output
	}
	if r.joined == nil {
		r.joined = r.Loop.output(r.Loop.Results)
	}
	return r.joined
}

// joinsItems reports whether the output of an activity is that of its items together.
func joinsItems(act *flow.Activity, r *run) bool {
	return act.ForEach != nil && act.Outputs == nil && r.Loop != nil && r.Phase.over()
}

// shownOutputOf is what people may see of it.
func shownOutputOf(act *flow.Activity, r *run) any {
	if r.Output == nil && joinsItems(act, r) {
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
