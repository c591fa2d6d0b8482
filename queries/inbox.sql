-- name: Deliver :one
select deliver(@execution::uuid, @message::bytea)::bigint as id;

-- name: Inbox :many
select id, message from inbox where execution_id = @execution_id order by id limit @batch;

-- name: HasUnread :one
select exists (select from inbox where execution_id = @execution_id);

-- name: Inboxes :many
select execution_id, id, message from inbox where execution_id = any(@ids::uuid[]) order by execution_id, id;

-- name: UnreadOf :many
-- Executions of an owner that have messages it may not have been told of.
select distinct r.execution_id from ready r join inbox i on i.execution_id = r.execution_id where r.owner = @owner;
