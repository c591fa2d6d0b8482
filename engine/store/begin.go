package store

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"weftline/engine/execution"
	"weftline/queries"
)

// Limit is the concurrency pool of a workflow, as its definition says.
type Limit struct {
	Name     string
	Capacity int
	OnLimit  string // queue, skip, replace, reject
	QueueMax int
}

// Admission says what a limit did to a start.
type Admission string

// Admissions.
const (
	Admitted Admission = "admitted" // begun, or in line for a slot
	Skipped  Admission = "skipped"
	Rejected Admission = "rejected"
)

// BeginAll creates executions in one transaction: all or none.
func (s *Store) BeginAll(ctx context.Context, flushes []*Flush) error {
	group := make([]*pending, len(flushes))
	for i, f := range flushes {
		group[i] = &pending{flush: f}
	}
	err := s.write(ctx, group)
	if isUnique(err) {
		return ErrDuplicate
	}
	return err
}

// BeginLimited creates an execution of a workflow with a concurrency limit. make builds its first flush,
// waiting for a slot or not; it is called at most once. replaced is the holder that was told to make room.
func (s *Store) BeginLimited(ctx context.Context, team uuid.UUID, limit Limit, by string, make func(waits bool) (*Flush, error)) (admission Admission, replaced uuid.UUID, err error) {
	err = s.Tx(ctx, func(tx pgx.Tx, q *queries.Queries) error {
		if err := q.LockPermit(ctx, team, limit.Name); err != nil {
			return err
		}
		line, err := q.PermitLine(ctx, team, limit.Name)
		if err != nil {
			return err
		}
		waits := int(line.Held) >= limit.Capacity || line.Waiting > 0
		if waits {
			if admission = limit.whenFull(int(line.Waiting)); admission != Admitted {
				return nil
			}
			if replaced, err = s.makeRoom(ctx, q, team, limit, by); err != nil {
				return err
			}
		}
		flush, err := make(waits)
		if err != nil {
			return err
		}
		admission = Admitted
		flush.Asked = append(flush.Asked, PermitRequest{Permit: execution.Permit{Name: limit.Name, Capacity: limit.Capacity}, Held: !waits})
		return s.writeIn(ctx, tx, flush)
	})
	if isUnique(err) {
		err = ErrDuplicate
	}
	return admission, replaced, err
}

func (l Limit) whenFull(waiting int) Admission {
	switch {
	case l.OnLimit == "skip":
		return Skipped
	case l.OnLimit == "reject", l.OnLimit != "replace" && waiting >= l.QueueMax:
		return Rejected
	}
	return Admitted
}

// makeRoom cancels the oldest holder when the limit says replace; its end gives the slot away.
func (s *Store) makeRoom(ctx context.Context, q *queries.Queries, team uuid.UUID, limit Limit, by string) (uuid.UUID, error) {
	if limit.OnLimit != "replace" {
		return uuid.Nil, nil
	}
	oldest, err := q.OldestHolder(ctx, team, limit.Name)
	if errors.Is(err, pgx.ErrNoRows) {
		return uuid.Nil, nil
	}
	if err != nil {
		return uuid.Nil, err
	}
	_, err = s.DeliverIn(ctx, q, oldest, execution.Message{Cancel: &execution.Cancel{By: by, Reason: "replaced by a newer execution"}})
	return oldest, err
}

// StartedWith finds the execution that a key started within the last 24 hours, and the hash of that
// request; ErrNotFound when there is none.
func (s *Store) StartedWith(ctx context.Context, team uuid.UUID, workflow, key string) (id uuid.UUID, hash []byte, err error) {
	row, err := s.q.StartKey(ctx, team, workflow, key)
	if errors.Is(err, pgx.ErrNoRows) {
		return uuid.Nil, nil, ErrNotFound
	}
	return row.ExecutionID, row.RequestHash, err
}
