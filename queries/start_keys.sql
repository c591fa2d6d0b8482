-- name: StartKey :one
select request_hash, execution_id from start_keys
where team_id = @team_id and workflow = @workflow and key = @key and created_at > now() - interval '24 hours';

-- name: ForgetOldStartKeys :exec
delete from start_keys where created_at < now() - interval '24 hours';
