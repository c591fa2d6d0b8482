-- name: TeamByName :one
select * from teams where name = @name;

-- name: EnsureUser :one
-- The person of that name, made if need be.
insert into users (name) values (@name)
on conflict (name) do update set name = excluded.name
returning *;

-- name: SetMembership :exec
insert into memberships (team_id, user_id, roles, groups) values (@team_id, @user_id, @roles, @groups)
on conflict (team_id, user_id) do update set roles = excluded.roles, groups = excluded.groups;

-- name: MemberByName :one
select u.id, m.roles, m.groups
from memberships m join users u on u.id = m.user_id
where m.team_id = @team_id and u.name = @name;
