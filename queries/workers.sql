-- name: RegisterWorker :exec
insert into workers (id, hostname, version, state, region, zone, labels, activities, concurrency)
values (@id, @hostname, @version, 'idle', @region, @zone, @labels, @activities, @concurrency);

-- name: Heartbeat :one
update workers m set heartbeat_at = now(), state = @state, active = @active where m.id = @id
returning (select count(*) from workers w
    where w.state <> 'stopped' and w.heartbeat_at > now() - make_interval(secs => @lease_seconds::float8)) as alive,
    clock_timestamp()::timestamptz as now;

-- name: DeclareSessionLock :exec
update workers set session_lock = true where id = @id;

-- name: Unlocked :many
-- Which of these workers declared a session lock and do not hold it any more.
with declared as materialized (select id from workers where id = any(@ids::uuid[]) and session_lock)
select id from declared where pg_try_advisory_xact_lock(worker_lock(id));

-- name: AmongDead :many
-- Which of these workers hold no valid lease: stopped, silent for longer than the lease, or unknown.
select u.id::uuid as id from unnest(@ids::uuid[]) as u(id)
where not exists (
    select from workers w where w.id = u.id and w.state <> 'stopped' and w.heartbeat_at > now() - make_interval(secs => @lease_seconds::float8));

-- name: ListWorkers :many
select *, (state <> 'stopped' and heartbeat_at <= now() - make_interval(secs => @lease_seconds::float8))::bool as silent
from workers where heartbeat_at > now() - interval '1 day' order by started_at desc, id;

-- name: ForgetOldWorkers :exec
delete from workers where heartbeat_at < now() - interval '7 days';
