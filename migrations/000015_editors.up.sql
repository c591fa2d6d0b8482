-- Who has a workflow open in the designer, on any replica. A row counts while its replica says so anew; after a
-- crash it is worth nothing, so the table is not logged.
create unlogged table editors (
    socket text not null,
    team_id uuid not null references teams on delete cascade,
    workflow text not null,
    person text not null,
    since timestamptz not null default now(),
    seen_at timestamptz not null default now(),
    primary key (socket, workflow)
);
create index editors_of_workflow on editors (team_id, workflow);

update schema_migrations set dirty = false where version = 15;
