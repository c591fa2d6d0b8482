-- name: ClaimReady :many
-- What nobody owns: of each line that the pool serves (of a team, or of a queue or a workflow in a team) the first, at
-- most batch. If all of these are no more than at_once they are taken at once; else nothing is taken, the caller
-- chooses and asks with TakeReady. Rows are found by arrays of ids: whatever the planner thinks of the number of
-- lines, it does not read the table for them; coalesce keeps it from the index of all that is free, which it would
-- intersect with them. teams and from_turns are low watermarks of teams: they spare the scan over the
-- dead index entries of rows already gone. Of the three parts of a line one is asked, each by an index of its own.
with line as materialized (
    select f.*, weight_of(t.policy) as weight from teams t
    left join rows from (unnest(@teams::uuid[]), unnest(@from_turns::timestamptz[])) as m(id, from_turn) on m.id = t.id
    cross join lateral (
        (select q.execution_id, q.team_id, q.priority, q.since, q.deadline, q.turn, q.region from ready q
        where cardinality(@queues::text[]) = 0 and cardinality(@workflows::text[]) = 0
            and q.owner is null and q.team_id = t.id and q.turn >= coalesce(m.from_turn, '-infinity')
            and q.partition = any(@partitions::smallint[])
        order by q.turn limit @batch)
        union all
        (select l.* from unnest(@queues::text[]) as n(name) cross join lateral (
            select q.execution_id, q.team_id, q.priority, q.since, q.deadline, q.turn, q.region from ready q
            where q.queue = n.name
                and q.owner is null and q.team_id = t.id and q.turn >= coalesce(m.from_turn, '-infinity')
                and q.partition = any(@partitions::smallint[])
            order by q.turn limit @batch
        ) l where cardinality(@workflows::text[]) = 0)
        union all
        (select l.* from unnest(@workflows::text[]) as n(name) cross join lateral (
            select q.execution_id, q.team_id, q.priority, q.since, q.deadline, q.turn, q.region from ready q
            where q.workflow = n.name and (cardinality(@queues::text[]) = 0 or q.queue = any(@queues::text[]))
                and q.owner is null and q.team_id = t.id and q.turn >= coalesce(m.from_turn, '-infinity')
                and q.partition = any(@partitions::smallint[])
            order by q.turn limit @batch
        ) l)
    ) f
    where cardinality(@of_teams::text[]) = 0 or t.name = any(@of_teams::text[])
), free as (
    select r.execution_id from ready r where r.execution_id = any(array(select line.execution_id from line))
        and coalesce(r.owner, '00000000-0000-0000-0000-000000000000') = '00000000-0000-0000-0000-000000000000' and (select count(*) from line) <= @at_once::int
    order by r.execution_id for update skip locked
), taken as (
    update ready r set owner = @owner, claimed_at = now() where r.execution_id = any(array(select free.execution_id from free))
    returning r.execution_id, r.wakes
)
select line.execution_id, line.team_id, line.priority, line.since, line.deadline, line.turn, line.region, line.weight::int as weight,
    coalesce(taken.wakes, 0)::bigint as wakes
from line left join taken on taken.execution_id = line.execution_id;

-- name: TakeReady :many
-- Takes those of the chosen that nobody was faster to take.
update ready r set owner = @owner, claimed_at = now()
from (
    select q.execution_id from ready q where coalesce(q.owner, '00000000-0000-0000-0000-000000000000') = '00000000-0000-0000-0000-000000000000' and q.execution_id = any(@ids::uuid[])
    order by q.execution_id for update skip locked
) c
where r.execution_id = c.execution_id
returning r.execution_id, r.wakes;

-- name: PlaceInLine :one
-- The place of an execution in the line of its team and queue and since when it waits; place 0 when it is not in
-- it. Served: a replica that is alive takes work of its queue.
select coalesce(max(r.since), now())::timestamptz as since, coalesce(max(r.queue), '')::text as queue,
    is_served(@lease_seconds::float8, min(r.team_id::text)::uuid, max(r.workflow), max(r.queue), max(r.partition))::bool as served,
    case when count(r.execution_id) = 0 then 0 else (select 1 + count(*) from ready f
        where f.team_id = min(r.team_id::text)::uuid and f.queue = max(r.queue) and f.owner is null and f.turn < min(r.turn)) end::bigint as place
from ready r where r.execution_id = @execution_id and r.owner is null;

-- name: TakeOverReady :many
-- Takes what dead workers own, of executions that were lost from least to most times in a row before, as far as the pool
-- serves them and they are among ids, which empty is all. It counts that they were lost again, unless the worker was being
-- stopped: then it was ended, and did not crash.
with lost as (
    select q.execution_id, q.owner as lost_by, q.claimed_at,
        not exists (select from workers d where d.id = q.owner and d.state in ('draining', 'stopped')) as crashed
    from ready q join executions e on e.id = q.execution_id
    where q.owner = any(@dead::uuid[]) and e.crashes between @least and @most
        and (cardinality(@ids::uuid[]) = 0 or q.execution_id = any(@ids::uuid[]))
        and (cardinality(@queues::text[]) = 0 or q.queue = any(@queues::text[]))
        and (cardinality(@workflows::text[]) = 0 or q.workflow = any(@workflows::text[]))
        and (cardinality(@of_teams::text[]) = 0 or q.team_id in (select t.id from teams t where t.name = any(@of_teams::text[])))
    order by q.execution_id
    limit @batch
    for update of q skip locked
), taken as (
    update ready r set owner = @owner, claimed_at = now(), wakes = r.wakes + 1
    from lost where r.execution_id = lost.execution_id
    returning r.execution_id, r.wakes
), counted as (
    update executions e set crashes = e.crashes + lost.crashed::int from lost where e.id = lost.execution_id
    returning e.id, e.crashes
)
select taken.execution_id, taken.wakes, lost.lost_by::uuid as lost_by, lost.crashed::bool as crashed, lost.claimed_at, counted.crashes
from taken join lost using (execution_id) join counted on counted.id = taken.execution_id;

-- name: ReleaseReady :exec
-- Gives back what was claimed and never begun.
update ready set owner = null, claimed_at = null, attended = null where owner = @owner and execution_id = any(@ids::uuid[]);

-- name: AllServed :one
select all_served(@lease_seconds::float8)::bool as served;

-- name: Unattended :many
-- Of a stretch of the queue what nobody who is alive serves and something happened to since it was attended, and
-- where the stretch ends, which is null behind the end of the queue. What the dead own counts as well.
with stretch as materialized (
    select r.execution_id, r.team_id, r.workflow, r.queue, r.partition, r.owner,
        (r.owner is null or r.owner = any(@dead::uuid[])) and r.wakes is distinct from r.attended as open
    from ready r where r.execution_id > @after order by r.execution_id limit @batch
), lane as materialized (
    select distinct s.team_id, s.workflow, s.queue, s.partition from stretch s where s.open
), unserved as materialized (
    select * from lane l where not is_served(@lease_seconds::float8, l.team_id, l.workflow, l.queue, l.partition)
)
select s.execution_id, (s.owner is not null)::bool as lost, false::bool as last
from stretch s join unserved u using (team_id, workflow, queue, partition) where s.open
union all
(select s.execution_id, false, true from stretch s where (select count(*) from stretch) = @batch order by s.execution_id desc limit 1);

-- name: UnservedAmong :many
-- Which of these wait for a worker that nobody alive is.
select r.execution_id from ready r where r.execution_id = any(@ids::uuid[]) and r.owner is null
    and not all_served(@lease_seconds::float8)
    and not is_served(@lease_seconds::float8, r.team_id, r.workflow, r.queue, r.partition);

-- name: OldestServed :one
-- Depth and age in seconds of what waits for an owner and is served; everything, while no replica is alive.
with lane as materialized (
    select r.team_id, r.workflow, r.queue, r.partition, count(*) as depth, min(r.since) as since
    from ready r where r.owner is null group by 1, 2, 3, 4
)
select coalesce(sum(l.depth), 0)::bigint as depth, coalesce(extract(epoch from now() - min(l.since)), 0)::float8 as oldest_age
from lane l where not exists (select from serving(@lease_seconds::float8)) or is_served(@lease_seconds::float8, l.team_id, l.workflow, l.queue, l.partition);

-- name: Unserved :many
-- What waits, of one team or of all, for a worker that nobody alive is. Oldest is in seconds.
with lane as materialized (
    select r.team_id, r.workflow, r.queue, r.partition, r.priority, count(*) as depth, min(r.since) as since
    from ready r where r.owner is null and not all_served(@lease_seconds::float8)
        and (sqlc.narg(team_id)::uuid is null or r.team_id = sqlc.narg(team_id)::uuid)
    group by 1, 2, 3, 4, 5
)
select t.name as team, l.workflow, l.queue, l.partition, l.priority, l.depth,
    extract(epoch from now() - l.since)::float8 as oldest
from lane l join teams t on t.id = l.team_id
where not is_served(@lease_seconds::float8, l.team_id, l.workflow, l.queue, l.partition)
order by l.since;

-- name: OwnedWakes :one
select wakes from ready where execution_id = @execution_id and owner = @owner;

-- name: OwnedBy :many
select execution_id from ready where owner = @owner;

-- name: OtherOwners :many
-- Whoever owns something. It walks over all that was owned, as long as an old snapshot keeps that: it is for now and then.
select owner::uuid as owner from ready
where owner is not null and owner <> @me and owner <> 'ffffffff-ffff-ffff-ffff-ffffffffffff' group by owner;

-- name: QueueByPartition :many
select partition::text as key, count(*) filter (where owner is null) as depth, count(owner) filter (where owner <> 'ffffffff-ffff-ffff-ffff-ffffffffffff') as leased,
    coalesce(extract(epoch from now() - min(since) filter (where owner is null)), 0)::float8 as oldest_age
from ready where team_id = @team_id group by partition order by partition;

-- name: QueueByWorkflow :many
select workflow as key, count(*) filter (where owner is null) as depth, count(owner) filter (where owner <> 'ffffffff-ffff-ffff-ffff-ffffffffffff') as leased,
    coalesce(extract(epoch from now() - min(since) filter (where owner is null)), 0)::float8 as oldest_age
from ready where team_id = @team_id group by workflow order by workflow;

-- name: QueueByPriority :many
select priority as key, count(*) filter (where owner is null) as depth, count(owner) filter (where owner <> 'ffffffff-ffff-ffff-ffff-ffffffffffff') as leased,
    coalesce(extract(epoch from now() - min(since) filter (where owner is null)), 0)::float8 as oldest_age
from ready where team_id = @team_id group by priority order by priority;

-- name: QueueByQueue :many
select queue as key, count(*) filter (where owner is null) as depth, count(owner) as leased,
    coalesce(extract(epoch from now() - min(since) filter (where owner is null)), 0)::float8 as oldest_age
from ready where team_id = @team_id group by queue order by queue;

-- name: QueueByTeam :many
select t.name as key, count(*) filter (where r.owner is null) as depth, count(r.owner) as leased,
    coalesce(extract(epoch from now() - min(r.since) filter (where r.owner is null)), 0)::float8 as oldest_age
from ready r join teams t on t.id = r.team_id
where r.team_id = @team_id group by t.name;

-- name: OldestReady :one
-- Depth and age in seconds of everything that waits for an owner, over all teams.
select count(*) as depth, coalesce(extract(epoch from now() - min(since)), 0)::float8 as oldest_age
from ready where owner is null;
