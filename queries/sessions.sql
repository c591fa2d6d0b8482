-- name: CreateSession :exec
insert into sessions (hash, team_id, user_id, address, agent, expires_at)
values (@hash, @team_id, @user_id, @address, @agent, @expires_at);

-- name: SessionByHash :one
-- A session that has not expired and was not idle for too long.
select s.team_id, s.user_id, s.expires_at, t.name as team_name, u.name as user_name, m.roles, m.groups
from sessions s
join teams t on t.id = s.team_id
join users u on u.id = s.user_id and not u.disabled
join memberships m on m.team_id = s.team_id and m.user_id = s.user_id
where s.hash = @hash and s.expires_at > now() and s.last_seen_at > now() - make_interval(secs => @idle_seconds::int);

-- name: TouchSession :exec
-- Notes that it is in use, to the minute.
update sessions set last_seen_at = now() where hash = @hash and last_seen_at < now() - interval '1 minute';

-- name: DeleteSession :exec
delete from sessions where hash = @hash;

-- name: ForgetOldSessions :exec
delete from sessions where expires_at < now();
