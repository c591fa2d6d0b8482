-- name: ClaimReady :many
-- Takes what nobody owns, oldest turn first. from_turn is a low watermark: it spares the scan over the
-- dead index entries of rows already gone.
update ready r set owner = @owner, claimed_at = now()
from (
    select q.execution_id from ready q
    where q.owner is null and q.turn >= @from_turn and q.partition = any(@partitions::smallint[])
    order by q.turn
    limit @batch
    for update skip locked
) c
where r.execution_id = c.execution_id
returning r.execution_id, r.wakes, r.turn;

-- name: TakeOverReady :many
-- Takes what dead workers own.
update ready r set owner = @owner, claimed_at = now(), wakes = r.wakes + 1
from (
    select q.execution_id, q.owner from ready q
    where q.owner = any(@dead::uuid[])
    order by q.execution_id
    limit @batch
    for update skip locked
) c
where r.execution_id = c.execution_id
returning r.execution_id, r.wakes, c.owner::uuid as lost_by;

-- name: ReleaseReady :exec
-- Gives back what was claimed and never begun.
update ready set owner = null where owner = @owner and execution_id = any(@ids::uuid[]);

-- name: OwnedWakes :one
select wakes from ready where execution_id = @execution_id and owner = @owner;

-- name: OwnedBy :many
select execution_id from ready where owner = @owner;

-- name: OtherOwners :many
select owner::uuid as owner from ready where owner is not null and owner <> @me group by owner;

-- name: QueueByPartition :many
select partition::text as key, count(*) filter (where owner is null) as depth, count(owner) as leased,
    coalesce(extract(epoch from now() - min(turn) filter (where owner is null)), 0)::float8 as oldest_age
from ready where team_id = @team_id group by partition order by partition;

-- name: QueueByWorkflow :many
select workflow as key, count(*) filter (where owner is null) as depth, count(owner) as leased,
    coalesce(extract(epoch from now() - min(turn) filter (where owner is null)), 0)::float8 as oldest_age
from ready where team_id = @team_id group by workflow order by workflow;

-- name: QueueByPriority :many
select e.priority as key, count(*) filter (where r.owner is null) as depth, count(r.owner) as leased,
    coalesce(extract(epoch from now() - min(r.turn) filter (where r.owner is null)), 0)::float8 as oldest_age
from ready r join executions e on e.id = r.execution_id
where r.team_id = @team_id group by e.priority order by e.priority;

-- name: QueueByTeam :many
select t.name as key, count(*) filter (where r.owner is null) as depth, count(r.owner) as leased,
    coalesce(extract(epoch from now() - min(r.turn) filter (where r.owner is null)), 0)::float8 as oldest_age
from ready r join teams t on t.id = r.team_id
where r.team_id = @team_id group by t.name;

-- name: OldestReady :one
-- Depth and age in seconds of everything that waits for an owner, over all teams.
select count(*) as depth, coalesce(extract(epoch from now() - min(turn)), 0)::float8 as oldest_age
from ready where owner is null;
