-- name: LockTask :one
select * from tasks where team_id = @team_id and id = @id for update;

-- name: TaskByID :one
select * from tasks where team_id = @team_id and id = @id;

-- name: ListTasks :many
-- What the asker may see. Open ones first, by due date, those without one last and newest first; then the
-- ended ones, newest first. rank is that order as one number, so that a page can go on after (rank, id).
select sqlc.embed(t), o.rank
from tasks t
cross join lateral (select case
    when t.status = 'open' and t.due is not null then extract(epoch from t.due)
    when t.status = 'open' then 1e11 - extract(epoch from t.created_at)
    else 1e12 - extract(epoch from t.created_at) end::float8 as rank) o
where t.team_id = @team_id
    and (@sees_all::bool or t.assignee = @me::text or t.requester = @me::text or @me::text = any(t.users)
        or t.groups && @my_groups::text[])
    and (@status::text = '' or t.status = @status::text)
    and (sqlc.narg(execution)::uuid is null or t.execution_id = sqlc.narg(execution))
    and (@assignee::text = '' or t.assignee = @assignee::text)
    and (@in_group::text = '' or @in_group::text = any(t.groups))
    and (@workflow::text = '' or t.workflow = @workflow::text)
    and (not @overdue::bool or (t.status = 'open' and t.due < now()))
    and (sqlc.narg(search)::text is null or t.title ilike sqlc.narg(search) or t.description ilike sqlc.narg(search)
        or t.workflow ilike sqlc.narg(search))
    and (sqlc.narg(after)::float8 is null or (o.rank, t.id) > (sqlc.narg(after)::float8, @after_id::uuid))
order by o.rank, t.id
limit @page_size;

-- name: SaveTask :exec
-- What people change; the caller holds the row's lock.
update tasks set status = @status, assignee = @assignee, users = @users, outcome = @outcome, draft = @draft,
    decisions = @decisions, history = @history, updated_at = @at::timestamptz,
    finished_at = case when @status = 'open' then null else @at::timestamptz end
where id = @id;
