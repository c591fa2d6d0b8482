-- name: CreateSession :one
insert into sessions (hash, team_id, user_id, address, agent, expires_at, provider, provider_sid, key_id, refresh_token, id_token, refresh_at, authenticated_at)
values (@hash, @team_id, @user_id, @address, @agent, @expires_at, @provider, @provider_sid, @key_id, @refresh_token, @id_token, @refresh_at, @authenticated_at)
returning id;

-- name: SessionByHash :one
-- A session that has not expired and was not idle for too long, of a person who is not shut out.
select s.id, s.team_id, s.user_id, s.created_at, s.expires_at, s.provider, s.unreachable_since, s.authenticated_at,
    (s.refresh_at is not null and s.refresh_at <= now())::bool as refresh_due,
    t.name as team_name, u.name as user_name, m.roles, m.groups
from sessions s
join teams t on t.id = s.team_id
join users u on u.id = s.user_id and not u.disabled
join memberships m on m.team_id = s.team_id and m.user_id = s.user_id and not m.blocked
where s.hash = @hash and s.expires_at > now() and s.last_seen_at > now() - make_interval(secs => @idle_seconds::int);

-- name: TouchSession :exec
-- Notes that it is in use, to the minute.
update sessions set last_seen_at = now() where hash = @hash and last_seen_at < now() - interval '1 minute';

-- name: DeleteSession :one
delete from sessions where hash = @hash
returning id, team_id, user_id, provider, key_id, id_token, coalesce((select u.name from users u where u.id = sessions.user_id), '')::text as user_name;

-- name: MoveSession :one
-- Another id and team for a session that goes on: what an old copy of the cookie holds is worth nothing.
update sessions set hash = @new_hash, team_id = @team_id where hash = @hash returning id;

-- name: SessionsOf :many
-- All sessions of a person that are alive, in whichever team.
select s.id, s.address, s.agent, s.created_at, s.last_seen_at, s.expires_at, s.provider, t.name as team_name, s.hash
from sessions s join teams t on t.id = s.team_id
where s.user_id = @user_id and s.expires_at > now() and s.last_seen_at > now() - make_interval(secs => @idle_seconds::int)
order by s.last_seen_at desc, s.id;

-- name: DeleteSessionByID :one
-- An admin of the team ends any session in it; everybody ends their own, in whichever team.
delete from sessions where sessions.id = @id and (sessions.user_id = @user_id or (@admin::bool and team_id = @team_id)) returning team_id, user_id, coalesce((select u.name from users u where u.id = sessions.user_id), '')::text as user_name;

-- name: DeleteSessionsOfMember :many
delete from sessions where team_id = @team_id and user_id = @user_id returning id;

-- name: DeleteSessionsByProvider :many
-- What a back-channel logout names: one session of the provider, or all of a subject when no session is named.
delete from sessions s using users u
where u.id = s.user_id and s.provider = @provider and u.issuer = @issuer
    and (@sid::text = '' or s.provider_sid = @sid) and (@subject::text = '' or u.subject = @subject)
returning s.team_id;

-- name: ClaimRefresh :one
-- The right to ask the provider, for one replica at a time.
update sessions s set refreshing_until = now() + make_interval(secs => @seconds::int)
from users u
where s.hash = @hash and u.id = s.user_id and s.refresh_at <= now() and (s.refreshing_until is null or s.refreshing_until < now())
returning s.id, s.user_id, s.provider, s.key_id, s.refresh_token, s.id_token, s.unreachable_since, u.issuer, u.subject;

-- name: KeepRefreshed :exec
update sessions set key_id = @key_id, refresh_token = @refresh_token, id_token = @id_token, refresh_at = @refresh_at,
    refreshing_until = null, unreachable_since = null
where id = @id;

-- name: PostponeRefresh :one
-- The provider did not answer: it is asked again soon, and the session lives until its grace is over.
update sessions set refresh_at = now() + make_interval(secs => @seconds::int), refreshing_until = null,
    unreachable_since = coalesce(unreachable_since, now())
where id = @id
returning (unreachable_since < now() - make_interval(secs => @grace_seconds::int))::bool as over;

-- name: ForgetOldSessions :exec
delete from sessions where expires_at < now();
