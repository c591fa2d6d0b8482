-- What the order of work is decided by, and how the tables of the queue are kept small.

alter table executions add column deadline timestamptz;

-- priority, since and deadline are what a scheduling policy looks at; turn is the aged priority by which a team's
-- entries are found. A team's entries are one stretch of the index, so a long line of one team costs the others
-- nothing.
alter table ready
    add column priority text not null default 'normal',
    add column since timestamptz not null default now(),
    add column deadline timestamptz;
update ready r set priority = e.priority from executions e where e.id = r.execution_id;
drop index ready_free;
create index ready_free on ready (team_id, turn, partition) where owner is null;

create or replace function wake(ids uuid[]) returns void language sql as $$
    insert into ready (execution_id, partition, turn, team_id, workflow, priority, deadline)
    select e.id, e.partition, turn_of(e.priority), e.team_id, e.workflow, e.priority, e.deadline
    from executions e where e.id = any(ids) order by e.id
    on conflict (execution_id) do update set wakes = ready.wakes + 1
$$;

-- weight_of is how many turns a team gets for one of another team; what cannot be read is 1.
create function weight_of(policy jsonb) returns integer language plpgsql immutable as $$
begin
    return greatest(1, least(1000, coalesce((policy->>'schedulingWeight')::integer, 1)));
exception when others then
    return 1;
end $$;

-- Rows that are updated or deleted soon after they were written are cleared soon; a history that only grows is
-- looked at in portions, so that its first vacuum is not one of everything.
alter table executions set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
alter table history set (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_insert_threshold = 50000,
    autovacuum_vacuum_scale_factor = 0.02);
alter table permits set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500);
alter table event_waits set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500);

update schema_migrations set dirty = false where version = 11;
