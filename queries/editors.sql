-- name: EnterEditor :exec
insert into editors (socket, team_id, workflow, person) values (@socket, @team_id, @workflow, @person)
on conflict (socket, workflow) do update set seen_at = now();

-- name: LeaveEditor :execrows
delete from editors where socket = @socket and team_id = @team_id and workflow = @workflow;

-- name: KeepEditors :exec
update editors set seen_at = now() where socket = any(@sockets::text[]);

-- name: PointEditor :execrows
-- Says which activity is selected there; no row when that is known.
update editors set activity = @activity, seen_at = now()
where socket = @socket and team_id = @team_id and workflow = @workflow and activity <> @activity;

-- name: ListEditors :many
-- Those whose replica is alive, longest first.
select socket, person, since, activity from editors
where team_id = @team_id and workflow = @workflow and seen_at > now() - make_interval(secs => @silent_seconds::float8)
order by since, socket;

-- name: ForgetSilentEditors :exec
delete from editors where seen_at < now() - make_interval(secs => @silent_seconds::float8);
