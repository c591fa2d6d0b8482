-- name: UserByIdentity :one
select * from users where provider = @provider::text and issuer = @issuer::text and subject = @subject::text for update;

-- name: UserByName :one
select * from users where name = @name for update;

-- name: CreateUser :one
insert into users (name, provider, issuer, subject, email, email_verified) values (@name, @provider, @issuer, @subject, @email, @email_verified)
returning *;

-- name: RelinkUser :exec
update users set subject = @subject, relink_until = null where id = @id;

-- name: NoteSignIn :exec
update users set email = @email, email_verified = @email_verified, access = @access, synced_at = now() where id = @id;

-- name: SetLastTeam :exec
update users set last_team = @team where id = @id;

-- name: MembershipsOf :many
select m.*, t.name as team_name from memberships m join teams t on t.id = m.team_id where m.user_id = @user_id order by t.name;

-- name: EnsureTeam :one
insert into teams (name) values (@name) on conflict (name) do update set name = excluded.name returning *;

-- name: LockTeam :exec
-- Who takes the last admin away must not do so twice at once.
select 1 from teams where id = @id for no key update;

-- name: OtherAdmins :one
-- Other people who can sign in and are admins of the team.
select count(*) from memberships m join users u on u.id = m.user_id
where m.team_id = @team_id and m.user_id <> @user_id and 'admin' = any(m.roles) and not m.blocked and not u.disabled and u.subject is not null;

-- name: SyncMembership :exec
insert into memberships (team_id, user_id, roles, groups) values (@team_id, @user_id, @roles, @groups)
on conflict (team_id, user_id) do update set roles = excluded.roles, groups = excluded.groups;

-- name: DeleteMembership :exec
delete from memberships where team_id = @team_id and user_id = @user_id;

-- name: SetManualRoles :exec
update memberships set manual_roles = @manual_roles, roles = @roles where team_id = @team_id and user_id = @user_id;

-- name: SetBlocked :exec
update memberships set blocked = @blocked where team_id = @team_id and user_id = @user_id;

-- name: SetRelink :exec
update users set relink_until = now() + interval '1 hour' where id = @id;

-- name: ListPeople :many
select u.id, u.name, u.email, u.provider, u.access, u.synced_at, u.relink_until, m.roles, m.groups, m.manual_roles, m.blocked,
    (select count(*) from sessions s where s.user_id = u.id and s.team_id = m.team_id and s.expires_at > now()) as sessions
from memberships m join users u on u.id = m.user_id
where m.team_id = @team_id and u.name > @after
order by u.name
limit @page_size;

-- name: Member :one
select u.id, u.name, u.email, u.provider, u.issuer, u.subject, u.access, u.synced_at, u.relink_until, m.roles, m.groups, m.manual_roles, m.blocked
from memberships m join users u on u.id = m.user_id
where m.team_id = @team_id and m.user_id = @user_id;

-- name: TeamsWithoutAdmin :one
-- Teams that the person belongs to and the asker does not administer.
select count(*) from memberships m
where m.user_id = @user_id and not exists (
    select from memberships a join users u on u.id = a.user_id
    where a.team_id = m.team_id and u.name = @asker and 'admin' = any(a.roles) and not a.blocked);

-- name: LastSync :one
-- What came with the last sign-in by a provider.
select access from users where provider = @provider::text and synced_at is not null order by synced_at desc limit 1;
