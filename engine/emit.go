package engine

import (
	"context"
	"reflect"

	"github.com/google/uuid"

	"weftline/engine/activity"
	"weftline/engine/execution"
	"weftline/engine/store"
)

// emitter runs emit activities: an event to the executions and triggers of the same team. The idempotency key is the
// event's id, so an attempt made twice is one event.
type emitter struct{ engine *Engine }

// Run posts the event.
func (e emitter) Run(ctx context.Context, call activity.Call) activity.Outcome {
	input, _ := call.Input.(map[string]any)
	name, _ := input["name"].(string)
	key, _ := input["key"].(string)
	team, err := uuid.Parse(call.Team)
	if err != nil || name == "" {
		return activity.Outcome{Err: &execution.Error{Type: "input.invalid", Class: "workflow", Message: "an emit activity needs a name"}}
	}
	if err := checkSize("the payload", input["payload"], e.engine.options.PayloadLimit); err != nil {
		return activity.Outcome{Err: &execution.Error{Type: "input.invalid", Class: "workflow", Message: err.Error()}}
	}
	var shown any
	if given, ok := call.Shown.(map[string]any); ok && !reflect.DeepEqual(given["payload"], input["payload"]) {
		shown = given["payload"]
	}
	posted, err := e.engine.post(ctx, Who{Team: team, User: call.Workflow}, store.Posting{Team: team, Correlation: key, Signal: execution.Signal{
		ID: call.IdempotencyKey, Name: name, Payload: input["payload"], Shown: shown, At: e.engine.runs.store.Clock.Now(), By: call.Workflow}}, nil, false)
	if err != nil {
		return activity.Outcome{Err: &execution.Error{Type: "engine.emit", Class: "infrastructure", Message: err.Error()}}
	}
	return activity.Outcome{Value: map[string]any{"id": posted.ID}}
}
