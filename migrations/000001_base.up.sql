-- Who works here, what they design, and what was done. Executions follow in the next migration.

create table teams (
    id         uuid primary key default gen_random_uuid(),
    name       text not null unique,
    policy     jsonb not null default '{}',
    created_at timestamptz not null default now()
);

-- A person, known by the identity provider's (issuer, subject); the name is what histories show.
create table users (
    id         uuid primary key default gen_random_uuid(),
    name       text not null unique check (name <> ''),
    issuer     text,
    subject    text,
    email      text,
    disabled   boolean not null default false,
    created_at timestamptz not null default now(),
    unique (issuer, subject)
);

create table memberships (
    team_id uuid not null references teams on delete cascade,
    user_id uuid not null references users on delete cascade,
    roles   text[] not null default '{}',
    groups  text[] not null default '{}',
    primary key (team_id, user_id)
);
create index memberships_user on memberships (user_id);

-- A token acts as a member (user_id) or, without one, as a service account of its own name and groups.
-- Only the SHA-256 of the token is kept.
create table tokens (
    id              uuid primary key default gen_random_uuid(),
    team_id         uuid not null references teams on delete cascade,
    name            text not null,
    hash            bytea not null unique,
    scopes          text[] not null,
    user_id         uuid references users on delete cascade,
    service_account text,
    groups          text[] not null default '{}',
    created_by      text not null,
    created_at      timestamptz not null default now(),
    expires_at      timestamptz,
    last_used_at    timestamptz,
    check ((user_id is null) <> (service_account is null))
);
create index tokens_team on tokens (team_id, created_at, id);

-- Only the SHA-256 of the session id is kept.
create table sessions (
    hash         bytea primary key,
    team_id      uuid not null references teams on delete cascade,
    user_id      uuid not null references users on delete cascade,
    address      text not null default '',
    agent        text not null default '',
    created_at   timestamptz not null default now(),
    last_seen_at timestamptz not null default now(),
    expires_at   timestamptz not null
);
create index sessions_user on sessions (user_id);
create index sessions_expiry on sessions (expires_at);

-- A workflow is known by its name within its team; the name never changes.
-- published_version is null while it is not published; last_version only grows.
create table workflows (
    team_id           uuid not null references teams on delete cascade,
    name              text not null,
    title             text not null,
    description       text not null default '',
    labels            jsonb not null default '{}',
    published_version integer,
    last_version      integer not null default 0,
    created_at        timestamptz not null default now(),
    updated_at        timestamptz not null default now(),
    updated_by        text not null default '',
    primary key (team_id, name)
);
create index workflows_labels on workflows using gin (labels jsonb_path_ops);

-- The text is kept byte for byte as it was saved, valid or not, UTF-8 or not.
create table drafts (
    team_id  uuid not null,
    workflow text not null,
    text     bytea not null,
    etag     text not null,
    saved_by text not null,
    saved_at timestamptz not null default now(),
    primary key (team_id, workflow),
    foreign key (team_id, workflow) references workflows on delete cascade
);

-- Immutable. One content is one version: publishing it again answers the one that exists.
create table versions (
    team_id      uuid not null,
    workflow     text not null,
    version      integer not null check (version > 0),
    content_hash text not null,
    text         bytea not null,
    label        text not null default '',
    message      text not null default '',
    published_by text not null,
    published_at timestamptz not null default now(),
    primary key (team_id, workflow, version),
    unique (team_id, workflow, content_hash),
    foreign key (team_id, workflow) references workflows on delete cascade
);

-- The first answer to a request that creates something, for 24 hours; body_hash is the SHA-256 of the body.
-- answer is null while the first request is at work.
create table idempotency_keys (
    team_id    uuid not null references teams on delete cascade,
    operation  text not null,
    key        text not null,
    body_hash  bytea not null,
    answer     json,
    created_at timestamptz not null default now(),
    primary key (team_id, operation, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);

-- Append-only: who did what, when and from where.
create table audit (
    id      bigint generated always as identity primary key,
    team_id uuid not null references teams,
    at      timestamptz not null default now(),
    actor   text not null,
    action  text not null,
    target  text not null default '',
    detail  json not null default '{}',
    address text not null default '',
    request text not null default ''
);
create index audit_team on audit (team_id, id);

create function refuse_change() returns trigger language plpgsql as $$
begin
    raise exception 'rows of % are never changed', tg_table_name;
end $$;
create trigger audit_append_only before update or delete on audit
    for each statement execute function refuse_change();
create trigger versions_immutable before update on versions
    for each statement execute function refuse_change();

-- Facts about the whole database, such as the number of partitions.
create table server_settings (
    key   text primary key,
    value jsonb not null
);

insert into teams (name) values ('default');

update schema_migrations set dirty = false where version = 1;
