-- name: Deliver :one
select deliver(@execution::uuid, @message::bytea)::bigint as id;

-- name: Inbox :many
select id, message from inbox where execution_id = @execution_id order by id limit @batch;

-- name: HasUnread :one
select exists (select from inbox where execution_id = @execution_id);

-- name: Inboxes :many
select execution_id, id, message from inbox where execution_id = any(@ids::uuid[]) order by execution_id, id;

-- name: UnreadAmong :many
-- Which of these executions have messages. Their owner knows them: to find them by owner would be to walk over what it
-- owned before, as long as an old snapshot keeps that.
select distinct execution_id from inbox where execution_id = any(@ids::uuid[]);
