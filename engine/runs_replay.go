package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"weftline/engine/execution"
	"weftline/engine/store"
)

// Replay folds an exported history on the definition that it ran on, without effects.
func (r *runs) Replay(ctx context.Context, who Who, history []byte) (ExecutionDetail, error) {
	events, err := exported(history)
	if err != nil {
		return ExecutionDetail{}, err
	}
	created, ok := events[0].Data.(*execution.Created)
	if !ok {
		return ExecutionDetail{}, Refuse("bad_request", "a history begins with WorkflowCreated")
	}
	definition, err := r.store.Library.Version(ctx, who.Team, created.Workflow, created.Version)
	if errors.Is(err, store.ErrNotFound) {
		return ExecutionDetail{}, Refuse("not_found", fmt.Sprintf("version %d of workflow %s, on which this history ran, is not here", created.Version, created.Workflow))
	}
	if err != nil {
		return ExecutionDetail{}, err
	}
	st := new(execution.State)
	for _, event := range events {
		if err := execution.Apply(definition.Workflow, st, event); err != nil {
			return ExecutionDetail{}, Refuse("bad_request", fmt.Sprintf("event %d cannot follow the ones before it: %s", event.Seq, err))
		}
	}
	return ExecutionDetail{ID: created.ID, Workflow: definition.Name, Version: definition.Number, Team: who.TeamName,
		ContentHash: definition.Hash, Detail: execution.Describe(definition.Workflow, st)}, nil
}

// exported reads the events of a history file: {events: […]} or the bare list.
func exported(history []byte) ([]execution.Event, error) {
	var file struct {
		Events json.RawMessage `json:"events"`
	}
	list := history
	if err := json.Unmarshal(history, &file); err == nil && file.Events != nil {
		list = file.Events
	}
	events, err := execution.DecodeEvents(list)
	var misfit *json.UnmarshalTypeError
	switch {
	case errors.As(err, &misfit):
		return nil, Refuse("bad_request", fmt.Sprintf("the history cannot be read: %s is %s, which does not belong there", cmp.Or(misfit.Field, "what holds the events"), article(misfit.Value)))
	case err != nil:
		return nil, Refuse("bad_request", "the history cannot be read: "+err.Error())
	}
	if len(events) == 0 {
		return nil, Refuse("bad_request", "the history has no events")
	}
	return events, nil
}

// article is a kind of JSON value in a sentence.
func article(kind string) string {
	if strings.HasPrefix(kind, "array") || strings.HasPrefix(kind, "object") {
		return "an " + kind
	}
	return "a " + kind
}
