-- name: RegisterWorker :exec
insert into workers (id, hostname, version, state, region, zone, labels, activities, concurrency, kind, team_id, registered_by,
    architecture, cpu, memory, queues, teams, workflows, partitions, pool)
values (@id, @hostname, @version, 'registering', @region, @zone, @labels, @activities, @concurrency, @kind, sqlc.narg(team_id),
    @registered_by, @architecture, @cpu, @memory, @queues, @teams, @workflows, @partitions, @pool);

-- name: PoolTable :many
-- The replicas of a pool that are alive and take work, with what they own: what balancing looks at.
select w.id, w.region, w.concurrency, w.queue_length, w.cpu_usage, w.memory_usage,
    coalesce(o.active, 0)::int as active, coalesce(o.urgent, 0)::int as urgent
from workers w left join (
    select r.owner, count(*) as active, count(*) filter (where r.priority in ('critical', 'high')) as urgent
    from ready r where r.owner is not null group by r.owner
) o on o.owner = w.id
where w.kind = 'replica' and w.pool = @pool and w.state in ('registering', 'idle', 'busy')
    and w.heartbeat_at > now() - make_interval(secs => @lease_seconds::float8)
order by w.id;

-- name: Heartbeat :one
-- Alive counts the replicas, this one included.
update workers m set heartbeat_at = now(), state = @state, active = @active, cpu_usage = @cpu_usage, memory_usage = @memory_usage,
    queue_length = @queue_length where m.id = @id
returning (select count(*) from workers w where w.kind = 'replica'
    and w.state <> 'stopped' and w.heartbeat_at > now() - make_interval(secs => @lease_seconds::float8)) as alive,
    clock_timestamp()::timestamptz as now;

-- name: RemoteWorker :one
-- A remote worker of the one who asks, with the leases that it holds.
select w.*, (select count(*) from work k where k.worker_id = w.id) as held
from workers w where w.id = @id and w.kind = 'remote' and w.team_id = @team_id and w.registered_by = @registered_by;

-- name: RemoteHeartbeat :exec
update workers set heartbeat_at = now(), active = @active, cpu_usage = @cpu_usage, memory_usage = @memory_usage,
    queue_length = @queue_length, last_activity = case when @last_activity::text = '' then last_activity else @last_activity end
where id = @id;

-- name: TouchWorker :exec
update workers set heartbeat_at = now() where id = @id;

-- name: MoveWorker :execrows
-- Changes the state of a worker, which has just spoken, if it is still as it was read.
update workers set state = @to_state, heartbeat_at = now() where id = @id and state = @from_state;

-- name: ReplaceWorker :execrows
-- Stops a remote worker whose place another registration takes.
update workers set state = 'stopped', replaced_by = @by
where id = @id and kind = 'remote' and team_id = @team_id and registered_by = @registered_by;

-- name: AbandonWork :exec
-- Lets the leases of a worker run out now.
update work set expires_at = now() where worker_id = @worker;

-- name: CompletedBy :exec
update workers set last_activity = @last_activity where id = @id;

-- name: GoneOwners :many
-- Of the known owners, and of the replicas beside me that were alive within the last seconds, those that hold no valid
-- lease (dead: stopped, silent for longer than the lease, or unknown) or do not hold their session lock any more.
with owner as materialized (
    select u.id, (w.id is null or w.state = 'stopped' or w.heartbeat_at <= now() - make_interval(secs => @lease_seconds::float8)) as dead,
        coalesce(w.session_lock, false) as locks
    from (select unnest(@known::uuid[]) as id union select r.id from workers r where r.kind = 'replica' and r.id <> @me
        and r.state <> 'stopped' and r.heartbeat_at > now() - make_interval(secs => @seconds::float8)) u
    left join workers w on w.id = u.id
)
select owner.id::uuid as id, owner.dead::bool as dead from owner
where case when owner.dead then true when owner.locks then pg_try_advisory_xact_lock(worker_lock(owner.id)) else false end;

-- name: Unlocked :many
-- Which of these workers declared a session lock and do not hold it any more.
with declared as materialized (select id from workers where id = any(@ids::uuid[]) and session_lock)
select id from declared where pg_try_advisory_xact_lock(worker_lock(id));

-- name: DeclareSessionLock :exec
update workers set session_lock = true where id = @id;

-- name: ListWorkers :many
-- Replicas work for everybody, remote workers for their team.
select w.*, (w.state <> 'stopped' and w.heartbeat_at <= now() - make_interval(secs => @lease_seconds::float8))::bool as silent,
    (select count(*) from work k where k.worker_id = w.id) + (select count(*) from ready r where r.owner = w.id) as leases
from workers w where w.heartbeat_at > now() - interval '1 day' and (w.team_id is null or w.team_id = @team_id)
order by w.started_at desc, w.id;

-- name: ForgetOldWorkers :exec
delete from workers where heartbeat_at < now() - interval '7 days';

-- name: AbleWorker :one
-- Whether a replica that is alive can run what needs this.
select exists (select from workers where kind = 'replica' and state <> 'stopped' and @ability::text = any(activities)
    and heartbeat_at > now() - make_interval(secs => @lease_seconds::float8))::bool as able;

-- name: WorkersByState :many
-- Replicas and remote workers that are not stopped, by state; a silent one is offline.
select (case when heartbeat_at <= now() - make_interval(secs => @lease_seconds::float8) then 'offline' else state end)::text as state,
    count(*) as workers
from workers where state <> 'stopped' and heartbeat_at > now() - interval '1 hour' group by 1;
