-- Secrets by name: encrypted with a key that the database does not know (key_id says which), bound to their
-- team and name.
create table secrets (
    team_id    uuid not null references teams on delete cascade,
    name       text not null,
    key_id     text not null,
    sealed     bytea not null,
    updated_at timestamptz not null default now(),
    updated_by text not null,
    primary key (team_id, name)
);

update schema_migrations set dirty = false where version = 3;
