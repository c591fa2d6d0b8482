-- name: TeamByName :one
select * from teams where name = @name;

-- name: EnsureUser :one
-- The person of that name, made if need be.
insert into users (name) values (@name)
on conflict (name) do update set name = excluded.name
returning *;

-- name: SetMembership :exec
-- Gives roles and groups by hand.
insert into memberships (team_id, user_id, roles, groups, manual_roles, manual_groups) values (@team_id, @user_id, @roles, @groups, @roles, @groups)
on conflict (team_id, user_id) do update set roles = excluded.roles, groups = excluded.groups,
    manual_roles = excluded.manual_roles, manual_groups = excluded.manual_groups;

-- name: TeamPolicy :one
select policy from teams where id = @id;

-- name: LockTeamPolicy :one
-- Held by whoever publishes, so that a change of the policy comes before or after, never in between.
select policy from teams where id = @id for share;

-- name: LockTeamForChange :one
select policy from teams where id = @id for update;

-- name: SetTeamPolicy :exec
update teams set policy = @policy where id = @id;

-- name: ListMembers :many
select u.name, m.roles, m.groups
from memberships m join users u on u.id = m.user_id
where m.team_id = @team_id and not u.disabled and not m.blocked
order by u.name;

-- name: LimitsOfUse :many
-- The secrets and connections among those named that not every workflow may use.
select 'secret'::text as kind, name, usable_by from secrets s
where s.team_id = @team_id and s.name = any(@secrets::text[]) and s.usable_by <> '{}'
union all
select 'connection'::text, name, usable_by from connections c
where c.team_id = @team_id and c.name = any(@connections::text[]) and c.usable_by <> '{}';

-- name: CountOpenExecutions :one
-- At most the given number of rows is looked at.
select count(*) from (
    select 1 from executions where team_id = @team_id and finished_at is null limit @most
) open;
