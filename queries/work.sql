-- name: ClaimWork :many
-- Leases what is open and fits a worker, oldest turn first. The execution of each is told in the same
-- statement that its attempt starts, and woken; message is the last such note of that execution. Of the parts of w one is
-- asked: those of one execution, of the worker's workflows, queues or team, or all, each by an index of its own, so
-- that a backlog for others is not walked over.
with chosen as (
    select w.execution_id, w.activity, w.item, w.compensating
    from unnest(@needs::text[]) as n(needs) cross join lateral (
        select l.* from (select k.execution_id, k.activity, k.item, k.compensating, k.turn from work k
            where sqlc.narg(execution)::uuid is not null and k.execution_id = sqlc.narg(execution)
                and k.worker_id is null and k.needs = n.needs
                and (sqlc.narg(team)::uuid is null or k.team_id = sqlc.narg(team))
                and (cardinality(@queues::text[]) = 0 or k.queue = any(@queues::text[]))
                and (cardinality(@workflows::text[]) = 0 or k.workflow = any(@workflows::text[]))
                and k.labels <@ @labels::jsonb
                and (k.prefer_until is null or k.prefer <@ @labels::jsonb or k.prefer_until <= now())
            order by k.turn limit @batch for update skip locked) l
        union all
        select l.* from unnest(@workflows::text[]) as f(name) cross join lateral (select k.execution_id, k.activity, k.item, k.compensating, k.turn from work k
            where sqlc.narg(execution)::uuid is null
                and k.worker_id is null and k.needs = n.needs and k.workflow = f.name
                and (sqlc.narg(team)::uuid is null or k.team_id = sqlc.narg(team))
                and (cardinality(@of_teams::text[]) = 0 or k.team_id in (select t.id from teams t where t.name = any(@of_teams::text[])))
                and (cardinality(@queues::text[]) = 0 or k.queue = any(@queues::text[]))
                and k.labels <@ @labels::jsonb
                and (k.prefer_until is null or k.prefer <@ @labels::jsonb or k.prefer_until <= now())
            order by k.turn limit @batch for update skip locked) l
        union all
        select l.* from unnest(@queues::text[]) as f(name) cross join lateral (select k.execution_id, k.activity, k.item, k.compensating, k.turn from work k
            where sqlc.narg(execution)::uuid is null and cardinality(@workflows::text[]) = 0
                and k.worker_id is null and k.needs = n.needs and k.queue = f.name
                and (sqlc.narg(team)::uuid is null or k.team_id = sqlc.narg(team))
                and (cardinality(@of_teams::text[]) = 0 or k.team_id in (select t.id from teams t where t.name = any(@of_teams::text[])))
                and k.labels <@ @labels::jsonb
                and (k.prefer_until is null or k.prefer <@ @labels::jsonb or k.prefer_until <= now())
            order by k.turn limit @batch for update skip locked) l
        union all
        select l.* from teams f cross join lateral (select k.execution_id, k.activity, k.item, k.compensating, k.turn from work k
            where sqlc.narg(execution)::uuid is null and cardinality(@workflows::text[]) = 0 and cardinality(@queues::text[]) = 0
                and k.worker_id is null and k.needs = n.needs and k.team_id = f.id
                and k.labels <@ @labels::jsonb
                and (k.prefer_until is null or k.prefer <@ @labels::jsonb or k.prefer_until <= now())
            order by k.turn limit @batch for update skip locked) l
        where f.id = sqlc.narg(team) or f.name = any(@of_teams::text[])
        union all
        select l.* from (select k.execution_id, k.activity, k.item, k.compensating, k.turn from work k
            where sqlc.narg(execution)::uuid is null and cardinality(@workflows::text[]) = 0 and cardinality(@queues::text[]) = 0
                and sqlc.narg(team)::uuid is null and cardinality(@of_teams::text[]) = 0
                and k.worker_id is null and k.needs = n.needs
                and k.labels <@ @labels::jsonb
                and (k.prefer_until is null or k.prefer <@ @labels::jsonb or k.prefer_until <= now())
            order by k.turn limit @batch for update skip locked) l
    ) w
    order by w.turn limit @batch
), taken as (
    update work k set worker_id = @worker::uuid, lease = coalesce(sqlc.narg(lease)::uuid, gen_random_uuid()), leased_at = now(),
        expires_at = now() + make_interval(secs => @lease_seconds::float8),
        deadline = case when k.timeout_ms > 0 then now() + make_interval(secs => k.timeout_ms / 1000.0) end
    from chosen c
    where k.execution_id = c.execution_id and k.activity = c.activity and k.item = c.item and k.compensating = c.compensating
    returning k.*
), told as (
    insert into inbox (execution_id, message)
    select t.execution_id, convert_to(json_build_object('began', json_build_object('activity', t.activity, 'item', t.item,
        'compensating', t.compensating, 'attempt', t.attempt, 'worker', t.worker_id, 'at', now(),
        'unlike', t.prefer_until is not null and not t.prefer <@ @labels::jsonb))::text, 'UTF8')
    from taken t
    returning execution_id, id
), woken as (
    select wake(array_agg(distinct told.execution_id)) from told having count(*) > 0
)
select t.execution_id, t.activity, t.item, t.compensating, t.attempt, t.team_id, t.workflow, t.body, t.lease::uuid as lease,
    t.expires_at::timestamptz as expires_at, (select max(o.id) from told o where o.execution_id = t.execution_id)::bigint as message
from taken t, woken order by t.turn;

-- name: OpenWork :one
-- Whether there may be something for ClaimWork.
select exists (select from work w where w.worker_id is null and w.needs = any(@needs::text[]))::bool as open;

-- name: FinishWork :many
-- Ends leases that are still held, stores their results and wakes their executions. A lease that is not answered was lost.
with results as (
    select u.lease, u.message from rows from (unnest(@leases::uuid[]), unnest(@messages::bytea[])) as u(lease, message)
), ended as (
    delete from work w using results r
    where w.lease = r.lease and w.worker_id = @worker and w.expires_at > now()
    returning w.execution_id, w.lease
), told as (
    insert into inbox (execution_id, message) select e.execution_id, r.message from ended e join results r on r.lease = e.lease returning execution_id, id
), woken as (
    select wake(array_agg(distinct told.execution_id)) from told having count(*) > 0
)
select e.lease::uuid as lease, e.execution_id, (select max(o.id) from told o where o.execution_id = e.execution_id)::bigint as message
from ended e, woken;

-- name: RenewWork :many
-- Extends the leases that a worker still holds.
update work set expires_at = now() + make_interval(secs => @lease_seconds::float8)
where worker_id = @worker and lease = any(@leases::uuid[]) and expires_at > now()
returning lease::uuid as lease, expires_at::timestamptz as expires_at;

-- name: RenewAllWork :exec
update work set expires_at = now() + make_interval(secs => @lease_seconds::float8)
where worker_id = @worker and expires_at > now();

-- name: HeldWork :one
select count(*) from work where worker_id = @worker;

-- name: LeasedWork :one
-- The attempt that a lease is of, as long as it is held.
select w.execution_id, w.activity, w.item, w.compensating, w.attempt, w.hook, w.team_id, w.worker_id::uuid as worker_id,
    w.leased_at::timestamptz as leased_at, w.expires_at::timestamptz as expires_at
from work w where w.lease = @lease and w.expires_at > now();

-- name: LeasedErrand :one
-- What a leased attempt is, without secrets.
select workflow, body from work where lease = @lease;

-- name: StillLeased :many
select lease::uuid as lease from work where lease = any(@leases::uuid[]);

-- name: OverdueWork :one
-- Whether there is something for ExpireWork.
select exists (select from work w where w.worker_id is not null and (w.expires_at <= now() or w.deadline <= now()))::bool as overdue;

-- name: ExpireWork :many
-- Ends leases that nobody renewed and attempts that took too long: their executions are told.
with over as (
    select w.execution_id, w.activity, w.item, w.compensating from work w
    where w.worker_id is not null and (w.expires_at <= now() or w.deadline <= now())
    limit 500 for update skip locked
), gone as (
    delete from work w using over o
    where w.execution_id = o.execution_id and w.activity = o.activity and w.item = o.item and w.compensating = o.compensating
    returning w.*
), told as (
    insert into inbox (execution_id, message)
    select g.execution_id, convert_to(json_build_object('result', json_build_object('activity', g.activity, 'item', g.item,
        'hook', g.hook, 'compensating', g.compensating, 'attempt', g.attempt, 'worker', g.worker_id, 'startedAt', g.leased_at,
        'endedAt', now(), 'error', case when g.expires_at <= now()
            then json_build_object('type', 'engine.worker_lost', 'class', 'infrastructure',
                'message', 'the worker was lost during attempt ' || g.attempt)
            else json_build_object('type', 'timeout.attempt', 'class', 'activity',
                'message', 'it took longer than ' || g.timeout_ms || ' ms') end))::text, 'UTF8')
    from gone g
)
select distinct g.execution_id from gone g;

-- name: OwnedWithAway :many
-- Which of the executions a worker owns, with their attempts that are offered or leased, if there are any.
select r.execution_id, w.activity, w.item, w.compensating, w.attempt
from ready r left join work w on w.execution_id = r.execution_id
where r.execution_id = any(@ids::uuid[]) and r.owner = @owner;

-- name: AwayWork :many
select execution_id, activity, item, compensating, attempt from work where execution_id = any(@ids::uuid[]);

-- name: Applied :one
-- Whether everything up to a message of an execution has become history.
select not exists (select from inbox where execution_id = @execution_id and id <= @message)::bool as applied;

-- name: Wake :exec
select wake(@ids::uuid[]);

-- name: UnservedWork :many
-- What is offered in queues that no living worker takes anything of, of one team or of all. Oldest is in seconds.
with lane as materialized (
    select k.team_id, k.workflow, k.queue, count(*) as depth, min(k.offered_at) as since
    from work k where k.worker_id is null and (sqlc.narg(team_id)::uuid is null or k.team_id = sqlc.narg(team_id)::uuid)
    group by 1, 2, 3
)
select t.name as team, l.workflow, l.queue, l.depth, extract(epoch from now() - l.since)::float8 as oldest
from lane l join teams t on t.id = l.team_id
where not exists (select from workers w where w.state not in ('stopped', 'draining')
    and w.heartbeat_at > now() - make_interval(secs => @lease_seconds::float8) and (w.queues = '{}' or l.queue = any(w.queues)))
order by l.since;

-- name: UnservedWorkOf :many
-- The attempts of an execution that are offered in queues that no living worker takes anything of.
select k.activity, k.item, k.queue, k.offered_at from work k
where k.execution_id = @execution_id and k.worker_id is null
    and not exists (select from workers w where w.state not in ('stopped', 'draining')
        and w.heartbeat_at > now() - make_interval(secs => @lease_seconds::float8) and (w.queues = '{}' or k.queue = any(w.queues)))
order by k.activity, k.item;
