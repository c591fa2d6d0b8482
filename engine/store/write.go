package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"weftline/engine/execution"
	"weftline/queries"
)

// write stores a group of flushes in one transaction and one round trip: a pipelined batch is a
// transaction by itself. Statements on many rows go by execution id, so that groups cannot deadlock on
// them; locks by name come first and sorted.
func (s *Store) write(ctx context.Context, group []*pending) error {
	w := newWriter(s, group)
	if err := w.build(); err != nil {
		return err
	}
	return s.pool.SendBatch(ctx, &w.batch).Close()
}

// writeIn stores one flush as a part of a transaction.
func (s *Store) writeIn(ctx context.Context, tx pgx.Tx, flush *Flush) error {
	w := newWriter(s, []*pending{{flush: flush}})
	if err := w.build(); err != nil {
		return err
	}
	return tx.SendBatch(ctx, &w.batch).Close()
}

func (w *writer) build() error {
	for _, f := range w.flushes {
		if err := w.store.pack(f); err != nil {
			return fmt.Errorf("seal the history of execution %s: %w", f.Execution, err)
		}
	}
	w.locks()
	w.histories()
	w.executions()
	w.statuses()
	w.recovered()
	w.otherWaits()
	w.queueRows()
	w.drained()
	for _, f := range w.flushes {
		if err := w.consequences(f); err != nil {
			return err
		}
	}
	w.endedWaits()
	w.turns()
	w.releases()
	w.parkings()
	return nil
}

// writer gathers the statements of one transaction.
type writer struct {
	store   *Store
	group   []*pending
	flushes []*Flush // of the group and their children, by execution id
	batch   pgx.Batch
}

func newWriter(s *Store, group []*pending) *writer {
	w := &writer{store: s, group: group}
	for _, p := range group {
		p.out = Written{Parked: p.flush.parksAtBirth()}
		w.flushes = append(w.flushes, p.flush)
		w.flushes = append(w.flushes, p.flush.Children...)
	}
	slices.SortFunc(w.flushes, func(a, b *Flush) int { return cmp.Compare(string(a.Execution[:]), string(b.Execution[:])) })
	return w
}

// column makes an array parameter: one value of each row.
func column[R, V any](rows []R, value func(R) V) []V {
	values := make([]V, len(rows))
	for i, row := range rows {
		values[i] = value(row)
	}
	return values
}

func (w *writer) those(has func(*Flush) bool) []*Flush {
	var rows []*Flush
	for _, f := range w.flushes {
		if has(f) {
			rows = append(rows, f)
		}
	}
	return rows
}

func executionID(f *Flush) pgtype.UUID { return pgtype.UUID{Bytes: f.Execution, Valid: true} }

// locks serializes with everybody who posts events to the waits opened here or uses the same permits.
func (w *writer) locks() {
	var events, permits [][3]string
	for _, f := range w.flushes {
		for _, wait := range f.WaitsOpen {
			events = append(events, [3]string{f.Team.String(), clean(wait.Name), clean(wait.Correlation)})
		}
		for _, asked := range f.Asked {
			if asked.PerSecond == 0 {
				permits = append(permits, [3]string{f.Team.String(), clean(asked.Name)})
			}
		}
		for _, released := range f.Released {
			permits = append(permits, [3]string{f.Team.String(), clean(released.Name)})
		}
	}
	w.childLocks()
	for _, key := range sortedUnique(events) {
		w.batch.Queue(`select event_lock($1, $2, $3)`, key[0], key[1], key[2])
	}
	for _, key := range sortedUnique(permits) {
		w.batch.Queue(`select permit_lock($1, $2)`, key[0], key[1])
	}
}

// childLocks serializes the ends of shared children with those who join them.
func (w *writer) childLocks() {
	var children []string
	for _, f := range w.flushes {
		if f.Shared != nil {
			children = append(children, f.Execution.String())
		}
		for _, join := range f.Joins {
			children = append(children, join.Child.String())
		}
	}
	slices.Sort(children)
	for _, child := range slices.Compact(children) {
		w.batch.Queue(`select child_lock($1)`, child)
	}
}

// joins opens and ends the waits for shared children.
func (w *writer) joins(f *Flush) error {
	for _, join := range f.Joins {
		w.batch.Queue(`insert into child_waits (child_id, execution_id, activity, item) values ($1, $2, $3, $4) on conflict do nothing`,
			join.Child, f.Execution, join.Activity, clean(join.Item))
	}
	if f.EndsJoins {
		w.batch.Queue(`delete from child_waits where execution_id = $1`, f.Execution)
	}
	if f.Shared == nil {
		return nil
	}
	output, err := json.Marshal(f.Shared.Output)
	if err != nil {
		return fmt.Errorf("encode the output of execution %s: %w", f.Execution, err)
	}
	w.batch.Queue(`select tell_joined($1, $2, $3::json, $4::json)`, f.Execution, f.Shared.Status, string(output), errorJSON(f.Shared.Error))
	return nil
}

func sortedUnique(keys [][3]string) [][3]string {
	slices.SortFunc(keys, func(a, b [3]string) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]), cmp.Compare(a[2], b[2]))
	})
	return slices.Compact(keys)
}

func (w *writer) histories() {
	rows := w.those(func(f *Flush) bool { return f.Events != nil })
	if len(rows) == 0 {
		return
	}
	w.batch.Queue(`insert into history (execution_id, first_seq, last_seq, at, events)
		select * from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::timestamptz[], $5::bytea[])`,
		column(rows, executionID),
		column(rows, func(f *Flush) int64 { return f.FirstSeq }),
		column(rows, func(f *Flush) int64 { return f.LastSeq }),
		column(rows, func(f *Flush) time.Time { return f.At }),
		column(rows, func(f *Flush) []byte { return f.packed }))
}

func (w *writer) executions() {
	rows := w.those(func(f *Flush) bool { return f.Begin != nil })
	if len(rows) == 0 {
		return
	}
	w.batch.Queue(`insert into executions (id, team_id, partition, workflow, version, content_hash, mode, status,
			correlation_id, priority, labels, started_by, parent_id, error, created_at, updated_at, finished_at, keep_until, deadline, queue, region, waits)
		select id, team, partition, workflow, version, hash, mode, status, correlation, priority, labels::jsonb,
			started_by, parent, error::json, at, at, finished, keep, deadline, queue, region, waits::json
		from unnest($1::uuid[], $2::uuid[], $3::smallint[], $4::text[], $5::int[], $6::text[], $7::text[], $8::text[],
			$9::text[], $10::text[], $11::text[], $12::uuid[], $13::timestamptz[], $14::text[], $15::text[],
			$16::timestamptz[], $17::timestamptz[], $18::timestamptz[], $19::text[], $20::text[], $21::text[])
			as u(id, team, partition, workflow, version, hash, mode, correlation, priority, labels, started_by, parent, at,
				status, error, finished, keep, deadline, queue, region, waits)`,
		column(rows, executionID),
		column(rows, func(f *Flush) pgtype.UUID { return pgtype.UUID{Bytes: f.Team, Valid: true} }),
		column(rows, func(f *Flush) int16 { return w.store.Partition(f.Execution) }),
		column(rows, func(f *Flush) string { return f.Workflow }),
		column(rows, func(f *Flush) int32 { return int32(f.Begin.Version) }),
		column(rows, func(f *Flush) string { return f.Begin.ContentHash }),
		column(rows, func(f *Flush) string { return f.Begin.Mode }),
		column(rows, func(f *Flush) string { return f.Begin.CorrelationID }),
		column(rows, func(f *Flush) string { return f.Begin.Priority }),
		column(rows, func(f *Flush) string { return labelsJSON(f.Begin.Labels) }),
		column(rows, func(f *Flush) string { return f.Begin.StartedBy }),
		column(rows, func(f *Flush) pgtype.UUID { return optionalUUID(f.Begin.Parent) }),
		column(rows, func(f *Flush) time.Time { return f.At }),
		column(rows, func(f *Flush) string { return f.Begin.Status }),
		column(rows, func(f *Flush) *string { return errorJSON(f.Begin.Error) }),
		column(rows, func(f *Flush) *time.Time { return optional(f.Begin.Finished) }),
		column(rows, func(f *Flush) *time.Time { return optional(f.Begin.KeepUntil) }),
		column(rows, func(f *Flush) *time.Time { return f.Begin.Deadline }),
		column(rows, func(f *Flush) string { return clean(f.Begin.Queue) }),
		column(rows, func(f *Flush) string { return clean(f.Begin.Region) }),
		column(rows, waitsJSON))
	w.startKeys(rows)
	w.audits(rows)
}

// audits writes the lines of starts that somebody asked for.
func (w *writer) audits(begun []*Flush) {
	var lines []*queries.WriteAuditParams
	for _, f := range begun {
		if f.Begin.Audit != nil {
			lines = append(lines, f.Begin.Audit)
		}
	}
	if len(lines) == 0 {
		return
	}
	type line = *queries.WriteAuditParams
	w.batch.Queue(`insert into audit (team_id, actor, via, action, target, target_name, detail, address, request)
		select team, actor, via, action, target, name, detail::json, address, request
		from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
			as u(team, actor, via, action, target, name, detail, address, request)`,
		column(lines, func(l line) pgtype.UUID { return pgtype.UUID{Bytes: l.TeamID, Valid: true} }),
		column(lines, func(l line) string { return l.Actor }),
		column(lines, func(l line) string { return l.Via }),
		column(lines, func(l line) string { return l.Action }),
		column(lines, func(l line) string { return l.Target }),
		column(lines, func(l line) string { return l.TargetName }),
		column(lines, func(l line) string { return string(l.Detail) }),
		column(lines, func(l line) string { return l.Address }),
		column(lines, func(l line) string { return l.Request }))
}

func (w *writer) startKeys(begun []*Flush) {
	for _, f := range begun {
		if key := f.Begin.Key; key != nil {
			w.batch.Queue(`delete from start_keys where team_id = $1 and workflow = $2 and key = $3
				and created_at <= now() - interval '24 hours'`, f.Team, f.Workflow, key.Key)
			w.batch.Queue(`insert into start_keys (team_id, workflow, key, request_hash, execution_id)
				values ($1, $2, $3, $4, $5)`, f.Team, f.Workflow, key.Key, key.Hash, f.Execution)
		}
	}
}

func (w *writer) statuses() {
	rows := w.those(func(f *Flush) bool { return f.Status != nil })
	if len(rows) == 0 {
		return
	}
	w.batch.Queue(`update executions e set status = u.status, error = u.error::json, updated_at = u.at,
			finished_at = u.finished, keep_until = u.keep, incident = null, incidents = 0, waits = u.waits::json
		from unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[], $7::text[])
			as u(id, status, error, at, finished, keep, waits)
		where e.id = u.id`,
		column(rows, executionID),
		column(rows, func(f *Flush) string { return f.Status.Status }),
		column(rows, func(f *Flush) *string { return errorJSON(f.Status.Error) }),
		column(rows, func(f *Flush) time.Time { return f.At }),
		column(rows, func(f *Flush) *time.Time { return optional(f.Status.Finished) }),
		column(rows, func(f *Flush) *time.Time { return optional(f.Status.KeepUntil) }),
		column(rows, waitsJSON))
}

// waitsJSON is what lists say of an execution that waits.
func waitsJSON(f *Flush) *string {
	if len(f.Waits) == 0 {
		return nil
	}
	encoded, err := json.Marshal(f.Waits)
	if err != nil {
		return nil // they are plain values
	}
	text := string(encoded)
	return &text
}

// otherWaits writes what executions wait for that wait as before, but for something else.
func (w *writer) otherWaits() {
	rows := w.those(func(f *Flush) bool { return f.Begin == nil && f.Status == nil && f.Waits != nil })
	if len(rows) == 0 {
		return
	}
	w.batch.Queue(`update executions e set waits = u.waits::json from unnest($1::uuid[], $2::text[]) as u(id, waits) where e.id = u.id`,
		column(rows, executionID), column(rows, waitsJSON))
}

func (w *writer) recovered() {
	if rows := w.those(func(f *Flush) bool { return f.Recovered }); len(rows) > 0 {
		w.batch.Queue(`update executions set crashes = 0 where id = any($1::uuid[])`, column(rows, executionID))
	}
}

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

// consequences writes what most flushes do not have.
func (w *writer) consequences(f *Flush) error {
	if f.Checkpoint != nil {
		state, err := w.store.packSealed(statePlace(f.Execution), f.Checkpoint, f.Sealed)
		if err != nil {
			return fmt.Errorf("seal the state of execution %s: %w", f.Execution, err)
		}
		w.batch.Queue(`insert into checkpoints (execution_id, seq, state) values ($1, $2, $3)
			on conflict (execution_id) do update set seq = excluded.seq, state = excluded.state`,
			f.Execution, f.LastSeq, state)
	}
	for _, task := range f.Tasks {
		if err := w.task(f, task); err != nil {
			return err
		}
	}
	if len(f.Files) > 0 {
		w.batch.Queue(`insert into file_uses (file_id, execution_id)
			select id, $2 from files where id = any($1::uuid[]) and team_id = $3 on conflict do nothing`, f.Files, f.Execution, f.Team)
	}
	w.waits(f)
	w.permits(f)
	if err := w.joins(f); err != nil {
		return err
	}
	w.withdrawals(f)
	w.offers(f)
	for _, notice := range f.Notices {
		message, err := w.store.encodeMessage(notice.Message)
		if err != nil {
			return fmt.Errorf("encode a message for execution %s: %w", notice.To, err)
		}
		w.batch.Queue(`select deliver($1, $2)`, notice.To, message)
	}
	if f.Ended && f.HasLimits {
		w.batch.Queue(`select release_permits($1)`, f.Execution)
	}
	return nil
}

// endedWaits closes what executions waited for that are over.
func (w *writer) endedWaits() {
	if rows := w.those(func(f *Flush) bool { return f.Ended && f.Begin == nil }); len(rows) > 0 {
		w.batch.Queue(`delete from event_waits where execution_id = any($1::uuid[])`, column(rows, executionID))
	}
}

func (w *writer) waits(f *Flush) {
	for _, wait := range f.WaitsEnded {
		w.batch.Queue(`delete from event_waits where execution_id = $1 and activity = $2 and item = $3`,
			f.Execution, wait.Activity, clean(wait.Item))
	}
	for _, wait := range f.WaitsOpen {
		w.batch.Queue(`insert into event_waits (execution_id, activity, item, team_id, name, correlation, has_where, until)
			values ($1, $2, $3, $4, $5, $6, $7, $8)
			on conflict (execution_id, activity, item) do update set name = excluded.name,
				correlation = excluded.correlation, has_where = excluded.has_where, until = excluded.until`,
			f.Execution, wait.Activity, clean(wait.Item), f.Team, clean(wait.Name), clean(wait.Correlation),
			wait.HasWhere, optional(wait.Until))
	}
}

// permits asks for slots and gives slots back; each name touched is granted anew in this transaction.
func (w *writer) permits(f *Flush) {
	var names []string
	for _, released := range f.Released {
		w.batch.Queue(`delete from permits where team_id = $1 and name = $2 and execution_id = $3 and activity = $4 and item = $5`,
			f.Team, clean(released.Name), f.Execution, released.Activity, clean(released.Item))
		names = append(names, clean(released.Name))
	}
	for _, asked := range f.Asked {
		if asked.PerSecond > 0 {
			continue
		}
		w.batch.Queue(`insert into permits (team_id, name, execution_id, activity, item, capacity, held)
			values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
			f.Team, clean(asked.Name), f.Execution, asked.Activity, clean(asked.Item), asked.Capacity, asked.Held)
		if !asked.Held {
			names = append(names, clean(asked.Name))
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		w.batch.Queue(`select grant_permits($1, $2)`, f.Team, name)
	}
}

// turns takes the next free turns of limits of starts a second, in the order of their names, so that groups
// cannot deadlock on them.
func (w *writer) turns() {
	type ask struct {
		flush *Flush
		PermitRequest
	}
	var asks []ask
	for _, f := range w.flushes {
		for _, asked := range f.Asked {
			if asked.PerSecond > 0 {
				asks = append(asks, ask{f, asked})
			}
		}
	}
	slices.SortStableFunc(asks, func(a, b ask) int {
		return cmp.Or(cmp.Compare(string(a.flush.Team[:]), string(b.flush.Team[:])), cmp.Compare(a.Name, b.Name))
	})
	for _, a := range asks {
		w.batch.Queue(`select take_turn($1, $2, $3, $4, $5, $6)`, a.flush.Team, clean(a.Name), a.PerSecond,
			a.flush.Execution, a.Activity, clean(a.Item))
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
			where r.execution_id = u.id and r.owner = u.owner
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

func optionalUUID(id *uuid.UUID) pgtype.UUID {
	if id == nil {
		return pgtype.UUID{}
	}
	return pgtype.UUID{Bytes: *id, Valid: true}
}

func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func labelsJSON(labels map[string]string) string {
	if len(labels) == 0 {
		return "{}"
	}
	text, _ := json.Marshal(labels) // strings cannot fail
	return string(text)
}

func errorJSON(e *execution.Error) *string {
	if e == nil {
		return nil
	}
	text, err := json.Marshal(e)
	if err != nil {
		text, _ = json.Marshal(execution.Error{Type: e.Type, Class: e.Class, Message: e.Message})
	}
	s := string(text)
	return &s
}

// clean makes a text storable: PostgreSQL's text has no NUL, which is shown as U+FFFD.
func clean(text string) string { return strings.ReplaceAll(text, "\x00", "\uFFFD") }
