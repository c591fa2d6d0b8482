package engine

import (
	"context"
	"errors"
	"fmt"

	"weftline/engine/execution"
	"weftline/engine/expr"
	"weftline/engine/store"
	"weftline/queries"
)

// eventOpenings prepares the executions that an event starts. A trigger whose condition fails does not
// match. strict refuses the event when one does not fit its workflow; otherwise that one is left out.
func (r *runs) eventOpenings(ctx context.Context, who Who, signal execution.Signal, strict bool) ([]*opening, error) {
	rows, err := r.q.EventTriggers(ctx, who.Team, cleanText(signal.Name))
	if err != nil {
		return nil, fmt.Errorf("read the triggers of event %s: %w", signal.Name, err)
	}
	var openings []*opening
	for _, row := range rows {
		o, err := r.eventOpening(ctx, who, signal, row)
		if text, refused := refusal(err); refused && !strict {
			r.log.Warn("an event does not start a workflow", "event", signal.Name, "workflow", row.Workflow, "reason", text)
			continue
		}
		if err != nil {
			return nil, err
		}
		if o != nil {
			openings = append(openings, o)
		}
	}
	return openings, nil
}

func (r *runs) eventOpening(ctx context.Context, who Who, signal execution.Signal, row queries.EventTriggersRow) (*opening, error) {
	definition, err := r.store.Library.Version(ctx, who.Team, row.Workflow, int(row.Version))
	if err != nil {
		return nil, err
	}
	event := definition.Events[row.Place]
	trigger := map[string]any{"type": "event", "id": orNil(signal.ID), "payload": signal.Payload}
	says := expressions{When: event.When, Input: event.Input, DedupeKey: event.DedupeKey, Otherwise: signal.Payload,
		Key: fmt.Sprintf("event:%d:%s", row.Place, shortened(event.Name))}
	env := expr.Roots{"trigger": trigger}
	holds, err := says.holds(env)
	if err != nil {
		r.log.Warn("the when of an event trigger failed, it does not match", "workflow", row.Workflow, "error", err)
	}
	if !holds {
		return nil, nil
	}
	result, err := says.evaluate(env)
	if err != nil {
		return nil, err
	}
	request := StartRequest{Workflow: row.Workflow, Input: result.Input, Trigger: trigger}
	if signal.Shown != nil {
		request.Sensitive, request.Hidden = true, hiddenInputs(says, result.Input, signal)
	}
	o, err := r.open(ctx, who, definition, request, result.Key)
	var refused *Error
	if errors.As(err, &refused) {
		refused.Message = "workflow " + row.Workflow + ": " + refused.Message
	}
	return o, err
}

// hiddenInputs are the inputs that depend on what is sensitive in an event.
func hiddenInputs(says expressions, input any, signal execution.Signal) []string {
	given, _ := input.(map[string]any)
	says.Otherwise, says.DedupeKey = signal.Shown, nil
	shown, err := says.evaluate(expr.Roots{"trigger": map[string]any{"type": "event", "id": orNil(signal.ID), "payload": signal.Shown}})
	if err != nil || shown.Input == nil {
		return execution.HiddenNames(given, execution.Mask)
	}
	return execution.HiddenNames(given, shown.Input)
}

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// shortened keeps names of triggers within what a key may hold.
func shortened(name string) string { return cleanText(name[:min(len(name), 100)]) }

// post delivers an event to waits and triggers.
func (r *runs) post(ctx context.Context, who Who, posting store.Posting, refuse store.RefusePayload, strict bool) (store.Posted, error) {
	openings, err := r.eventOpenings(ctx, who, posting.Signal, strict)
	if err != nil {
		return store.Posted{}, err
	}
	for _, o := range openings {
		posting.Openings = append(posting.Openings, &o.Opening)
	}
	posted, err := r.store.PostEvent(ctx, posting, refuse)
	if err != nil {
		return posted, err
	}
	r.pool.Wake(posted.Reached...)
	for _, o := range openings {
		r.opened(o)
	}
	return posted, nil
}
