-- The history in periods: what begins in one week has its history in one table, which is dropped as a whole when the
-- last of its executions is past its retention. An id begins with the time of its making, so the range of ids says
-- the week, and nothing is ever copied. The table as it was becomes the rest: it holds what began before, and takes
-- whatever no period is there for, so that no insert can fail for want of one.

alter table history rename to history_rest;
alter index history_pkey rename to history_rest_pkey;

create table history (
    execution_id uuid not null,
    first_seq bigint not null,
    last_seq bigint not null,
    at timestamptz not null,
    events bytea not null,
    primary key (execution_id, first_seq)
) partition by range (execution_id);
alter table history attach partition history_rest default; -- beside no other it is not looked through

-- From closing_since on the histories of executions that are deleted stay where they are, since the table goes soon.
create table history_periods (
    begins_at timestamptz primary key,
    ends_at timestamptz not null,
    closing_since timestamptz
);

-- first_id is below all ids made from an instant on, and above those made before.
create function first_id(made timestamptz) returns uuid language sql immutable as $$
    select (lpad(to_hex(floor(extract(epoch from made) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

create function history_table(begins timestamptz) returns text language sql immutable as $$
    select 'history_' || to_char(begins at time zone 'UTC', 'YYYYMMDD')
$$;

-- week_of is the beginning of the week that an instant is in, counted from Monday in UTC.
create function week_of(instant timestamptz) returns timestamptz language sql immutable as $$
    select date_trunc('week', instant at time zone 'UTC') at time zone 'UTC'
$$;

-- Whoever wants a table of the history for himself waits for at most 100 ms: everybody who comes meanwhile waits
-- behind him.

-- shut_rest has nothing of a coming period get into the rest. Together with look_through_rest it spares
-- add_history_period to look through all of the rest while nobody else may read it.
create function shut_rest(begins timestamptz, ends timestamptz) returns void language plpgsql set lock_timeout = '100ms' as $$
begin
    if not exists (select from pg_constraint where conrelid = 'history_rest'::regclass and conname = 'not_' || history_table(begins)) then
        execute format('alter table history_rest add constraint %I check (execution_id < %L or execution_id >= %L) not valid',
            'not_' || history_table(begins), first_id(begins), first_id(ends));
    end if;
end $$;

create function look_through_rest(begins timestamptz) returns void language plpgsql set lock_timeout = '100ms' as $$
begin
    execute format('alter table history_rest validate constraint %I', 'not_' || history_table(begins));
end $$;

-- open_rest takes away what shut_rest left of periods that begin before an instant, for whom no table was made.
create function open_rest(before timestamptz) returns void language plpgsql set lock_timeout = '100ms' as $$
declare shut name;
begin
    for shut in select conname from pg_constraint where conrelid = 'history_rest'::regclass and contype = 'c'
        and conname like 'not\_history\_%' and conname < 'not_' || history_table(before)
    loop
        execute format('alter table history_rest drop constraint %I', shut);
    end loop;
end $$;

create function add_history_period(begins timestamptz, ends timestamptz) returns void language plpgsql set lock_timeout = '100ms' as $$
begin
    execute format('create table %I (like history including all) with (autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_vacuum_insert_threshold = 50000, autovacuum_vacuum_scale_factor = 0.02)', history_table(begins));
    execute format('alter table history attach partition %I for values from (%L) to (%L)',
        history_table(begins), first_id(begins), first_id(ends));
    execute format('alter table history_rest drop constraint if exists %I', 'not_' || history_table(begins));
    insert into history_periods (begins_at, ends_at) values (begins, ends);
end $$;

-- drop_history_period drops a period of which no execution is left; false: there is one, or somebody has used the table
-- for longer than is worth waiting for.
create function drop_history_period(begins timestamptz) returns boolean language plpgsql set lock_timeout = '100ms' as $$
declare period history_periods;
begin
    if exists (
        select from pg_locks l join pg_stat_activity a using (pid)
        where l.database = (select oid from pg_database where datname = current_database())
            and l.relation in ('history'::regclass, 'history_rest'::regclass, to_regclass(history_table(begins)))
            and a.pid <> pg_backend_pid() and a.xact_start < clock_timestamp() - interval '1 second'
    ) then
        return false;
    end if;
    lock table only history in access exclusive mode; -- whatever is written is now seen below
    select * into period from history_periods p where p.begins_at = begins;
    if not found or exists (select from executions e where e.id >= first_id(period.begins_at) and e.id < first_id(period.ends_at)) then
        return false;
    end if;
    execute format('drop table %I', history_table(begins));
    delete from history_periods p where p.begins_at = begins;
    return true;
end $$;

-- A new database has periods from its first execution on; one that is at work gets them from the next week on.
do $$
begin
    if not exists (select from history_rest) then
        perform add_history_period(week_of(now()) + n * interval '7 days', week_of(now()) + (n + 1) * interval '7 days')
        from generate_series(0, 2) as n;
    end if;
end $$;

update schema_migrations set dirty = false where version = 21;
