package execution

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"weftline/engine/expr"
	"weftline/engine/flow"
)

// Preview evaluates an expression at an activity, or at the execution itself (""), on what people may see: a
// sensitive value is Mask already while it is computed with, so that no expression can ask about it. Of a loop's
// body it is the item, or the first one. The result of an activity is known only as far as its outputs are.
func Preview(wf *flow.Workflow, st *State, activity, item string, v *expr.Value) (any, error) {
	r := reader{wf: wf, st: st, masked: true}
	if p, found := previewPlace(wf, st, activity, item); !found {
		r.at, r.extra = pastItem(wf, st, activity, item)
	} else {
		r.at = p
		r.extra = turnRoots(p.act, p.run.Turn)
		if p.act.Outputs == nil && p.run.Phase.over() {
			r.extra = withRoot(r.extra, "result", shownOutputOf(p.act, p.run))
		}
	}
	if len(st.Main.Runs) == 0 {
		return nil, failure("input.invalid", classActivity, "the execution has not begun")
	}
	return r.value(v)
}

// previewPlace finds the run of an activity; "<loop>/each" is the single activity of a loop's body.
func previewPlace(wf *flow.Workflow, st *State, activity, item string) (found place, ok bool) {
	id, inLoop := strings.CutSuffix(activity, "/each")
	eachRun(wf, st, func(p place) {
		if ok || p.undo || p.Activity != id || item != "" && p.Item != item || inLoop && p.Item == "" {
			return
		}
		found, ok = p, true
	})
	return found, ok
}

// pastItem finds the loop of a body that is over and forgotten, and computes an item of it anew: what its activities
// gave is gone, what they were given is not.
func pastItem(wf *flow.Workflow, st *State, activity, item string) (at place, roots map[string]any) {
	id, single := strings.CutSuffix(activity, "/each")
	eachRun(wf, st, func(p place) {
		if roots != nil || p.undo || p.run.Loop == nil || p.act.ForEach == nil {
			return
		}
		loop := p.act.ForEach
		if single && p.Activity != id || !single && (loop.Body == nil || loop.Body.ByID[id] == nil) {
			return
		}
		given, _ := reader{wf: wf, st: st, at: p, masked: true}.value(loop.Items)
		items, _ := given.([]any)
		if len(items) == 0 {
			return
		}
		index := indexOfItem(p.run.Loop, item, len(items))
		at, roots = p, map[string]any{"index": int64(index), cmp.Or(loop.As, "item"): items[index]}
	})
	return at, roots
}

// indexOfItem is the place of an item, the first when there is none of that key.
func indexOfItem(l *loop, key string, items int) int {
	index := slices.Index(l.Keys, key)
	if l.Keys == nil {
		index, _ = strconv.Atoi(key)
	}
	if index < 0 || index >= items {
		return 0
	}
	return index
}

func withRoot(roots map[string]any, name string, value any) map[string]any {
	all := map[string]any{name: value}
	for k, v := range roots {
		all[k] = v
	}
	return all
}
