-- name: ComingPeriods :many
-- Weeks that begin soon and have no table yet. Taken: the rest holds something of them, so that they never get one.
select w.begins::timestamptz as begins, (w.begins + interval '7 days')::timestamptz as ends, exists (
        select from history_rest h where h.execution_id >= first_id(w.begins) and h.execution_id < first_id(w.begins + interval '7 days')
    )::bool as taken
from generate_series(week_of(now() + interval '8 days'), now() + interval '15 days', interval '7 days') as w(begins)
where not exists (select from history_periods p where p.begins_at < w.begins + interval '7 days' and p.ends_at > w.begins)
order by w.begins;

-- name: RestIsSmall :one
-- The rest can be looked through in a moment.
select (pg_relation_size('history_rest') <= @most_bytes::bigint)::bool;

-- name: ShutRest :exec
select shut_rest(@begins, @ends);

-- name: LookThroughRest :exec
select look_through_rest(@begins);

-- name: OpenRest :exec
-- Whatever may begin within a day gets into the rest if there is no period for it.
select open_rest(now() + interval '1 day');

-- name: AddPeriod :exec
select add_history_period(@begins, @ends);

-- name: ClosePeriods :exec
-- A period closes when it is over and all that is left of it goes within as long as it lasted. The latest are looked at
-- first: they are kept the longest for the most part.
update history_periods p set closing_since = now()
where p.closing_since is null and p.ends_at <= now() and not exists (
    select from (
        select e.id from executions e join teams t on t.id = e.team_id
        where e.id >= first_id(p.begins_at) and e.id < first_id(p.ends_at) and (e.keep_until is null
            or greatest(e.keep_until, e.finished_at + retention_of(t.policy)) > now() + (p.ends_at - p.begins_at))
        order by e.id desc limit 1
    ) as longer
);

-- name: ClosingPeriods :many
-- Overdue: something is kept for longer than was foreseen, and so is its period.
select p.begins_at, first_id(p.begins_at)::uuid as first, first_id(p.ends_at)::uuid as below,
    (p.closing_since + (p.ends_at - p.begins_at) + interval '1 day' <= now()
        and exists (select from executions e where e.id >= first_id(p.begins_at) and e.id < first_id(p.ends_at)))::bool as overdue
from history_periods p where p.closing_since is not null order by p.begins_at;

-- name: DropPeriod :one
select drop_history_period(@begins)::bool;

-- name: SweepHistory :one
-- Deletes, of the executions of a page, the histories that stayed when the execution was deleted. Answers after whom the
-- next page begins; below is the end.
with page as (
    select distinct h.execution_id from history h
    where h.execution_id > @after::uuid and h.execution_id < @below::uuid order by h.execution_id limit @batch
), gone as (
    delete from history h using page where h.execution_id = page.execution_id
        and not exists (select from executions e where e.id = page.execution_id)
)
select coalesce((select page.execution_id from page order by page.execution_id desc limit 1), @below::uuid)::uuid as next;

-- name: ReopenPeriod :exec
update history_periods set closing_since = null where begins_at = @begins;
