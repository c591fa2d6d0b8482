package store

import (
	"encoding/json"
	"strings"
	"time"
	"weftline/engine/execution"
	"weftline/queries"

	"github.com/jackc/pgx/v5/pgtype"
)

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
