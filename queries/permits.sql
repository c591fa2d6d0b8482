-- name: LockPermit :exec
select permit_lock(@team::uuid, @name::text);

-- name: PermitLine :one
select count(*) filter (where held) as held, count(*) filter (where not held and not replaced) as waiting
from permits where team_id = @team_id and name = @name;
