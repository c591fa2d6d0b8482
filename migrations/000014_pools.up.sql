-- Pools of workers that drive some executions only, and what balancing between workers looks at.

-- The queue that an execution waits in for a worker, and the region in which it should run ('' = anywhere).
alter table executions
    add column queue text not null default 'default',
    add column region text not null default '';
alter table ready
    add column queue text not null default 'default',
    add column region text not null default '';

-- A pool that serves some queues or workflows finds them without walking over the backlog of others. What is owned
-- from its beginning is in neither.
create index ready_by_queue on ready (queue, team_id, turn, partition) where owner is null;
create index ready_by_workflow on ready (workflow, team_id, turn, partition) where owner is null;

-- teams and workflows are the only ones whose work it does, empty = all. pool says in one text which executions a
-- replica claims: those with the same text deal them out among themselves.
alter table workers
    add column teams text[] not null default '{}',
    add column workflows text[] not null default '{}',
    add column pool text not null default '';

-- The same for attempts that are offered.
create index work_by_queue on work (needs, queue, turn) where worker_id is null;
create index work_by_team on work (needs, team_id, turn) where worker_id is null;
create index work_by_workflow on work (needs, workflow, turn) where worker_id is null;

create or replace function wake(ids uuid[]) returns void language sql as $$
    insert into ready (execution_id, partition, turn, team_id, workflow, priority, deadline, queue, region)
    select e.id, e.partition, turn_of(e.priority), e.team_id, e.workflow, e.priority, e.deadline, e.queue, e.region
    from executions e where e.id = any(ids) order by e.id
    on conflict (execution_id) do update set wakes = ready.wakes + 1
$$;

update schema_migrations set dirty = false where version = 14;
