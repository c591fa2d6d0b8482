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
	By       string // who is named where an execution has to make room
}

// Slot asks for a slot of the pool for a new execution.
func (l Limit) Slot(held bool) PermitRequest {
	return PermitRequest{Permit: execution.Permit{Name: l.Name, Capacity: l.Capacity}, Held: held, Replaces: l.OnLimit == "replace", By: l.By}
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
// waiting for a slot or not; it is called at most once.
func (s *Store) BeginLimited(ctx context.Context, team uuid.UUID, limit Limit, make func(waits bool) (*Flush, error)) (admission Admission, err error) {
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
		}
		flush, err := make(waits)
		if err != nil {
			return err
		}
		admission = Admitted
		flush.Asked = append(flush.Asked, limit.Slot(!waits))
		return s.writeIn(ctx, tx, flush)
	})
	if isUnique(err) {
		err = ErrDuplicate
	}
	return admission, err
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

// StartedWith finds the execution that a key started within the last 24 hours, and the hash of that
// request; ErrNotFound when there is none.
func (s *Store) StartedWith(ctx context.Context, team uuid.UUID, workflow, key string) (id uuid.UUID, hash []byte, err error) {
	row, err := s.q.StartKey(ctx, team, workflow, key)
	if errors.Is(err, pgx.ErrNoRows) {
		return uuid.Nil, nil, ErrNotFound
	}
	return row.ExecutionID, row.RequestHash, err
}
