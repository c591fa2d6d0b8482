-- name: EnsureWorkflow :exec
insert into workflows (team_id, name, title, updated_by) values (@team_id, @name, @name, @updated_by)
on conflict do nothing;

-- name: LockWorkflow :one
select * from workflows where team_id = @team_id and name = @name for update;

-- name: WorkflowByName :one
select sqlc.embed(w),
    (d.text is not null and d.text is distinct from v.text)::bool as has_draft
from workflows w
left join drafts d on d.team_id = w.team_id and d.workflow = w.name
left join versions v on v.team_id = w.team_id and v.workflow = w.name and v.version = w.published_version
where w.team_id = @team_id and w.name = @name;

-- name: ListWorkflows :many
-- By name; after is the last name of the page before. A draft counts while it is not what was published.
select sqlc.embed(w),
    (d.text is not null and d.text is distinct from v.text)::bool as has_draft
from workflows w
left join drafts d on d.team_id = w.team_id and d.workflow = w.name
left join versions v on v.team_id = w.team_id and v.workflow = w.name and v.version = w.published_version
where w.team_id = @team_id and w.name > @after
    and (sqlc.narg(labels)::jsonb is null or w.labels @> sqlc.narg(labels))
    and (sqlc.narg(search)::text is null or w.name ilike sqlc.narg(search) or w.title ilike sqlc.narg(search)
        or w.description ilike sqlc.narg(search))
order by w.name
limit @page_size;

-- name: DescribeWorkflow :exec
update workflows set title = @title, description = @description, labels = @labels, updated_at = now(), updated_by = @updated_by
where team_id = @team_id and name = @name;

-- name: TouchWorkflow :exec
update workflows set updated_at = now(), updated_by = @updated_by where team_id = @team_id and name = @name;

-- name: SetPublished :exec
update workflows set published_version = sqlc.narg(version)::int,
    last_version = greatest(last_version, coalesce(sqlc.narg(version)::int, 0)),
    updated_at = now(), updated_by = @updated_by
where team_id = @team_id and name = @name;

-- name: DraftByName :one
select * from drafts where team_id = @team_id and workflow = @workflow;

-- name: SaveDraft :one
insert into drafts (team_id, workflow, text, etag, saved_by, editors) values (@team_id, @workflow, @text, @etag, @saved_by, @editors)
on conflict (team_id, workflow) do update
set text = excluded.text, etag = excluded.etag, saved_by = excluded.saved_by, saved_at = now(), editors = excluded.editors,
    last_good = case when @drawn::bool then null else coalesce(drafts.last_good, drafts.text) end
returning *;

-- name: ForgetEditors :exec
-- The draft is what is published: nobody has changed it yet.
update drafts set editors = '{}' where team_id = @team_id and workflow = @workflow and text = @text;

-- name: WorkflowStatusCounts :many
-- Open executions by status.
select status, count(*) from executions
where team_id = @team_id and workflow = @workflow and finished_at is null
group by status;

-- name: WaitsByActivity :many
-- What waits for people and for events, by activity.
select w.activity, sum(w.task)::bigint as tasks, sum(w.event)::bigint as events
from (
    select activity, 1 as task, 0 as event from tasks
    where tasks.team_id = @team_id and tasks.workflow = @workflow and status = 'open'
    union all
    select ew.activity, 0, 1 from event_waits ew join executions e on e.id = ew.execution_id
    where e.team_id = @team_id and e.workflow = @workflow and e.finished_at is null
) w
group by w.activity;
