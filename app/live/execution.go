package live

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"weftline/engine"
	"weftline/engine/execution"
	"weftline/engine/instants"
)

const (
	recentMax   = 1000 // events that a topic keeps for its sockets
	batchEvents = 500  // most events of one frame
	lagFrom     = 1000 // a socket so far behind is told
	resyncFrom  = 5000 // a socket so far behind gets the state instead of the events
)

// executionTopic follows one history. Its events come from the store after a hint; the hint is never data.
type executionTopic struct {
	audience
	refresher
	door engine.Door
	who  engine.Who // of the first subscriber; the team decides what is read
	id   uuid.UUID

	state  sync.Mutex
	last   int64
	recent []execution.Event // the end of the history, without gaps, up to last
}

// newExecutionTopic starts at the seq that the history has now.
func newExecutionTopic(door engine.Door, who engine.Who, id uuid.UUID, last int64) *executionTopic {
	t := &executionTopic{door: door, who: who, id: id, last: last}
	t.read = t.catchUp
	return t
}

func (t *executionTopic) touch(change engine.Change) {
	if change.Execution != t.id || (change.LastSeq != 0 && change.LastSeq <= t.head()) {
		return
	}
	t.ask()
}

func (t *executionTopic) catchUp(ctx context.Context) {
	for {
		page, err := t.door.Events(ctx, t.who, t.id, t.head(), batchEvents)
		if err != nil || len(page.Events) == 0 {
			return // the next hint or ping tries again
		}
		t.keep(page.Events)
		t.tell()
		if t.head() >= page.LastSeq {
			return
		}
	}
}

func (t *executionTopic) keep(events []execution.Event) {
	t.state.Lock()
	defer t.state.Unlock()
	t.recent = append(t.recent, events...)
	t.last = events[len(events)-1].Seq
	if over := len(t.recent) - recentMax; over > 0 {
		t.recent = append([]execution.Event(nil), t.recent[over:]...)
	}
}

func (t *executionTopic) head() int64 {
	t.state.Lock()
	defer t.state.Unlock()
	return t.last
}

func (t *executionTopic) next(ctx context.Context, sub *subscription) ([]any, error) {
	head := t.head()
	switch behind := head - sub.sent; {
	case sub.wantsState:
		return t.snap(ctx, sub)
	case behind <= 0:
		return nil, nil
	case behind > resyncFrom:
		frames, err := t.snap(ctx, sub)
		return append([]any{resyncFrame{Type: "resync", SID: sub.sid, Reason: "too far behind"}}, frames...), err
	case behind > lagFrom:
		frames, err := t.events(ctx, sub)
		return append([]any{lagFrame{Type: "lag", SID: sub.sid, Head: head}}, frames...), err
	}
	return t.events(ctx, sub)
}

func (t *executionTopic) snap(ctx context.Context, sub *subscription) ([]any, error) {
	detail, err := t.door.Execution(ctx, t.who, t.id)
	if err != nil {
		return nil, err
	}
	state, err := instants.JSON(detail)
	if err != nil {
		return nil, err
	}
	sub.wantsState, sub.sent = false, detail.LastSeq
	return []any{snapFrame{Type: "snap", SID: sub.sid, Seq: detail.LastSeq, State: state}}, nil
}

func (t *executionTopic) events(ctx context.Context, sub *subscription) ([]any, error) {
	events := t.after(sub.sent)
	if events == nil {
		page, err := t.door.Events(ctx, t.who, t.id, sub.sent, batchEvents)
		if err != nil {
			return nil, err
		}
		events = page.Events
	}
	if len(events) == 0 {
		return nil, nil
	}
	frame := eventsFrame{Type: "ev", SID: sub.sid, Prev: sub.sent, Seq: events[len(events)-1].Seq, Events: events}
	sub.sent = frame.Seq
	return []any{frame}, nil
}

// after answers the kept events that follow seq, at most one frame of them; nil when they are not kept.
func (t *executionTopic) after(seq int64) []execution.Event {
	t.state.Lock()
	defer t.state.Unlock()
	if len(t.recent) == 0 || t.recent[0].Seq > seq+1 {
		return nil
	}
	from := int(seq + 1 - t.recent[0].Seq)
	return t.recent[from:min(from+batchEvents, len(t.recent))]
}
