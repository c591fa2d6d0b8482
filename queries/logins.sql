-- name: CreateAttempt :exec
insert into login_attempts (state_hash, cookie_hash, provider, nonce, verifier, return_path, max_age)
values (@state_hash, @cookie_hash, @provider, @nonce, @verifier, @return_path, @max_age);

-- name: TakeAttempt :one
-- Each attempt ends once, and only in the browser that began it.
delete from login_attempts
where state_hash = @state_hash and cookie_hash = @cookie_hash and provider = @provider and created_at > now() - make_interval(secs => @life_seconds::int)
returning nonce, verifier, return_path, max_age;

-- name: ForgetOldAttempts :exec
delete from login_attempts where created_at < now() - interval '1 hour';

-- name: KeepLogoutToken :execrows
-- 0 rows: it was obeyed before.
insert into logout_tokens (provider, jti, expires_at) values (@provider, @jti, @expires_at) on conflict do nothing;

-- name: ForgetOldLogoutTokens :exec
delete from logout_tokens where expires_at < now() - interval '10 minutes';
