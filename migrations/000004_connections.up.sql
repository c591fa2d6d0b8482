-- Connections by name: where a service is, and which secrets reach it. secrets maps a field to the name of a
-- secret of the same team; no value is kept here.
create table connections (
    team_id    uuid not null references teams on delete cascade,
    name       text not null,
    kind       text not null check (kind in ('http', 'sql', 'smtp', 'ai')),
    settings   jsonb not null,
    secrets    jsonb not null,
    updated_at timestamptz not null default now(),
    updated_by text not null,
    primary key (team_id, name)
);

update schema_migrations set dirty = false where version = 4;
