-- name: PutConnection :one
insert into connections (team_id, name, kind, settings, secrets, usable_by, updated_by)
values (@team_id, @name, @kind, @settings, @secrets, @usable_by, @updated_by)
on conflict (team_id, name) do update
set kind = excluded.kind, settings = excluded.settings, secrets = excluded.secrets, usable_by = excluded.usable_by,
    updated_by = excluded.updated_by, updated_at = now()
returning *;

-- name: DeleteConnection :execrows
delete from connections where team_id = @team_id and name = @name;

-- name: ConnectionByName :one
select * from connections where team_id = @team_id and name = @name;

-- name: ListConnections :many
-- By name; after is the last name of the page before.
select * from connections
where team_id = @team_id and name > @after
order by name
limit @page_size;
