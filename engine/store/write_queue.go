package store

import (
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// queueRows makes new executions ready, owned by the writer or free for anybody.
func (w *writer) queueRows() {
	rows := w.those(func(f *Flush) bool { return f.Begin != nil && !f.parksAtBirth() })
	if len(rows) == 0 {
		return
	}
	w.batch.Queue(`insert into ready (execution_id, partition, turn, priority, team_id, workflow, owner, deadline, claimed_at, queue, region)
		select id, partition, turn_of(priority), priority, team, workflow, owner, deadline, case when owner is not null then now() end, queue, region
		from unnest($1::uuid[], $2::smallint[], $3::text[], $4::uuid[], $5::text[], $6::uuid[], $7::timestamptz[], $8::text[], $9::text[])
			as u(id, partition, priority, team, workflow, owner, deadline, queue, region)`,
		column(rows, executionID),
		column(rows, func(f *Flush) int16 { return w.store.Partition(f.Execution) }),
		column(rows, func(f *Flush) string { return f.Begin.Priority }),
		column(rows, func(f *Flush) pgtype.UUID { return pgtype.UUID{Bytes: f.Team, Valid: true} }),
		column(rows, func(f *Flush) string { return f.Workflow }),
		column(rows, (*Flush).firstOwner),
		column(rows, func(f *Flush) *time.Time { return f.Begin.Deadline }),
		column(rows, func(f *Flush) string { return clean(f.Begin.Queue) }),
		column(rows, func(f *Flush) string { return clean(f.Begin.Region) }))
}

func (f *Flush) firstOwner() pgtype.UUID {
	return pgtype.UUID{Bytes: f.Owner, Valid: f.Begin.Owned && f.Leave == nil}
}

func (w *writer) drained() {
	var executions []uuid.UUID
	var ids []int64
	for _, f := range w.flushes {
		for _, id := range f.Drained {
			executions, ids = append(executions, f.Execution), append(ids, id)
		}
	}
	if len(ids) > 0 {
		w.batch.Queue(`delete from inbox i using unnest($1::uuid[], $2::bigint[]) as u(execution_id, id)
			where i.execution_id = u.execution_id and i.id = u.id`, executions, ids)
	}
}

// releases hands executions that have work to do back to the queue.
func (w *writer) releases() {
	rows := w.those(func(f *Flush) bool {
		return f.Begin == nil && f.Leave != nil && f.Leave.Release && f.Leave.Attended == 0
	})
	if len(rows) > 0 {
		w.batch.Queue(`update ready r set owner = null, turn = turn_of(r.priority), since = now(), claimed_at = null, attended = null
			from unnest($1::uuid[], $2::uuid[]) as u(id, owner)
			where r.execution_id = u.id and r.owner is not distinct from u.owner`,
			column(rows, executionID), column(rows, (*Flush).owner))
	}
	w.attended()
	for _, p := range w.group {
		if p.flush.Leave != nil && p.flush.Leave.Release {
			p.out.Parked = true
		}
	}
}

// attended gives back what was attended: where it was in line, with a timer for what is due next.
func (w *writer) attended() {
	rows := w.those(func(f *Flush) bool { return f.Leave != nil && f.Leave.Attended != 0 })
	if len(rows) == 0 {
		return
	}
	w.batch.Queue(`with back as (
			update ready r set owner = null, claimed_at = null, attended = u.wakes
			from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::timestamptz[]) as u(id, owner, wakes, due)
			where r.execution_id = u.id and r.owner is not distinct from u.owner
			returning r.execution_id, r.partition, u.due
		)
		insert into timers (execution_id, partition, due_at)
		select execution_id, partition, due from back where due is not null
		on conflict (execution_id) do update set due_at = excluded.due_at`,
		column(rows, executionID), column(rows, (*Flush).owner),
		column(rows, func(f *Flush) int64 { return f.Leave.Attended }),
		column(rows, func(f *Flush) *time.Time { return optional(f.Leave.Due) }))
}

func (f *Flush) owner() pgtype.UUID { return pgtype.UUID{Bytes: f.Owner, Valid: true} }

// parkings comes last: a wake-up made by the same transaction must be seen.
func (w *writer) parkings() {
	rows := w.those(func(f *Flush) bool { return f.Leave != nil && !f.Leave.Release && f.Begin == nil })
	born := w.those(func(f *Flush) bool { return f.parksAtBirth() && !f.Leave.Due.IsZero() })
	if len(born) > 0 {
		w.batch.Queue(`insert into timers (execution_id, partition, due_at)
			select * from unnest($1::uuid[], $2::smallint[], $3::timestamptz[])`,
			column(born, executionID),
			column(born, func(f *Flush) int16 { return w.store.Partition(f.Execution) }),
			column(born, func(f *Flush) time.Time { return f.Leave.Due }))
	}
	if len(rows) == 0 {
		return
	}
	w.batch.Queue(parkSQL,
		column(rows, executionID),
		column(rows, (*Flush).owner),
		column(rows, func(f *Flush) int64 { return f.Leave.Wakes }),
		column(rows, func(f *Flush) int16 { return w.store.Partition(f.Execution) }),
		column(rows, func(f *Flush) *time.Time { return optional(f.Leave.Due) }),
	).Query(w.readParked)
}

// parkSQL deletes the queue rows that nobody woke and sets or clears the timers of those executions.
const parkSQL = `with p as (
		select * from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::smallint[], $5::timestamptz[])
			as u(id, owner, wakes, partition, due)
	), gone as (
		delete from ready r using p where r.execution_id = p.id and r.owner is not distinct from p.owner and r.wakes = p.wakes
		returning p.id, p.partition, p.due
	), awake as (
		delete from timers t using gone where t.execution_id = gone.id and gone.due is null
	), asleep as (
		insert into timers (execution_id, partition, due_at)
		select id, partition, due from gone where due is not null
		on conflict (execution_id) do update set due_at = excluded.due_at
	)
	select id from gone`

func (w *writer) readParked(rows pgx.Rows) error {
	parked, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return err
	}
	for _, p := range w.group {
		p.out.Parked = p.out.Parked || slices.Contains(parked, p.flush.Execution)
	}
	return nil
}
