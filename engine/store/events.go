package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine/execution"
	"weftline/engine/logs"
	"weftline/queries"
)

// Posting is an event by business key.
type Posting struct {
	Team        uuid.UUID
	Correlation string
	Signal      execution.Signal          // ID "" = not deduplicated
	Openings    []*Opening                // executions that the event starts
	Audit       *queries.WriteAuditParams // who posted it; nil = an activity did
}

// Posted answers an event: the executions it reached, or until when it is kept.
type Posted struct {
	ID        string      `json:"id"`
	Matched   int         `json:"matched"`
	KeptUntil *time.Time  `json:"keptUntil,omitempty"`
	Reached   []uuid.UUID `json:"-"`
}

// mostRaces bounds how often an event is posted again because another transaction was faster.
const mostRaces = 5

// RefusePayload says why a payload does not fit a wait of an execution; nil accepts it.
type RefusePayload func(execution *Loaded, wait execution.WaitKey) error

// PostEvent delivers an event to every wait of the team that matches now and begins the executions that it
// triggers; one that reaches none is kept for 24 hours. Posting the same id again answers the first result.
// A payload that any matching wait refuses is recorded nowhere.
func (s *Store) PostEvent(ctx context.Context, posting Posting, refuse RefusePayload) (posted Posted, err error) {
	for range mostRaces {
		posted, err = s.postOnce(ctx, posting, refuse)
		if !lostRace(err) {
			break
		}
	}
	return posted, err
}

func (s *Store) postOnce(ctx context.Context, posting Posting, refuse RefusePayload) (posted Posted, err error) {
	for _, o := range posting.Openings {
		o.Admission = "" // of an attempt before
	}
	err = s.Tx(ctx, func(tx pgx.Tx, q *queries.Queries) error {
		if err := q.LockEvent(ctx, posting.Team, clean(posting.Signal.Name), clean(posting.Correlation)); err != nil {
			return err
		}
		if known, err := answered(ctx, q, posting, &posted); known || err != nil {
			return err
		}
		return s.post(ctx, tx, posting, refuse, &posted)
	})
	return posted, err
}

func answered(ctx context.Context, q *queries.Queries, posting Posting, posted *Posted) (bool, error) {
	if posting.Signal.ID == "" {
		return false, nil
	}
	answer, err := q.PostedEvent(ctx, posting.Team, clean(posting.Signal.ID))
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, json.Unmarshal(answer, posted)
}

func (s *Store) post(ctx context.Context, tx pgx.Tx, posting Posting, refuse RefusePayload, posted *Posted) error {
	q := s.q.WithTx(tx)
	deduplicated := posting.Signal.ID != ""
	if !deduplicated {
		posting.Signal.ID = uuid.Must(uuid.NewV7()).String()
	}
	posted.ID = posting.Signal.ID
	waits, err := q.WaitsForEvent(ctx, posting.Team, clean(posting.Signal.Name), clean(posting.Correlation))
	if err != nil {
		return err
	}
	for _, wait := range waits {
		key := execution.WaitKey{Activity: wait.Activity, Item: wait.Item}
		ok, err := s.matches(ctx, q, wait.ExecutionID, key, posting.Signal, refuse)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := s.reach(ctx, q, wait.ExecutionID, key, posting.Signal); err != nil {
			return err
		}
		posted.Matched++
		posted.Reached = append(posted.Reached, wait.ExecutionID)
	}
	started, err := s.openAll(ctx, tx, posting.Openings)
	if err != nil {
		return err
	}
	posted.Matched += started
	if posted.Matched == 0 {
		if err := s.keep(ctx, q, posting, posted); err != nil {
			return err
		}
	}
	if posting.Audit != nil {
		if err := q.WriteAudit(ctx, *posting.Audit); err != nil {
			return err
		}
	}
	if !deduplicated {
		return nil
	}
	answer, err := json.Marshal(posted)
	if err != nil {
		return err
	}
	return q.RecordPostedEvent(ctx, posting.Team, clean(posting.Signal.ID), answer)
}

// openAll begins the executions of an event and answers how many it started, now or the first time.
func (s *Store) openAll(ctx context.Context, tx pgx.Tx, openings []*Opening) (started int, err error) {
	for _, o := range openings {
		if err := s.Open(ctx, tx, o); err != nil {
			return 0, err
		}
		if o.Admission == Admitted || o.Admission == Known {
			started++
		}
	}
	return started, nil
}

func (s *Store) reach(ctx context.Context, q *queries.Queries, id uuid.UUID, key execution.WaitKey, signal execution.Signal) error {
	signal.Activity, signal.Item = key.Activity, key.Item
	_, err := s.DeliverIn(ctx, q, id, execution.Message{Signal: &signal})
	return err
}

func (s *Store) keep(ctx context.Context, q *queries.Queries, posting Posting, posted *Posted) error {
	encoded, err := json.Marshal(posting.Signal)
	if err == nil && !s.keys.Empty() {
		encoded, err = s.keys.Box(keptPlace(posting.Team), encoded)
	}
	if err != nil {
		return err
	}
	until, err := q.KeepEvent(ctx, queries.KeepEventParams{ID: uuid.Must(uuid.NewV7()), TeamID: posting.Team,
		Name: clean(posting.Signal.Name), Correlation: clean(posting.Correlation), Signal: encoded})
	posted.KeptUntil = &until
	return err
}

// matches asks the state of an execution whether its wait takes the event.
func (s *Store) matches(ctx context.Context, q *queries.Queries, id uuid.UUID, key execution.WaitKey, signal execution.Signal, refuse RefusePayload) (bool, error) {
	loaded, err := s.in(q).LoadOne(ctx, id)
	if err != nil {
		s.log.Error("an execution that waits for an event cannot be read", logs.About{Execution: id, Event: "EventMissed"}.Args("error", err)...)
		return false, nil
	}
	if refuse != nil {
		if err := refuse(loaded, key); err != nil {
			return false, err
		}
	}
	ok, err := execution.Matches(loaded.Definition.Workflow, loaded.State, key, eventValue(signal))
	if err != nil {
		s.log.Warn("the where of a wait failed, the event does not match", logs.About{Execution: id, Workflow: loaded.Definition.Name, Activity: key.Activity, Item: key.Item, Event: "EventMissed"}.Args("error", err)...)
	}
	return ok && err == nil, nil
}

// eventValue is what a wait judges an event by.
func eventValue(signal execution.Signal) map[string]any {
	return map[string]any{"id": signal.ID, "name": signal.Name, "payload": signal.Payload}
}

// TakeKept delivers to a wait that was just opened the events that came before it, oldest first, and
// answers how many. Events posted since it was opened have found it by themselves.
func (s *Store) TakeKept(ctx context.Context, l *Loaded, wait execution.WaitRow, count int) (int, error) {
	name, correlation := clean(wait.Name), clean(wait.Correlation)
	rows, err := s.q.KeptEvents(ctx, l.Team, name, correlation)
	if err != nil {
		return 0, err
	}
	taken := 0
	for _, row := range rows {
		if taken == count {
			break
		}
		signal, err := s.decodeKept(l.Team, row.Signal)
		if err != nil {
			return taken, err
		}
		ok, err := execution.Matches(l.Definition.Workflow, l.State, wait.WaitKey, eventValue(signal))
		if err != nil || !ok {
			continue
		}
		moved, err := s.moveKept(ctx, row.ID, l.ID, wait.WaitKey, signal)
		if err != nil {
			return taken, err
		}
		if moved {
			taken++
		}
	}
	return taken, nil
}

// moveKept moves one kept event into an inbox, unless another wait was faster.
func (s *Store) moveKept(ctx context.Context, kept, to uuid.UUID, key execution.WaitKey, signal execution.Signal) (moved bool, err error) {
	err = s.Tx(ctx, func(_ pgx.Tx, q *queries.Queries) error {
		deleted, err := q.TakeKeptEvent(ctx, kept)
		if err != nil || deleted == 0 {
			return err
		}
		moved = true
		return s.reach(ctx, q, to, key, signal)
	})
	return moved, err
}

func (s *Store) decodeKept(team uuid.UUID, stored []byte) (execution.Signal, error) {
	encoded, err := s.keys.Unbox(keptPlace(team), stored)
	if err != nil {
		return execution.Signal{}, err
	}
	m, err := decodeMessage([]byte(`{"signal":` + string(encoded) + `}`))
	if err != nil {
		return execution.Signal{}, err
	}
	return *m.Signal, nil
}

// OpenWaits reports the open event waits of an execution, so that a worker that takes it over can look for
// kept events that its predecessor had no time to fetch.
func (s *Store) OpenWaits(ctx context.Context, id uuid.UUID) ([]execution.WaitRow, error) {
	const open = `select activity, item, name, correlation, has_where from event_waits where execution_id = $1 order by 1, 2`
	rows, err := s.pool.Query(ctx, open, id)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (execution.WaitRow, error) {
		var w execution.WaitRow
		err := row.Scan(&w.Activity, &w.Item, &w.Name, &w.Correlation, &w.HasWhere)
		return w, err
	})
}
