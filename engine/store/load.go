package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine/execution"
	"weftline/engine/logs"
	"weftline/queries"
)

// Loaded is an execution as its history tells it, with what waits in its inbox.
type Loaded struct {
	ID, Team   uuid.UUID
	Definition *Definition
	Mode       string
	Parent     *uuid.UUID
	State      *execution.State
	LastSeq    int64
	Base, Tail int // bytes of the last checkpoint and of the history since, as JSON
	Inbox      []Received
	First      []execution.Event // of a new one: what its first flush holds, until that is counted
	Crashes    int               // how often in a row the process died that drove it, without progress in between
	Elsewhere  []WorkKey         // attempts in flight that are not this process's
}

// Received is a message in an inbox.
type Received struct {
	ID      int64
	Message execution.Message
}

// Load folds executions up to the end of their histories, in the order of the ids. One that cannot be
// folded has an entry in the failures and does not stop the others.
func (s *Store) Load(ctx context.Context, ids []uuid.UUID) (loaded []*Loaded, failures map[uuid.UUID]error, err error) {
	return s.load(ctx, ids, map[uuid.UUID]*Loaded{}, nil)
}

// LoadOwned is Load for the owner of the executions; it leaves out those that somebody else owns, or nobody. Of those
// that this process left a moment ago it reads only what was written since.
func (s *Store) LoadOwned(ctx context.Context, ids []uuid.UUID, owner uuid.UUID) (loaded []*Loaded, failures map[uuid.UUID]error, err error) {
	return s.load(ctx, ids, s.recent.take(ids), &owner)
}

// load completes what is known already. The history is read before the inbox: a message that an earlier
// owner drained in between is then missing from both, and the first flush meets the fence. Executions that are
// all known take one round trip.
func (s *Store) load(ctx context.Context, ids []uuid.UUID, known map[uuid.UUID]*Loaded, owner *uuid.UUID) (loaded []*Loaded, failures map[uuid.UUID]error, err error) {
	failures = map[uuid.UUID]error{}
	var reading queries.Reading
	var away []queries.AwayWorkRow
	var owned []queries.OwnedWithAwayRow
	if owner == nil {
		reading.AwayWork(ids, &away)
	} else {
		reading.OwnedWithAway(ids, owner, &owned)
	}
	if len(known) < len(ids) {
		if err := s.begin(ctx, &reading, ids, known, failures); err != nil {
			return nil, nil, err
		}
		reading = queries.Reading{}
	}
	var histories []queries.HistoriesFromRow
	var messages []queries.InboxesRow
	all, seqs := lastSeqs(known)
	reading.HistoriesFrom(all, seqs, &histories)
	reading.Inboxes(ids, &messages)
	if err := reading.Read(ctx, s.pool); err != nil {
		return nil, nil, err
	}
	if owner != nil {
		ids, away = splitOwned(owned)
	}
	s.catchUp(histories, known, failures)
	inboxes, elsewhere := s.received(messages), awayByExecution(away)
	for _, id := range ids {
		if l := known[id]; l != nil && failures[id] == nil {
			l.Inbox = inboxes[id]
			l.Elsewhere = withResults(elsewhere[id], l.Inbox)
			loaded = append(loaded, l)
		}
	}
	return loaded, failures, nil
}

// splitOwned are the executions that rows say are owned, each once, and what of them is away.
func splitOwned(rows []queries.OwnedWithAwayRow) (ids []uuid.UUID, away []queries.AwayWorkRow) {
	seen := make(map[uuid.UUID]bool, len(rows))
	for _, row := range rows {
		if !seen[row.ExecutionID] {
			seen[row.ExecutionID] = true
			ids = append(ids, row.ExecutionID)
		}
		if row.Activity != nil {
			away = append(away, queries.AwayWorkRow{ExecutionID: row.ExecutionID, Activity: *row.Activity, Item: *row.Item,
				Compensating: *row.Compensating, Attempt: *row.Attempt})
		}
	}
	return ids, away
}

// begin adds the executions that are not known yet, as their checkpoints say or empty. It asks what was to be read
// before as well.
func (s *Store) begin(ctx context.Context, reading *queries.Reading, ids []uuid.UUID, known map[uuid.UUID]*Loaded, failures map[uuid.UUID]error) error {
	var strange []uuid.UUID
	for _, id := range ids {
		if known[id] == nil {
			strange = append(strange, id)
		}
	}
	var rows []queries.Execution
	var checkpoints []queries.Checkpoint
	reading.ExecutionRows(strange, &rows)
	reading.Checkpoints(strange, &checkpoints)
	if err := reading.Read(ctx, s.pool); err != nil {
		return err
	}
	for _, row := range rows {
		if l, err := s.unfolded(ctx, row); err != nil {
			failures[row.ID] = err
		} else {
			known[row.ID] = l
		}
	}
	for _, checkpoint := range checkpoints {
		if l := known[checkpoint.ExecutionID]; l != nil {
			if err := s.restore(l, checkpoint); err != nil {
				failures[l.ID] = err
			}
		}
	}
	return nil
}

func lastSeqs(known map[uuid.UUID]*Loaded) (ids []uuid.UUID, seqs []int64) {
	for id, l := range known {
		ids, seqs = append(ids, id), append(seqs, l.LastSeq)
	}
	return ids, seqs
}

func (s *Store) unfolded(ctx context.Context, row queries.Execution) (*Loaded, error) {
	definition, err := s.Library.Version(ctx, row.TeamID, row.Workflow, int(row.Version))
	if err != nil {
		return nil, err
	}
	return &Loaded{ID: row.ID, Team: row.TeamID, Definition: definition, Mode: row.Mode, Parent: row.ParentID, Crashes: int(row.Crashes)}, nil
}

func (s *Store) restore(l *Loaded, checkpoint queries.Checkpoint) error {
	plain, err := s.unpack(statePlace(l.ID), checkpoint.State)
	if err == nil {
		l.State, err = execution.DecodeState(plain)
	}
	if err != nil {
		return fmt.Errorf("read the checkpoint at event %d: %w", checkpoint.Seq, err)
	}
	if l.State.Shape != execution.Shape { // of another release: it may lack what this one remembers, and the history has all
		l.State = nil
		return nil
	}
	l.LastSeq, l.Base = l.State.Seq, len(plain)
	return nil
}

// catchUp folds what the histories hold beyond what is known.
func (s *Store) catchUp(rows []queries.HistoriesFromRow, known map[uuid.UUID]*Loaded, failures map[uuid.UUID]error) {
	for _, row := range rows {
		l := known[row.ExecutionID]
		if failures[l.ID] != nil {
			continue
		}
		if err := s.apply(l, row.FirstSeq, row.Events); err != nil {
			failures[l.ID] = err
		}
	}
}

// apply folds one flush; it must follow what is known without a gap.
func (s *Store) apply(l *Loaded, firstSeq int64, stored []byte) error {
	if firstSeq != l.LastSeq+1 {
		return fmt.Errorf("the history has a gap: event %d follows %d", firstSeq, l.LastSeq)
	}
	plain, err := s.unpack(historyPlace(l.ID, firstSeq), stored)
	if err != nil {
		return fmt.Errorf("read the history from event %d on: %w", firstSeq, err)
	}
	events, err := execution.DecodeEvents(plain)
	if err != nil {
		return fmt.Errorf("read the history from event %d on: %w", firstSeq, err)
	}
	if l.State == nil {
		l.State = new(execution.State)
	}
	l.Tail += len(plain)
	return l.fold(events)
}

// fold applies events. A panic of the core is the fault of this execution alone.
func (l *Loaded) fold(events []execution.Event) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %v\n%s", fault, debug.Stack())
		}
	}()
	err = execution.ApplyAll(l.Definition.Workflow, l.State, events)
	l.LastSeq = l.State.Seq
	return err
}

// LoadOne folds one execution; ErrNotFound when there is none.
func (s *Store) LoadOne(ctx context.Context, id uuid.UUID) (*Loaded, error) {
	loaded, failures, err := s.Load(ctx, []uuid.UUID{id})
	switch {
	case err != nil:
		return nil, err
	case failures[id] != nil:
		return nil, failures[id]
	case len(loaded) == 0:
		return nil, ErrNotFound
	}
	return loaded[0], nil
}

// StateAt folds an execution up to an event.
func (s *Store) StateAt(ctx context.Context, id uuid.UUID, seq int64) (*Loaded, error) {
	rows, err := s.q.ExecutionRows(ctx, []uuid.UUID{id})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, ErrNotFound
	}
	l, err := s.unfolded(ctx, rows[0])
	if err != nil {
		return nil, err
	}
	l.State = new(execution.State)
	for l.LastSeq < seq {
		events, err := s.Events(ctx, id, l.LastSeq, int(min(seq-l.LastSeq, eventsPage)))
		if err != nil {
			return nil, err
		}
		if len(events) == 0 {
			return l, nil
		}
		if err := l.fold(events); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// eventsPage is how many events are read at once.
const eventsPage = 500

// Events reads at most limit events after a seq.
func (s *Store) Events(ctx context.Context, id uuid.UUID, after int64, limit int) ([]execution.Event, error) {
	events := make([]execution.Event, 0, min(limit, eventsPage))
	for len(events) < limit {
		rows, err := s.q.HistoryAfter(ctx, id, after, eventsPage)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			part, err := s.readEvents(id, row.FirstSeq, row.Events)
			if err != nil {
				return nil, fmt.Errorf("read the history from event %d on: %w", row.FirstSeq, err)
			}
			for _, event := range part {
				if event.Seq > after && len(events) < limit {
					events = append(events, event)
				}
			}
			after = row.LastSeq
		}
		if len(rows) < eventsPage {
			break
		}
	}
	return events, nil
}

// LastSeq is the number of the last event; 0 when there is no history.
func (s *Store) LastSeq(ctx context.Context, id uuid.UUID) (int64, error) {
	last, err := s.q.LastSeq(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return last, err
}

// Look reads what a worker must know of an execution that it owns: how often it was woken, and then its
// inbox, in this order, so that a message stored after the inbox was read is a wake-up not yet counted.
// Owned is false when another worker has it.
func (s *Store) Look(ctx context.Context, id, owner uuid.UUID) (wakes int64, inbox []Received, owned bool, err error) {
	wakes, err = s.q.OwnedWakes(ctx, id, &owner)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil, false, nil
	}
	if err != nil {
		return 0, nil, false, err
	}
	rows, err := s.q.Inboxes(ctx, []uuid.UUID{id})
	if err != nil {
		return 0, nil, false, err
	}
	return wakes, s.received(rows)[id], true, nil
}

// received decodes messages, by execution.
func (s *Store) received(rows []queries.InboxesRow) map[uuid.UUID][]Received {
	inboxes := map[uuid.UUID][]Received{}
	for _, row := range rows {
		message, err := s.decodeMessage(row.Message)
		if err != nil {
			s.log.Error("a message cannot be read and is dropped", logs.About{Execution: row.ExecutionID, Event: "MessageDropped"}.Args("message", row.ID, "error", err)...)
		}
		inboxes[row.ExecutionID] = append(inboxes[row.ExecutionID], Received{ID: row.ID, Message: message})
	}
	return inboxes
}
