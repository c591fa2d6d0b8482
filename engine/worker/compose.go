package worker

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"weftline/engine/execution"
	"weftline/engine/store"
)

// compose turns applied events into the flush that makes them durable with all that follows from them.
// Without events it is an empty flush, to leave by.
func (p *Pool) compose(ctx context.Context, l *store.Loaded, events []execution.Event) (*store.Flush, error) {
	flush := &store.Flush{Execution: l.ID, Team: l.Team, Workflow: l.Definition.Name, Owner: p.id,
		Requester: l.State.Created.StartedBy, At: p.Store.Clock.Now()}
	if len(events) == 0 {
		return flush, nil
	}
	encoded, err := encode(events)
	if err != nil {
		return nil, fmt.Errorf("encode events %d to %d: %w", events[0].Seq, events[len(events)-1].Seq, err)
	}
	flush.Sealed = execution.Hides(l.Definition.Workflow, l.State)
	flush.Events, flush.FirstSeq, flush.LastSeq = encoded, events[0].Seq, events[len(events)-1].Seq
	flush.Files = execution.FilesIn(encoded)
	follow := execution.Effects(l.Definition.Workflow, l.State, events)
	flush.Tasks, flush.WaitsOpen, flush.WaitsEnded = follow.Tasks, follow.Waits, follow.WaitsEnded
	flush.Released, flush.Ended, flush.HasLimits = follow.Released, follow.Ended, l.Definition.Limited()
	for _, permit := range follow.Permits {
		flush.Asked = append(flush.Asked, store.PermitRequest{Permit: permit})
	}
	for _, child := range follow.CancelChildren {
		flush.Notices = append(flush.Notices, cancelNotice(l, child))
	}
	setStatus(flush, l, follow)
	if isWaiting(l.State.Status) {
		flush.Waits = execution.BriefWaits(l.Definition.Workflow, l.State)
	}
	for _, child := range follow.Joined {
		flush.Joins = append(flush.Joins, store.Join{Child: child.Execution, Activity: child.Activity, Item: child.Item})
	}
	flush.EndsJoins = follow.Ended && l.Definition.JoinsChildren()
	if l.State.Created.DedupeKey != "" && follow.Ended {
		flush.Shared = endOf(l)
	}
	if parent := l.State.Created.Parent; parent != nil && follow.Ended {
		flush.Notices = append(flush.Notices, endNotice(l, parent))
	}
	return flush, p.addChildren(ctx, flush, l, follow.Children)
}

// encode writes events into a buffer that has grown to the length of those before: how long they are cannot be told
// until they are written.
func encode(events []execution.Event) ([]byte, error) {
	scratch := scratches.Get().(*[]byte)
	defer scratches.Put(scratch)
	encoded, err := execution.AppendEvents((*scratch)[:0], events)
	if err != nil {
		return nil, err
	}
	*scratch = encoded
	return bytes.Clone(encoded), nil
}

var scratches = sync.Pool{New: func() any { return new([]byte) }}

func isWaiting(status string) bool {
	return status == execution.StatusWaiting || status == execution.StatusScheduled
}

func setStatus(flush *store.Flush, l *store.Loaded, follow execution.Consequences) {
	st := l.State
	if follow.Status == "" {
		return
	}
	flush.Status = &store.Status{Status: follow.Status}
	if follow.Ended {
		flush.Status.Finished = flush.At
		flush.Status.KeepUntil = flush.At.Add(l.Definition.Limits.HistoryRetention)
		if st.Result != nil {
			flush.Status.Error = st.Result.Error
		}
	}
}

func cancelNotice(l *store.Loaded, child uuid.UUID) store.Notice {
	return store.Notice{To: child, Message: execution.Message{Cancel: &execution.Cancel{
		By: l.State.Created.StartedBy, Reason: "its parent execution ended"}}}
}

// endNotice tells the parent how its child ended.
func endNotice(l *store.Loaded, parent *execution.ParentRef) store.Notice {
	ended := endOf(l)
	ended.Activity, ended.Item = parent.Activity, parent.Item
	return store.Notice{To: parent.Execution, Message: execution.Message{ChildEnded: ended}}
}

// endOf is how an execution ended, for whoever waits for it.
func endOf(l *store.Loaded) *execution.ChildEnded {
	ended := &execution.ChildEnded{Execution: l.ID, Status: l.State.Status}
	if result := l.State.Result; result != nil {
		ended.Output, ended.Shown, ended.Error = result.Output, result.Shown, result.Error
	}
	return ended
}
