package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"weftline/engine/execution"
	"weftline/engine/store"
	"weftline/queries"
)

// settleWithin is how long the door waits for a message to be applied before it answers, so that the
// asker sees the effect. The message is durable before.
const settleWithin = 300 * time.Millisecond

// What is asked of an execution needs no worker that serves it: if nobody owns it, because it waits in a line or none
// is alive that takes it, the replica that was asked applies it. If that replica dies before, the next one to come by
// does (queue.Attend).

// Cancel ends an execution early.
func (r *runs) Cancel(ctx context.Context, who Who, id uuid.UUID, reason string, compensate *bool) error {
	return r.control(ctx, who, id, "execution.cancelled", execution.Message{Cancel: &execution.Cancel{By: who.User, Reason: reason, Compensate: compensate}})
}

// Pause stops an execution from starting anything.
func (r *runs) Pause(ctx context.Context, who Who, id uuid.UUID) error {
	return r.control(ctx, who, id, "execution.paused", execution.Message{Pause: &execution.Control{By: who.User}})
}

// Resume ends a pause.
func (r *runs) Resume(ctx context.Context, who Who, id uuid.UUID) error {
	return r.control(ctx, who, id, "execution.resumed", execution.Message{Resume: &execution.Control{By: who.User}})
}

// Retry drives a failed or timed-out execution again.
func (r *runs) Retry(ctx context.Context, who Who, id uuid.UUID, request execution.Retry) error {
	request.By = who.User
	if err := checkSize("the input", request.Input, r.payloadLimit); err != nil {
		return err
	}
	return r.control(ctx, who, id, "execution.retried", execution.Message{Retry: &request})
}

// Compensate runs an incomplete compensation again.
func (r *runs) Compensate(ctx context.Context, who Who, id uuid.UUID) error {
	return r.control(ctx, who, id, "execution.compensated", execution.Message{Compensate: &execution.Control{By: who.User}})
}

// control rehearses a message on the stored state, so that one that can do nothing is refused, and then
// delivers it.
func (r *runs) control(ctx context.Context, who Who, id uuid.UUID, action string, message execution.Message) error {
	if _, err := r.row(ctx, who, id); err != nil {
		return err
	}
	loaded, err := r.store.LoadOne(ctx, id)
	if err != nil {
		return fmt.Errorf("read execution %s: %w", id, err)
	}
	if _, err := execution.Receive(loaded.Definition.Workflow, loaded.State, message, r.store.Clock.Now()); err != nil {
		return Refuse("conflict", unwrapped(err))
	}
	return r.audited(ctx, who, act{action: action, target: id.String(), name: loaded.Definition.Name, before: map[string]any{"status": loaded.State.Status}}, id, message)
}

// unwrapped is the reason of a refusal without the word stale before it.
func unwrapped(err error) string {
	text := err.Error()
	if prefix := execution.ErrStale.Error() + ": "; errors.Is(err, execution.ErrStale) && len(text) > len(prefix) && text[:len(prefix)] == prefix {
		return text[len(prefix):]
	}
	return text
}

// audited delivers a message together with its line of the audit, and applies it here if nobody drives the execution.
func (r *runs) audited(ctx context.Context, who Who, a act, id uuid.UUID, message execution.Message) error {
	applied, err := r.deliver(ctx, id, func() (number int64, err error) {
		err = inTx(ctx, r.db, func(q *queries.Queries) error {
			if number, err = r.store.DeliverIn(ctx, q, id, message); err != nil {
				return err
			}
			if message.Cancel != nil { // the first that it does when it is driven again is to be cancelled
				if _, err := letGo(ctx, q, who.Team, id); err != nil {
					return err
				}
			}
			return record(ctx, q, who, a)
		})
		return number, err
	})
	if err == nil && !applied && message.Signal == nil { // signals are many, and may wait with what they are for
		r.attend(ctx, id)
	}
	return err
}

// deliver stores a message by a function that answers its number, wakes its execution and waits a little for it
// to be applied, which it answers. One that is stored twice, because its acknowledgement was lost, finds the second time
// that there is nothing left to do.
func (r *runs) deliver(ctx context.Context, id uuid.UUID, store func() (int64, error)) (applied bool, err error) {
	receipt := r.pool.Expect(id)
	number, err := Again(ctx, store)
	if err != nil {
		receipt.Close()
		return false, fmt.Errorf("store a message for execution %s: %w", id, err)
	}
	r.pool.Wake(id)
	soon, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	return receipt.Wait(soon, number), nil
}

// attend applies what an execution was sent if nobody owns it. The message is stored; whoever drives the execution
// applies it if this fails.
func (r *runs) attend(ctx context.Context, id uuid.UUID) {
	if err := r.pool.Attend(ctx, id); err != nil {
		r.log.Warn("an execution without an owner could not be attended", "execution", id, "error", err)
		return
	}
	r.settle(id)
}

// settle waits a little until a message that was stored for an execution is applied.
func (r *runs) settle(id uuid.UUID) {
	soon, cancel := context.WithTimeout(context.Background(), settleWithin)
	defer cancel()
	r.pool.Settle(soon, id)
}

// Signal sends a signal to one execution; one that comes before its wait is kept for it.
func (r *runs) Signal(ctx context.Context, who Who, id uuid.UUID, name string, payload any, signalID string) error {
	row, err := r.row(ctx, who, id)
	if err != nil {
		return err
	}
	if err := r.checkPosting(name, "", signalID, payload); err != nil {
		return err
	}
	if execution.IsTerminal(row.Status) {
		return r.afterEnd(ctx, id, row.Status, signalID)
	}
	if err := r.checkSignalSchema(ctx, id, name, payload); err != nil {
		return err
	}
	if signalID == "" {
		signalID = uuid.Must(uuid.NewV7()).String()
	}
	signal := execution.Message{Signal: &execution.Signal{ID: signalID, Name: name, Payload: payload, Direct: true, At: r.store.Clock.Now(), By: who.User}}
	sent := act{action: "execution.signalled", target: id.String(), name: row.Workflow, detail: map[string]any{"signal": name, "id": signalID}}
	return r.audited(ctx, who, sent, id, signal)
}

// afterEnd answers a signal to an execution that is over: one that it received before is the same success again.
func (r *runs) afterEnd(ctx context.Context, id uuid.UUID, status, signalID string) error {
	loaded, err := r.store.LoadOne(ctx, id)
	if err != nil {
		return fmt.Errorf("read execution %s: %w", id, err)
	}
	if loaded.State.Received(signalID) {
		return nil
	}
	return Refuse("conflict", fmt.Sprintf("the execution is %s, no signal reaches it any more", status))
}

// checkSignalSchema holds the payload against the waits that are open for it now.
func (r *runs) checkSignalSchema(ctx context.Context, id uuid.UUID, name string, payload any) error {
	waits, err := r.store.WaitsNamed(ctx, id, name)
	if err != nil || len(waits) == 0 {
		return err
	}
	loaded, err := r.store.LoadOne(ctx, id)
	if err != nil {
		return fmt.Errorf("read execution %s: %w", id, err)
	}
	for _, wait := range waits {
		if err := refusePayload(payload)(loaded, execution.WaitKey{Activity: wait.Activity, Item: wait.Item}); err != nil {
			return err
		}
	}
	return nil
}

// PostEvent sends an event by business key to every execution of the team that waits for it now, and to
// every trigger that it sets off.
func (r *runs) PostEvent(ctx context.Context, who Who, event PostedEvent) (PostedResult, error) {
	if err := r.checkPosting(event.Name, event.Correlation, event.EventID, event.Payload); err != nil {
		return PostedResult{}, err
	}
	line, err := act{action: "event.posted", target: event.Name, detail: map[string]any{"correlation": event.Correlation, "id": event.EventID}}.line(who)
	if err != nil {
		return PostedResult{}, err
	}
	posted, err := r.post(ctx, who, store.Posting{Team: who.Team, Correlation: event.Correlation, Audit: &line,
		Signal: execution.Signal{ID: event.EventID, Name: event.Name, Payload: event.Payload, At: r.store.Clock.Now(), By: who.User},
	}, refusePayload(event.Payload), true)
	if err != nil {
		return PostedResult{}, err
	}
	return PostedResult{Matched: posted.Matched, ID: posted.ID, KeptUntil: posted.KeptUntil}, nil
}

func (r *runs) checkPosting(name, correlation, id string, payload any) error {
	if name == "" {
		return Refuse("bad_request", "an event has a name")
	}
	if max(len(name), len(correlation), len(id)) > longestText {
		return Refuse("bad_request", fmt.Sprintf("name, correlation and id are at most %d bytes", longestText))
	}
	return checkSize("the payload", payload, r.payloadLimit)
}

// refusePayload holds a payload against the schema of the wait that it would reach.
func refusePayload(payload any) store.RefusePayload {
	return func(loaded *store.Loaded, wait execution.WaitKey) error {
		a := loaded.Definition.Activity(wait.Activity)
		for a != nil && a.Event == nil && a.ForEach != nil {
			a = a.ForEach.Activity
		}
		if a == nil || a.Event == nil || a.Event.Schema == nil {
			return nil
		}
		if _, problems := a.Event.Schema.Check(payload); len(problems) > 0 {
			return &Error{Code: "invalid_input", Message: fmt.Sprintf("the payload does not fit the schema of activity %s", wait.Activity), Problems: problems}
		}
		return nil
	}
}
