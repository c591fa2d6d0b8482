-- name: LockEvent :exec
select event_lock(@team::uuid, @name::text, @correlation::text);

-- name: WaitsForEvent :many
select execution_id, activity, item, has_where from event_waits
where team_id = @team_id and name = @name and correlation = @correlation
order by execution_id, activity, item;

-- name: WaitsNamed :many
-- Open waits of one execution for a signal's name.
select activity, item from event_waits where execution_id = @execution_id and name = @name order by activity, item;

-- name: KeepEvent :one
insert into kept_events (id, team_id, name, correlation, signal, expires_at)
values (@id, @team_id, @name, @correlation, @signal, now() + interval '24 hours')
returning expires_at;

-- name: KeptEvents :many
select id, signal from kept_events
where team_id = @team_id and name = @name and correlation = @correlation and expires_at > now()
order by id;

-- name: TakeKeptEvent :execrows
delete from kept_events where id = @id;

-- name: PostedEvent :one
select answer from posted_events where team_id = @team_id and event_id = @event_id;

-- name: RecordPostedEvent :exec
insert into posted_events (team_id, event_id, answer) values (@team_id, @event_id, @answer);

-- name: ForgetOldEvents :exec
delete from kept_events where expires_at < now();

-- name: ForgetOldAnswers :exec
delete from posted_events where created_at < now() - interval '24 hours';
