-- Work that somebody else than the owner of its execution runs: remote tasks, activities that need another
-- worker's labels or queue, and items beyond the owner's free slots.

-- kind replica: a pool of this program, which works for all teams; remote: a program that polls over HTTP and
-- works for the team of its credential.
alter table workers
    add column kind text not null default 'replica' check (kind in ('replica', 'remote')),
    add column team_id uuid references teams on delete cascade,
    add column registered_by text not null default '',
    add column architecture text not null default '',
    add column cpu integer not null default 0, -- cores
    add column memory bigint not null default 0, -- bytes
    add column queues text[] not null default '{}', -- it takes work of these only; empty = of all
    add column cpu_usage double precision not null default 0, -- share of its cores, 0 to 1
    add column memory_usage double precision not null default 0, -- share of its memory, 0 to 1
    add column queue_length integer not null default 0, -- attempts that wait in it for a slot
    add column last_activity text not null default '', -- completed last
    add column replaced_by uuid;

-- One row an attempt that is offered or leased. It is written with the flush that dispatches the attempt and
-- deleted by the transaction that stores its result in the inbox of the execution, so a result is accepted
-- once at most. A lease is held by whoever knows its id, until expires_at.
create table work (
    execution_id uuid not null,
    activity text not null,
    item text not null,
    compensating boolean not null,
    attempt integer not null,
    hook text not null,
    team_id uuid not null,
    workflow text not null,
    needs text not null, -- worker/<task>, script/<language>, or the type of the activity
    queue text not null,
    labels jsonb not null, -- must be among the worker's
    prefer jsonb not null, -- should be among the worker's, until prefer_until
    prefer_until timestamptz,
    turn timestamptz not null, -- order of work: since when it waits, moved by its priority
    timeout_ms bigint not null, -- of the attempt, 0 = none
    body bytea not null, -- what the worker is given, without secrets
    offered_at timestamptz not null default now(),
    worker_id uuid,
    lease uuid unique,
    leased_at timestamptz,
    expires_at timestamptz,
    deadline timestamptz,
    primary key (execution_id, activity, item, compensating)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500);
create index work_open on work (needs, turn) where worker_id is null;
create index work_leased on work (worker_id) where worker_id is not null;

update schema_migrations set dirty = false where version = 10;
