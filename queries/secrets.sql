-- name: PutSecret :exec
-- Without usable_by it stays usable by whom it was, a new one by all.
insert into secrets (team_id, name, key_id, sealed, updated_by, usable_by)
values (@team_id, @name, @key_id, @sealed, @updated_by, coalesce(sqlc.narg(usable_by)::text[], '{}'))
on conflict (team_id, name) do update
set key_id = excluded.key_id, sealed = excluded.sealed, updated_by = excluded.updated_by, updated_at = now(),
    usable_by = coalesce(sqlc.narg(usable_by)::text[], secrets.usable_by);

-- name: LimitSecret :execrows
update secrets set usable_by = @usable_by where team_id = @team_id and name = @name;

-- name: DeleteSecret :execrows
delete from secrets where team_id = @team_id and name = @name;

-- name: ShownSecret :one
-- What the audit compares.
select usable_by, updated_at, updated_by from secrets where team_id = @team_id and name = @name;

-- name: ListSecrets :many
-- Without their values, by name; after is the last name of the page before.
select name, updated_at, updated_by, usable_by from secrets
where team_id = @team_id and name > @after
order by name
limit @page_size;

-- name: SealedSecrets :many
select name, key_id, sealed, usable_by from secrets where team_id = @team_id and name = any(@names::text[]);

-- name: SecretsOfOtherKeys :many
-- Of all teams: what the current key has not sealed.
select team_id, name, key_id, sealed from secrets where key_id <> @key_id order by team_id, name;

-- name: ResealSecret :execrows
-- Unless somebody has put another value meanwhile, which the current key has sealed.
update secrets set key_id = @key_id, sealed = @sealed
where team_id = @team_id and name = @name and sealed = @before;

-- name: SecretsInUse :many
-- Which published versions of the team name which of its secrets. Names are words, so they stand in a pattern as they are.
select s.name, w.name as workflow from secrets s
join workflows w on w.team_id = s.team_id
join versions v on v.team_id = w.team_id and v.workflow = w.name and v.version = w.published_version
where s.team_id = @team_id
    and convert_from(v.text, 'UTF8') ~ ('\ysecrets?["'']?(\s*:\s*|\??\.|\[)\s*["'']?' || s.name || '\y')
order by s.name, w.name;
