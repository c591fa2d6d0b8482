-- What the rest of the language needs: starts a second, retention, files, logs of attempts, shared children.

-- The next free turn under limits.maxPerSecond, by pool. Turns are 1/per_second apart, by the database's clock.
create table paces (
    team_id uuid not null,
    name text not null,
    next_at timestamptz not null,
    primary key (team_id, name)
) with (fillfactor = 50);

-- take_turn gives an attempt the next free turn and tells its execution when that is. A turn that is not used
-- is lost: nothing starts sooner because of it.
create function take_turn(team uuid, pace text, per_second double precision, execution uuid, activity text, item text)
returns void language plpgsql as $$
declare
    gap interval := make_interval(secs => 1 / per_second);
    turn timestamptz;
begin
    insert into paces as p (team_id, name, next_at) values (team, pace, clock_timestamp() + gap)
    on conflict (team_id, name) do update set next_at = greatest(p.next_at, clock_timestamp()) + gap
    returning next_at - gap into turn;
    perform deliver(execution, convert_to(json_build_object('permitGranted', json_build_object('name', pace,
        'activity', activity, 'item', item,
        'at', to_char(turn at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))::text, 'UTF8'));
end $$;

-- Until when an ended execution is kept at least, as its definition says; null while it has not ended.
alter table executions add column keep_until timestamptz;
update executions set keep_until = finished_at + interval '90 days' where finished_at is not null;
create index executions_by_keep on executions (keep_until) where keep_until is not null;

-- retention_of is how long a team keeps ended executions at least; what cannot be read asks for nothing.
create function retention_of(policy jsonb) returns interval language plpgsql immutable as $$
begin
    return coalesce((policy->>'executionRetention')::interval, interval '0');
exception when others then
    return interval '0';
end $$;

-- Files of a team: uploads, answers saved by http, what scripts leave. Large ones are in several parts. A file
-- that nothing uses is deleted a day after it was made.
create table files (
    id uuid primary key,
    team_id uuid not null references teams on delete cascade,
    name text not null,
    type text not null,
    size bigint not null,
    sha256 bytea not null,
    created_by text not null,
    created_at timestamptz not null default now()
);
create index files_by_age on files (created_at);
create table file_parts (
    file_id uuid not null references files on delete cascade,
    part integer not null,
    content bytea not null,
    primary key (file_id, part)
);
alter table file_parts alter column content set storage external;
create table file_uses (
    file_id uuid not null references files on delete cascade,
    execution_id uuid not null,
    primary key (file_id, execution_id)
);
create index file_uses_by_execution on file_uses (execution_id);

-- What attempts printed: batches of lines, as JSON, bounded by who writes them.
create table activity_logs (
    execution_id uuid not null,
    activity text not null,
    item text not null,
    attempt integer not null,
    first_line integer not null,
    lines bytea not null,
    primary key (execution_id, activity, item, attempt, first_line)
);

-- Who else waits for a child that was started once for its key.
create table child_waits (
    child_id uuid not null,
    execution_id uuid not null,
    activity text not null,
    item text not null,
    primary key (child_id, execution_id, activity, item)
);

create index child_waits_by_execution on child_waits (execution_id);

-- child_lock serializes the end of a shared child and whoever joins it, until the transaction ends.
create function child_lock(child uuid) returns void language sql as $$
    select pg_advisory_xact_lock(hashtextextended(child::text, 4))
$$;

-- tell_joined tells everybody who joined a child how it ended. The caller holds child_lock.
create function tell_joined(child uuid, status text, output json, error json) returns void language plpgsql as $$
declare joined record;
begin
    for joined in delete from child_waits w where w.child_id = child returning w.execution_id, w.activity, w.item loop
        perform deliver(joined.execution_id, convert_to(json_build_object('childEnded', json_build_object(
            'execution', child, 'activity', joined.activity, 'item', joined.item, 'status', tell_joined.status,
            'output', tell_joined.output, 'error', tell_joined.error))::text, 'UTF8'));
    end loop;
end $$;

update schema_migrations set dirty = false where version = 9;
