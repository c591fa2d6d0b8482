-- name: LockPermit :exec
select permit_lock(@team::uuid, @name::text);

-- name: PermitLine :one
select count(*) filter (where held) as held, count(*) filter (where not held) as waiting
from permits where team_id = @team_id and name = @name;

-- name: OldestHolder :one
select execution_id from permits where team_id = @team_id and name = @name and held and activity = ''
order by place limit 1;
