-- name: CreateToken :one
insert into tokens (team_id, name, hash, scopes, user_id, service_account, groups, created_by, expires_at)
values (@team_id, @name, @hash, @scopes, @user_id, @service_account, @groups, @created_by, @expires_at)
returning *;

-- name: EnsureToken :exec
-- A token whose value was chosen elsewhere; made once.
insert into tokens (team_id, name, hash, scopes, user_id, created_by)
values (@team_id, @name, @hash, @scopes, @user_id, @created_by)
on conflict (hash) do nothing;

-- name: TokenByHash :one
-- The token with who it acts as; roles and groups are those that the person has now.
select k.id, k.name, k.team_id, k.user_id, k.scopes, k.service_account, k.groups as token_groups, k.expires_at,
    t.name as team_name, u.name as user_name, m.roles, m.groups as member_groups,
    (k.service_account is not null or (m.user_id is not null and not m.blocked and not u.disabled))::bool as usable
from tokens k
join teams t on t.id = k.team_id
left join users u on u.id = k.user_id
left join memberships m on m.user_id = k.user_id and m.team_id = k.team_id
where k.hash = @hash;

-- name: TouchToken :exec
-- Notes the last use, to the minute.
update tokens set last_used_at = now()
where id = @id and (last_used_at is null or last_used_at < now() - interval '1 minute');

-- name: ListTokens :many
-- Of the whole team, or those that act as one person.
select k.id, k.name, k.scopes, k.service_account, k.groups, k.created_by, k.created_at, k.expires_at, k.last_used_at, u.name as user_name
from tokens k left join users u on u.id = k.user_id
where k.team_id = @team_id and (sqlc.narg(person)::uuid is null or k.user_id = sqlc.narg(person)::uuid)
    and (sqlc.narg(after)::timestamptz is null or (k.created_at, k.id) > (sqlc.narg(after)::timestamptz, sqlc.narg(after_id)::uuid))
order by k.created_at, k.id
limit @page_size;

-- name: DeleteToken :one
delete from tokens where tokens.team_id = @team_id and tokens.id = @id and (sqlc.narg(person)::uuid is null or tokens.user_id = sqlc.narg(person)::uuid)
returning hash, name, scopes, coalesce(service_account, (select u.name from users u where u.id = tokens.user_id), '')::text as acts_as;
