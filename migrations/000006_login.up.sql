-- Sign-in by identity providers. A person is known by (provider, issuer, subject), never by an e-mail address.

alter table users drop constraint users_issuer_subject_key;
alter table users
    add column provider        text, -- id of the provider in the configuration; null = made here
    add column email_verified  boolean not null default false,
    add column access          jsonb not null default '{}', -- which claim matched which rule, as of synced_at
    add column synced_at       timestamptz,
    add column relink_until    timestamptz, -- till then a new subject under the same name takes the account over
    add column last_team       uuid references teams on delete set null,
    add constraint users_identity unique (provider, issuer, subject),
    add constraint users_identity_whole check ((provider is null) = (subject is null) and (issuer is null) = (subject is null));

-- roles and groups are what counts: what was given by hand together with what the provider's claims gave.
-- A sign-in replaces the latter only. blocked shuts one person out of one team whatever the claims say.
alter table memberships
    add column manual_roles  text[] not null default '{}',
    add column manual_groups text[] not null default '{}',
    add column blocked       boolean not null default false;
update memberships set manual_roles = roles, manual_groups = groups;

-- Tokens of the provider are sealed with the server's secret key, bound to the session's id.
alter table sessions
    add column id            uuid not null default gen_random_uuid() unique,
    add column provider      text, -- null = local mode
    add column provider_sid  text, -- the provider's own name of the session, for back-channel logout
    add column key_id        text not null default '',
    add column refresh_token bytea,
    add column id_token      bytea,
    add column refresh_at    timestamptz, -- when the provider must be asked again; null = never
    add column refreshing_until timestamptz, -- one replica asks at a time
    add column unreachable_since timestamptz; -- the provider has not answered since
create index sessions_provider on sessions (provider, provider_sid) where provider is not null;
create index sessions_team on sessions (team_id, user_id);

-- One row a sign-in that has begun: the callback takes it, so each can end once. Only hashes of what the
-- browser holds are kept.
create table login_attempts (
    state_hash  bytea primary key,
    cookie_hash bytea not null,
    provider    text not null,
    nonce       text not null,
    verifier    text not null,
    return_path text not null,
    created_at  timestamptz not null default now()
);
create index login_attempts_age on login_attempts (created_at);

-- Logout tokens that were obeyed, until they expire: none counts twice.
create table logout_tokens (
    provider   text not null,
    jti        text not null,
    expires_at timestamptz not null,
    primary key (provider, jti)
);

update schema_migrations set dirty = false where version = 6;
