-- name: ExecutionByID :one
select e.*, t.name as team_name, r.owner
from executions e
join teams t on t.id = e.team_id
left join ready r on r.execution_id = e.id
where e.id = @id and e.team_id = @team_id;

-- name: OwnerOf :one
-- Who drives an execution, and when what it did was last stored.
select coalesce(w.hostname, '')::text as hostname, (
    select h.at from history h where h.execution_id = @execution_id order by h.first_seq desc limit 1
)::timestamptz as saved_at
from ready r left join workers w on w.id = r.owner where r.execution_id = @execution_id and r.owner is not null;

-- name: ExecutionRows :many
select * from executions where id = any(@ids::uuid[]);

-- name: ListExecutions :many
-- Newest first; before and before_id are the last line of the page before.
select * from executions
where team_id = @team_id
    and (sqlc.narg(workflow)::text is null or workflow = sqlc.narg(workflow))
    and (cardinality(@status::text[]) = 0 or status = any(@status::text[]))
    and (sqlc.narg(version)::int is null or version = sqlc.narg(version))
    and (sqlc.narg(correlation)::text is null or id = sqlc.narg(correlation_as_id)::uuid
        or (correlation_id <> id::text and correlation_id = sqlc.narg(correlation)))
    and (sqlc.narg(labels)::jsonb is null or labels @> sqlc.narg(labels))
    and (sqlc.narg(started_after)::timestamptz is null or created_at >= sqlc.narg(started_after))
    and (sqlc.narg(started_before)::timestamptz is null or created_at < sqlc.narg(started_before))
    and (sqlc.narg(updated_after)::timestamptz is null or updated_at >= sqlc.narg(updated_after))
    and (sqlc.narg(search)::text is null or workflow ilike sqlc.narg(search) or correlation_id ilike sqlc.narg(search)
        or id::text ilike sqlc.narg(search) or started_by ilike sqlc.narg(search))
    and (sqlc.narg(before)::timestamptz is null
        or (created_at, id) < (sqlc.narg(before)::timestamptz, sqlc.narg(before_id)::uuid))
order by created_at desc, id desc
limit @page_size;

-- name: RunnableVersion :one
-- The definition behind a start: the numbered version, or the published one for 0.
select v.version, v.content_hash, v.text
from workflows w
join versions v on v.team_id = w.team_id and v.workflow = w.name
    and v.version = case when @version::int = 0 then w.published_version else @version::int end
where w.team_id = @team_id and w.name = @workflow;

-- name: WorkflowPublication :one
select published_version, last_version from workflows where team_id = @team_id and name = @workflow;

-- name: ExecutionVersion :one
select v.* from executions e
join versions v on v.team_id = e.team_id and v.workflow = e.workflow and v.version = e.version
where e.id = @id and e.team_id = @team_id;

-- name: LabelledVersions :many
-- Versions with a semantic version, newest first.
select version, label from versions
where team_id = @team_id and workflow = @workflow and label <> ''
order by version desc;

-- name: WaitsOf :many
-- What these executions wait for, as far as tables say it: people's answers and events; people first.
select execution_id, 'human'::text as kind, activity from tasks
where tasks.team_id = @team_id and execution_id = any(@ids::uuid[]) and status = 'open'
union
select execution_id, 'event'::text, activity from event_waits
where event_waits.team_id = @team_id and execution_id = any(@ids::uuid[])
order by execution_id, kind desc, activity;

-- name: ReleaseQuarantined :execrows
-- Forgets why an execution was set aside.
update executions set quarantined_at = null, incident = null, incidents = 0, crashes = 0, updated_at = now()
where id = @id and team_id = @team_id and quarantined_at is not null;

-- name: FreeQuarantined :exec
-- Lets any worker claim an execution that nobody was allowed to drive.
update ready set owner = null, claimed_at = null, wakes = wakes + 1
where execution_id = @execution_id and owner = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
