package execution

import (
	"strings"

	"weftline/engine/expr"
	"weftline/engine/flow"
)

// Preview evaluates an expression at an activity, or at the execution itself (""), on what people may see: a
// sensitive value is Mask already while it is computed with, so that no expression can ask about it. Of a loop's
// body it is the item, or the first one. The result of an activity is known only as far as its outputs are.
func Preview(wf *flow.Workflow, st *State, activity, item string, v *expr.Value) (any, error) {
	r := reader{wf: wf, st: st, masked: true}
	if p, found := previewPlace(wf, st, activity, item); found {
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

func withRoot(roots map[string]any, name string, value any) map[string]any {
	all := map[string]any{name: value}
	for k, v := range roots {
		all[k] = v
	}
	return all
}
