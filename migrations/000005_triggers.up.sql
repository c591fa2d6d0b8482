-- Triggers: what starts executions by itself. Those of a published definition are rows here, written by
-- the transaction that publishes it and deleted by the one that unpublishes it.

-- planned_at is the next tick; due_at is when a replica takes it up (jitter added, or later after a fault).
-- Both are null when there is none: paused, or the last instant has passed. Whoever decides about ticks
-- holds the row's lock, so a tick has one decision whatever the number of replicas.
create table schedules (
    id         uuid primary key,
    team_id    uuid not null,
    workflow   text not null,
    place      integer, -- in the list of the published definition; null = made through the API
    version    integer, -- of that definition
    spec       jsonb not null,
    input      json, -- of a schedule made through the API
    paused     boolean not null default false,
    planned_at timestamptz,
    due_at     timestamptz,
    running    uuid[] not null default '{}', -- executions it started that had not ended when it last looked
    created_by text not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    foreign key (team_id, workflow) references workflows on delete cascade,
    check ((place is null) = (version is null))
);
create index schedules_due on schedules (due_at) where due_at is not null;
create index schedules_by_team on schedules (team_id, id);
create unique index schedules_by_place on schedules (team_id, workflow, place) where place is not null;

-- One row a tick, with its one final outcome; null while it is buffered behind the execution before.
create table ticks (
    schedule_id  uuid not null references schedules on delete cascade,
    scheduled_at timestamptz not null,
    backfill_id  uuid, -- null = a tick of the clock, or triggered by a person
    outcome      text check (outcome in ('started', 'skipped_overlap', 'skipped_late', 'skipped_calendar', 'skipped_limit', 'failed')),
    at           timestamptz not null default now(),
    execution_id uuid,
    reason       text not null default '',
    unique nulls not distinct (schedule_id, scheduled_at, backfill_id)
);
create unique index ticks_buffered on ticks (schedule_id) where outcome is null;
create function keep_outcome() returns trigger language plpgsql as $$
begin
    raise exception 'the outcome of a tick is final';
end $$;
create trigger ticks_final before update on ticks
    for each row when (old.outcome is not null) execute function keep_outcome();

-- Ticks of the past that a person asked for, until their last instant is started.
create table backfills (
    id           uuid primary key,
    schedule_id  uuid not null references schedules on delete cascade,
    planned_at   timestamptz, -- the next one; null = nothing is left to start
    until        timestamptz not null, -- inclusive
    max_parallel integer not null,
    running      uuid[] not null default '{}',
    created_by   text not null,
    created_at   timestamptz not null default now()
);
create index backfills_open on backfills (id) where planned_at is not null;

-- Where a request to a path of the team's hooks leads.
create table webhooks (
    team_id  uuid not null,
    path     text not null, -- without the slash before it
    workflow text not null,
    version  integer not null,
    place    integer not null, -- in the list of the definition
    primary key (team_id, path),
    foreign key (team_id, workflow) references workflows on delete cascade
);
create index webhooks_by_workflow on webhooks (team_id, workflow);

-- Which events start which workflows.
create table event_triggers (
    team_id  uuid not null,
    name     text not null,
    workflow text not null,
    version  integer not null,
    place    integer not null, -- in the list of the definition
    primary key (team_id, name, workflow, place),
    foreign key (team_id, workflow) references workflows on delete cascade
);
create index event_triggers_by_workflow on event_triggers (team_id, workflow);

update schema_migrations set dirty = false where version = 5;
