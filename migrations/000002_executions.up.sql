-- Executions: what runs, what it wrote, what wakes it.
--
-- The history alone fences: a flush of an execution is one row whose first_seq follows the last one, so
-- of two owners only one can write. The tables below are either append-only (history) or narrow and
-- short-lived (ready, timers, inbox). They carry no foreign keys: each would cost a row lock on every
-- step, and rows of one execution are only ever written by its own transactions.
--
-- JSON that may hold any text a person sends is json or bytea, never jsonb: jsonb refuses \u0000.

-- One row an execution for lists and look-ups; written when it begins and when its status changes.
create table executions (
    id uuid primary key,
    team_id uuid not null,
    partition smallint not null,
    workflow text not null,
    version integer not null,
    content_hash text not null,
    mode text not null,
    status text not null,
    correlation_id text not null,
    priority text not null,
    labels jsonb not null default '{}',
    started_by text not null,
    parent_id uuid,
    error json,
    incident text, -- an internal fault that keeps it from going on; retried with growing pauses
    incidents integer not null default 0,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    finished_at timestamptz
) with (fillfactor = 90);
create index executions_by_team on executions (team_id, created_at desc, id desc);
create index executions_by_workflow on executions (team_id, workflow, created_at desc, id desc);
create index executions_by_correlation on executions (team_id, correlation_id) where correlation_id <> id::text;
create index executions_open on executions (team_id, workflow) where finished_at is null;
create index executions_by_parent on executions (parent_id) where parent_id is not null;

-- One row an execution and flush. Large flushes are moved out of the row by PostgreSQL itself.
create table history (
    execution_id uuid not null,
    first_seq bigint not null,
    last_seq bigint not null,
    at timestamptz not null,
    events bytea not null,
    primary key (execution_id, first_seq)
);

-- A stored fold, so that a long history need not be read from its beginning.
create table checkpoints (
    execution_id uuid primary key,
    seq bigint not null,
    state bytea not null
);

-- One row for each execution that has something to do or is owned. A claim (owner) is valid while the
-- worker's heartbeat is; wakes counts the reasons to look again, so that parking cannot miss one.
create table ready (
    execution_id uuid primary key,
    partition smallint not null,
    turn timestamptz not null, -- order of work: since when it waits, moved by its priority
    team_id uuid not null,
    workflow text not null,
    wakes bigint not null default 1,
    owner uuid,
    claimed_at timestamptz
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500);
create index ready_free on ready (turn, partition) where owner is null;
create index ready_owned on ready (owner) where owner is not null;

-- The earliest due instant of a parked execution.
create table timers (
    execution_id uuid primary key,
    partition smallint not null,
    due_at timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500);
create index timers_due on timers (due_at);

-- Messages from outside (execution.Message as JSON), stored before they are acknowledged and deleted by
-- the flush that records what they caused.
create table inbox (
    execution_id uuid not null,
    id bigint generated always as identity,
    message bytea not null,
    created_at timestamptz not null default now(),
    primary key (execution_id, id)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500);

-- Open waits for events. Opening one and posting an event take the advisory lock of event_lock(), so an
-- event finds the wait or the wait finds the kept event.
create table event_waits (
    execution_id uuid not null,
    activity text not null,
    item text not null,
    team_id uuid not null,
    name text not null,
    correlation text not null,
    has_where boolean not null,
    until timestamptz,
    primary key (execution_id, activity, item)
);
create index event_waits_by_key on event_waits (team_id, name, correlation);

-- Events that reached nobody yet.
create table kept_events (
    id uuid primary key,
    team_id uuid not null,
    name text not null,
    correlation text not null,
    signal bytea not null,
    expires_at timestamptz not null
);
create index kept_events_by_key on kept_events (team_id, name, correlation, id);
create index kept_events_by_expiry on kept_events (expires_at);

-- Answers already given by event id: posting an event again answers the same.
create table posted_events (
    team_id uuid not null,
    event_id text not null,
    answer json not null,
    created_at timestamptz not null default now(),
    primary key (team_id, event_id)
);
create index posted_events_by_age on posted_events (created_at);

-- Answers already given by idempotency key of a start.
create table start_keys (
    team_id uuid not null,
    workflow text not null,
    key text not null,
    request_hash bytea not null,
    execution_id uuid not null,
    created_at timestamptz not null default now(),
    primary key (team_id, workflow, key)
);
create index start_keys_by_age on start_keys (created_at);

-- Slots of limits: semaphores and the concurrency pools of workflows (activity ''). Granted in the order
-- asked (place), by the transaction that makes room.
create table permits (
    team_id uuid not null,
    name text not null,
    execution_id uuid not null,
    activity text not null,
    item text not null,
    capacity integer not null,
    held boolean not null default false,
    place bigint generated always as identity,
    primary key (team_id, name, execution_id, activity, item)
);
create index permits_by_place on permits (team_id, name, held, place);
create index permits_by_execution on permits (execution_id);

-- Human tasks. Written by the flush of their execution when they open, escalate or end, and by people.
create table tasks (
    id uuid primary key,
    team_id uuid not null,
    execution_id uuid not null,
    workflow text not null,
    activity text not null,
    item text not null default '',
    status text not null default 'open', -- open, done, expired, cancelled
    title text not null,
    description text not null default '',
    assignee text, -- named by the definition, or who claimed it or was assigned
    users text[] not null default '{}',
    groups text[] not null default '{}',
    quorum integer not null default 1,
    not_actor boolean not null default false,
    barred text[] not null default '{}',
    outcomes text[] not null,
    form json, -- JSON Schema
    data json,
    draft json, -- a half-filled form
    due timestamptz,
    on_due text not null default '',
    allow_comment boolean not null default true,
    outcome text not null default '',
    decisions json not null default '[]',
    history json not null default '[]',
    requester text not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    finished_at timestamptz
);
create index tasks_by_team on tasks (team_id, created_at desc, id desc);
create index tasks_open on tasks (team_id, created_at desc, id desc) where status = 'open';
create index tasks_by_execution on tasks (execution_id);

-- The registry of workers; a worker is alive while its heartbeat is younger than the lease.
create table workers (
    id uuid primary key,
    hostname text not null,
    version text not null,
    state text not null, -- starting, registering, idle, busy, draining, stopped
    region text not null default '',
    zone text not null default '',
    labels jsonb not null default '{}',
    activities text[] not null default '{}',
    concurrency integer not null,
    active integer not null default 0,
    started_at timestamptz not null default now(),
    heartbeat_at timestamptz not null default now(),
    session_lock boolean not null default false -- it holds worker_lock(id): a lock that is free means it is gone
) with (fillfactor = 70);

-- turn_of moves now by a priority: a lower one overtakes by waiting longer, so nothing starves.
create function turn_of(priority text) returns timestamptz language sql stable as $$
    select now() + case priority
        when 'critical' then interval '-30 seconds'
        when 'high' then interval '-10 seconds'
        when 'low' then interval '30 seconds'
        else interval '0' end
$$;

-- worker_lock is the key of the advisory lock that a worker's session holds while it lives.
create function worker_lock(worker uuid) returns bigint language sql immutable as $$
    select hashtextextended(worker::text, 3)
$$;

-- wake makes executions ready, or tells their owners to look again.
create function wake(ids uuid[]) returns void language sql as $$
    insert into ready (execution_id, partition, turn, team_id, workflow)
    select e.id, e.partition, turn_of(e.priority), e.team_id, e.workflow
    from executions e where e.id = any(ids) order by e.id
    on conflict (execution_id) do update set wakes = ready.wakes + 1
$$;

-- deliver stores a message for an execution and wakes it; answers the message's id.
create function deliver(execution uuid, message bytea) returns bigint language plpgsql as $$
declare message_id bigint;
begin
    insert into inbox (execution_id, message) values (execution, deliver.message) returning id into message_id;
    perform wake(array[execution]);
    return message_id;
end $$;

-- event_lock serializes opening a wait and posting an event of one key, until the transaction ends.
create function event_lock(team uuid, name text, correlation text) returns void language sql as $$
    select pg_advisory_xact_lock(hashtextextended(team::text || chr(31) || name || chr(31) || correlation, 1))
$$;

-- permit_lock serializes asking for, releasing and granting the permits of one name.
create function permit_lock(team uuid, name text) returns void language sql as $$
    select pg_advisory_xact_lock(hashtextextended(team::text || chr(31) || name, 2))
$$;

-- grant_permits gives free slots to those who wait, first come first served, and tells them. The caller
-- holds permit_lock. The capacity is that of the request at the head of the line.
create function grant_permits(team uuid, permit text) returns void language plpgsql as $$
declare head record;
begin
    loop
        select p.execution_id, p.activity, p.item, p.capacity into head from permits p
        where p.team_id = team and p.name = permit and not p.held order by p.place limit 1;
        exit when not found;
        exit when head.capacity <= (select count(*) from permits p
            where p.team_id = team and p.name = permit and p.held);
        update permits p set held = true
        where p.team_id = team and p.name = permit and p.execution_id = head.execution_id
            and p.activity = head.activity and p.item = head.item;
        perform deliver(head.execution_id, convert_to(json_build_object('permitGranted',
            json_build_object('name', permit, 'activity', head.activity, 'item', head.item))::text, 'UTF8'));
    end loop;
end $$;

-- release_permits gives back all slots and places in line of an execution that ended.
create function release_permits(execution uuid) returns void language plpgsql as $$
declare permit record;
begin
    for permit in select distinct p.team_id, p.name from permits p where p.execution_id = execution order by 1, 2 loop
        perform permit_lock(permit.team_id, permit.name);
        delete from permits p
        where p.team_id = permit.team_id and p.name = permit.name and p.execution_id = execution;
        perform grant_permits(permit.team_id, permit.name);
    end loop;
end $$;

update schema_migrations set dirty=false where version=2;
