package execution

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"weftline/engine/flow"
)

// defaultWidth is how many items of a loop run at a time when nothing is said.
const defaultWidth = 10

// DefaultItems is how many items a loop may have when the server says nothing else.
const DefaultItems = 10_000

// startLoop fixes the items of a loop. One that is driven again has them already.
func (d *decider) startLoop(p place) error {
	if p.run.Loop != nil {
		d.about(ActivityStarted, p, nil)
		return nil
	}
	def, r := p.act.ForEach, d.read(p)
	list, err := r.twinOf(def.Items)
	if err != nil {
		return err
	}
	items, ok := list.value.([]any)
	if !ok {
		return failure("input.invalid", classActivity, "items has to be a list, it is %s", kindOf(list.value))
	}
	if most := cmp.Or(d.st.Created.MaxItems, DefaultItems); len(items) > most {
		return failure("input.invalid", classActivity, "%d items are too many, at most %d are allowed", len(items), most)
	}
	s := &LoopStarted{Items: items, Shown: shownList(list), MaxConcurrent: defaultWidth}
	if s.Keys, err = itemKeys(r, def, s); err != nil {
		return err
	}
	if def.MaxConcurrent != nil {
		if s.MaxConcurrent, err = width(r, def); err != nil {
			return err
		}
	}
	d.about(ActivityStarted, p, s)
	return nil
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case int64, float64:
		return "a number"
	case string:
		return "a text"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("%T", v)
}

// itemKeys evaluates the key of each item; nil when the index is the key.
func itemKeys(r reader, def *flow.ForEach, started *LoopStarted) ([]string, error) {
	if def.Key == nil {
		return nil, nil
	}
	as := def.As
	if as == "" {
		as = "item"
	}
	keys, seen := make([]string, len(started.Items)), make(map[string]int, len(started.Items))
	for i, item := range started.Items {
		r.extra = map[string]any{as: item, "index": int64(i)}
		if started.Shown != nil {
			r.extraShown = map[string]any{as: started.Shown[i]}
		}
		v, err := r.public("the key of an item", func(r reader) (any, error) { return r.eval(def.Key) })
		if err != nil {
			return nil, err
		}
		k, ok := keyText(v)
		if !ok {
			return nil, failure("input.invalid", classActivity, "the key of item %d has to be a text or a whole number, it is %s", i, kindOf(v))
		}
		if first, twice := seen[k]; twice {
			return nil, failure("input.invalid", classActivity, "items %d and %d have the same key %q", first, i, k)
		}
		keys[i], seen[k] = k, i
	}
	return keys, nil
}

// keyText: "/" separates the keys of a loop in a loop.
func keyText(v any) (string, bool) {
	switch k := v.(type) {
	case string:
		return strings.ReplaceAll(k, "/", "~1"), k != ""
	case int64:
		return strconv.FormatInt(k, 10), true
	}
	return "", false
}

func width(r reader, def *flow.ForEach) (int, error) {
	v, err := r.value(def.MaxConcurrent)
	if err != nil {
		return 0, err
	}
	n, ok := v.(int64)
	if !ok || n < 1 {
		return 0, failure("input.invalid", classActivity, "maxConcurrent has to be a whole number from 1, it is %v", v)
	}
	return int(min(n, 100_000)), nil
}

// loop begins the next item of a loop, or ends it.
func (d *decider) loop(p place) {
	l := p.run.Loop
	if l.mustEnd() || !l.mayBegin() {
		d.endLoop(p)
		return
	}
	if i := l.upcoming(); l.Bodies[i] != nil {
		d.resumeItem(p, i)
		return
	}
	first, ok := d.find(p.bodyKey(l.upcoming(), firstRoot(p.act.ForEach)))
	if !ok {
		panic("an item cannot begin")
	}
	d.begin(first)
}

// resumeItem begins an item once more with the first of its activities whose join has a say; without one, the item
// only has to be counted.
func (d *decider) resumeItem(p place, i int) {
	for n := range p.run.Loop.Bodies[i].Runs {
		in, ok := d.find(p.bodyKey(i, n))
		if !ok || in.run.Phase != pending {
			continue
		}
		v, reason := runs, ""
		if len(in.act.In) > 0 {
			v, reason = judge(in.act, in.run)
		}
		switch v {
		case runs:
			d.begin(in)
			return
		case isSkipped:
			d.about(ActivitySkipped, in, &Skipped{Reason: d.skipReason(in, reason)})
			return
		}
	}
	if item, ok := d.find(key{p.Activity, p.itemKey(i)}); ok {
		d.item(item)
	}
}

// firstRoot is the first activity of a body that starts at once.
func firstRoot(def *flow.ForEach) int {
	if def.Activity == nil {
		for i, act := range def.Body.Activities {
			if len(act.In) == 0 {
				return i
			}
		}
	}
	return 0
}

func (d *decider) endLoop(p place) {
	l, def := p.run.Loop, p.act.ForEach
	switch {
	case l.Halted && l.Completed+l.Failed < len(l.Fates):
		d.cancel(p, reasonFailFast)
	case l.tooMany(def):
		d.attemptFailed(p, l.itemsFailed(), 0)
	default:
		value := l.output(l.Results)
		d.complete(p, twin{value, difference(value, l.output(l.shownResults()))}, "")
	}
}

// itemsFailed is the failure of a loop; its detail holds the first failures.
func (l *loop) itemsFailed() *Error {
	const most = 10
	f := failure("for_each.items_failed", classActivity, "%d of %d items failed", l.Failed, len(l.Fates))
	var first []any
	for i := range l.Fates {
		if err := l.Errors[i]; err != nil && len(first) < most {
			if len(first) == 0 {
				f.Message += fmt.Sprintf("; item %s: %s", l.key(i), err.Message)
			}
			first = append(first, map[string]any{"index": int64(i), "key": l.key(i), "type": err.Type, "message": err.Message})
		}
	}
	f.Detail = map[string]any{"failures": first}
	return f
}

// item ends an item whose activities are all over.
func (d *decider) item(p place) {
	q := p
	q.Activity = p.loop.Activity
	switch {
	case p.scope.Failed != nil:
		d.aboutItem(ItemFailed, q, &ItemEnded{Error: p.scope.Failed})
	case p.scope.Stop:
		d.aboutItem(ItemCancelled, q, nil)
	default:
		result, err := d.collect(p)
		if err != nil {
			d.aboutItem(ItemFailed, q, &ItemEnded{Error: placed(asFailure(err), q)})
			return
		}
		d.aboutItem(ItemCompleted, q, &ItemEnded{Result: result.value, Shown: result.shown})
	}
}

func (d *decider) aboutItem(t EventType, p place, e *ItemEnded) {
	var data any
	if e != nil {
		data = e
	}
	d.emitAt(t, p, 0, d.now, data)
}

// collect computes the result of an item: as the loop says, else what its last activities put out.
func (d *decider) collect(p place) (twin, error) {
	def := p.loop.act.ForEach
	if def.Collect != nil {
		r := d.read(p)
		if def.Activity != nil {
			r.extra = map[string]any{"result": p.run.Output}
			if p.run.Shown != nil {
				r.extraShown = map[string]any{"result": p.run.Shown}
			}
		}
		return r.twinNamed(def.Collect)
	}
	leaves, shown := map[string]any{}, map[string]any{}
	for i, act := range def.Body.Activities {
		if len(act.Out) == 0 {
			leaves[act.ID] = outputOf(act, &p.scope.Runs[i])
			shown[act.ID] = shownOutputOf(act, &p.scope.Runs[i])
		}
	}
	if !d.st.hides(d.wf) {
		return twin{value: leaves}, nil
	}
	return twin{leaves, difference(leaves, shown)}, nil
}
