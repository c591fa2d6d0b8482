package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"weftline/engine/execution"
	"weftline/engine/seal"
	"weftline/engine/store"
	"weftline/queries"
)

// sealedInput is how the input of a schedule is stored whose workflow marks something in it as sensitive.
type sealedInput struct {
	Sealed []byte          `json:"$sealed"` // the input itself
	Shown  json.RawMessage `json:"shown"`   // what people may see of it
}

func inputPlace(schedule uuid.UUID) string { return "schedule/" + schedule.String() }

// storable encodes the input of a schedule; definition is nil for a workflow that is not published.
func (s *scheduler) storable(id uuid.UUID, definition *store.Definition, input map[string]any) ([]byte, error) {
	encoded, err := json.Marshal(input)
	if err != nil || definition == nil || definition.Workflow.Input == nil {
		return encoded, err
	}
	shown := execution.ShownBySchema(definition.Workflow.Input.Source, any(input))
	if shown == nil {
		return encoded, nil
	}
	if execution.HoldsMasks(input, shown) {
		return nil, Refuse("invalid_input", "the input holds "+execution.Mask+" where a sensitive value is shown so: give the value itself, or leave the whole input out to keep it")
	}
	if !s.store.CanSeal() {
		return nil, Refuse("conflict", "a schedule cannot hold sensitive values on a server without a key to encrypt them with: set WEFTLINE_SECRET_KEY")
	}
	box, err := s.store.Seal(inputPlace(id), encoded)
	if err != nil {
		return nil, fmt.Errorf("seal the input of a schedule: %w", err)
	}
	visible, err := json.Marshal(shown)
	if err != nil {
		return nil, fmt.Errorf("encode what is seen of the input of a schedule: %w", err)
	}
	return json.Marshal(sealedInput{Sealed: box, Shown: visible})
}

// sealedIn reads a stored input that is sealed; ok is false for one that is not.
func sealedIn(stored []byte) (sealed sealedInput, ok bool) {
	err := json.Unmarshal(stored, &sealed)
	return sealed, err == nil && len(sealed.Sealed) > 0
}

// storedInput is the input that executions are started with.
func (s *scheduler) storedInput(row queries.Schedule) (map[string]any, error) {
	plain := row.Input
	if sealed, ok := sealedIn(plain); ok {
		opened, err := s.store.Unseal(inputPlace(row.ID), sealed.Sealed)
		if err != nil {
			return nil, fmt.Errorf("open the input of schedule %s: %w", row.ID, err)
		}
		plain = opened
	}
	return inputObject(plain), nil
}

// shownInput is the input as people may see it.
func shownInput(row queries.Schedule) map[string]any {
	if sealed, ok := sealedIn(row.Input); ok {
		return inputObject(sealed.Shown)
	}
	return inputObject(row.Input)
}

func inputObject(encoded []byte) map[string]any {
	value, _ := store.DecodeValue(encoded) // was checked when it was stored
	input, _ := value.(map[string]any)
	return input
}

// resealSchedules seals inputs of schedules with the current key, whichever sealed them; those that have it
// already are not touched.
func resealSchedules(ctx context.Context, q *queries.Queries, keys *seal.Ring) (changed int, err error) {
	rows, err := q.SealedSchedules(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the schedules with sealed inputs: %w", err)
	}
	for _, row := range rows {
		sealed, ok := sealedIn(row.Input)
		if !ok || keys.IsCurrent(sealed.Sealed) {
			continue
		}
		plain, err := keys.Unbox(inputPlace(row.ID), sealed.Sealed)
		if err != nil {
			return changed, err
		}
		if sealed.Sealed, err = keys.Box(inputPlace(row.ID), plain); err != nil {
			return changed, err
		}
		input, err := json.Marshal(sealed)
		if err != nil {
			return changed, err
		}
		n, err := q.ResealSchedule(ctx, input, row.ID, string(row.Input))
		if err != nil {
			return changed, fmt.Errorf("seal the input of schedule %s again: %w", row.ID, err)
		}
		changed += int(n)
	}
	return changed, nil
}
