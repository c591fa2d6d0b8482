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
// too; what ran into its time on a clock does so again.
func Keep(wf *flow.Workflow, history []execution.Event, end execution.Detail, name string) map[string]any {
	k := &keeper{wf: wf, depth: map[string]int{}, said: map[string]*said{}}
	for _, graph := range []*flow.Graph{wf.Graph, wf.OnError, wf.OnExit} {
		k.loops(graph, 0)
	}
	kept := map[string]any{"name": name}
	path := []any{}
	for i := range history {
		ev := &history[i]
		if created, ok := ev.Data.(*execution.Created); ok {
			k.created(kept, created, ev.At)
		}
		k.hear(ev)
		if ev.Type == execution.ActivityCompleted && ev.Item == "" && ev.Hook == "" && !ev.Compensating && wf.Graph.ByID[ev.Activity] != nil {
			path = append(path, ev.Activity)
		}
	}
	if mocks := k.mocks(); len(mocks) > 0 {
		kept["mocks"] = mocks
	}
	expect := map[string]any{"status": end.Status, "path": path}
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
}

// said is what one activity came to, in order of its attempts, and by item.
type said struct {
	answers []any
	items   map[string]*said
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
	switch data := ev.Data.(type) {
	case *execution.Completed:
		value := data.Output
		if data.Shown != nil {
			value = data.Shown
		}
		if answer, ok := k.answer(ev, value); ok {
			k.say(name, ev.Item, answer)
		}
	case *execution.RetryScheduled:
		if !data.Free {
			k.say(name, ev.Item, failureAnswer(data.Error))
		}
	case *execution.Failed:
		if kind := activities(k.wf)[ev.Activity].Type; kind != flow.TypeHuman && kind != flow.TypeEvent && data.Error != nil {
			k.say(name, ev.Item, failureAnswer(data.Error))
		}
	}
}

// answer is what a mock says for outputs; a task or an event that ran into its time needs none.
func (k *keeper) answer(ev *execution.Event, value any) (any, bool) {
	object, isObject := value.(map[string]any)
	if !ev.Compensating {
		switch activities(k.wf)[ev.Activity].Type {
		case flow.TypeHuman:
			return only(object, "outcome", "by", "comment", "form"), object["by"] != nil
		case flow.TypeEvent:
			return map[string]any{"payload": object["payload"]}, object["receivedAt"] != nil
		}
	}
	if !isObject || describesAnswer(object) {
		return map[string]any{"outputs": value}, true
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

func (k *keeper) say(name, item string, answer any) {
	at := k.said[name]
	if at == nil {
		at = &said{items: map[string]*said{}}
		k.said[name] = at
	}
	if item != "" {
		if at.items[item] == nil {
			at.items[item] = &said{}
		}
		at = at.items[item]
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
