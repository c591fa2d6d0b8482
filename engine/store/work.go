package store

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"weftline/engine/execution"
	"weftline/engine/flow"
	"weftline/queries"
)

// WorkKey names an attempt within its execution.
type WorkKey struct {
	Activity, Item string
	Compensating   bool
	Attempt        int
}

// Offer is an attempt that any fitting worker may lease.
type Offer struct {
	WorkKey
	Hook      string
	Needs     string            // what its worker must be able to run
	Queue     string            // "" = the default queue
	Labels    map[string]string // must be among the worker's
	Prefer    map[string]string // should be among the worker's, for PreferFor
	PreferFor time.Duration
	Priority  string
	Timeout   time.Duration // of the attempt, 0 = none
	Body      []byte        // what the worker is given
}

// offers writes the attempts that are left to others. An owner that lost the execution without knowing it
// offers nothing; of one that comes into being with this flush there is no other owner.
func (w *writer) offers(f *Flush) {
	if len(f.Offers) == 0 {
		return
	}
	w.batch.Queue(`insert into work (execution_id, activity, item, compensating, attempt, hook, team_id, workflow, needs, queue,
			labels, prefer, prefer_until, turn, timeout_ms, body)
		select $1, activity, item, compensating, attempt, hook, $2, $3, needs, queue, labels::jsonb, prefer::jsonb,
			case when prefer <> '{}' then now() + make_interval(secs => prefer_ms / 1000.0) end, turn_of(priority), timeout_ms, body
		from unnest($5::text[], $6::text[], $7::bool[], $8::int[], $9::text[], $10::text[], $11::text[], $12::text[],
			$13::text[], $14::bigint[], $15::text[], $16::bigint[], $17::bytea[])
			as u(activity, item, compensating, attempt, hook, needs, queue, labels, prefer, prefer_ms, priority, timeout_ms, body)
		where $18 or exists (select from ready r where r.execution_id = $1 and r.owner = $4 for share)
		on conflict (execution_id, activity, item, compensating) do update set attempt = excluded.attempt, hook = excluded.hook,
			needs = excluded.needs, queue = excluded.queue, labels = excluded.labels, prefer = excluded.prefer,
			prefer_until = excluded.prefer_until, turn = excluded.turn, timeout_ms = excluded.timeout_ms, body = excluded.body,
			offered_at = now(), worker_id = null, lease = null, leased_at = null, expires_at = null, deadline = null`,
		f.Execution, f.Team, f.Workflow, f.Owner,
		column(f.Offers, func(o Offer) string { return o.Activity }),
		column(f.Offers, func(o Offer) string { return clean(o.Item) }),
		column(f.Offers, func(o Offer) bool { return o.Compensating }),
		column(f.Offers, func(o Offer) int32 { return int32(o.Attempt) }),
		column(f.Offers, func(o Offer) string { return o.Hook }),
		column(f.Offers, func(o Offer) string { return clean(o.Needs) }),
		column(f.Offers, Offer.queue),
		column(f.Offers, func(o Offer) string { return labelsJSON(o.Labels) }),
		column(f.Offers, func(o Offer) string { return labelsJSON(o.Prefer) }),
		column(f.Offers, func(o Offer) int64 { return o.PreferFor.Milliseconds() }),
		column(f.Offers, func(o Offer) string { return o.Priority }),
		column(f.Offers, func(o Offer) int64 { return o.Timeout.Milliseconds() }),
		column(f.Offers, func(o Offer) []byte { return o.Body }),
		f.parksAtBirth())
}

func (o Offer) queue() string {
	if o.Queue == "" {
		return flow.DefaultQueue
	}
	return clean(o.Queue)
}

// withdrawals take offers back; whoever holds one learns that its lease is lost.
func (w *writer) withdrawals(f *Flush) {
	if len(f.Withdrawn) == 0 {
		return
	}
	w.batch.Queue(`delete from work w using unnest($2::text[], $3::text[], $4::bool[], $5::int[]) as u(activity, item, compensating, attempt)
		where w.execution_id = $1 and w.activity = u.activity and w.item = u.item and w.compensating = u.compensating and w.attempt = u.attempt`,
		pgtype.UUID{Bytes: f.Execution, Valid: true},
		column(f.Withdrawn, func(k WorkKey) string { return k.Activity }),
		column(f.Withdrawn, func(k WorkKey) string { return clean(k.Item) }),
		column(f.Withdrawn, func(k WorkKey) bool { return k.Compensating }),
		column(f.Withdrawn, func(k WorkKey) int32 { return int32(k.Attempt) }))
}

// TakeBack deletes the offers that nobody has leased, and answers them. Nobody can lease them any more; an attempt that
// was leased has begun. An owner that lost the execution without knowing it takes nothing back.
func (s *Store) TakeBack(ctx context.Context, id, owner uuid.UUID, keys []WorkKey) ([]WorkKey, error) {
	rows, err := s.pool.Query(ctx, `delete from work w using unnest($3::text[], $4::text[], $5::bool[], $6::int[]) as u(activity, item, compensating, attempt)
		where w.execution_id = $1 and w.activity = u.activity and w.item = u.item and w.compensating = u.compensating and w.attempt = u.attempt
			and w.worker_id is null and exists (select from ready r where r.execution_id = $1 and r.owner = $2)
		returning w.activity, w.item, w.compensating, w.attempt`, id, owner,
		column(keys, func(k WorkKey) string { return k.Activity }),
		column(keys, func(k WorkKey) string { return clean(k.Item) }),
		column(keys, func(k WorkKey) bool { return k.Compensating }),
		column(keys, func(k WorkKey) int32 { return int32(k.Attempt) }))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[WorkKey])
}

// awayByExecution sorts the attempts that are offered or leased. They must be read before the inboxes of their
// executions: what ends in between is then known by its result.
func awayByExecution(rows []queries.AwayWorkRow) map[uuid.UUID][]WorkKey {
	away := map[uuid.UUID][]WorkKey{}
	for _, row := range rows {
		away[row.ExecutionID] = append(away[row.ExecutionID], WorkKey{row.Activity, row.Item, row.Compensating, int(row.Attempt)})
	}
	return away
}

// withResults are the attempts that others make or have made: those that are away, and those whose result waits
// in the inbox.
func withResults(away []WorkKey, inbox []Received) []WorkKey {
	for _, received := range inbox {
		if r := received.Message.Result; r != nil {
			away = append(away, WorkKey{r.Activity, r.Item, r.Compensating, r.Attempt})
		}
	}
	return away
}

// EncodeResult is the message that a result becomes in the inbox of its execution.
func (s *Store) EncodeResult(result execution.Result) ([]byte, error) {
	return s.encodeMessage(execution.Message{Result: &result})
}

// Plain turns each json.Number in a decoded value into int64 where it is whole and fits, else into float64.
func Plain(value any) any { return plain(value) }
