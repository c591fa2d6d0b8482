-- name: RegisterWorker :one
insert into workers (id, hostname, version, state, region, zone, labels, activities, concurrency)
values (@id, @hostname, @version, 'idle', @region, @zone, @labels, @activities, @concurrency)
returning now()::timestamptz as now;

-- name: Heartbeat :one
update workers set heartbeat_at = now(), state = @state, active = @active where id = @id
returning now()::timestamptz as now;

-- name: LiveWorkers :one
select count(*) from workers where state <> 'stopped' and heartbeat_at > now() - make_interval(secs => @lease_seconds::float8);

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
