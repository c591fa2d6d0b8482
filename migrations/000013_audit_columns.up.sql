-- The audit says as columns what was in its detail: by which credential, what people call the target, whom it
-- is about, and what was before and after. Rows from before keep their detail.
alter table audit
    add column via         text not null default '', -- token and its name; empty = a session, or the server
    add column target_name text not null default '', -- where target is an id
    add column for_whom    text not null default '', -- the person or service account
    add column before      json,
    add column after       json;

-- When the person of a session last proved to the provider who they are (auth_time); null = it did not say. An
-- attempt with a max_age is one that must prove it anew, at most so many seconds ago.
alter table sessions add column authenticated_at timestamptz;
alter table login_attempts add column max_age integer not null default 0;

update schema_migrations set dirty = false where version = 13;
