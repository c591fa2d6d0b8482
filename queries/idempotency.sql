-- name: ReserveIdempotencyKey :execrows
-- One row when the key is new, none when somebody has it. A key is new again after 24 hours, and after a
-- minute when whoever had it never answered.
insert into idempotency_keys (team_id, operation, key, body_hash) values (@team_id, @operation, @key, @body_hash)
on conflict (team_id, operation, key) do update
set body_hash = excluded.body_hash, answer = null, created_at = now()
where idempotency_keys.created_at < now() - interval '24 hours'
    or (idempotency_keys.answer is null and idempotency_keys.created_at < now() - interval '1 minute');

-- name: IdempotencyKey :one
select body_hash, answer from idempotency_keys where team_id = @team_id and operation = @operation and key = @key;

-- name: AnswerIdempotencyKey :exec
update idempotency_keys set answer = @answer where team_id = @team_id and operation = @operation and key = @key;

-- name: ReleaseIdempotencyKey :exec
delete from idempotency_keys where team_id = @team_id and operation = @operation and key = @key and answer is null;

-- name: ForgetOldIdempotencyKeys :exec
delete from idempotency_keys where created_at < now() - interval '24 hours';
