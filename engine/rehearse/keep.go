package rehearse

import (
	"slices"
	"strings"
	"time"

	"weftline/engine/execution"
	"weftline/engine/flow"
)

// Keep makes a test case of a history as people may see it, as it stands in a document: what the execution was
// given, what its activities came to by attempt and item, and what is seen at its end. People and events are mocks
// too; what ran into its time on a clock does so again, and what was cancelled is cancelled at the same time. Of an
// execution that was retried its last life counts: a case has no hand that retries, and needs none.
func Keep(wf *flow.Workflow, history []execution.Event, end execution.Detail, name string) map[string]any {
	k := &keeper{wf: wf, depth: map[string]int{}, said: map[string]*said{}, path: []any{}, begun: map[string]time.Time{}, cut: cutShort(history)}
	if len(history) > 0 {
		k.length = history[len(history)-1].At.Sub(history[0].At)
	}
	for _, graph := range []*flow.Graph{wf.Graph, wf.OnError, wf.OnExit} {
		k.loops(graph, 0)
	}
	kept := map[string]any{"name": name}
	for i := range history {
		ev := &history[i]
		switch data := ev.Data.(type) {
		case *execution.Created:
			k.created(kept, data, ev.At)
		case *execution.Retried:
			k.life++
			delete(kept, "script")
			if data.Input != nil {
				kept["input"] = data.Input
			}
		case *execution.Ending:
			if data.Status == execution.StatusCancelled {
				kept["script"] = []any{cancelStep(data, ev.At.Sub(history[0].At))}
			}
		}
		k.hear(ev)
		k.walk(ev)
	}
	if mocks := k.mocks(); len(mocks) > 0 {
		kept["mocks"] = mocks
	}
	expect := map[string]any{"status": end.Status, "path": k.path}
	if end.Error != nil {
		expect["error"] = end.Error.Type
	}
	if end.Status == execution.StatusCompleted && end.Output != nil {
		expect["output"] = end.Output
	}
	kept["expect"] = expect
	return kept
}

// keeper gathers what activities came to.
type keeper struct {
	wf    *flow.Workflow
	depth map[string]int // of loops of one activity: how many loops they stand in
	said  map[string]*said
	path  []any
	life  int // how often it was retried so far

	// An end that comes from a clock or a hand, not from what activities come to, is only reached again when they
	// take their time.
	cut    bool
	length time.Duration
	begun  map[string]time.Time // the attempt that is under way, by activity and item
}

// said is what one activity came to, in order of its attempts, and by item.
type said struct {
	answers []any
	items   map[string]*said
	life    int // that the answers are of
}

// cutShort reports whether the last life was ended from outside its activities.
func cutShort(history []execution.Event) bool {
	for i := len(history) - 1; i >= 0; i-- {
		switch data := history[i].Data.(type) {
		case *execution.Retried:
			if !data.Compensate {
				return false
			}
		case *execution.Ending:
			return data.Status == execution.StatusCancelled || data.Status == execution.StatusTimedOut
		}
	}
	return false
}

func cancelStep(end *execution.Ending, at time.Duration) map[string]any {
	step := map[string]any{"at": short(at), "cancel": true, "compensate": end.Compensate}
	for key, text := range map[string]string{"by": end.By, "reason": end.Reason} {
		if text != "" {
			step[key] = text
		}
	}
	return step
}

// walk follows the path: what completed, in order, without what a later life takes back.
func (k *keeper) walk(ev *execution.Event) {
	if ev.Item != "" || ev.Hook != "" || ev.Compensating || k.wf.Graph.ByID[ev.Activity] == nil {
		return
	}
	switch ev.Type {
	case execution.ActivityReady, execution.ActivitySkipped:
		k.path = slices.DeleteFunc(k.path, func(id any) bool { return id == ev.Activity })
	case execution.ActivityCompleted:
		k.path = append(k.path, ev.Activity)
	}
}

func (k *keeper) loops(graph *flow.Graph, depth int) {
	if graph == nil {
		return
	}
	for _, act := range graph.Activities {
		for inner := act; inner != nil && inner.ForEach != nil; inner = inner.ForEach.Activity {
			if act == inner && inner.ForEach.Activity != nil {
				k.depth[act.ID] = depth
			}
			k.loops(inner.ForEach.Body, depth+1)
		}
	}
}

func (k *keeper) created(kept map[string]any, created *execution.Created, at time.Time) {
	kept["startedAt"] = at.UTC().Truncate(time.Second).Format(time.RFC3339)
	if created.StartedBy != "" {
		kept["startedBy"] = created.StartedBy
	}
	if len(created.Input) > 0 {
		kept["input"] = created.Input
	}
	if kind, _ := created.Trigger["type"].(string); kind != "" && kind != "api" {
		kept["trigger"] = created.Trigger
	}
}

// hear takes an event for what a mock would have to say of its activity.
func (k *keeper) hear(ev *execution.Event) {
	name := ev.Activity
	if ev.Compensating {
		name += "/compensate"
	}
	if name == "" || mockable(k.wf, name) != "" {
		return
	}
	if depth, loop := k.depth[ev.Activity]; loop && !ev.Compensating && (ev.Item == "" && depth == 0 || ev.Item != "" && strings.Count(ev.Item, "/") < depth) {
		return // the loop itself, not an item of it
	}
	if ev.Type == execution.ActivityStarted {
		k.begun[name+"\x00"+ev.Item] = ev.At
	}
	switch data := ev.Data.(type) {
	case *execution.Cancelled:
		if kind := k.kind(ev); kind != flow.TypeHuman && kind != flow.TypeEvent {
			// Longer than the whole execution, so that what cut it short comes first again.
			k.say(ev, name, map[string]any{"takes": short((k.length + time.Minute).Round(time.Second))})
		}
	case *execution.Completed:
		value := data.Output
		if data.Shown != nil {
			value = data.Shown
		}
		if answer, ok := k.answer(ev, name, value); ok {
			k.say(ev, name, answer)
		}
	case *execution.RetryScheduled:
		if !data.Free {
			k.say(ev, name, k.timed(ev, name, failureAnswer(data.Error)))
		}
	case *execution.Failed:
		if kind := k.kind(ev); kind != flow.TypeHuman && kind != flow.TypeEvent && data.Error != nil {
			k.say(ev, name, k.timed(ev, name, failureAnswer(data.Error)))
		}
	}
}

// kind is the type of what an event is about; what undoes has no people and no events.
func (k *keeper) kind(ev *execution.Event) string {
	act := activities(k.wf)[ev.Activity]
	if ev.Compensating {
		act = act.Compensate
	}
	return act.Type
}

// shortest is what an attempt has to take to be worth telling.
const shortest = 100 * time.Millisecond

// timed adds how long an attempt took where the end depends on it.
func (k *keeper) timed(ev *execution.Event, name string, answer map[string]any) map[string]any {
	began, known := k.begun[name+"\x00"+ev.Item]
	if took := ev.At.Sub(began); k.cut && known && took >= shortest {
		answer["takes"] = short(took)
	}
	return answer
}

// answer is what a mock says for outputs; a task or an event that ran into its time needs none.
func (k *keeper) answer(ev *execution.Event, name string, value any) (any, bool) {
	object, isObject := value.(map[string]any)
	switch k.kind(ev) {
	case flow.TypeHuman:
		return only(object, "outcome", "by", "comment", "form"), object["by"] != nil
	case flow.TypeEvent:
		return map[string]any{"payload": object["payload"]}, object["receivedAt"] != nil
	}
	described := k.timed(ev, name, map[string]any{"outputs": value})
	if !isObject || describesAnswer(object) || len(described) > 1 {
		return described, true
	}
	return value, true
}

func only(object map[string]any, keys ...string) map[string]any {
	out := map[string]any{}
	for _, key := range keys {
		if value := object[key]; value != nil {
			out[key] = value
		}
	}
	return out
}

func failureAnswer(failure *execution.Error) map[string]any {
	answer := map[string]any{"error": failure.Type}
	if failure.Message != "" {
		answer["message"] = failure.Message
	}
	return answer
}

func (k *keeper) say(ev *execution.Event, name string, answer any) {
	at := k.said[name]
	if at == nil {
		at = &said{items: map[string]*said{}}
		k.said[name] = at
	}
	if item := ev.Item; item != "" {
		if at.items[item] == nil {
			at.items[item] = &said{}
		}
		at = at.items[item]
	}
	if at.life != k.life { // what an earlier life came to was taken back
		at.life, at.answers = k.life, nil
	}
	at.answers = append(at.answers, answer)
}

func (k *keeper) mocks() map[string]any {
	mocks := map[string]any{}
	for name, s := range k.said {
		if len(s.items) == 0 {
			mocks[name] = s.mock()
			continue
		}
		items := map[string]any{}
		for key, each := range s.items {
			items[key] = each.mock()
		}
		mocks[name] = map[string]any{"items": items}
	}
	return mocks
}

// mock is one answer, or a list of them by attempt.
func (s *said) mock() any {
	if len(s.answers) == 1 {
		return s.answers[0]
	}
	return slices.Clone(s.answers)
}
